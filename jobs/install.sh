#!/usr/bin/env bash
# Puts twinsplit and what belongs to it below a prefix, or removes exactly that again. What was put there, folders that
# were made included, is listed in share/doc/twinsplit/installed, so that nothing else is ever removed.
# usage: jobs/install.sh install PREFIX BINARY | uninstall PREFIX   with DESTDIR before PREFIX when it is set
set -euo pipefail
umask 022
shopt -s inherit_errexit

fail() { echo "error: $*" >&2; exit 1; }
(($# >= 2)) || { sed -n '4s/^# //p' "$0" >&2; exit 2; }
command=$1 prefix=${2%/} root=${DESTDIR:-} list=${2%/}/share/doc/twinsplit/installed
[[ $2 == /* ]] || fail "PREFIX is $2; an absolute path is needed, such as /usr/local"

# Files come first in the list, then folders, the innermost first.
remove() {
  local names name
  mapfile -t names < "$root$list"
  for name in "${names[@]}"; do
    # A folder in which someone else has put something stays.
    if [[ $name == */ ]]; then rmdir "$root$name" 2> /dev/null || true; else rm -f "$root$name"; fi
  done
}

# Makes the whole tree in a folder.
make_tree() {
  local tree=$1 binary=$2 here=$1$prefix names name
  install -d "$here/bin" "$here/share/doc/twinsplit"
  install -m 755 "$binary" "$here/bin/twinsplit"
  names=$("$here/bin/twinsplit" stages --names)
  for name in $names; do ln -s twinsplit "$here/bin/$name"; done
  "$here/bin/twinsplit" completions --completions "$here/share" --man "$here/share/man"
  install -d "$here/share/twinsplit"
  cp -R jobs/lib jobs/pipes jobs/hadoop jobs/spark "$here/share/twinsplit/"
  cp -R README.md CHANGELOG.md CONTRIBUTING.md LICENSE NOTICE docs "$here/share/doc/twinsplit/"
  chmod -R u=rwX,go=rX "$tree"
}

install_all() {
  local binary=$1 scratch tree name
  [[ -x $binary ]] || fail "$binary is missing; make build makes it"
  scratch=$(mktemp -d)
  # shellcheck disable=SC2064  # the folder as it is now
  trap "rm -rf '$scratch'" EXIT
  tree=$scratch/tree
  cd "$(dirname "$0")/.."
  make_tree "$tree" "$binary"
  (cd "$tree" && find . ! -type d | sed 's/^\.//' && echo "$list") | LC_ALL=C sort > "$scratch/files"
  while IFS= read -r name; do
    [[ ! -e $root$name && ! -L $root$name ]] || grep -qxF -- "$name" "$root$list" 2> /dev/null ||
      fail "$root$name is there and is not ours; move it, or choose another PREFIX"
  done < "$scratch/files"
  if [[ -f $root$list ]]; then remove; fi
  (cd "$tree" && find . -mindepth 1 -type d | sed 's/^\.//') | LC_ALL=C sort -r | while IFS= read -r name; do
    [[ -d $root$name ]] || echo "$name/"
  done > "$scratch/folders"
  # The list goes first: what an interrupted copy leaves can be removed.
  install -d "$root$(dirname "$list")"
  cat "$scratch/files" "$scratch/folders" > "$root$list"
  cp -RP "$tree/." "$root/"
  echo "twinsplit is in $root$prefix/bin; $(wc -l < "$root$list") names are listed in $root$list"
}

case $command in
  install) (($# == 3)) || fail "the binary to install is not named"; install_all "$(realpath "$3")" ;;
  uninstall) [[ -f $root$list ]] || fail "$root$list is missing, so nothing of twinsplit is installed below $root$prefix"; remove ;;
  *) fail "$command is neither install nor uninstall" ;;
esac
