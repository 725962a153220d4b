# The engine pipes: the shuffle of a cluster on one machine. Every task is a process; rows are partitioned by their key,
# shuffled, so that no stage can rely on the order of equal keys, and sorted.
source "$JOBS_LIB/twinsplit.sh"
shopt -s globstar nullglob
: "${MAPPERS:=2}" "${SORT_MEMORY:=256M}" "${WORK:=$OUTPUT/_work}"
mkdir -p "$OUTPUT" "$WORK"
for file in "${INPUT[@]}" ${QUERIES:+"$QUERIES"}; do
  [[ -f $file || -d $file ]] || { [[ ! -e $file ]] && compgen -G "$file" > /dev/null; } || fail "$file: no file; the documents are read more than once, so no pipe can be the input"
done
command -v twinsplit > /dev/null || fail "twinsplit is not on PATH; put its folder there"
check_program twinsplit

# A run that was stopped goes on after its last finished step with RESUME=1, if it is the same script on the same files.
same() { sed -n 2p "$0" && cat "$0" <(stat -c '%n %s %y' "${INPUT[@]}" ${QUERIES:+"$QUERIES"}) | cksum; }
if [[ -n ${DRIVEN:-} ]]; then
  # twinsplit run has compared more than that. Tasks that outlive it for a moment hold the lock that is standard input.
  exec 8<&0 < /dev/null
elif [[ -n ${RESUME:-} && -f $WORK/_same ]]; then
  [[ $(same) == "$(< "$WORK/_same")" ]] || fail "the script or an input has changed since $WORK was begun; remove $WORK to begin anew"
  rm -rf "$WORK"/*.partial
else
  [[ ! -e $OUTPUT/clusters.tsv ]] || fail "$OUTPUT holds an answer; remove it first"
  [[ -z $(ls -A "$WORK") ]] || fail "$WORK is not empty: RESUME=1 goes on with what is there, or remove it"
  for file in {pairs,clusters}.tsv kept.jsonl; do
    [[ ! -e $OUTPUT/$file && ! -L $OUTPUT/$file ]] || fail "$OUTPUT/$file stands in the way; move it, or choose another folder"
  done
  # Of two that begin at once one makes this file, and the other ends.
  begun=$(same)
  (set -o noclobber && echo "$begun" > "$WORK/_same") 2> /dev/null || fail "$WORK/_same could not be made: another run has begun there, or nothing can be written there"
fi

# What a data set is here: a folder, which has its name when it is complete, of part files.
made() { [[ -d $WORK/$1 ]]; }
finished() { made "$1"; }
name() { mv "$WORK/$1" "$WORK/$2"; }
part() { printf '%s/%s/part-%05d' "$WORK" "$1" "$2"; }
only_part() { part "$1" 0; }
rows() { cat "$(only_part "$1")"; }
# parts_of DATA…: PARTS are their part files, in order
parts_of() {
  local data
  PARTS=()
  for data in "$@"; do PARTS+=("$WORK/$data"/part-?????); done
}

counters_of() { find "${@/#/$WORK/_counters/}" -type f -exec cat {} +; }
begin_step() {
  export TWINSPLIT_COUNTERS=$WORK/_counters/$STEP
  echo "$STEP" > "$WORK/_now"
}
# begin DATA: a data set is made under its name with .partial at the end
begin() {
  rm -rf "$TWINSPLIT_COUNTERS"
  mkdir -p "$TWINSPLIT_COUNTERS" "$WORK/$1.partial"
  export mapreduce_task_output_dir=$WORK/$1.partial
}
finish() {
  printf '%s\t%s\n' "$STEP" $((${EPOCHREALTIME/./} - STARTED)) >> "$WORK/_steps"
  name "$1.partial" "$1"
}

# complete FILE COMMAND…: COMMAND's output under the name FILE when it is complete
complete() {
  local file=$1
  shift
  "$@" > "$file.partial" || { rm -f "$file.partial"; fail "$file was not completed; the message stands above"; }
  mv "$file.partial" "$file"
}

# stage NAME WORD…: ends this shell with a stage, which is the program by the stage's name, or with cat
stage() {
  [[ $1 == cat ]] || exec -a "$1" twinsplit "${@:2}"
  exec cat
}

# The functions of tasks see the locals of the step that they are part of: from, to, mappers, …
# share K N COMMAND…: COMMAND with the K-th of N shares of $from: lines of documents or queries, or whole part files
share() {
  local number=$1 of=$2 at files PARTS
  shift 2
  if [[ $from == documents || $from == queries ]]; then
    files=("${INPUT[@]}")
    [[ $from == documents ]] || files=("$QUERIES")
    (stage "$1" --input "${files[@]}" --split "$number/$of" "${@:2}")
  else
    # shellcheck disable=SC2086  # a list of names without spaces
    parts_of $from
    files=()
    for ((at = number; at < ${#PARTS[@]}; at += of)); do files+=("${PARTS[at]}"); done
    cat "${files[@]}" < /dev/null | TWINSPLIT_TASK=${TWINSPLIT_TASK:-$number} stage "$@"
  fi
}

# map "FROM…" TO MAPPER…: a map-only step
map() {
  local from=$1 to=$2 mapper=("${@:3}") mappers=${mappers:-$MAPPERS}
  ! passed "$to" || return 0
  begin "$to"
  tasks "$mappers" map_task
  finish "$to"
}
map_task() { complete "$(part "$to.partial" "$1")" share "$1" "$mappers" "${mapper[@]}"; }

# map_reduce P S "FROM…" TO MAPPER… -- REDUCER…: rows meet by their first P fields and are sorted by their first S
map_reduce() {
  local partition=$1 sort=$2 from=$3 to=$4 of mappers=${mappers:-$MAPPERS} MAPPER REDUCER
  split_words "${@:5}"
  ! passed "$to" || return 0
  of=$(number_of_reducers)
  begin "$to"
  mkdir -p "$WORK/$to.partial/_shuffle"
  tasks "$mappers" shuffle_task
  tasks "$of" reduce_task
  rm -r "$WORK/$to.partial/_shuffle"
  finish "$to"
}
shuffle_task() {
  share "$1" "$mappers" "${MAPPER[@]}" |
    twinsplit partition --fields "$partition" --parts "$of" --to "$WORK/$to.partial/_shuffle/$1"
}
reduce_task() { TWINSPLIT_TASK=$1 complete "$(part "$to.partial" "$1")" reduce_rows "$1" "$WORK/$to.partial/_shuffle"; }
reduce_rows() {
  if ((sort > 0)); then
    sort -t $'\t' -k "1,$sort" -s -S "$SORT_MEMORY" -T "$2" "$2"/*."$1" | stage "${REDUCER[@]}"
  else
    cat "$2"/*."$1" | stage "${REDUCER[@]}"
  fi
}

# each SLICES OPTION "FROM…" TO MAPPER…: a map-only job for each slice, which is the side file of OPTION
each() {
  local slices option=$2 from=$3 to=$4 mapper=("${@:5}")
  ! passed "$to" || return 0
  mapfile -t slices < <(find "$WORK/$1" -name 'part-?????' -size +0 | sort)
  begin "$to"
  tasks "${#slices[@]}" each_task
  finish "$to"
}
each_task() { TWINSPLIT_TASK=$1 complete "$(part "$to.partial" "$1")" share 0 1 "${mapper[@]}" "--$option" "${slices[$1]}"; }

# publish DATA…: each part of the answer in a file: kept lines as they come, all else sorted
publish() {
  local data
  for data in "$@"; do
    if [[ $data == kept ]]; then complete "$OUTPUT/kept.jsonl" rows kept
    elif [[ ! -f $OUTPUT/$data.tsv ]]; then complete "$OUTPUT/$data.tsv" sorted "$data"; fi
  done
}
sorted() {
  local PARTS
  parts_of "$1"
  sort -S "$SORT_MEMORY" -T "$WORK" "${PARTS[@]}" < /dev/null
}
