#!/usr/bin/env bash
# Runs fuzz targets one after the other, all of them whatever an earlier one finds; the last line counts them.
# usage: run.sh SECONDS [TARGET…]   (without targets all of them, each on the seeds that seeds.sh made)
set -euo pipefail
seconds=$1
shift
cd "$(dirname "$0")"
export PATH=$PWD/../.tools/bin:$PATH
# Coverage needs flags that the stable compiler keeps for itself; the targets need no sanitizer, for unsafe is denied.
export RUSTC_BOOTSTRAP=1
(($# > 0)) || mapfile -t TARGETS < <(sed -n 's/^name = "\(.*\)"$/\1/p' Cargo.toml | tail -n +2)
(($# == 0)) || TARGETS=("$@")
log=$(mktemp)
trap 'rm -f "$log"' EXIT
ran=0 failed=()
for target in "${TARGETS[@]}"; do
  echo "== $target, $seconds s"
  cargo fuzz run --fuzz-dir . --sanitizer none "$target" "corpus/$target" -- \
    -max_total_time="$seconds" -max_len=4096 -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 -close_fd_mask=1 \
    2>&1 | tee "$log" || failed+=("$target")
  # What libFuzzer says at its end, also when it has found something; a target that did not begin says nothing.
  ! grep -q '^stat::number_of_executed_units: *[1-9]' "$log" || ran=$((ran + 1))
done
echo "fuzz: $ran of ${#TARGETS[@]} targets ran, ${#failed[@]} failed${failed:+: ${failed[*]}}"
((ran == ${#TARGETS[@]} && !${#failed[@]}))
