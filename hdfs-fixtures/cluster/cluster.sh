#!/usr/bin/env bash
# cluster.sh up|status|down|kill DAEMON: a Hadoop cluster on this machine's loopback: a NameNode, two
# DataNodes, a ResourceManager, two NodeManagers and the job history server.
#
# Everything that it writes is below one run folder, so that clusters can stand side by side:
#   conf, conf-2   configuration: of clients, masters and the first node; of the second node
#   logs           one file a daemon; containers-1, containers-2: of running containers
#   data           HDFS and the NodeManagers' folders; HDFS is kept from one `up` to the next
#   pids           a file a daemon: process id and start time, so that no other process is ever stopped
# Variables: CLUSTER_DIR (run folder), CLUSTER_PORT (first port to try; blocks of 30),
# CLUSTER_NODE_MB (memory of a node for containers), CLUSTER_EXPIRY_S (seconds until a silent node counts as
# lost, 12 or more), CLUSTER_WAIT_S (seconds that a start may take).
set -euo pipefail

self=$(dirname "$(readlink -f "$0")")
mkdir -p "${CLUSTER_DIR:=${self%/*/*}/out/cluster}"
run=$(cd "$CLUSTER_DIR" && pwd -P)
node_mb=${CLUSTER_NODE_MB:-3072} expiry=${CLUSTER_EXPIRY_S:-20} wait=${CLUSTER_WAIT_S:-180}
daemons=(namenode datanode-1 datanode-2 resourcemanager nodemanager-1 nodemanager-2 historyserver)

fail() {
  echo "error: $*" >&2
  exit 1
}

# ports BASE: what listens where, in a block of 30 ports from BASE
declare -A port
ports() {
  local name at=$1 node
  for name in NAMENODE NAMENODE_WEB RM RM_SCHEDULER RM_TRACKER RM_ADMIN RM_WEB HISTORY HISTORY_ADMIN HISTORY_WEB; do
    port[$name]=$((at++))
  done
  for node in 1 2; do
    at=$(($1 + 10 * node))
    for name in DATA DATA_WEB DATA_IPC NM NM_LOCALIZER NM_WEB SHUFFLE; do
      port[$name-$node]=$((at++))
    done
  done
}

# choose_ports: the first block in which nothing listens; the lock in `up` keeps other clusters from it
choose_ports() {
  local base=${CLUSTER_PORT:-21000} at
  for ((; base + 30 < 32768; base += 30)); do
    ports "$base"
    for at in "${port[@]}"; do
      ! (: < "/dev/tcp/127.0.0.1/$at") 2> /dev/null || continue 2
    done
    echo "$base" > "$run/port"
    return
  done
  fail "no 30 free ports in a row from ${CLUSTER_PORT:-21000} to 32767: set CLUSTER_PORT"
}

# configure NODE FOLDER: the templates with this cluster's folders, ports and sizes
configure() {
  local name template
  local opens='--add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.util=ALL-UNNAMED'
  local -A value=(
    [RUN]=$run [NODE]=$1 [NODE_MB]=$node_mb [EXPIRY_MS]=$((expiry * 1000)) [RECHECK_MS]=$(((expiry - 10) * 500))
    [STALE_MS]=$((expiry * 500))
    [CLASSPATH]="$run/conf,$HADOOP_HOME/share/hadoop/hdfs,$HADOOP_HOME/lib/*"
    [TASK_JVM]="$opens -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.net.preferIPv4Stack=true"
  )
  for name in "${!port[@]}"; do
    [[ $name != *-* || $name == *-$1 ]] || continue
    value[${name%-?}]=${port[$name]}
  done
  mkdir -p "$2"
  cp "$self/log4j.properties" "$2/"
  for template in "$self"/conf/*; do
    local text
    text=$(< "$template")
    for name in "${!value[@]}"; do
      text=${text//"@$name@"/"${value[$name]}"}
    done
    echo "$text" > "$2/${template##*/}"
  done
}

started() { # PID: when that process started, in clock ticks since boot; fails if there is none
  local stat
  stat=$(< "/proc/$1/stat") || return 1
  stat=${stat##*) }
  set -- $stat
  [[ $1 != Z ]] && echo "${20}"
} 2> /dev/null

# running DAEMON: its process id, if the process that was started is the one that is there
running() {
  local pid since
  read -r pid since < "$run/pids/$1" && [[ $(started "$pid") == "$since" ]] && echo "$pid"
} 2> /dev/null

start() {
  local program=hdfs conf=$run/conf heap=192 pid
  case $1 in
    resourcemanager | nodemanager-*) program=yarn ;;
    historyserver) program=mapred ;;
  esac
  [[ $1 != namenode && $1 != resourcemanager ]] || heap=384
  [[ $1 != *-2 ]] || conf=$run/conf-2
  # Containers inherit a NodeManager's environment: it must not hold the caller's. They start $JAVA_HOME/bin/java.
  env -i "PATH=$PATH" "HOME=$HOME" "USER=${USER:-$(id -un)}" LANG=C.UTF-8 "JAVA_HOME=$java_home" \
    "HADOOP_CONF_DIR=$conf" "HADOOP_HEAPSIZE_MAX=$heap" \
    "HADOOP_OPTS=-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -Djava.io.tmpdir=$run/tmp" \
    setsid "$HADOOP_HOME/bin/$program" "${1%-?}" < /dev/null > "$run/logs/$1.log" 2>&1 9>&- &
  pid=$!
  disown
  echo "$pid $(started "$pid")" > "$run/pids/$1"
}

ask() { # PORT PATH: what the daemon there answers
  curl --silent --fail --noproxy '*' --max-time 5 "http://127.0.0.1:$1$2"
}

# health DAEMON: what is wrong with it, in words; nothing when it is well
health() {
  local said
  running "$1" > /dev/null || { echo 'not running'; return; }
  case $1 in
    namenode)
      said=$(ask "${port[NAMENODE_WEB]}" '/jmx?qry=Hadoop:service=NameNode,name=FSNamesystem*') || { echo 'no answer'; return; }
      [[ $said == *'"FSState" : "Operational"'* ]] || echo 'in safe mode'
      [[ $said == *'"NumLiveDataNodes" : 2,'* ]] || echo 'fewer than two live DataNodes' ;;
    datanode-*)
      ask "${port[DATA_WEB-${1#*-}]}" '/jmx?qry=Hadoop:service=DataNode,name=DataNodeInfo' > /dev/null || echo 'no answer' ;;
    resourcemanager)
      said=$(ask "${port[RM_WEB]}" /ws/v1/cluster/metrics) || { echo 'no answer'; return; }
      [[ $said == *'"activeNodes":2,'* ]] || echo 'fewer than two running NodeManagers' ;;
    nodemanager-*)
      said=$(ask "${port[NM_WEB-${1#*-}]}" /ws/v1/node/info) || { echo 'no answer'; return; }
      [[ $said == *'"nodeHealthy":true'* ]] || echo 'says that it is not healthy' ;;
    historyserver)
      ask "${port[HISTORY_WEB]}" /ws/v1/history/info > /dev/null || echo 'no answer' ;;
  esac
}

# give_up DAEMON WHY: the end of its log, and the others stopped
give_up() {
  {
    echo "error: $1: $2; the end of $run/logs/$1.log:"
    grep -v '^[[:space:]]*at ' "$run/logs/$1.log" | tail -n 25 | sed 's/^/  /'
  } >&2
  stop_all
  exit 1
}

stop() { # SIGNAL DAEMON...: and waits until they are gone; after 20 seconds by force
  local signal=$1 daemon pid end=$((SECONDS + 20))
  shift
  for daemon in "$@"; do
    ! pid=$(running "$daemon") || kill "-$signal" "$pid" 2> /dev/null || true
  done
  for daemon in "$@"; do
    while running "$daemon" > /dev/null && ((SECONDS < end)); do
      sleep 0.1
    done
    ! pid=$(running "$daemon") || kill -KILL "$pid" 2> /dev/null || true
    rm -f "$run/pids/$daemon"
  done
}

# A container outlives a NodeManager that was killed. Its process group is ours if it knows its own name.
stop_containers() {
  local file name pid
  for file in "$run"/data/local-?/nmPrivate/*/*/*.pid; do
    [[ -e $file ]] || continue
    name=${file##*/} name=${name%.pid} pid=$(< "$file")
    ! tr '\0' '\n' < "/proc/$pid/environ" 2> /dev/null | grep -qx "CONTAINER_ID=$name" || kill -KILL -- "-$pid" 2> /dev/null || true
  done
}

stop_all() {
  stop TERM nodemanager-1 nodemanager-2 resourcemanager historyserver
  stop_containers
  stop TERM datanode-1 datanode-2 namenode
}

up() {
  local daemon problem what end any=''
  ((expiry >= 12)) || fail "CLUSTER_EXPIRY_S=$expiry: a DataNode's heartbeats allow 12 seconds or more"
  command -v curl > /dev/null || fail 'curl is missing: on Debian: apt-get install curl'
  HADOOP_HOME=$("$self/install.sh")
  java_home=${JAVA_HOME:-$(readlink -f "$(command -v java)")}
  java_home=${java_home%/bin/java}
  [[ -x $java_home/bin/java ]] || fail "no $java_home/bin/java: install Java 17 (on Debian: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"
  # One cluster starts at a time: ports are chosen, then taken.
  exec 9> "${XDG_CACHE_HOME:-$HOME/.cache}/twinsplit/cluster.lock"
  flock 9
  mkdir -p "$run"/{logs,pids,tmp,data}
  for daemon in "${daemons[@]}"; do
    ! running "$daemon" > /dev/null || any=yes
  done
  # What runs keeps its ports and its configuration; a daemon that died is started beside it.
  if [[ -n $any ]]; then
    ports "$(< "$run/port")"
    HADOOP_HOME=$(< "$run/hadoop-home")
  else
    choose_ports
    echo "$HADOOP_HOME" > "$run/hadoop-home"
    configure 1 "$run/conf"
    configure 2 "$run/conf-2"
    rm -rf "$run"/data/local-* "$run"/logs/containers-*
  fi
  trap 'stop_all; exit 130' INT TERM
  if [[ ! -e $run/data/name/current/VERSION ]]; then
    HADOOP_CONF_DIR=$run/conf "$HADOOP_HOME/bin/hdfs" namenode -format -nonInteractive > "$run/logs/namenode.log" 2>&1 ||
      give_up namenode 'cannot format its folder'
  fi
  for daemon in "${daemons[@]}"; do
    running "$daemon" > /dev/null || start "$daemon"
  done
  end=$((SECONDS + wait))
  while :; do
    what=''
    for daemon in "${daemons[@]}"; do
      running "$daemon" > /dev/null || give_up "$daemon" 'stopped while starting'
      [[ -n $what ]] || { problem=$(health "$daemon" | paste -sd ,) && [[ -z $problem ]]; } || what=$daemon
    done
    [[ -n $what ]] || break
    ((SECONDS < end)) || give_up "$what" "after $wait seconds still: $problem"
    sleep 0.5
  done
  trap - INT TERM
  flock -u 9
  tell
}

tell() {
  cat << END
The cluster runs: ResourceManager http://localhost:${port[RM_WEB]}, job history http://localhost:${port[HISTORY_WEB]}.
To use it:
  export HADOOP_CONF_DIR=$run/conf
  export PATH=$HADOOP_HOME/bin:\$PATH
For example: hadoop fs -mkdir -p data && hadoop fs -put FILE data && hadoop fs -ls data
END
}

status() {
  local daemon problem pid sick=0 at
  [[ ! -e $run/port ]] || ports "$(< "$run/port")"
  printf '%-16s %-8s %-24s %s\n' daemon process address health
  for daemon in "${daemons[@]}"; do
    pid=$(running "$daemon") || pid=-
    at=-
    [[ ! -e $run/port ]] || case $daemon in
      namenode) at=hdfs://localhost:${port[NAMENODE]} ;;
      datanode-*) at=localhost:${port[DATA-${daemon#*-}]} ;;
      resourcemanager) at=http://localhost:${port[RM_WEB]} ;;
      nodemanager-*) at=http://localhost:${port[NM_WEB-${daemon#*-}]} ;;
      historyserver) at=http://localhost:${port[HISTORY_WEB]} ;;
    esac
    problem=$(health "$daemon" | paste -sd ,)
    [[ -z $problem ]] || sick=1
    printf '%-16s %-8s %-24s %s\n' "$daemon" "$pid" "$at" "${problem:-well}"
  done
  echo "logs: $run/logs"
  return $((sick * 3))
}

case ${1:-} in
  up) up ;;
  status) status ;;
  down) stop_all ;;
  kill)
    [[ " ${daemons[*]} " == *" ${2:-} "* ]] || fail "kill: expected one of ${daemons[*]}, found '${2:-}'"
    running "$2" > /dev/null || fail "kill: $2 is not running"
    stop KILL "$2" ;;
  *)
    echo "usage: $0 up|status|down|kill DAEMON" >&2
    exit 2 ;;
esac
