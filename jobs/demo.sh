#!/usr/bin/env bash
# The main job on the real documents of hdfs-fixtures: doc-split, the largest clusters, one pair explained.
# usage: jobs/demo.sh [OUTPUT]   with the binaries on PATH
set -euo pipefail
cd "$(dirname "$0")/.."
output=${1:-out/demo}
documents=(hdfs-fixtures/documents/en.jsonl.gz hdfs-fixtures/documents/zh.jsonl.gz)
command -v twinsplit > /dev/null || { echo "error: twinsplit is missing (make demo builds it)" >&2; exit 1; }

echo "\$ twinsplit run doc-split --input ${documents[*]} --output $output --write-kept --overwrite"
twinsplit run doc-split --input "${documents[@]}" --output "$output" --write-kept --overwrite

printf '\n%s\n' "The ten largest clusters (size, lowest similarity to the kept document, kept document):"
awk -F '\t' '{ size[$1]++ } $4 != "-" && (!($1 in low) || $4 < low[$1]) { low[$1] = $4 }
  END { for (kept in size) printf "%6d  %s  %s\n", size[kept], low[kept], kept }' "$output/clusters.tsv" |
  LC_ALL=C sort -k1,1nr -k3 | head -n 10 || true

printf '\n%s\n' "Why two of these documents are a pair:"
echo "\$ twinsplit explain --run $output --show 5 licenses/hpnd-doc-sell.LICENSE licenses/x11-doc.LICENSE"
twinsplit explain --run "$output" --show 5 licenses/hpnd-doc-sell.LICENSE licenses/x11-doc.LICENSE

twinsplit report "$output" --quiet
printf '\n%s\n' "A page to look at, with any two documents side by side: $output/report.html"
printf '\n%s\n' "The files:"
wc -l "$output"/{pairs.tsv,clusters.tsv,kept.jsonl,run.json} | sed '$d'
