# What all chains in bash have.

fail() { echo "error: $*" >&2; exit 1; }
say() { [[ -n ${QUIET:-} ]] || echo "$*" >&2; }

# watch_driver COMMAND…: when the driver is killed COMMAND is run, and all that this script has started goes with it,
# for this script leads their group
watch_driver() {
  (
    trap - EXIT INT TERM
    while kill -0 "$DRIVER_PID" 2> /dev/null && ! is_dead "$DRIVER_PID"; do sleep 0.2; done
    "$@"
    kill -KILL -- -$$
  ) &
  WATCH=$!
}
# is_dead PID: whether a process has ended, and nobody has asked for its exit code yet
is_dead() { [[ -r /proc/$1/stat && $(< "/proc/$1/stat") == *') Z '* ]]; }
unwatch() { [[ -z ${WATCH:-} ]] || kill "$WATCH" 2> /dev/null || true; }

# tasks N FUNCTION ARGUMENT…: FUNCTION K ARGUMENT… for K = 0 … N-1, at most $JOBS at once
tasks() {
  local count=$1 function=$2 number waited=0 failed=0 pids=()
  shift 2
  for ((number = 0; number < count && !failed; number++)); do
    "$function" "$number" "$@" &
    pids+=($!)
    if ((${#pids[@]} - waited >= JOBS)); then
      wait "${pids[waited]}" || failed=1
      waited=$((waited + 1))
    fi
  done
  for ((; waited < ${#pids[@]}; waited++)); do wait "${pids[waited]}" || failed=1; done
  ((!failed)) || fail "a task failed; its message stands above"
}

# slices DATA: how many slices the plan has, but one at least; it has a line before them and one after them
slices() {
  local lines
  lines=$(only_part "$1" | wc -l)
  echo $((lines > 3 ? lines - 2 : 1))
}

# counted COUNTER STEP…: the sum of a counter over all tasks of steps
counted() { counters_of "${@:2}" | awk -F '\t' -v name="$1" '$1 == name { sum += $2 } END { printf "%.0f", sum }'; }

# until_zero COUNTER DATA LAST: when the step that has just ended in round $round counted no COUNTER, its DATA-$round is LAST
until_zero() {
  local sum
  sum=$(counted "$1" "$STEP")
  say "round $round: $sum $1"
  ((sum > 0)) || name "$2-$round" "$3"
}

# some COUNTER OTHER WHAT: stops when the step that has just ended counted OTHER and no COUNTER; INPUT_FIELDS may say which fields there are
some() {
  local with without
  with=$(counted "$1" "$STEP")
  without=$(counted "$2" "$STEP")
  ((with > 0 || without == 0)) || fail "$3${INPUT_FIELDS:+; $INPUT_FIELDS}"
}

# guard COUNTER LIMIT ADVICE: stops when the step that has just ended counted more than LIMIT
guard() {
  local sum
  sum=$(counted "$1" "$STEP")
  ((sum <= $2)) || fail "$sum $3 (the limit is $2)"
}

