#!/usr/bin/env bash
# twinsplit beside SetSimilaritySearch, an exact all-pairs join in Python, on reuters21578, in one run.
#
#   benches/compare.sh [--rounds N] [--save]
#
# Builds nothing: run `cargo build --release` first (`make bench` does). Environment:
#   CORPORA_DIR  where reuters21578/docs.jsonl.gz is (default ../shared/corpora)
#   BIN_DIR      where twinsplit and tokenize are    (default target/release)
#   PYTHON       a Python 3.9 or later with venv     (default python3)
set -euo pipefail
cd "$(dirname "$0")/.."

corpora=${CORPORA_DIR:-../shared/corpora}
binaries=${BIN_DIR:-target/release}
python=${PYTHON:-python3}
documents=$corpora/reuters21578/docs.jsonl.gz
tools=.tools/bench

fail() {
  printf 'bench: %s\n' "$1" >&2
  exit 2
}

[[ -f $documents ]] || fail "$documents is missing: set CORPORA_DIR to the folder that holds reuters21578"
for name in twinsplit tokenize; do
  [[ -x $binaries/$name ]] || fail "$binaries/$name is missing: run 'cargo build --release' first"
done
command -v "$python" >/dev/null || fail "$python is missing: install Python 3 (Debian: apt-get install python3 python3-venv)"

if ! "$tools/bin/python" -c 'import SetSimilaritySearch' 2>/dev/null; then
  "$python" -m venv --clear "$tools" || fail "no virtual environment (Debian: apt-get install python3-venv)"
  "$tools/bin/pip" install --quiet --disable-pip-version-check SetSimilaritySearch==1.0.1 'numpy>=1.26' ||
    fail "SetSimilaritySearch 1.0.1 and numpy could not be installed"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$tools/bin/python" benches/setsimilaritysearch.py compare \
  --documents "$documents" --binaries "$binaries" --work "$work" "$@"
