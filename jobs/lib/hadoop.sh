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
[[ -n ${STREAMING_JAR:-} ]] || for folder in "$(dirname "$(readlink -f "$HADOOP")")"/../share/hadoop/tools/lib /usr/lib/hadoop-mapreduce /usr/lib/hadoop/{tools/lib,tools,}; do
  for jar in "$folder"/hadoop-streaming*.jar; do
    [[ ! -f $jar || $jar == *-sources.jar || $jar == *-test*.jar ]] || STREAMING_JAR=$jar
  done
  [[ -z ${STREAMING_JAR:-} ]] || break
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

source "$JOBS_LIB/hadoop_output.sh"
source "$JOBS_LIB/hadoop_steps.sh"
