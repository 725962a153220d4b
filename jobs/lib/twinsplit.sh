# What the engines pipes and hadoop share. A page names each step and says why it is there, by `step`, and calls `map`,
# `map_reduce` or `each`, which are the engine's. A variable before such a call is the step's own:
#   mappers=N, reducers=N, slices=PLAN (a reducer for each slice of a plan)

fail() { echo "error: $*" >&2; exit 1; }
say() { [[ -n ${QUIET:-} ]] || echo "$*" >&2; }

shopt -s inherit_errexit
export LC_ALL=C
(($# >= 2)) || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
# The page, this library and the program are of one version.
LIBRARY=0.1.0
[[ ${VERSION:-} == "$LIBRARY" ]] || fail "this page was made by twinsplit ${VERSION:-without a version}, and its library is of $LIBRARY; make the page anew: $(sed -n '2s/^# //p' "$0")"
# check_program FILE: stops when that is of another version
check_program() { [[ $("$1" --version) == "twinsplit $LIBRARY" ]] || fail "$1 is $("$1" --version), and the library of this page is of $LIBRARY; install one version of both"; }
OUTPUT=${1%/} INPUT=("${@:2}")
: "${REDUCERS:=2}" "${JOBS:=2}"
unset mappers reducers slices

# step NAME WHY: what the call that follows is called, and why it is made
step() { STEP=$1 WHY=$2; }

# passed DATA: whether the step was finished before; either way it is said
passed() {
  STARTED=${EPOCHREALTIME/./}
  begin_step
  if ! finished "$1"; then say "$STEP: $WHY"; return 1; fi
  say "$STEP: finished before"
}

# split_words WORD… -- WORD…: MAPPER and REDUCER are the words before -- and after it
split_words() {
  MAPPER=() REDUCER=()
  while (($#)) && [[ $1 != -- ]]; do MAPPER+=("$1"); shift; done
  REDUCER=("${@:2}")
}

# tasks N FUNCTION: FUNCTION K for K = 0 … N-1, at most $JOBS at once
tasks() {
  local number waited=0 failed=0 pids=()
  for ((number = 0; number < $1 && !failed; number++)); do
    "$2" "$number" &
    pids+=($!)
    if ((${#pids[@]} - waited >= JOBS)); then
      wait "${pids[waited]}" || failed=1
      waited=$((waited + 1))
    fi
  done
  for ((; waited < ${#pids[@]}; waited++)); do wait "${pids[waited]}" || failed=1; done
  ((!failed)) || fail "a task failed; its message stands above"
}

# number_of_reducers: of the step at hand. A plan has a line before its slices and one after them; one slice is the least.
number_of_reducers() {
  [[ -n ${slices:-} ]] || { echo "${reducers:-$REDUCERS}"; return; }
  local lines
  lines=$(rows "$slices" | wc -l)
  echo $((lines > 3 ? lines - 2 : 1))
}

# counted COUNTER STEP…: the sum of a counter over all tasks of steps
counted() { counters_of "${@:2}" | awk -F '\t' -v name="$1" '$1 == name { sum += $2 } END { printf "%.0f", sum }'; }

# few LIMIT COUNTER STEP…: whether counters of steps add up to no more than LIMIT
few() {
  local limit=$1 sum=0
  while shift && (($#)); do sum=$((sum + $(counted "$1" "$2"))) && shift; done
  ((sum <= limit))
}

# until_zero COUNTER DATA LAST: when the step that has just ended in round $round counted no COUNTER, its DATA-$round is LAST
until_zero() {
  local sum && sum=$(counted "$1" "$STEP")
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
  local sum && sum=$(counted "$1" "$STEP")
  [[ $2 == all ]] || ((sum <= $2)) || fail "$sum $3 (the limit is $2)"
}
