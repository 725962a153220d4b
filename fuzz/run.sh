#!/usr/bin/env bash
# Runs fuzz targets one after the other, and stops at the first that finds something.
# usage: run.sh SECONDS BINARIES [TARGET…]   (without targets all of them; BINARIES is the folder of the stage binaries)
set -euo pipefail
seconds=$1 binaries=$2
shift 2
cd "$(dirname "$0")"
export PATH=$PWD/../.tools/bin:$PATH
# Coverage needs flags that the stable compiler keeps for itself; the targets need no sanitizer, for unsafe is denied.
export RUSTC_BOOTSTRAP=1
(($# > 0)) || mapfile -t TARGETS < <(sed -n 's/^name = "\(.*\)"$/\1/p' Cargo.toml | tail -n +2)
(($# == 0)) || TARGETS=("$@")
./seeds.sh "$binaries" corpus
for target in "${TARGETS[@]}"; do
  echo "== $target, $seconds s"
  cargo fuzz run --fuzz-dir . --sanitizer none "$target" "corpus/$target" -- \
    -max_total_time="$seconds" -max_len=4096 -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 -close_fd_mask=1
done
