#!/usr/bin/env bash
# twinsplit plan doc-split --cluster star --features spotsigs --idf 0.3,0.85 --min-features 4 --tau 0.3 --write-kept
# usage: SCRIPT OUTPUT INPUT…   (documents as JSON lines, plain or gzip; OUTPUT is a folder)
# The environment may set MAPPERS, REDUCERS, JOBS (tasks at once), SORT_MEMORY, WORK (the folder in between), QUIET, RESUME.
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C
(($# >= 2)) || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
OUTPUT=$1 INPUT=("${@:2}")
: "${MAPPERS:=2}" "${REDUCERS:=2}" "${JOBS:=2}" "${SORT_MEMORY:=256M}" "${WORK:=$OUTPUT/_work}"
mkdir -p "$OUTPUT" "$WORK"

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

# The shuffle of a cluster on one machine: every task is a process; rows are partitioned by their key, shuffled, so
# that no stage can rely on the order of equal keys, and sorted.

shopt -s globstar
for file in "${INPUT[@]}"; do
  [[ -f $file || -d $file ]] || { [[ ! -e $file ]] && compgen -G "$file" > /dev/null; } || fail "$file: no file; the documents are read more than once, so no pipe can be the input"
done
command -v twinsplit > /dev/null || fail "twinsplit is not on PATH; put the folder of the binaries there"

# A run that was stopped goes on after its last finished step with RESUME=1, if it is the same script on the same files.
same() { sed -n 2p "$0" && cat "$0" <(stat -c '%n %s %y' "${INPUT[@]}") | cksum; }
if [[ -n ${DRIVER_PID:-} ]]; then
  # twinsplit run has compared more than that. Tasks that outlive it for a moment hold the lock that is standard input.
  exec 8<&0 < /dev/null
  watch_driver true 8<&-
  trap unwatch EXIT
elif [[ -n ${RESUME:-} && -f $WORK/_same ]]; then
  [[ $(same) == "$(< "$WORK/_same")" ]] || fail "the script or an input has changed since $WORK was begun; remove $WORK to begin anew"
  rm -rf "$WORK"/*.partial
else
  [[ ! -e $OUTPUT/clusters.tsv ]] || fail "$OUTPUT holds an answer; remove it first"
  [[ -z $(ls -A "$WORK") ]] || fail "$WORK is not empty: RESUME=1 goes on with what is there, or remove it"
  for file in {pairs,clusters}.tsv kept.jsonl; do
    [[ ! -e $OUTPUT/$file && ! -L $OUTPUT/$file ]] || fail "$OUTPUT/$file stands in the way; move it, or choose another folder"
  done
  same > "$WORK/_same"
fi

# step NAME DATA WHY: says what comes next; a step whose DATA is there is passed over
step() {
  STEP=$1 STARTED=${EPOCHREALTIME/./}
  export TWINSPLIT_COUNTERS=$WORK/_counters/$1
  echo "$1" > "$WORK/_now"
  if made "$2"; then
    say "$1: finished before"
  else
    rm -rf "$TWINSPLIT_COUNTERS"
    mkdir -p "$TWINSPLIT_COUNTERS"
    say "$1: $3"
  fi
}
# made DATA: whether a data set is complete
made() { [[ -d $WORK/$1 ]]; }

# begin DATA: false when a data set is complete; else its folder is made, with .partial at the end of its name
begin() {
  ! made "$1" || return 1
  mkdir -p "$WORK/$1.partial"
}

# finish DATA: the data set is complete and gets its name
finish() {
  printf '%s\t%s\n' "$STEP" $((${EPOCHREALTIME/./} - STARTED)) >> "$WORK/_steps"
  mv "$WORK/$1.partial" "$WORK/$1"
}

# parts DATA…: the part files of data sets
parts() {
  local data
  for data in "$@"; do find "$WORK/$data" -name 'part-?????' | sort; done
}

# share K N "DATA…" COMMAND…: COMMAND with the K-th of N shares of data sets: lines of documents, or whole part files
share() {
  local number=$1 of=$2 data=$3 files
  shift 3
  if [[ $data == documents ]]; then
    "$@" --input "${INPUT[@]}" --split "$number/$of"
  else
    # shellcheck disable=SC2086  # a list of names without spaces
    mapfile -t files < <(parts $data | awk -v k="$number" -v n="$of" 'NR % n == k')
    cat "${files[@]}" < /dev/null | TWINSPLIT_TASK=${TWINSPLIT_TASK:-$number} "$@"
  fi
}

# complete FILE COMMAND…: COMMAND's output under the name FILE when it is complete
complete() {
  local file=$1
  shift
  "$@" > "$file.partial" || { rm -f "$file.partial"; fail "$file was not completed; the message stands above"; }
  mv "$file.partial" "$file"
}

part() { printf '%s/%s/part-%05d' "$WORK" "$1" "$2"; }

# map N "FROM…" TO MAPPER…: a map-only step of N tasks
map() {
  local of=$1 from=$2 to=$3
  shift 3
  begin "$to" || return 0
  tasks "$of" map_task "$of" "$from" "$to.partial" "$@"
  finish "$to"
}
map_task() {
  local number=$1 of=$2 from=$3 to=$4
  shift 4
  mapreduce_task_output_dir=$WORK/$to complete "$(part "$to" "$number")" share "$number" "$of" "$from" "$@"
}

# map_reduce N R P S "FROM…" TO MAPPER… -- REDUCER…: N mappers and R reducers; rows meet by their first P fields and
# are sorted by their first S
map_reduce() {
  local of=$1 reducers=$2 partition=$3 sort=$4 from=$5 to=$6.partial mapper=()
  begin "$6" || return 0
  shift 6
  for ((; ; )); do
    [[ $1 != -- ]] || break
    mapper+=("$1")
    shift
  done
  shift
  mkdir -p "$WORK/$to/_shuffle"
  tasks "$of" shuffle_task "$of" "$reducers" "$partition" "$from" "$to" "${mapper[@]}"
  tasks "$reducers" reduce_task "$sort" "$to" "$@"
  rm -r "$WORK/$to/_shuffle"
  finish "${to%.partial}"
}
shuffle_task() {
  local number=$1 of=$2 reducers=$3 partition=$4 from=$5 to=$6
  shift 6
  mapreduce_task_output_dir=$WORK/$to share "$number" "$of" "$from" "$@" |
    twinsplit partition --fields "$partition" --parts "$reducers" --to "$WORK/$to/_shuffle/$number"
}
reduce_task() {
  local number=$1 sort=$2 to=$3
  shift 3
  TWINSPLIT_TASK=$number mapreduce_task_output_dir=$WORK/$to \
    complete "$(part "$to" "$number")" reduce_rows "$number" "$sort" "$WORK/$to/_shuffle" "$@"
}
reduce_rows() {
  local number=$1 sort=$2 shuffle=$3
  shift 3
  if ((sort > 0)); then
    sort -t $'\t' -k "1,$sort" -s -S "$SORT_MEMORY" -T "$shuffle" "$shuffle"/*."$number" | "$@"
  else
    cat "$shuffle"/*."$number" | "$@"
  fi
}

# each SLICES OPTION "FROM…" TO MAPPER…: a map-only job for each slice, which is the side file of OPTION
each() {
  local slices option=$2 from=$3 to=$4
  mapfile -t slices < <(find "$WORK/$1" -name 'part-?????' -size +0 | sort)
  shift 4
  begin "$to" || return 0
  tasks "${#slices[@]}" each_task "$option" "$from" "$to.partial" "${slices[@]}" -- "$@"
  finish "$to"
}
each_task() {
  local number=$1 option=$2 from=$3 to=$4 slice
  shift 4
  slice=${*:number+1:1}
  while [[ $1 != -- ]]; do shift; done
  shift
  TWINSPLIT_TASK=$number complete "$(part "$to" "$number")" share 0 1 "$from" "$@" "--$option" "$slice"
}

# What the functions of all chains need: the rows of a data set of one part, counters of steps, another name for data.
only_part() { cat "$(part "$1" 0)"; }
counters_of() { find "${@/#/$WORK/_counters/}" -type f -exec cat {} +; }
name() { mv "$WORK/$1" "$WORK/$2"; }

# collect DATA FILE: all parts of an answer in one sorted file
collect() { [[ -f $OUTPUT/$2 ]] || complete "$OUTPUT/$2" collect_rows "$1"; }
collect_rows() {
  local files
  mapfile -t files < <(parts "$1")
  sort -S "$SORT_MEMORY" -T "$WORK" "${files[@]}" < /dev/null
}

# The chain.

step tokenize sets 'Turns each document into its set of features.'
map "$MAPPERS" "documents" sets tokenize --features spotsigs --min-features 4
guard bad_records "${TWINSPLIT_BAD_RECORDS:-0}" 'bad documents in all tasks together; correct them, or raise --bad-records'

step doc-meta meta 'Takes what the keep rule needs; sorted by id, two documents with one id meet and are named.'
map_reduce "$MAPPERS" "$REDUCERS" 1 1 "documents" meta \
  doc-meta -- \
  doc-meta-reduce

step feature-count feature-counts 'Counts the documents of each feature; sorted by feature, its counts meet.'
map_reduce "$MAPPERS" "$REDUCERS" 1 1 "sets" feature-counts \
  feature-count -- \
  feature-count-reduce

step feature-order order 'Orders features by frequency and lists those in the IDF range; N sorts before all features.'
map_reduce "$MAPPERS" 1 1 1 "feature-counts" order \
  cat -- \
  feature-order --idf 0.3,0.85 --features spotsigs

step idf-filter filtered-sets 'Leaves out features out of the IDF range.'
map "$MAPPERS" "sets" filtered-sets idf-filter --features spotsigs --order "$(part order 0)"

step equal-sets members 'Joins equal sets once; sorted by hash, then id, the smallest id of a group comes first.'
map_reduce "$MAPPERS" "$REDUCERS" 1 2 "filtered-sets" members \
  equal-sets --min-features 4 -- \
  equal-sets-reduce

step size-count sizes 'Counts the sets of each size; sizes have a fixed width, so bytes sort them as numbers.'
map_reduce "$MAPPERS" "$REDUCERS" 1 1 "members" sizes \
  size-count --min-features 4 -- \
  size-count-reduce

step slice-plan plan 'Cuts the sizes into slices of about equal cost.'
map_reduce "$MAPPERS" 1 1 1 "sizes" plan \
  cat -- \
  slice-plan --tau 0.3 --features spotsigs

step index-doc slices 'Sends each set to its slice; sorted by slice, then size, then id.'
map_reduce "$MAPPERS" "$(slices plan)" 1 3 "members" slices \
  index-doc --min-features 4 --features spotsigs --plan "$(part plan 0)" -- \
  index-doc-reduce --features spotsigs

step docsplit-query joined-pairs 'Streams all sets past each slice, which is held in memory.'
each slices index "members" joined-pairs docsplit-query --tau 0.3 --min-features 4 --cluster star --features spotsigs

step expand-left half-expanded 'Repeats pairs for the copies of their first document; sorted by it, copies come before pairs.'
map_reduce "$MAPPERS" "$REDUCERS" 1 2 "joined-pairs members" half-expanded \
  expand-left -- \
  expand-left-reduce

step expand-right pairs 'Repeats pairs for the copies of their second document, and pairs the copies with one another.'
map_reduce "$MAPPERS" "$REDUCERS" 1 2 "half-expanded members" pairs \
  expand-right -- \
  expand-right-reduce
guard pairs "${TWINSPLIT_MAX_PAIRS:-1000000000}" 'pairs of documents; a higher tau has fewer, --write clusters needs none, or raise --max-pairs'

# components: Links documents to ever smaller ones of their component until no link has to change: then each is linked to the smallest.
from="joined-pairs members" round=0
until made components; do
  round=$((round + 1))

  step large-star-$round large-stars-$round 'Links the larger neighbours of each document to its smallest one; sorted by neighbour, that one comes first.'
  map_reduce "$MAPPERS" "$REDUCERS" 1 2 "$from" large-stars-$round \
    large-star -- \
    large-star-reduce
  until_zero changes large-stars components
  ! made components || break

  step small-star-$round small-stars-$round 'Links each document and its smaller neighbours to the smallest of them.'
  map_reduce "$MAPPERS" "$REDUCERS" 1 2 "large-stars-$round" small-stars-$round \
    small-star -- \
    small-star-reduce
  from=small-stars-$round
done

step star-rank star-members 'Brings each document'\''s component, rank and representative together; sorted by id.'
map_reduce "$MAPPERS" "$REDUCERS" 1 2 "components meta members" star-members \
  star-rank -- \
  star-rank-reduce

step star-link star-links 'Brings each pair, in both directions, the rank of its representative'\''s best copy; sorted by representative, copies come before pairs.'
map_reduce "$MAPPERS" "$REDUCERS" 1 2 "star-members joined-pairs" star-links \
  star-link -- \
  star-link-reduce

step star labels 'Goes through each component, best document first: it is a centre unless an earlier neighbour is one; sorted by component, then rank, members come last.'
map_reduce "$MAPPERS" "$REDUCERS" 1 4 "star-links star-members" labels \
  star -- \
  star-reduce

step keep ranked 'Brings each document'\''s cluster, rank and set together; sorted by id.'
map_reduce "$MAPPERS" "$REDUCERS" 1 2 "labels meta filtered-sets" ranked \
  keep -- \
  keep-reduce

step keep-choose clusters 'Keeps the best document of each cluster; sorted by cluster, then rank, then id, it comes first.'
map_reduce "$MAPPERS" "$REDUCERS" 1 3 "ranked" clusters \
  cat -- \
  keep-choose --tau 0.3

step write-kept kept 'Passes on the lines of documents that no cluster drops.'
map 1 "documents" kept write-kept --clusters "$WORK/clusters"

collect pairs pairs.tsv
complete "$OUTPUT/kept.jsonl" only_part kept
collect clusters clusters.tsv
