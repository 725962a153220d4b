#!/usr/bin/env bash
# install.sh: the PySpark of requirements.txt, outside the work tree, and its path on standard output. The first call
# needs the network; a later one does not.
#
# It is made beside and renamed when complete, so that two installs at once do not disturb each other, and one that was
# stopped half-way is never used.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"

version=$(sed -n 's/^pyspark==//p' requirements.txt)
home=${XDG_CACHE_HOME:-$HOME/.cache}/twinsplit/pyspark-$version

need() {
  command -v "$1" > /dev/null || { echo "error: $1 is missing: $2" >&2; exit 1; }
}

need python3 "install Python 3.11 or later (on Debian: apt-get install python3 python3-pip)"
need "${JAVA_HOME:+$JAVA_HOME/bin/}java" "install Java 17 (on Debian: apt-get install openjdk-17-jre-headless)"
if [[ ! -d $home ]]; then
  python3 -m pip --version > /dev/null || { echo "error: Python has no pip (on Debian: apt-get install python3-pip)" >&2; exit 1; }
  mkdir -p "${home%/*}"
  made=$(mktemp -d "$home.XXXXXX")
  trap 'rm -rf "$made"' EXIT
  chmod 755 "$made"
  PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-compile --no-deps \
    --target "$made" -r requirements.txt >&2 || {
    echo "error: pip could not install PySpark $version: is there a way to PyPI, and Python 3.11 or later?" >&2
    exit 1
  }
  # Another install may have been faster; its folder is as good.
  mv -T "$made" "$home" 2> /dev/null || [[ -d $home ]]
fi
echo "$home/pyspark"
