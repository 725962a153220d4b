#!/usr/bin/env bash
# twinsplit plan doc-split --engine hadoop --cluster star --features spotsigs --idf 0.3,0.85 --min-features 4 --tau 0.3 --write-kept
# usage: SCRIPT OUTPUT INPUT…   (documents as JSON lines, plain or .gz; all in HDFS or wherever Hadoop reads; OUTPUT is a folder)
# The environment may set HADOOP_HOME, HADOOP_OPTIONS (-D …), REDUCERS, HEAP (MB of a task's JVM), JOBS (at once), BINARY, STREAMING_JAR, WORK, LOGS, KEEP_WORK, QUIET, RESUME.
set -euo pipefail
shopt -s inherit_errexit nullglob
export LC_ALL=C
(($# >= 2)) || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
OUTPUT=${1%/} INPUT=("${@:2}") SHIP=() VERSION=0.1.0 CHAIN=doc-split
: "${REDUCERS:=2}" "${HEAP:=400}" "${JOBS:=2}"

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

# A chain as jobs of Hadoop Streaming. Every job writes beside its place and is moved there when it has succeeded, so
# that neither a job that failed nor one that outlives this script leaves anything that looks finished.

# Hadoop, its streaming jar, and the program that the tasks run.
HADOOP=${HADOOP_HOME:+$HADOOP_HOME/bin/}hadoop
HADOOP=$(command -v "$HADOOP") || fail "hadoop is not found: set HADOOP_HOME, or put hadoop on PATH"
[[ -n ${STREAMING_JAR:-} ]] || for folder in "$(dirname "$(readlink -f "$HADOOP")")"/../share/hadoop/tools/lib /usr/lib/hadoop-mapreduce /usr/lib/hadoop/{tools/lib,tools,}; do
  for jar in "$folder"/hadoop-streaming*.jar; do
    [[ ! -f $jar || $jar == *-sources.jar || $jar == *-test*.jar ]] || STREAMING_JAR=$jar
  done
  [[ -z ${STREAMING_JAR:-} ]] || break
done
[[ -f ${STREAMING_JAR:-} ]] || fail "hadoop-streaming.jar is not found beside $HADOOP: set STREAMING_JAR"
BINARY=${BINARY:-$(command -v twinsplit)} || fail "twinsplit is not on PATH: set BINARY to its file"
# Words as a shell has them: a value with blanks stands in quotes, and none is a pattern.
words=$(xargs -r printf '%s\n' <<< "${HADOOP_OPTIONS:-}") || fail "HADOOP_OPTIONS: a quote is not closed on its line"
OPTIONS=()
[[ -z $words ]] || mapfile -t OPTIONS <<< "$words"
fs() {
  # A file system of this machine needs no Java.
  local path paths=()
  for path in "${@:2}"; do [[ $path == -* ]] || paths+=("$path"); done
  case $1:${paths[*]: -1} in
    -mv:file:///*) mv "${paths[@]#file://}" ;;
    -put:file:///*) cp "${paths[@]#file://}" ;;
    -mkdir:file:///*) mkdir -p "${paths[@]#file://}" ;;
    -rm:file:///*) rm -rf "${paths[@]#file://}" ;;
    -cat:file:///*) cat "${paths[@]#file://}" ;;
    *) "$HADOOP" fs "$@" ;;
  esac
}

# Jobs run elsewhere, so they are given whole addresses.
base=
whole() {
  case $1 in
    *:/*) printf %s "$1" ;;
    /*) printf %s "$base$1" ;;
    *) printf %s "$base$home/$1" ;;
  esac
}
for path in "$OUTPUT" "${INPUT[@]}"; do
  [[ $path != *,* ]] || fail "$path: Hadoop takes a comma for the end of a path; rename it, or give a pattern with ? for it"
  [[ $path == *:/* || -n $base ]] || base=$("${HADOOP%hadoop}hdfs" getconf -confKey fs.defaultFS) || fail "hdfs getconf does not tell fs.defaultFS"
done
case $base in file:*) base=file:// home=$PWD ;; *) base=${base%/} home=/user/${HADOOP_USER_NAME:-$(id -un)} ;; esac
OUTPUT=$(whole "$OUTPUT") DOCUMENTS=()
for at in "${!INPUT[@]}"; do
  INPUT[at]=$(whole "${INPUT[at]}")
  DOCUMENTS+=(-input "${INPUT[at]}")
done
WORK=${WORK:-$OUTPUT/_work} RUN=$$-${EPOCHREALTIME/./}
OWN_LOGS=
[[ -n ${LOGS:-} ]] || { LOGS=$(mktemp -d "${TMPDIR:-/tmp}/twinsplit-logs.XXXXXX") OWN_LOGS=1; }
mkdir -p "$LOGS/steps"
[[ -z ${DRIVER_PID:-} ]] || exec < /dev/null

# Jobs that run when this script is stopped are stopped too.
stop_jobs() {
  local app
  for app in $(cat "$LOGS"/*.running 2> /dev/null | grep -oh 'application_[0-9]*_[0-9]*' | sort -u); do
    "${HADOOP%hadoop}yarn" application -kill "$app" > /dev/null 2>&1 || true
  done
}
# Their logs stay when something failed, and it is said where.
ended() {
  local code=$?
  trap - EXIT
  stop_jobs
  unwatch
  [[ -n $OWN_LOGS ]] || return 0
  if ((code == 0 || code == 2)); then rm -rf "$LOGS"; else echo "note: the logs of the jobs are in $LOGS" >&2; fi
}
trap ended EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
# A driver that was killed can neither keep the logs nor say where they are.
orphaned() { stop_jobs; rm -rf "$LOGS"; }
[[ -z ${DRIVER_PID:-} ]] || watch_driver orphaned

# What is there already: the answer, or steps of a run that was stopped.
fs -ls -R "${INPUT[@]}" > "$LOGS/inputs" 2> "$LOGS/inputs.log" || fail "an input is not found: $(grep -m 1 ^ls "$LOGS/inputs.log")"
# What makes it the same run: what twinsplit run says, or this script; and the size, time and name of each input.
{
  if [[ -n ${MANIFEST:-} ]]; then echo "$MANIFEST"; else sed -n 2p "$0" && cksum < "$0"; fi
  awk '{ print "the input", $5, $6, $7, $8 }' "$LOGS/inputs"
} > "$LOGS/_same"

# What a run recorded as its own, and nothing else, is replaced or removed. A record, run.json, lists the names of an answer.
NAMES=(run.json pairs.tsv clusters.tsv kept.jsonl quarantine.tsv report.html counters.json pairs clusters kept quarantine)
refuse() { echo "error: $*" >&2; exit 2; }
# recorded FILE: the names that a record lists, its own among them
recorded() {
  fs -cat "$1" > "$LOGS/_record"
  ! grep -q '"twinsplit"\|"manifest"' "$LOGS/_record" || tr '\n' ' ' < "$LOGS/_record" | sed -n 's/.*"outputs": *\[\([^]]*\)\].*/\1/p' |
    { grep -o '"path": *"[^"]*"' || true; } | sed 's|/*"$||; s|.*[/"]||' | cat - <(echo "${1##*/}")
}
# look: THERE is what lies in OUTPUT and WORK, OWN those names in OUTPUT that are a run's
look() {
  local path name
  declare -gA THERE=() OWN=()
  while read -r path; do THERE[${path%/}]=1; done < <(fs -ls -C "$OUTPUT" "$WORK" "$WORK/_steps" "$WORK/_replaced" 2> /dev/null)
  for path in "$OUTPUT"/{run,counters}.json "$WORK"/_replaced/{run,counters}.json; do
    [[ -z ${THERE[$path]:-} ]] || while read -r name; do OWN[$name]=1; done < <(recorded "$path")
  done
  if [[ -n ${OWN[run.json]:-} && -n ${THERE[$OUTPUT/report.html]:-} ]]; then
    { fs -cat "$OUTPUT/report.html" || true; } 2> /dev/null | head -c 4096 > "$LOGS/_record" || true
    ! grep -aq '<meta name="generator" content="twinsplit ' "$LOGS/_record" || OWN[report.html]=1
  fi
}
# refuse_others NAME…: stops when OUTPUT holds something by a name of ours that is none of these
refuse_others() {
  local name others=()
  for name in "${NAMES[@]}"; do
    [[ -z ${THERE[$OUTPUT/$name]:-} || " $* " == *" $name "* ]] || others+=("$OUTPUT/$name")
  done
  ((!${#others[@]})) || refuse "${others[*]} in the way: no run recorded this as its own, so none replaces it; move it, or choose another folder"
}
# is_link PATH: whether it is a link of this machine's file system
is_link() { [[ $1 == file:///* && -L ${1#file://} ]]; }

# swap: the answer of WORK, which is complete, comes to its place. The old run.json goes first, so that nothing in between
# is taken for an answer, and the new one comes last. Whoever is called after a stop goes on where that was.
swap() {
  local name old=() new=() own=()
  look
  mapfile -t names < <(recorded "$WORK/run.json")
  # Of these names what was moved already lies in OUTPUT, and is the new answer.
  for name in "${names[@]}"; do
    if [[ -n ${THERE[$WORK/$name]:-} ]]; then new+=("$WORK/$name"); else unset "OWN[$name]"; own+=("$name"); fi
  done
  [[ -n ${THERE[$WORK/_replaces]:-}${THERE[$WORK/_replaced]:-}${OVERWRITE:-} ]] || OWN=()
  refuse_others "${!OWN[@]}" "${own[@]}"
  for name in "${NAMES[@]}"; do
    [[ $name == run.json || -z ${OWN[$name]:-} || -z ${THERE[$OUTPUT/$name]:-} ]] || old+=("$OUTPUT/$name")
  done
  fs -mkdir -p "$WORK/_replaced"
  [[ -z ${THERE[$OUTPUT/run.json]:-} ]] || fs -mv "$OUTPUT/run.json" "$WORK/_replaced/"
  ((!${#old[@]})) || fs -mv "${old[@]}" "$WORK/_replaced/"
  for at in "${!new[@]}"; do [[ ${new[at]} != "$WORK/run.json" ]] || unset "new[at]"; done
  ((!${#new[@]})) || fs -mv "${new[@]}" "$OUTPUT/"
  fs -mv "$WORK/run.json" "$OUTPUT/"
  # _replaced stays where WORK does: it tells later runs that this one is over.
  if [[ -n ${KEEP_WORK:-} ]]; then
    fs -mkdir -p "$WORK/_replaced/_kept"
    ((!${#old[@]})) || fs -rm -r -skipTrash "${old[@]/#"$OUTPUT"/"$WORK/_replaced"}" > /dev/null
  else
    fs -rm -r -skipTrash "$WORK" > /dev/null
  fi
}

look
is_stopped=
if [[ -n ${THERE[$WORK]:-} ]] || is_link "$WORK"; then
  if is_link "$WORK"; then refuse "$WORK is a link, and a run works in a folder of its own; remove it, or choose another folder"; fi
  for name in _same _run.json; do
    if [[ -n ${THERE[$WORK/$name]:-} ]]; then
      fs -cat "$WORK/$name" > "$LOGS/_was"
      ! head -1 "$LOGS/_was" | grep -q '^\(# \)\?twinsplit \|"twinsplit"\|"program": "twinsplit ' || is_stopped=$name
    fi
  done
  for path in "${!THERE[@]}"; do
    [[ -n $is_stopped || $path != "$WORK"/* ]] || refuse "$WORK was made by no run, and a run works in a folder of this name of its own; move it, or choose another folder"
  done
fi
# A run that has only to end is ended.
if [[ $is_stopped == _same && -n ${THERE[$WORK/run.json]:-} && -n ${RESUME:-}${OVERWRITE:-} ]]; then
  if [[ -z ${RESUME:-} ]] || diff -q "$LOGS/_was" "$LOGS/_same" > /dev/null; then
    swap
    look
    [[ -n ${THERE[$WORK]:-} ]] || is_stopped=
  fi
fi
if [[ -n ${THERE[$WORK/_replaced]:-} && -z ${THERE[$WORK/run.json]:-} ]]; then
  is_stopped=
  [[ -n ${THERE[$WORK/_replaced/_kept]:-} && -z ${OVERWRITE:-} ]] || { fs -rm -r -skipTrash "$WORK" > /dev/null; look; }
fi
if [[ -n ${OVERWRITE:-} ]]; then
  refuse_others "${!OWN[@]}"
  [[ -z ${THERE[$WORK]:-} ]] || fs -rm -r -skipTrash "$WORK" > /dev/null
  is_stopped=
  for path in "${!THERE[@]}"; do [[ $path != "$WORK"* ]] || unset "THERE[\$path]"; done
elif [[ -n ${RESUME:-} && -z $is_stopped && -n ${OWN[run.json]:-} ]]; then
  say "$OUTPUT holds the complete answer"
  exit 0
fi
if [[ -n $is_stopped ]]; then
  [[ -n ${RESUME:-} && $is_stopped == _same ]] || fail "$WORK holds a run that was stopped: RESUME=1 goes on with it; remove it to begin anew"
  changed=$(diff "$LOGS/_was" "$LOGS/_same" | sed -n 's/^< / was: /p; s/^> /  is: /p' | head -8) || true
  [[ -z $changed ]] || fail "$WORK was begun with other options or another input; remove it to begin anew"$'\n'"$changed"
  fs -rm -r -f -skipTrash "$WORK/_tmp" > /dev/null
  for path in "${!THERE[@]}"; do
    # What a step counted is written after its data: only with both it is finished.
    [[ $path != "$WORK/_steps/"* ]] || { fs -get -f "$WORK/_steps/*" "$LOGS/steps"; break; }
  done
else
  if [[ -z ${OVERWRITE:-} ]]; then
    for path in "${!THERE[@]}"; do
      [[ $path == "$WORK" || $path == "$WORK/"* ]] || fail "$OUTPUT holds ${path##*/}: it may be an answer; remove it, or choose another folder"
    done
  fi
  # What the folder is goes into it first: one that does not say so is nobody's.
  fs -mkdir -p "$WORK"
  touch "$LOGS/_replaces"
  if [[ -n ${OVERWRITE:-} ]]; then fs -put -f "$LOGS/_same" "$LOGS/_replaces" "$WORK/"; else fs -put -f "$LOGS/_same" "$WORK/"; fi
  fs -mkdir -p "$WORK/_steps" "$WORK/_bin"
  # YARN links a file under one name for a job, so a mapper and its reducer have a file each.
  fs -put -f "$BINARY" "$WORK/_bin/map"
  fs -put -f "$BINARY" "$WORK/_bin/reduce"
  ((!${#SHIP[@]})) || fs -put -f "${SHIP[@]}" "$WORK/_bin/"
fi

# publish DATA…: the answer is complete when its record lies beside it, and gets its place then
publish() {
  local data outputs=
  [[ -z ${PUT:-} ]] || wait "$PUT"
  for data in "$@"; do outputs+="${outputs:+, }{\"path\": \"$data\"}"; done
  printf '{"twinsplit": "%s", "chain": "%s", "engine": "hadoop", "outputs": [%s]}\n' "$VERSION" "$CHAIN" "$outputs" > "$LOGS/run.json"
  fs -put -f "$LOGS/run.json" "$WORK/"
  swap
}

# Names as the rest of the script has them.
BIN=$WORK/_bin
NEW=$WORK/_tmp/$RUN
# What all jobs have, where the user's options do not say otherwise.
COMMON=(
  -D mapreduce.map.output.compress=true
  -D "mapreduce.map.java.opts=-Xmx${HEAP}m" -D "mapreduce.reduce.java.opts=-Xmx${HEAP}m"
)
# What the chain rests on, whatever a cluster's configuration or the user's options say: parts that are whole or not
# there, and that are found and read by their names.
FIXED=(
  -D mapreduce.fileoutputcommitter.algorithm.version=1
  -D mapreduce.output.fileoutputformat.compress=false
  -D mapreduce.input.fileinputformat.input.dir.recursive=true
  # Rows go out as they are: without this, one without a TAB gets one.
  -D stream.reduce.output=keyonlytext
)

# step NAME DATA WHY: false when the step was finished before
step() {
  STEP=$1 STARTED=${EPOCHREALTIME/./}
  echo "$1" | tee "$LOGS/_now" >> "$LOGS/_order"
  if finished "$1" "$2"; then
    say "$1: finished before"
    return 1
  fi
  say "$1: $3"
  rm -f "$LOGS/steps/$1" "$LOGS/steps/$1".*
}
finished() { [[ -f $LOGS/steps/$1 && -n ${THERE[$WORK/$2]:-} ]]; }

# made DATA: whether a data set is complete
made() { [[ -n ${THERE[$WORK/$1]:-} ]]; }

# inputs DATA…: the options that name data sets
inputs() {
  local data
  INPUTS=()
  for data in "$@"; do
    if [[ $data == documents ]]; then INPUTS+=("${DOCUMENTS[@]}"); else INPUTS+=(-input "$WORK/$data"); fi
  done
}

# streaming "FROM…" TO ARGUMENT…: a step of one job
streaming() {
  # shellcheck disable=SC2086  # a list of names without spaces
  inputs $1
  ! made "$2" || fs -rm -r -skipTrash "$WORK/$2" > /dev/null
  job "$STEP" "${@:2}" "${INPUTS[@]}"
  fs -mv "$NEW/$2" "$WORK/$2"
  finish
}

# finish: what the step's jobs counted is kept beside their data
finish() {
  awk -F '\t' '
    /^peak_/ { if ($2 > sum[$1]) sum[$1] = $2; next }
    { sum[$1] += $2 }
    END { for (name in sum) printf "%s\t%.0f\n", name, sum[name] }
  ' "$LOGS/steps/$STEP".job* | LC_ALL=C sort > "$LOGS/steps/.new"
  printf '_micros\t%s\n' $((${EPOCHREALTIME/./} - STARTED)) >> "$LOGS/steps/.new"
  rm "$LOGS/steps/$STEP".job*
  mv "$LOGS/steps/.new" "$LOGS/steps/$STEP"
  [[ -z ${PUT:-} ]] || wait "$PUT"
  fs -put -f "$LOGS/steps/$STEP" "$WORK/_steps/" &
  PUT=$!
}

# job NAME DATA ARGUMENT…: one job of Hadoop Streaming, from the folder of links that it may make. What the user says of
# sizes comes behind the step's own, and counts; what the step is made of comes behind that.
job() {
  local name=$1 data=$2 log=$LOGS/$1.log sizes=() others=()
  shift 2
  while (($#)); do
    if [[ ${2:-} == mapreduce.*.memory.mb=* ]]; then
      sizes+=("$1" "$2")
      shift
    else
      others+=("$1")
    fi
    shift
  done
  mkdir -p "$LOGS/links/$name"
  ln -sf "$log" "$LOGS/$name.running"
  (cd "$LOGS/links/$name" && exec "$HADOOP" jar "$STREAMING_JAR" -D mapreduce.job.name="twinsplit $name" "${COMMON[@]}" "${sizes[@]}" "${OPTIONS[@]}" "${FIXED[@]}" "${others[@]}" -output "$NEW/$data") > "$log" 2>&1 < /dev/null || explain "$name" "$log"
  rm -f "$LOGS/$name.running"
  counters < "$log" > "$LOGS/steps/$STEP.job-${data//\//-}"
}

# counters: what a job's client prints at its end (some clients twice), as names and numbers: the stages' own, and
# Hadoop's of volumes and memory under names of ours
counters() {
  awk '
    /Counters: [0-9]+$/ { rows = ""; next }
    /^\t[^\t]/ { group = substr($0, 2); next }
    !/^\t\t/ { group = ""; next }
    {
      name = value = substr($0, 3)
      sub(/=[0-9]+$/, "", name)
      sub(/.*=/, "", value)
      if (name == "Map output materialized bytes") name = "shuffled_bytes"
      else if (name == "Spilled Records") name = "spilled_records"
      else if (name == "HDFS: Number of bytes read") name = "hdfs_bytes_read"
      else if (name == "HDFS: Number of bytes written") name = "hdfs_bytes_written"
      else if (name ~ /^Launched (map|reduce) tasks$/) name = "tasks"
      else if (name ~ /^Peak (Map|Reduce) Physical memory/) name = "peak_memory"
      else if (group !~ /^[a-z][a-z-]*$/ || name ~ /^peak_/) next
      rows = rows name "\t" value "\n"
    }
    END { printf "%s", rows }'
}

# explain NAME LOG: why a job failed, by what its tasks said
explain() {
  local app try file=stderr find='/^error:/'
  app=$(grep -o 'application_[0-9]*_[0-9]*' "$2" | tail -1) || app=
  # YARN's own word comes first: a task that was killed has none.
  awk '/Status : FAILED$/ { getline; sub(/^\[[^]]*\]/, ""); print }' "$2" | sort -u > "$LOGS/$1.why"
  # A stage that gives up says why and ends with 1 or 2. Of a task that ended otherwise the input is known. A job that
  # ends at once may end without a word.
  [[ ! -s $LOGS/$1.why ]] || grep -q 'failed with code [12]$' "$LOGS/$1.why" ||
    file=syslog find='/Processing split: / { input = $NF } / running child/ { print "in a task that read " input }'
  grep -ah '^error:' "$2" > "$LOGS/$1.said" || true
  for ((try = 0; try < 10 && ${#app}; try++)); do
    [[ ! -s $LOGS/$1.why ]] || grep -q ^Error "$LOGS/$1.why" || break
    # A task's log is gathered some seconds after the job has ended.
    "${HADOOP%hadoop}yarn" logs -applicationId "$app" -log_files "$file" 2> /dev/null | awk "$find" > "$LOGS/$1.said" || true
    [[ ! -s $LOGS/$1.said ]] || break
    sleep 2
  done
  [[ $file == stderr && -s $LOGS/$1.said ]] || head -3 "$LOGS/$1.why" >&2
  sort -u "$LOGS/$1.said" | head -5 >&2
  if [[ ! -s $LOGS/$1.why && ! -s $LOGS/$1.said ]]; then
    grep -aE 'Error|ERROR|Exception|Container|memory|denied|refused' "$2" | grep -av '^	at ' | tail -8 >&2 || tail -5 "$2" >&2
  fi
  fail "the job $1 failed; more is in $2${app:+, and: yarn logs -applicationId $app}"
}

# each SLICES OPTION "FROM…" TO FILES ARGUMENT…: a map-only job for each slice, which is the side file of OPTION
each() {
  local slices made option=$2 to=$4 files=$5
  mapfile -t slices < <(fs -ls "$WORK/$1" | awk '$5 > 0 && $NF ~ /\/part-[0-9]*$/ { print $NF }' | sort)
  made=$(counted slices_made index-doc)
  ((${#slices[@]} == made)) || fail "$WORK/$1 holds ${#slices[@]} of $made slices: remove it, and it is made anew when the run goes on"
  # shellcheck disable=SC2086  # a list of names without spaces
  inputs $3
  shift 5
  ! made "$to" || fs -rm -r -skipTrash "$WORK/$to" > /dev/null
  fs -mkdir -p "$NEW/$to"
  tasks "${#slices[@]}" each_job "$to" "$files" "$option" "${slices[@]}" -- "$@" "${INPUTS[@]}"
  printf 'jobs\t%s\n' "${#slices[@]}" > "$LOGS/steps/$STEP.jobs"
  fs -mv "$NEW/$to" "$WORK/$to"
  finish
}
each_job() {
  local to=$2 files=$3 option=$4 slice=${*:$1+5:1}
  while [[ $1 != -- ]]; do shift; done
  shift
  job "$STEP-${slice##*/part-}" "$to/${slice##*/}" -files "$files,$slice#$option" "$@"
}

# What the functions of all chains need: the rows of a data set of one part, counters of steps, another name for data.
only_part() { fs -cat "$WORK/$1/part-00000"; }
counters_of() { cat "${@/#/$LOGS/steps/}"; }
name() {
  fs -mv "$WORK/$1" "$WORK/$2"
  THERE[$WORK/$2]=1
}

# by_name: stops unless the inputs come in byte order of their names, none of which begins with another; then the order of
# files, as the inputs are given and by name in each, is that of their names
by_name() {
  local at last next
  for ((at = 1; at < ${#INPUT[@]}; at++)); do
    last=${INPUT[at - 1]%%[*?[\\{]*} next=${INPUT[at]%%[*?[\\{]*}
    [[ $last < $next && $next != "$last"* ]] ||
      fail "--keep first: on Hadoop files come in byte order of their names, so give ${INPUT[at]} before ${INPUT[at - 1]}, or both as one folder or pattern; or take another --keep"
  done
}

# The chain.

step tokenize sets 'Turns each document into its set of features.' &&
  streaming "documents" sets \
    -D mapreduce.job.reduces=0 -D stream.map.output=keyonlytext \
    -D textinputformat.record.delimiter=$'\n' \
    -D mapreduce.map.memory.mb=$((HEAP + 206)) \
    -files "$BIN/map#tokenize" \
    -mapper 'tokenize --features spotsigs --min-features 4'
guard bad_records 0 'bad documents in all tasks together; correct them, or raise --bad-records'

step doc-meta meta 'Takes what the keep rule needs; sorted by id, two documents with one id meet and are named.' &&
  streaming "documents" meta \
    -D mapreduce.job.reduces=$REDUCERS -D stream.num.map.output.key.fields=1 -D mapreduce.partition.keypartitioner.options=-k1,1 \
    -D textinputformat.record.delimiter=$'\n' \
    -D mapreduce.map.memory.mb=$((HEAP + 206)) -D mapreduce.reduce.memory.mb=$((HEAP + 206)) \
    -files "$BIN/map#doc-meta,$BIN/reduce#doc-meta-reduce" \
    -partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner \
    -mapper doc-meta -reducer doc-meta-reduce

step feature-count feature-counts 'Counts the documents of each feature; sorted by feature, its counts meet.' &&
  streaming "sets" feature-counts \
    -D mapreduce.job.reduces=$REDUCERS -D stream.num.map.output.key.fields=1 -D mapreduce.partition.keypartitioner.options=-k1,1 \
    -D mapreduce.map.memory.mb=$((HEAP + 283)) -D mapreduce.reduce.memory.mb=$((HEAP + 206)) \
    -files "$BIN/map#feature-count,$BIN/reduce#feature-count-reduce" \
    -partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner \
    -mapper feature-count -reducer feature-count-reduce

step feature-order order 'Orders features by frequency and lists those in the IDF range; N sorts before all features.' &&
  streaming "feature-counts" order \
    -D mapreduce.job.reduces=1 -D stream.num.map.output.key.fields=1 \
    -D mapreduce.map.memory.mb=$((HEAP + 150)) -D mapreduce.reduce.memory.mb=$((HEAP + 268)) \
    -files "$BIN/reduce#feature-order" \
    -mapper cat -reducer 'feature-order --idf 0.3,0.85 --features spotsigs'

step idf-filter filtered-sets 'Leaves out features out of the IDF range.' &&
  streaming "sets" filtered-sets \
    -D mapreduce.job.reduces=0 -D stream.map.output=keyonlytext \
    -D mapreduce.map.memory.mb=$((HEAP + 206)) \
    -files "$BIN/map#idf-filter,$WORK/order/part-00000#order" \
    -mapper 'idf-filter --features spotsigs --order order'

step equal-sets members 'Joins equal sets once; sorted by hash, then id, the smallest id of a group comes first.' &&
  streaming "filtered-sets" members \
    -D mapreduce.job.reduces=$REDUCERS -D stream.num.map.output.key.fields=2 -D mapreduce.partition.keypartitioner.options=-k1,1 \
    -D mapreduce.map.memory.mb=$((HEAP + 206)) -D mapreduce.reduce.memory.mb=$((HEAP + 206)) \
    -files "$BIN/map#equal-sets,$BIN/reduce#equal-sets-reduce" \
    -partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner \
    -mapper 'equal-sets --min-features 4' -reducer equal-sets-reduce

step size-count sizes 'Counts the sets of each size; sizes have a fixed width, so bytes sort them as numbers.' &&
  streaming "members" sizes \
    -D mapreduce.job.reduces=$REDUCERS -D stream.num.map.output.key.fields=1 -D mapreduce.partition.keypartitioner.options=-k1,1 \
    -D mapreduce.map.memory.mb=$((HEAP + 206)) -D mapreduce.reduce.memory.mb=$((HEAP + 206)) \
    -files "$BIN/map#size-count,$BIN/reduce#size-count-reduce" \
    -partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner \
    -mapper 'size-count --min-features 4' -reducer size-count-reduce

step slice-plan plan 'Cuts the sizes into slices of about equal cost.' &&
  streaming "sizes" plan \
    -D mapreduce.job.reduces=1 -D stream.num.map.output.key.fields=1 \
    -D mapreduce.map.memory.mb=$((HEAP + 150)) -D mapreduce.reduce.memory.mb=$((HEAP + 206)) \
    -files "$BIN/reduce#slice-plan" \
    -mapper cat -reducer 'slice-plan --tau 0.3 --features spotsigs'

step index-doc slices 'Sends each set to its slice; sorted by slice, then size, then id.' &&
  streaming "members" slices \
    -D mapreduce.job.reduces=$(slices plan) -D stream.num.map.output.key.fields=3 -D mapreduce.partition.keypartitioner.options=-k1,1 \
    -D mapreduce.map.memory.mb=$((HEAP + 206)) -D mapreduce.reduce.memory.mb=$((HEAP + 206)) \
    -files "$BIN/map#index-doc,$BIN/reduce#index-doc-reduce,$WORK/plan/part-00000#plan" \
    -partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner \
    -mapper 'index-doc --min-features 4 --features spotsigs --plan plan' -reducer 'index-doc-reduce --features spotsigs'

step docsplit-query joined-pairs 'Streams all sets past each slice, which is held in memory.' &&
  each slices index "members" joined-pairs "$BIN/map#docsplit-query" \
    -D mapreduce.job.reduces=0 -D stream.map.output=keyonlytext \
    -D mapreduce.input.fileinputformat.split.minsize=1073741824 \
    -D mapreduce.map.memory.mb=$((HEAP + 795)) \
    -mapper 'docsplit-query --tau 0.3 --min-features 4 --cluster star --features spotsigs'

step expand-left half-expanded 'Repeats pairs for the copies of their first document; sorted by it, copies come before pairs.' &&
  streaming "joined-pairs members" half-expanded \
    -D mapreduce.job.reduces=$REDUCERS -D stream.num.map.output.key.fields=2 -D mapreduce.partition.keypartitioner.options=-k1,1 \
    -D mapreduce.map.memory.mb=$((HEAP + 206)) -D mapreduce.reduce.memory.mb=$((HEAP + 206)) \
    -files "$BIN/map#expand-left,$BIN/reduce#expand-left-reduce" \
    -partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner \
    -mapper expand-left -reducer expand-left-reduce

step expand-right pairs 'Repeats pairs for the copies of their second document, and pairs the copies with one another.' &&
  streaming "half-expanded members" pairs \
    -D mapreduce.job.reduces=$REDUCERS -D stream.num.map.output.key.fields=2 -D mapreduce.partition.keypartitioner.options=-k1,1 \
    -D mapreduce.map.memory.mb=$((HEAP + 206)) -D mapreduce.reduce.memory.mb=$((HEAP + 206)) \
    -files "$BIN/map#expand-right,$BIN/reduce#expand-right-reduce" \
    -partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner \
    -mapper expand-right -reducer expand-right-reduce
guard pairs 1000000000 'pairs of documents; a higher tau has fewer, --write clusters needs none, or raise --max-pairs'

# components: Links documents to ever smaller ones of their component until no link has to change: then each is linked to the smallest.
from="joined-pairs members" round=0
until made components; do
  round=$((round + 1))

  step large-star-$round large-stars-$round 'Links the larger neighbours of each document to its smallest one; sorted by neighbour, that one comes first.' &&
    streaming "$from" large-stars-$round \
      -D mapreduce.job.reduces=$REDUCERS -D stream.num.map.output.key.fields=2 -D mapreduce.partition.keypartitioner.options=-k1,1 \
      -D mapreduce.map.memory.mb=$((HEAP + 283)) -D mapreduce.reduce.memory.mb=$((HEAP + 206)) \
      -files "$BIN/map#large-star,$BIN/reduce#large-star-reduce" \
      -partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner \
      -mapper large-star -reducer large-star-reduce
  until_zero changes large-stars components
  ! made components || break

  step small-star-$round small-stars-$round 'Links each document and its smaller neighbours to the smallest of them.' &&
    streaming "large-stars-$round" small-stars-$round \
      -D mapreduce.job.reduces=$REDUCERS -D stream.num.map.output.key.fields=2 -D mapreduce.partition.keypartitioner.options=-k1,1 \
      -D mapreduce.map.memory.mb=$((HEAP + 206)) -D mapreduce.reduce.memory.mb=$((HEAP + 206)) \
      -files "$BIN/map#small-star,$BIN/reduce#small-star-reduce" \
      -partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner \
      -mapper small-star -reducer small-star-reduce
  from=small-stars-$round
done

step star-rank star-members 'Brings each document'\''s component, rank and representative together; sorted by id.' &&
  streaming "components meta members" star-members \
    -D mapreduce.job.reduces=$REDUCERS -D stream.num.map.output.key.fields=2 -D mapreduce.partition.keypartitioner.options=-k1,1 \
    -D mapreduce.map.memory.mb=$((HEAP + 206)) -D mapreduce.reduce.memory.mb=$((HEAP + 206)) \
    -files "$BIN/map#star-rank,$BIN/reduce#star-rank-reduce" \
    -partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner \
    -mapper star-rank -reducer star-rank-reduce

step star-link star-links 'Brings each pair, in both directions, the rank of its representative'\''s best copy; sorted by representative, copies come before pairs.' &&
  streaming "star-members joined-pairs" star-links \
    -D mapreduce.job.reduces=$REDUCERS -D stream.num.map.output.key.fields=2 -D mapreduce.partition.keypartitioner.options=-k1,1 \
    -D mapreduce.map.memory.mb=$((HEAP + 206)) -D mapreduce.reduce.memory.mb=$((HEAP + 206)) \
    -files "$BIN/map#star-link,$BIN/reduce#star-link-reduce" \
    -partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner \
    -mapper star-link -reducer star-link-reduce

step star labels 'Goes through each component, best document first: it is a centre unless an earlier neighbour is one; sorted by component, then rank, members come last.' &&
  streaming "star-links star-members" labels \
    -D mapreduce.job.reduces=$REDUCERS -D stream.num.map.output.key.fields=4 -D mapreduce.partition.keypartitioner.options=-k1,1 \
    -D mapreduce.map.memory.mb=$((HEAP + 206)) -D mapreduce.reduce.memory.mb=$((HEAP + 206)) \
    -files "$BIN/map#star,$BIN/reduce#star-reduce" \
    -partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner \
    -mapper star -reducer star-reduce

step keep ranked 'Brings each document'\''s cluster, rank and set together; sorted by id.' &&
  streaming "labels meta filtered-sets" ranked \
    -D mapreduce.job.reduces=$REDUCERS -D stream.num.map.output.key.fields=2 -D mapreduce.partition.keypartitioner.options=-k1,1 \
    -D mapreduce.map.memory.mb=$((HEAP + 206)) -D mapreduce.reduce.memory.mb=$((HEAP + 206)) \
    -files "$BIN/map#keep,$BIN/reduce#keep-reduce" \
    -partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner \
    -mapper keep -reducer keep-reduce

step keep-choose clusters 'Keeps the best document of each cluster; sorted by cluster, then rank, then id, it comes first.' &&
  streaming "ranked" clusters \
    -D mapreduce.job.reduces=$REDUCERS -D stream.num.map.output.key.fields=3 -D mapreduce.partition.keypartitioner.options=-k1,1 \
    -D mapreduce.map.memory.mb=$((HEAP + 150)) -D mapreduce.reduce.memory.mb=$((HEAP + 206)) \
    -files "$BIN/reduce#keep-choose" \
    -partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner \
    -mapper cat -reducer 'keep-choose --tau 0.3'

step write-kept kept 'Passes on the lines of documents that no cluster drops.' &&
  streaming "documents" kept \
    -D mapreduce.job.reduces=0 -D stream.map.output=keyonlytext \
    -D textinputformat.record.delimiter=$'\n' \
    -D mapreduce.map.memory.mb=$((HEAP + 206)) \
    -files "$BIN/map#write-kept,$WORK/clusters#clusters" \
    -mapper 'write-kept --clusters clusters'

publish pairs kept clusters
