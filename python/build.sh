#!/usr/bin/env bash
# build.sh MATURIN PROFILE FOLDER: builds the wheel into a folder.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"
out=$(realpath -m "$3")
# Tests and clusters may have static programs; what Python loads is never one.
unset RUSTFLAGS CARGO_BUILD_TARGET
# Each test compares much, and none is long: as much is optimised as pays for itself.
if [[ $2 == dev ]]; then
  export CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_PROFILE_DEV_DEBUG=0
fi
PATH="$(dirname "$(command -v "$1")"):$PATH" "$1" build --locked --profile "$2" --target-dir ../target/python --out "$out" --quiet
