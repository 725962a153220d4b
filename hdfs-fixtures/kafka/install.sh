#!/usr/bin/env bash
# install.sh: a Kafka home from the jars of Maven Central, outside the work tree, and its path on standard output. The first call needs
# the network; a later one does not.
#
# As that of Hadoop beside: the folder's name ends in a digest of what it was made from, and it is made beside and renamed when complete.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"

version=$(sed -n 's|.*<kafka.version>\(.*\)</kafka.version>.*|\1|p' pom.xml)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/twinsplit
digest=$(cat pom.xml install.sh bin/kafka | sha256sum)
home=$cache/kafka-$version-${digest:0:8}

need() {
  command -v "$1" > /dev/null || { echo "error: $1 is missing: $2" >&2; exit 1; }
}

unfinished=
trap '[[ -z $unfinished ]] || rm -rf "$unfinished"' EXIT

if [[ ! -d $home ]]; then
  need mvn "install Maven (on Debian: apt-get install maven)"
  need "${JAVA_HOME:+$JAVA_HOME/bin/}java" "install Java 17 (on Debian: apt-get install openjdk-17-jre-headless)"
  mkdir -p "$cache"
  made=$(mktemp -d "$home.XXXXXX")
  unfinished=$made
  chmod 755 "$made"
  mkdir -p "$made"/{bin,lib}
  mvn --quiet --batch-mode --strict-checksums -f pom.xml dependency:copy-dependencies -Dlib="$made/lib" \
    > "$made/maven.log" 2>&1 || {
    cat "$made/maven.log" >&2
    echo "error: Maven could not fetch Kafka $version: is there a way to Maven Central or a mirror in ~/.m2/settings.xml?" >&2
    exit 1
  }
  rm "$made/maven.log"
  for name in storage server-start topics configs console-consumer console-producer get-offsets delete-records; do
    cp bin/kafka "$made/bin/kafka-$name.sh"
  done
  # Another install may have been faster; its folder is as good.
  mv -T "$made" "$home" 2> /dev/null || [[ -d $home ]]
fi

link=$cache/kafka-$version
if [[ $(readlink "$link") != "${home##*/}" ]]; then
  ln -s "${home##*/}" "$link.$$"
  mv -T "$link.$$" "$link"
fi
echo "$home"
