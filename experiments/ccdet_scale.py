"""Figure 10 of wei2013: CCDet in one process and on a Hadoop cluster of this machine, by the number of Chinese pages and by nodes.

The pages are those of crawl.py, or a user's own (--corpus) with a field url, and heads of them. The tasks of a run on the cluster with one slot are scheduled on more nodes by a model (schedule.py).
"""

import argparse
import os

import cluster
import collection
import corpora
import crawl
import engines
import plot
from points import NotNow, Points, add_minutes
from result import progress, save
from schedule import Model

SIZES = [3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 2_000_000]
# Those of the run by nodes.
BY_NODES = 100_000
NODES = [1, 2, 4]
SLOTS_OF_A_NODE = 2
# K and the tau that finds duplicates and containments best (ccdet-best.csv).
WORDS = ["ccdet", "--site", "url", "--features", "sentence-ends:10", "--tau", "0.77", "--write", "clusters"]


def by_size(sizes, names, documents, points, hadoop):
    """{(pages, engine): what a run took and found}."""
    made = {}
    for engine in names:
        for count in sizes:
            try:
                made[count, engine] = points.measured([count, engine], lambda: engines.run(
                    engine, documents.head(count), WORDS, documents.folder, hadoop))
            except NotNow:
                pass
    for count in sizes:
        if len({found["answer"] for (size, _), found in made.items() if size == count}) > 1:
            raise SystemExit(f"{count} pages: engines differ in clusters")
    return made


def by_nodes(count, documents, points, hadoop):
    """Rows of the model, beside what was measured with one slot and one node."""
    try:
        runs = {slots: points.measured([count, "hadoop", "slots", slots], lambda: hadoop.run(documents.head(count), WORDS, slots))
                for slots in (1, SLOTS_OF_A_NODE)}
    except NotNow:
        return []
    model = Model(runs[1]["jobs"], runs[1]["seconds"])
    one = model.seconds(SLOTS_OF_A_NODE)
    rows = []
    for nodes in NODES:
        slots = nodes * SLOTS_OF_A_NODE
        seconds = model.seconds(slots)
        alone = model.work_only(SLOTS_OF_A_NODE) / model.work_only(slots)
        rows.append([count, nodes, slots, f"{runs[slots]['seconds']:.1f}" if slots in runs else "", f"{seconds:.1f}", f"{one / seconds:.2f}", f"{alone:.2f}"])
        progress(" ".join(map(str, rows[-1])))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", type=engines.chosen, default=["local", "hadoop"], metavar="A,B", help="of local, pipes and hadoop")
    parser.add_argument("--sizes", type=engines.numbers, metavar="N,N", help="pages: only these")
    corpora.add_own(parser, parser)
    add_minutes(parser)
    opts = parser.parse_args()
    corpus, sizes = corpora.own(opts), opts.sizes or SIZES
    names = [name for name in engines.ENGINES if name in opts.engines]
    if corpus:
        documents = collection.own("ccdet_scale", corpus)
        if not opts.sizes:
            sizes = [size for size in SIZES if size < documents.documents] + [documents.documents]
    else:
        documents = collection.Collection("ccdet_scale", max(sizes), lambda folder: crawl.written(max(sizes), folder))
    points, nodes = Points(documents.folder.name, opts.minutes), []
    with documents, cluster.Cluster() as hadoop:
        made = by_size(sorted(sizes), names, documents, points, hadoop)
        if "hadoop" in names:
            nodes = by_nodes(min(BY_NODES, max(sizes)), documents, points, hadoop)
    rows, lines = [], {}
    for count in sorted(sizes):
        for engine in names:
            if (count, engine) in made:
                found = made[count, engine]
                rows.append([count, engine, f"{found['seconds']:.2f}", f"{found['seconds'] / count * 1e6:.1f}", f"{found['disk'] / 1e6:.0f}",
                             found["clusters"], found["dropped"]])
                lines.setdefault(engine, []).append((count, found["seconds"]))
    plot.panels("ccdet-scale", "CCDet by number of Chinese pages", {f"{os.cpu_count()} cores": lines}, "seconds", "pages", log=True)
    save("ccdet-scale", "Seconds of CCDet by number of Chinese pages (wei2013, figure 10a)",
         ["pages", "engine", "seconds", "seconds_a_million_pages", "disk_MB", "clusters", "dropped"], rows, ["ccdet-scale"],
         [f"Heads of {opts.corpus.name if corpus else 'one crawl of crawl.py'}; K 10, tau .77, sites by url; from JSON lines to clusters, two threads in one process, "
          f"{cluster.MAPS} maps and {cluster.REDUCERS} reducers in most jobs on the cluster. One run each."])
    if nodes:
        save("ccdet-nodes", "Seconds of CCDet on Hadoop by nodes, by a model (wei2013, figure 10b)",
             ["pages", "nodes", "slots", "measured", "model", "times_as_fast", "tasks_alone_times_as_fast"], nodes, [],
             ["The model is that of figure 9b: the tasks of a run with one slot, scheduled on nodes of two cores and slots. Tasks alone: without what jobs, the driver and "
              "the gaps between tasks take."])


if __name__ == "__main__":
    main()
