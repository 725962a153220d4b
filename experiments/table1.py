"""Table 1 of zhang2011: Term-Split against Doc-Split on 200,000 documents, in one process, by pipes and on a Hadoop cluster of this machine.

A sixteenth of the documents is measured with every method and engine; of all documents those runs are made that fit the disk (splits.py).
"""

import argparse
from itertools import product

import cluster
import collection
import corpora
import engines
import plot
from points import add_minutes
from result import save
from splits import DISK, GENERATED, LENGTH, METHODS, SEED, Splits

SETTINGS = [("0,1", "0.4"), ("0.1,0.95", "0.4"), ("0.3,0.85", "0.3")]
DOCUMENTS, PART = 200_000, 16


def shown(count, setting, method, engine, how, found):
    """A row of the table."""
    def millions(name, digits):
        return f"{found[name] / 1e6:.{digits}f}"
    return [count, f"[{setting[0]}]", setting[1], method, engine, how,
            f"{found['seconds']:.1f}" if how == "measured" else "", millions("shuffled_rows", 2), millions("shuffled_bytes", 1),
            millions("written_rows", 2), millions("written_bytes", 1), millions("disk", 1), found.get("pairs", ""), found.get("clusters", "")]


def megabytes_held(found):
    """Megabytes; no bar for what was not run."""
    return found[1]["disk"] / 1e6 if found else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", type=engines.chosen, default=engines.ENGINES, metavar="A,B", help="of local, pipes and hadoop; local is always run")
    corpora.add_own(parser, parser)
    parser.add_argument("--documents", type=int, default=DOCUMENTS, metavar="N", help="of the generated documents")
    parser.add_argument("--disk", type=float, default=DISK, metavar="GB", help="that a run may be expected to take")
    add_minutes(parser)
    opts = parser.parse_args()
    corpus = corpora.own(opts)
    documents = collection.own("table1", corpus) if corpus else collection.generated("table1", opts.documents, LENGTH, SEED)
    count = documents.documents
    part = max(1, count // PART)
    made, names = {}, [name for name in engines.ENGINES if name in opts.engines]
    with documents, cluster.Cluster() as hadoop:
        table = Splits(documents, part, hadoop, opts, "pairs")
        sizes = sorted({part, count})
        # The cluster comes last: its daemons run from then on.
        for engine, size, setting, method in product(names, sizes, SETTINGS, METHODS):
            made[size, setting, method, engine] = table.found(size, engine, method, setting)
    made = {key: found for key, found in made.items() if found}
    rows = []
    for size, setting in product(sizes, SETTINGS):
        rows += [shown(*key, *made[key]) for key in product([size], [setting], METHODS, names) if key in made]
        if len({found["answer"] for key, (how, found) in made.items() if key[:2] == (size, setting) and how == "measured"}) > 1:
            raise SystemExit(f"{size} documents, {setting}: methods or engines differ in pairs or clusters")
    bars = {f"{method}, {engine}": [(f"IDF [{setting[0]}], tau {setting[1]}", megabytes_held(made.get((part, setting, method, engine))))
                                    for setting in SETTINGS] for method, engine in product(METHODS, names)}
    plot.bars("table1", f"{part:,} documents: the most of the disk", "megabytes of disk", bars, top=None, log=True)
    save("table1", f"Term-Split and Doc-Split on {count:,} documents and a part of them (zhang2011, table 1)",
         ["documents", "idf", "tau", "method", "engine", "how", "seconds", "shuffled_million_rows", "shuffled_MB", "written_million_rows",
          "written_MB", "disk_MB", "pairs", "clusters"], rows, ["table1"],
         [f"{opts.corpus.name if opts.corpus else GENERATED}; SpotSigs; two threads or tasks at once, in Hadoop "
          f"{cluster.MAPS} maps and {cluster.REDUCERS} reducers. Shuffled is what reducers read, written what steps write, the answer among it, both without compression; of Term-Split with the "
          "prefix filter in one process the candidates that it puts down. Disk is the most that was held beside the input, looked at ten times a second; "
          "in Hadoop two replicas are in it. One run each.",
          f"Computed: not run, for its rows or its disk are more than {opts.disk:g} GB. Plain Term-Split's own index counts the rows that it would write; what each row takes is that of "
          f"{part:,} documents, on Hadoop without the files of its jobs."])


if __name__ == "__main__":
    main()
