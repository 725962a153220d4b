#!/usr/bin/env bash
# build.sh MATURIN PROFILE FOLDER: builds the wheel into a folder. By the profile of tests it takes what is compiled for these.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"
out=$(realpath -m "$3")
PATH="$(dirname "$(command -v "$1")"):$PATH" "$1" build --locked --profile "$2" --target-dir ../target --out "$out" --strip --quiet
