#!/usr/bin/env bash
# twinsplit plan term-split --engine hadoop --cluster star --pcp prefix --write-kept
# usage: SCRIPT OUTPUT INPUT…   (documents as JSON lines, plain or .gz; all in HDFS or wherever Hadoop reads; OUTPUT is a folder)
# The environment may set HADOOP_HOME, HADOOP_OPTIONS (-D …), REDUCERS, HEAP (MB of a task's JVM), JOBS (at once), BINARY, STREAMING_JAR, WORK, LOGS, KEEP_WORK, QUIET, RESUME.
set -euo pipefail
VERSION=0.1.0 CHAIN=term-split QUERIES= SHIP=() MB=206 # of a container beside HEAP, where a step says no other number
# The library is in JOBS_LIB, beside this script's folder, or where twinsplit is installed.
[[ -n ${JOBS_LIB:-} ]] || for JOBS_LIB in "$(dirname "$0")/../lib" "$(dirname "$(command -v twinsplit)")/../share/twinsplit/lib"; do [[ ! -f $JOBS_LIB/hadoop.sh ]] || break; done
[[ -f $JOBS_LIB/hadoop.sh ]] || { echo "error: hadoop.sh is not found: let JOBS_LIB be its folder, jobs/lib of the sources, or take the script that twinsplit plan prints with --inline" >&2; exit 1; }
source "$JOBS_LIB/hadoop.sh"

# The chain. map "FROM…" TO MAPPER; map_reduce P S "FROM…" TO MAPPER -- REDUCER: rows meet by their first P fields and
# are sorted by their first S. MAPPER --then MAPPER: both in one process.
step tokenize 'Turns each document into its set of features, and takes what the keep rule needs. Joins equal sets once; sorted by hash, then id, the smallest id of a group comes first, and two documents with one id meet and are named.'
  map_reduce 1 2 "documents" members tokenize --meta on --then equal-sets -- equal-sets-reduce
  guard bad_records 0 'bad documents in all tasks together; correct them, or raise --bad-records'
step feature-sample 'Counts the features of a sample of the sets; sorted by bucket, then feature, its counts meet, and each bucket passes on its most frequent.'
  map_mb=283 reduce_mb=268 map_reduce 1 2 "members" sampled-counts feature-sample --sets "$(counted sets tokenize)" -- feature-sample-reduce
step feature-order 'Orders these by frequency; N sorts before all features.'
  reducers=1 map_mb=150 reduce_mb=268 map_reduce 1 1 "sampled-counts" order cat -- feature-order
step index-term 'Builds posting lists; sorted by feature, then id, a list comes in order of ids.'
  map_reduce 1 2 "members" posting-lists index-term --pcp prefix --order "$(only_part order)" -- index-term-reduce
step pcp-map 'Pairs the postings that pass the prefix filter. Brings a candidate its first set; sorted by id, a set comes before the candidates that wait for it.'
  map_mb=435 map_reduce 1 3 "posting-lists members" half-verified pcp-map --then verify-left -- verify-left-reduce
  guard pairs_of_postings 1000000000 'candidates; a higher tau has fewer, doc-split has none, or raise --max-pairs'
step verify-right 'Brings a candidate its second set and counts what the two share.'
  reduce_mb=283 map_reduce 1 3 "half-verified members" joined-pairs verify-right -- verify-right-reduce --cluster star
# clusters: Where one task may hold the pairs of sets and the copies, it makes the clusters, and others know them.
if few 2000000 reduce_records_out verify-right copies tokenize equal_texts tokenize; then
  step cluster 'Joins pairs to clusters and finds the best document of each; sorted by kind, the graph comes before ranks.'
    reducers=1 reduce_mb=683 map_reduce 1 1 "joined-pairs members" clustered cluster -- cluster-reduce --cluster star
  step expand-pairs 'Repeats pairs for the copies of their documents, and pairs the copies with one another.'
    map_mb=683 map "joined-pairs members" pairs expand-pairs --clustered "$(only_part clustered)"
    guard pairs 1000000000 'pairs of documents; a higher tau has fewer, --write clusters needs none, or raise --max-pairs'
  step keep 'Compares the documents of each cluster with the kept one; sorted by it, its set comes first, and each other set before its documents.'
    map_mb=683 map_reduce 1 4 "members" clusters keep --clustered "$(only_part clustered)" -- keep-choose
else
  step expand-left 'Repeats pairs for the copies of their first document; sorted by it, copies come before pairs.'
    map_reduce 1 2 "joined-pairs members" half-expanded expand-left -- expand-left-reduce
  step expand-right 'Repeats pairs for the copies of their second document, and pairs the copies with one another.'
    map_reduce 1 2 "half-expanded members" pairs expand-right -- expand-right-reduce
    guard pairs 1000000000 'pairs of documents; a higher tau has fewer, --write clusters needs none, or raise --max-pairs'
  # components: Links documents to ever smaller ones of their component until no link has to change: then each is linked to the smallest.
  from="joined-pairs members" round=0
  until made components; do round=$((round + 1))
    step large-star-$round 'Links the larger neighbours of each document to its smallest one; sorted by neighbour, that one comes first.'
      map_mb=283 map_reduce 1 2 "$from" large-stars-$round large-star -- large-star-reduce
      until_zero changes large-stars components
    ! made components || break
    step small-star-$round 'Links each document and its smaller neighbours to the smallest of them.'
      map_reduce 1 2 "large-stars-$round" small-stars-$round small-star -- small-star-reduce
    from=small-stars-$round
  done
  step star-rank 'Brings each document'\''s component, rank and representative together; sorted by id.'
    map_reduce 1 2 "components members" star-members star-rank -- star-rank-reduce
  step star-link 'Brings each pair, in both directions, the rank of its representative'\''s best copy; sorted by representative, copies come before pairs.'
    map_reduce 1 2 "star-members joined-pairs" star-links star-link -- star-link-reduce
  step star 'Goes through each component, best document first: it is a centre unless an earlier neighbour is one; sorted by component, then rank, members come last.'
    map_reduce 1 4 "star-links star-members" labels star -- star-reduce
  step keep-rank 'Brings each document'\''s cluster, rank and set together; sorted by id.'
    map_reduce 1 2 "labels members" ranked keep-rank -- keep-rank-reduce
  step keep-best 'Finds the best document of each cluster; sorted by cluster, then rank, then id, it comes first.'
    map_mb=150 map_reduce 1 3 "ranked" under-kept cat -- keep-best
  step keep-choose 'Compares the documents of each cluster with the kept one; sorted by it, its set comes first, and each other set before its documents.'
    map_mb=150 map_reduce 1 4 "under-kept" clusters cat -- keep-choose
fi
step write-kept 'Passes on the lines of documents that no cluster drops.'
  map "documents" kept write-kept --clusters "$WORK/clusters"
publish pairs kept clusters
