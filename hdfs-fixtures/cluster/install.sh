#!/usr/bin/env bash
# install.sh: a Hadoop home from the jars of Maven Central, outside the work tree, and its path on standard
# output. The first call takes minutes and needs the network; a later one neither.
#
# The folder's name ends in a digest of what it was made from, so that no checkout ever meets another's;
# it is made beside and renamed when complete, so two installs at once do not disturb each other, and one
# that was stopped half-way is never used. `hadoop-VERSION` is a link to the newest.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"

version=$(sed -n 's|.*<hadoop.version>\(.*\)</hadoop.version>.*|\1|p' pom.xml)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/twinsplit
digest=$(cat pom.xml install.sh bin/hadoop log4j.properties hadoop-local/* | sha256sum)
home=$cache/hadoop-$version-${digest:0:8}

need() {
  command -v "$1" > /dev/null || { echo "error: $1 is missing: $2" >&2; exit 1; }
}

unfinished=()
trap '[[ -z ${unfinished[*]} ]] || rm -rf "${unfinished[@]}"' EXIT

if [[ ! -d $home ]]; then
  need mvn "install Maven (on Debian: apt-get install maven)"
  need "${JAVA_HOME:+$JAVA_HOME/bin/}java" "install Java 17 (on Debian: apt-get install openjdk-17-jre-headless)"
  mkdir -p "$cache"
  made=$(mktemp -d "$home.XXXXXX")
  unfinished+=("$made")
  chmod 755 "$made"
  mkdir -p "$made"/{bin,lib,etc/hadoop-local,share/hadoop/tools/lib}
  mvn --quiet --batch-mode --strict-checksums -f pom.xml dependency:copy-dependencies -Dlib="$made/lib" \
    > "$made/maven.log" 2>&1 || {
    cat "$made/maven.log" >&2
    echo "error: Maven could not fetch Hadoop $version: is there a way to Maven Central or a mirror in ~/.m2/settings.xml?" >&2
    exit 1
  }
  rm "$made/maven.log"
  cp bin/hadoop "$made/bin/"
  for name in hdfs mapred yarn; do
    cp bin/hadoop "$made/bin/$name"
  done
  cp log4j.properties hadoop-local/* "$made/etc/hadoop-local/"
  ln -s "../../../../lib/hadoop-streaming-$version.jar" "$made/share/hadoop/tools/lib/"
  # The jars lack HDFS's web pages, and its daemons do not start without any.
  for daemon in hdfs datanode; do
    mkdir -p "$made/share/hadoop/hdfs/webapps/$daemon/WEB-INF"
    echo '<web-app/>' > "$made/share/hadoop/hdfs/webapps/$daemon/WEB-INF/web.xml"
  done
  # Another install may have been faster; its folder is as good.
  mv -T "$made" "$home" 2> /dev/null || [[ -d $home ]]
fi

# The classes that a job loads, in an archive for the JVMs of clients. It knows the jars by their paths, so it is made of the folder under
# its name, and whatever fails here only leaves clients slower: an empty file says that it was tried.
if [[ ! -f $home/classes.jsa ]]; then
  job=$(mktemp -d)
  unfinished+=("$job")
  echo x > "$job/in"
  HADOOP_CONF_DIR=$home/etc/hadoop-local HADOOP_OPTS="-XX:ArchiveClassesAtExit=$job/classes.jsa" "$home/bin/mapred" streaming \
    -input "$job/in" -output "$job/out" -mapper cat -reducer cat > /dev/null 2>&1 || : > "$job/classes.jsa"
  # From another file system first, and under its name when it is complete.
  mv "$job/classes.jsa" "$home/classes.jsa.$$" && mv "$home/classes.jsa.$$" "$home/classes.jsa"
fi

link=$cache/hadoop-$version
if [[ $(readlink "$link") != "${home##*/}" ]]; then
  ln -s "${home##*/}" "$link.$$"
  mv -T "$link.$$" "$link"
fi
echo "$home"
