#!/usr/bin/env bash
# test.sh [WHEEL]: installs the package into a fresh environment and runs its tests and the examples of docs/python.md. Without a wheel it builds one by the
# profile of tests. The other packages are those of requirements-test.txt, by version and hash, and PySpark is the one of `make spark`. The first call needs the network; pip keeps what it
# has fetched for later ones. Environment:
#
#     TWINSPLIT  the program that answers are compared with, and that runs on Spark   (default target/debug/twinsplit)
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"

need() {
  command -v "$1" > /dev/null || { echo "error: $1 is missing: $2" >&2; exit 1; }
}

need python3 "install Python 3.11 or later (on Debian: apt-get install python3 python3-venv)"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: $(python3 --version) is older than 3.11" >&2; exit 1; }
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
python3 -m venv "$made/env" || { echo "error: Python makes no environments (on Debian: apt-get install python3-venv)" >&2; exit 1; }
bin=$made/env/bin
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
"$bin/python" -m pip install --quiet --no-compile --require-hashes --only-binary :all: -r requirements-test.txt || {
  echo "error: pip could not install requirements-test.txt: is there a way to PyPI?" >&2
  exit 1
}
wheel=${1-}
if [[ -z $wheel ]]; then
  ./build.sh "$bin/maturin" dev "$made/wheels"
  wheel=$(echo "$made"/wheels/*.whl)
fi
"$bin/python" -m pip install --quiet --no-deps "$wheel"
spark=$(../tests/spark/install.sh)
export PYTHONPATH=${spark%/*}
# From elsewhere, so that what is installed is found, and not the sources beside the tests.
tests=$PWD/tests
cd "$made"
"$bin/python" -m pytest -q -p no:cacheprovider "$tests"
