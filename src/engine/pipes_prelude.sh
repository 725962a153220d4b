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
