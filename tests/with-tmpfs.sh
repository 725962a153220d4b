#!/usr/bin/env bash
# usage: with-tmpfs.sh COMMAND…
# Runs a command. Its temporary files lie in memory if this machine has enough, else where they always lie.
# The tests make and remove some hundred thousand files. ext4 does not use an inode again within a minute, and took a tenth of the
# tests' time to find others.
set -euo pipefail

# In KB: what tests need at a time, several times over; as much again is for them to run in. Larger files lie on disk (`on_disk`).
room=$((4 << 20)) memory=/dev/shm

has_room() {
  [[ -z ${TMPDIR:-} && -r /proc/mounts ]] || return 1
  # Programs are run from there.
  awk -v at="$memory" '$2 == at && $3 == "tmpfs" && $4 !~ /noexec/ { found = 1 } END { exit !found }' /proc/mounts || return 1
  (($(df --output=avail -k "$memory" | tail -n 1) >= room)) || return 1
  (($(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo) >= 2 * room))
}

if has_room; then
  TMPDIR=$(mktemp -d "$memory/twinsplit-tests.XXXXXX")
  export TMPDIR
  trap 'rm -rf "$TMPDIR"' EXIT
fi
"$@"
