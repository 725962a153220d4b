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
