# A step on Hadoop: one job, or one for each slice.

BIN=$WORK/_bin NEW=$WORK/_tmp/$RUN
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

# What a data set is here: a folder of Hadoop's, which has its name when it is complete. A step is finished when what it
# counted is there, too.
made() { [[ -n ${THERE[$WORK/$1]:-} ]]; }
finished() { made "$1" && [[ -f $LOGS/steps/$STEP ]]; }
name() {
  fs -mv "$WORK/$1" "$WORK/$2"
  THERE[$WORK/$2]=1
}
only_part() { printf %s "$WORK/$1/part-00000"; }
rows() { fs -cat "$(only_part "$1")"; }

counters_of() { cat "${@/#/$LOGS/steps/}"; }
begin_step() { echo "$STEP" | tee "$LOGS/_now" >> "$LOGS/_order"; }
# begin DATA: what an earlier run left of a step that it did not finish goes
begin() {
  rm -f "$LOGS/steps/$STEP" "$LOGS/steps/$STEP".*
  ! made "$1" || fs -rm -r -skipTrash "$WORK/$1" > /dev/null
}
# finish DATA: the data set gets its name, and what its jobs counted is kept beside it
finish() {
  fs -mv "$NEW/$1" "$WORK/$1"
  awk -F '\t' '
    /^peak_/ { if ($2 > sum[$1]) sum[$1] = $2; next }
    { sum[$1] += $2 }
    END { for (name in sum) printf "%s\t%.0f\n", name, sum[name] }
  ' "$LOGS/steps/$STEP".job* | sort > "$LOGS/steps/.new"
  printf '_micros\t%s\n' $((${EPOCHREALTIME/./} - STARTED)) >> "$LOGS/steps/.new"
  rm "$LOGS/steps/$STEP".job*
  mv "$LOGS/steps/.new" "$LOGS/steps/$STEP"
  [[ -z ${PUT:-} ]] || wait "$PUT"
  fs -put -f "$LOGS/steps/$STEP" "$WORK/_steps/" &
  PUT=$!
}

# A line of JSON may hold a CR, which ends a line too by default.
OF_DOCUMENTS=(-D textinputformat.record.delimiter=$'\n')
# inputs DATA…: GENERIC and INPUTS are the options of a job that reads these data sets
inputs() {
  local data
  GENERIC=() INPUTS=()
  for data in "$@"; do
    if [[ $data == documents ]]; then
      GENERIC=("${OF_DOCUMENTS[@]}") INPUTS+=("${DOCUMENTS[@]}")
    else
      INPUTS+=(-input "$WORK/$data")
    fi
  done
}

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

# prepare "FROM…" MAPPER… [-- REDUCER…]: GENERIC, FILES, PROGRAMS and INPUTS of the step's jobs
prepare() {
  local MAPPER REDUCER file
  # shellcheck disable=SC2086  # a list of names without spaces
  inputs $1
  split_words "${@:2}"
  FILES=()
  for file in "${SHIP[@]}"; do FILES+=("$BIN/${file##*/}#${file##*/}"); done
  program map "${MAPPER[@]}"
  PROGRAMS=(-mapper "$COMMAND")
  if ((${#REDUCER[@]})); then
    program reduce "${REDUCER[@]}"
    PROGRAMS+=(-reducer "$COMMAND")
  else
    GENERIC+=(-D mapreduce.job.reduces=0 -D stream.map.output=keyonlytext)
  fi
  GENERIC+=(${mappers:+-D mapreduce.job.maps="$mappers"} ${split:+-D mapreduce.input.fileinputformat.split.minsize="$split"})
}

# map "FROM…" TO MAPPER…: a map-only step
map() {
  ! passed "$2" || return 0
  begin "$2"
  prepare "$1" "${@:3}"
  job "$STEP" "$2"
  finish "$2"
}

# map_reduce P S "FROM…" TO MAPPER… -- REDUCER…: rows meet by their first P fields, where Hadoop's own way is the whole key,
# and are sorted by their first S
map_reduce() {
  local number
  ! passed "$4" || return 0
  number=$(number_of_reducers)
  begin "$4"
  prepare "$3" "${@:5}"
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
  local slices count option=$2 to=$4
  ! passed "$to" || return 0
  mapfile -t slices < <(fs -ls "$WORK/$1" | awk '$5 > 0 && $NF ~ /\/part-[0-9]*$/ { print $NF }' | sort)
  count=$(counted slices_made index-doc)
  ((${#slices[@]} == count)) || fail "$WORK/$1 holds ${#slices[@]} of $count slices: remove it, and it is made anew when the run goes on"
  begin "$to"
  prepare "$3" "${@:5}"
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
  (cd "$LOGS/links/$name" && exec "$HADOOP" jar "$STREAMING_JAR" "${all[@]}" "${PROGRAMS[@]}" "${INPUTS[@]}" -output "$NEW/$data") > "$log" 2>&1 < /dev/null || explain "$name" "$log"
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
