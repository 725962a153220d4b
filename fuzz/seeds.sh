#!/usr/bin/env bash
# Makes the first inputs of the fuzz targets from the documents of hdfs-fixtures and from seeds written by hand.
# usage: seeds.sh BINARIES CORPUS   (the folder of the stage binaries, and the folder of the targets' corpora)
set -euo pipefail
binaries=$1 corpus=$2
here=$(cd "$(dirname "$0")" && pwd)
tiny=$here/../hdfs-fixtures/documents/tiny.jsonl
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
for target in "$here"/seeds/*; do
  mkdir -p "$corpus/$(basename "$target")"
  cp "$target"/* "$corpus/$(basename "$target")"
done
mkdir -p "$corpus"/{records,documents,checked_file,stages,blocks,features}
export LC_ALL=C

# put TARGET NAME FIRST TEXT: a text behind a byte whose number is FIRST
put() {
  local hex
  printf -v hex '\\x%02x' "$3"
  printf "$hex%s" "$4" > "$corpus/$1/$2-$3"
}

number=0
while IFS= read -r line; do
  number=$((number + 1))
  printf '%s' "$line" > "$corpus/documents/tiny-$number"
  put features "tiny$number" $((number % 40)) "$line"
done < "$tiny"

# The rows of every data set between the stages, as records and as input of stages.
for way in 'term-split' 'term-split --pcp prefix --idf 0.1,0.95' 'doc-split'; do
  # shellcheck disable=SC2086  # options
  "$binaries/twinsplit" run $way --engine pipes --input "$tiny" --output "$work/out" --overwrite --keep-work --quiet \
    --tau 0.5 --features words:2 2> /dev/null
  # Behind an id, what begins with a backslash is no set.
  sets=$(grep -v $'\t\\\\' "$work"/out/_work/members/part-00000 | head -3)
  for part in "$work"/out/_work/*/part-00000 "$work"/out/*.tsv; do
    [[ -s $part ]] || continue
    name=$(basename "$(dirname "$part")")
    head=$(head -4 "$part") line=$(shuf -n 1 --random-source="$tiny" "$part")
    for ((first = 0; first <= 70; first++)); do
      put stages "$name" "$first" "$head"
      put records "$name" "$first" "$line"
    done
    case $name in
      order) kinds='0 1 5' ;; plan) kinds=3 ;; slices) kinds=4 ;; *) continue ;;
    esac
    for kind in $kinds; do
      put checked_file "$name" "$kind" "$(sed '1d;$d' "$part")"$'\n\n'"$sets"
      put checked_file "$name-whole" $((kind + 132)) "$(cat "$part")"$'\n'
    done
  done
done
"$binaries/twinsplit" idf --from "$tiny" --output "$work/table" --features words:2
put checked_file table 2 "$(sed '1d;$d' "$work/table")"
put blocks plain 7 "$(head -c 400 "$tiny")"
{ printf '\x64'; head -c 400 "$tiny" | gzip; } > "$corpus/blocks/gzip-100"
# Padding between members, marks and blanks before lines; UTF-16, which is refused.
{ printf '\x64'; head -c 400 "$tiny" | gzip; printf '\0\0\0'; printf '\xef\xbb\xbf \t\n{}\n' | gzip; } > "$corpus/blocks/padded-100"
printf '\x08\xef\xbb\xbf\xef\xbb\xbf{}\n  \n\xef\xbb\xbf\n' > "$corpus/blocks/marks-8"
printf '\x08\xff\xfe{\0}\0\n\0' > "$corpus/blocks/utf16-8"
printf '%s' '{"id":"a","text":"\ud83d \ude00 \ud83d\ude00"}' > "$corpus/documents/halves"
