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
