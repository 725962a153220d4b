# The engine hadoop: a chain as jobs of Hadoop Streaming. Every job writes beside its place and is moved there when it has
# succeeded, so that neither a job that failed nor one that outlives this script leaves anything that looks finished.
# What a step may say before its call, beside twinsplit.sh: map_mb=N, reduce_mb=N, the megabytes of a container beside HEAP
# where they are not MB of the page, and split=N, the least bytes that a map task reads.
source "$JOBS_LIB/twinsplit.sh"
shopt -s nullglob
unset map_mb reduce_mb split
: "${HEAP:=400}"

# Hadoop, its streaming jar, and the program that the tasks run.
HADOOP=${HADOOP_HOME:+$HADOOP_HOME/bin/}hadoop
HADOOP=$(command -v "$HADOOP") || fail "hadoop is not found: set HADOOP_HOME, or put hadoop on PATH"
for jar in "$(dirname "$(readlink -f "$HADOOP")")"/../share/hadoop/tools/lib/*.jar /usr/lib/hadoop{-mapreduce,/tools/lib,/tools,}/*.jar; do
  [[ ${jar##*/} != hadoop-streaming*.jar || ${jar##*/} == *-@(sources|test*).jar ]] || : "${STREAMING_JAR:=$jar}"
done
[[ -f ${STREAMING_JAR:-} ]] || fail "hadoop-streaming.jar is not found beside $HADOOP: set STREAMING_JAR"
BINARY=${BINARY:-$(command -v twinsplit)} || fail "twinsplit is not on PATH: set BINARY to its file"
check_program "$BINARY"
# Words as a shell has them: a value with blanks stands in quotes, and none is a pattern.
words=$(xargs -r printf '%s\n' <<< "${HADOOP_OPTIONS:-}") || fail "HADOOP_OPTIONS: a quote is not closed on its line"
OPTIONS=()
[[ -z $words ]] || mapfile -t OPTIONS <<< "$words"
fs() {
  # A file system of this machine needs no Java.
  local there=("${@:2}")
  case $1:${*: -1} in
    -mv:file:///*) mv "${there[@]#file://}" ;;
    -put:file:///*) cp "${there[@]#file://}" ;;
    -mkdir:file:///*) mkdir "${there[@]#file://}" ;;
    -rm:file:///*) rm -r "${there[-1]#file://}" ;;
    -cat:file:///*) cat "${there[@]#file://}" ;;
    *) "$HADOOP" fs "$@" ;;
  esac
}

# Jobs run elsewhere, so they are given whole addresses.
addresses=$("$BINARY" job addresses --hadoop "$HADOOP" "$OUTPUT" "${WORK:-${OUTPUT}/_work}" "${INPUT[@]}" ${QUERIES:+"$QUERIES"}) || exit $?
mapfile -t INPUT <<< "$addresses"
OUTPUT=${INPUT[0]} WORK=${INPUT[1]} INPUT=("${INPUT[@]:2}") DOCUMENTS=() OWN_LOGS=
[[ -z $QUERIES ]] || { QUERIES=${INPUT[-1]} && unset 'INPUT[-1]'; }
# Hadoop takes the list of its tasks' files apart there.
[[ $OUTPUT$WORK != *[[:space:],#%]* ]] || { echo "error: $OUTPUT: Hadoop Streaming takes no white space and none of , # % in the name of the output; choose another" >&2; exit 2; }
for path in "${INPUT[@]}"; do DOCUMENTS+=(-input "$path"); done
BIN=$WORK/_bin NEW=$WORK/_tmp/$$-${EPOCHREALTIME/./}
[[ -n ${LOGS:-} ]] || { LOGS=$(mktemp -d "${TMPDIR:-/tmp}/twinsplit-logs.XXXXXX") OWN_LOGS=1; }
mkdir -p "$LOGS/steps"

# Jobs that run when this script is stopped are stopped too. Their logs stay when something failed, and it is said where.
ended() {
  local code=$? app
  trap - EXIT
  for app in $(cat "$LOGS"/*.running 2> /dev/null | grep -oh 'application_[0-9]*_[0-9]*' | sort -u); do
    "${HADOOP%hadoop}yarn" application -kill "$app" > /dev/null 2>&1 || true
  done
  [[ -n $OWN_LOGS ]] || return 0
  if ((code == 0 || code == 2)) || ! compgen -G "$LOGS/*.log" > /dev/null; then rm -rf "$LOGS"; else echo "note: the logs of the jobs are in $LOGS" >&2; fi
}
trap ended EXIT
for signal in HUP:129 INT:130 TERM:143; do trap "exit ${signal#*:}" "${signal%:*}"; done

# What is there already: the answer, or steps of a run that was stopped. THERE are the names in WORK.
FOLDER=(--engine hadoop --hadoop "$HADOOP" --output "$OUTPUT" --work "$WORK" ${OVERWRITE:+--overwrite} ${KEEP_WORK:+--keep-work})
THIS=(--page "$0" --input "${INPUT[@]}" ${QUERIES:+--queries "$QUERIES"})
[[ ! -f $LOGS/_manifest.json ]] || THIS+=(--manifest "$LOGS/_manifest.json")
begun=$("$BINARY" job begin "${FOLDER[@]}" ${RESUME:+--resume} "${THIS[@]}" --file "${SHIP[@]}") || exit $?
declare -A THERE=()
while read -r path; do THERE[$path]=1; done <<< "$begun"
case ${begun%%$'\n'*} in
  complete) say "$OUTPUT holds the complete answer"; exit 0 ;;
  goes-on) [[ $begun != *$'\n_steps/'* ]] || fs -get -f "$WORK/_steps/*" "$LOGS/steps" ;;
  anew)
    fs -mkdir -p "$WORK/_steps" "$BIN"
    # YARN links a file under one name for a job, so a mapper and its reducer have a file each.
    fs -put -f "$BINARY" "$BIN/map"
    fs -put -f "$BINARY" "$BIN/reduce"
    ((!${#SHIP[@]})) || fs -put -f "${SHIP[@]}" "$BIN/"
    ;;
esac

# publish DATA…: the answer is complete, and gets its place
publish() {
  [[ -z ${PUT:-} ]] || wait "$PUT"
  "$BINARY" job publish "${FOLDER[@]}" --data "$@"
}

# What all jobs have, where the user's options do not say otherwise.
COMMON=(-D mapreduce.map.output.compress=true -D "mapreduce.map.java.opts=-Xmx${HEAP}m" -D "mapreduce.reduce.java.opts=-Xmx${HEAP}m")
# What the chain rests on, whatever a cluster's configuration or the user's options say: parts that are whole or not
# there, and that are found and read by their names.
FIXED=(
  -D mapreduce.fileoutputcommitter.algorithm.version=1 -D mapreduce.output.fileoutputformat.compress=false
  -D mapreduce.input.fileinputformat.input.dir.recursive=true
  # Rows go out as they are: without this, one without a TAB gets one.
  -D stream.reduce.output=keyonlytext
)

# What a data set is here: a folder of Hadoop's, which has its name when it is complete. A step is finished when what it
# counted is there, too.
made() { [[ -n ${THERE[$1]:-} ]]; }
finished() { made "$1" && [[ -f $LOGS/steps/$STEP ]]; }
name() { fs -mv "$WORK/$1" "$WORK/$2" && THERE[$2]=1; }
only_part() { printf %s "$WORK/$1/part-00000"; }
rows() { fs -cat "$(only_part "$1")"; }

counters_of() { cat "${@/#/$LOGS/steps/}"; }
begin_step() { echo "$STEP" | tee "$LOGS/_now" >> "$LOGS/_order"; }
# finish DATA: the data set gets its name, and what its jobs counted is kept beside it
finish() {
  fs -mv "$NEW/$1" "$WORK/$1"
  printf '_micros\t%s\n' $((${EPOCHREALTIME/./} - STARTED)) | cat "$LOGS/steps/$STEP".job* - | "$BINARY" job sum > "$LOGS/steps/.new"
  rm "$LOGS/steps/$STEP".job*
  mv "$LOGS/steps/.new" "$LOGS/steps/$STEP"
  [[ -z ${PUT:-} ]] || wait "$PUT"
  fs -put -f "$LOGS/steps/$STEP" "$WORK/_steps/" &
  PUT=$!
}

# A line of JSON may hold a CR, which ends a line too by default.
OF_DOCUMENTS=(-D textinputformat.record.delimiter=$'\n')
# program ROLE WORD…: COMMAND is a stage's command line as Streaming takes it apart, at white space but not within double
# quotes. FILES are what its tasks find in their folders: the program by the stage's name, a side file by its option's.
program() {
  local role=$1 word before=
  shift
  COMMAND=
  [[ $1 == cat ]] || FILES+=("$BIN/$role#$1")
  for word in "$@"; do
    case $word in
      "$WORK"/*) FILES+=("$word#${before#--}") word=${before#--} ;;
      *[[:space:]]*) word="\"$word\"" ;;
    esac
    COMMAND+="${COMMAND:+ }$word" before=$word
  done
}

# prepare "FROM…" TO MAPPER… [-- REDUCER…]: GENERIC, FILES, PROGRAMS and INPUTS of the step's jobs. What an earlier run left of
# a step that it did not finish goes.
prepare() {
  local MAPPER REDUCER file data
  rm -f "$LOGS/steps/$STEP" "$LOGS/steps/$STEP".*
  ! made "$2" || fs -rm -r -skipTrash "$WORK/$2" > /dev/null
  GENERIC=(${mappers:+-D mapreduce.job.maps="$mappers"} ${split:+-D mapreduce.input.fileinputformat.split.minsize="$split"})
  INPUTS=() FILES=()
  for data in $1; do
    case $data in
      documents) GENERIC+=("${OF_DOCUMENTS[@]}") INPUTS+=("${DOCUMENTS[@]}") ;;
      queries) GENERIC+=("${OF_DOCUMENTS[@]}") INPUTS+=(-input "$QUERIES") ;;
      *) INPUTS+=(-input "$WORK/$data") ;;
    esac
  done
  split_words "${@:3}"
  for file in "${SHIP[@]}"; do FILES+=("$BIN/${file##*/}#${file##*/}"); done
  program map "${MAPPER[@]}"
  PROGRAMS=(-mapper "$COMMAND")
  if ((${#REDUCER[@]})); then
    program reduce "${REDUCER[@]}"
    PROGRAMS+=(-reducer "$COMMAND")
  else
    GENERIC+=(-D mapreduce.job.reduces=0 -D stream.map.output=keyonlytext)
  fi
}

# map "FROM…" TO MAPPER…: a map-only step
map() { passed "$2" || { prepare "$@"; job "$STEP" "$2"; finish "$2"; }; }

# map_reduce P S "FROM…" TO MAPPER… -- REDUCER…: rows meet by their first P fields, where Hadoop's own way is the whole key,
# and are sorted by their first S
map_reduce() {
  local number
  ! passed "$4" || return 0
  number=$(number_of_reducers)
  prepare "${@:3}"
  GENERIC+=(
    -D mapreduce.job.reduces="$number" -D stream.num.map.output.key.fields="$2"
    -D mapreduce.partition.keypartitioner.options="-k1,$1"
  )
  PROGRAMS=(-partitioner org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner "${PROGRAMS[@]}")
  job "$STEP" "$4"
  finish "$4"
}

# each SLICES OPTION "FROM…" TO MAPPER…: a map-only job for each slice, which is the side file of OPTION
each() {
  local slices steps count option=$2 to=$4
  ! passed "$to" || return 0
  mapfile -t slices < <(fs -ls "$WORK/$1" | awk '$5 > 0 && $NF ~ /\/part-[0-9]*$/ { print $NF }' | sort)
  mapfile -t steps < <(ls "$LOGS/steps") && count=$(counted slices_made "${steps[@]}")
  ((${#slices[@]} == count)) || fail "$WORK/$1 holds ${#slices[@]} of $count slices: remove it, and it is made anew when the run goes on"
  prepare "$3" "$to" "${@:5}" "--$option" "$option"
  fs -mkdir -p "$NEW/$to"
  tasks "$count" each_job
  printf 'jobs\t%s\n' "$count" > "$LOGS/steps/$STEP.jobs"
  finish "$to"
}
each_job() {
  local slice=${slices[$1]}
  FILES+=("$slice#$option")
  job "$STEP-${slice##*/part-}" "$to/${slice##*/}"
}

# job NAME DATA: one job of Hadoop Streaming, from the folder of links that it may make. What the user says of sizes comes
# behind the step's own, and counts; what the step is made of comes behind that.
job() {
  local name=$1 data=$2 log=$LOGS/$1.log
  local all=(
    -D mapreduce.job.name="twinsplit $name" "${COMMON[@]}"
    -D mapreduce.map.memory.mb=$((HEAP + ${map_mb:-$MB})) -D mapreduce.reduce.memory.mb=$((HEAP + ${reduce_mb:-$MB}))
    "${OPTIONS[@]}" "${FIXED[@]}" "${GENERIC[@]}"
  )
  ((!${#FILES[@]})) || all+=(-files "$(IFS=,; echo "${FILES[*]}")")
  mkdir -p "$LOGS/links/$name"
  ln -sf "$log" "$LOGS/$name.running"
  (cd "$LOGS/links/$name" && exec "$HADOOP" jar "$STREAMING_JAR" "${all[@]}" "${PROGRAMS[@]}" "${INPUTS[@]}" -output "$NEW/$data") > "$log" 2>&1 < /dev/null ||
    { "$BINARY" job explain "$name" "$log" --yarn "${HADOOP%hadoop}yarn"; exit 1; }
  rm -f "$LOGS/$name.running"
  "$BINARY" job counters < "$log" > "$LOGS/steps/$STEP.job-${data//\//-}"
}
# by_name: stops unless the order of files, as the inputs are given and by name in each, is that of their names
by_name() { "$BINARY" job by-name "${INPUT[@]}"; }
