#!/usr/bin/env python3
# twinsplit plan doc-split --engine spark --cluster star --write-kept
"""Near-duplicate documents on Spark, 3.5 and later: a chain of stages of twinsplit.

usage: spark-submit SCRIPT OUTPUT INPUT...   (documents as JSON lines, plain or gzip; OUTPUT is a folder)
"""

import os, shutil, sys

# The library is in JOBS_LIB, beside this script's folder, or where twinsplit is installed.
here, program = os.path.dirname(os.path.abspath(__file__)), os.path.dirname(shutil.which("twinsplit") or "")
sys.path += [os.environ["JOBS_LIB"]] if os.environ.get("JOBS_LIB") else [here + "/../lib", program + "/../share/twinsplit/lib"]
sys.dont_write_bytecode = True  # nothing beside it
try:
    from twinsplit_spark.chain import Chain
except ModuleNotFoundError as error:
    sys.exit("error: %s: let JOBS_LIB be the folder that holds twinsplit_spark, jobs/lib of the sources, or take the program that twinsplit plan prints with --inline" % error)

chain = Chain(__file__, __doc__, "0.1.0", answers=["pairs", "kept", "clusters"], named_files=[])

# Each step: map(FROM, TO, MAPPER) or map_reduce(P, S, FROM, TO, MAPPER, REDUCER), where rows meet by their first P fields and
# are sorted by their first S.
chain.step("tokenize", "Turns each document into its set of features, and takes what the keep rule needs. Joins equal sets once; sorted by hash, then id, the smallest id of a group comes first, and two documents with one id meet and are named.")
chain.map_reduce(1, 2, ["documents"], "members", ["tokenize", "--meta", "on", "--then", "equal-sets"], ["equal-sets-reduce"])
chain.guard("bad_records", chain.limit("bad-records", 0), "bad documents in all tasks together; correct them, or raise --bad-records")
chain.step("size-count", "Counts the sets of each size and cuts the sizes into slices of about equal cost; sizes have a fixed width, so bytes sort them as numbers.")
chain.map_reduce(1, 1, ["members"], "plan", ["size-count"], ["slice-plan"], tasks=1)
chain.step("index-doc", "Sends each set to its slice; sorted by slice, then size, then id.")
chain.map_reduce(1, 3, ["members"], "slices", ["index-doc", "--plan", "plan"], ["index-doc-reduce"], slices="plan", side={"plan": "plan"})
chain.step("docsplit-query", "Streams all sets past each slice, which is held in memory.")
chain.each("slices", "index", ["members"], "joined-pairs", ["docsplit-query", "--cluster", "star", "--index", "index"])
# clusters: Where one task may hold the pairs of sets and the copies, it makes the clusters, and others know them.
if chain.few(chain.limit("graph", 2000000), ("map_records_out", "docsplit-query"), ("copies", "tokenize"), ("equal_texts", "tokenize")):
    chain.step("cluster", "Joins pairs to clusters and finds the best document of each; sorted by kind, the graph comes before ranks.")
    chain.map_reduce(1, 1, ["joined-pairs", "members"], "clustered", ["cluster"], ["cluster-reduce", "--cluster", "star"], tasks=1)
    chain.step("expand-pairs", "Repeats pairs for the copies of their documents, and pairs the copies with one another.")
    chain.map(["joined-pairs", "members"], "pairs", ["expand-pairs", "--clustered", "clustered"], side={"clustered": "clustered"})
    chain.guard("pairs", chain.limit("max-pairs", 1000000000), "pairs of documents; a higher tau has fewer, --write clusters needs none, or raise --max-pairs")
    chain.step("keep", "Compares the documents of each cluster with the kept one; sorted by it, its set comes first, and each other set before its documents.")
    chain.map_reduce(1, 4, ["members"], "clusters", ["keep", "--clustered", "clustered"], ["keep-choose"], side={"clustered": "clustered"})
else:
    chain.step("expand-left", "Repeats pairs for the copies of their first document; sorted by it, copies come before pairs.")
    chain.map_reduce(1, 2, ["joined-pairs", "members"], "half-expanded", ["expand-left"], ["expand-left-reduce"])
    chain.step("expand-right", "Repeats pairs for the copies of their second document, and pairs the copies with one another.")
    chain.map_reduce(1, 2, ["half-expanded", "members"], "pairs", ["expand-right"], ["expand-right-reduce"])
    chain.guard("pairs", chain.limit("max-pairs", 1000000000), "pairs of documents; a higher tau has fewer, --write clusters needs none, or raise --max-pairs")
    for r in chain.rounds("components", "Links documents to ever smaller ones of their component until no link has to change: then each is linked to the smallest."):
        chain.step("large-star-%d" % r, "Links the larger neighbours of each document to its smallest one; sorted by neighbour, that one comes first.")
        chain.map_reduce(1, 2, ["joined-pairs", "members"] if r == 1 else ["small-stars-%d" % (r - 1)], "large-stars-%d" % r, ["large-star"], ["large-star-reduce"])
        if chain.until_zero("changes", "large-stars-%d" % r, "components"):
            break
        chain.step("small-star-%d" % r, "Links each document and its smaller neighbours to the smallest of them.")
        chain.map_reduce(1, 2, ["large-stars-%d" % r], "small-stars-%d" % r, ["small-star"], ["small-star-reduce"])
    chain.step("star-rank", "Brings each document's component, rank and representative together; sorted by id.")
    chain.map_reduce(1, 2, ["components", "members"], "star-members", ["star-rank"], ["star-rank-reduce"])
    chain.step("star-link", "Brings each pair, in both directions, the rank of its representative's best copy; sorted by representative, copies come before pairs.")
    chain.map_reduce(1, 2, ["star-members", "joined-pairs"], "star-links", ["star-link"], ["star-link-reduce"])
    chain.step("star", "Goes through each component, best document first: it is a centre unless an earlier neighbour is one; sorted by component, then rank, members come last.")
    chain.map_reduce(1, 4, ["star-links", "star-members"], "labels", ["star"], ["star-reduce"])
    chain.step("keep-rank", "Brings each document's cluster, rank and set together; sorted by id.")
    chain.map_reduce(1, 2, ["labels", "members"], "ranked", ["keep-rank"], ["keep-rank-reduce"])
    chain.step("keep-best", "Finds the best document of each cluster; sorted by cluster, then rank, then id, it comes first.")
    chain.map_reduce(1, 3, ["ranked"], "under-kept", None, ["keep-best"])
    chain.step("keep-choose", "Compares the documents of each cluster with the kept one; sorted by it, its set comes first, and each other set before its documents.")
    chain.map_reduce(1, 4, ["under-kept"], "clusters", None, ["keep-choose"])
chain.step("write-kept", "Passes on the lines of documents that no cluster drops.")
chain.map(["documents"], "kept", ["write-kept", "--clusters", "clusters"], side={"clusters": "clusters"})
chain.publish()
