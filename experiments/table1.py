"""Table 1 of zhang2011: Term-Split against Doc-Split on 200,000 documents, on one process, pipes and a Hadoop cluster of this machine.

A sixteenth of the documents is measured with every method and engine. Of all documents those runs are made that fit the disk: what
Term-Split would hold there is computed, from the rows that it would write (plain: counted by its own index; with the prefix filter: by the run
in one process) and from what each row took of the disk in the measured part.
"""

import argparse
from pathlib import Path

import cluster
import collection
import engines
import plot
import volume
from points import Points
from result import WORK, progress, save

SETTINGS = [("0,1", "0.4"), ("0.1,0.95", "0.4"), ("0.3,0.85", "0.3")]
METHODS = {"Doc-Split": ["doc-split"], "Term-Split, prefix": ["term-split", "--pcp", "prefix"], "Term-Split": ["term-split"]}
DOCUMENTS, PART, LENGTH, SEED = 200_000, 16, 2_000, 77
# More than is ever counted: what fits is decided here.
NO_LIMIT = 10**15
# Gigabytes of the disk that a run may take.
DISK = 12


def options(idf, tau):
    return ["--features", "spotsigs", "--idf", idf, "--tau", tau]


class Table:
    """The points of the table, and the rows of what was or could not be run."""

    def __init__(self, documents, points, hadoop, disk):
        self.documents, self.points, self.hadoop, self.disk = documents, points, hadoop, disk

    def measured(self, count, engine, method, setting):
        words = [*METHODS[method], *options(*setting), "--max-pairs", NO_LIMIT, "--write", "pairs"]
        return self.points.measured([count, engine, method, *setting], lambda: engines.run(
            engine, self.documents.head(count), words, self.documents.folder, self.hadoop))

    def rows(self, count, method, setting):
        """Rows between the steps of Term-Split, of which the rest is a multiple."""
        if method == "Term-Split":
            return self.points.measured([count, "rows", method, *setting], lambda: volume.plain_rows(
                self.documents.head(count), options(*setting), self.documents.folder))
        return self.measured(count, "local", method, setting)["candidates"]

    def computed(self, count, part, engine, method, setting):
        """What a run would shuffle, write and hold, by that of the part; nothing for what is small enough to be measured."""
        if method == "Doc-Split" or engine == "local" and method == "Term-Split, prefix" or count == part:
            return None
        found = self.measured(part, engine, method, setting)
        times = self.rows(count, method, setting) / self.rows(part, method, setting)
        all_of = {name: round(found[name] * times) for name in ("shuffled_rows", "shuffled_bytes", "written_rows", "written_bytes", "disk")}
        return all_of if all_of["disk"] > self.disk * 1e9 else None


def shown(count, setting, method, engine, found, computed):
    def millions(name, digits):
        return f"{found[name] / 1e6:.{digits}f}"
    return [count, f"[{setting[0]}]", setting[1], method, engine, "computed" if computed else "measured",
            f"{found['seconds']:.1f}" if not computed else "", millions("shuffled_rows", 2), millions("shuffled_bytes", 1),
            millions("written_rows", 2), millions("written_bytes", 1), millions("disk", 1), found.get("pairs", ""), found.get("clusters", "")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", type=engines.chosen, default=engines.ENGINES, metavar="A,B", help="of local, pipes and hadoop; local is always run")
    parser.add_argument("--corpus", type=Path, metavar="FILE", help="JSON lines with id and text in place of the generated documents")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, metavar="N", help="of the generated documents")
    parser.add_argument("--disk", type=float, default=DISK, metavar="GB", help="that a run may take")
    opts = parser.parse_args()
    documents = collection.own("table1", opts.corpus) if opts.corpus else collection.generated("table1", opts.documents, LENGTH, SEED)
    count = documents.documents
    part = max(1, count // PART)
    rows, bars = [], {}
    with documents, cluster.Cluster() as hadoop:
        table = Table(documents, Points(documents.folder.name), hadoop, opts.disk)
        for size in sorted({part, count}):
            for setting in SETTINGS:
                answers = set()
                for engine in [name for name in engines.ENGINES if name in opts.engines]:
                    for method in METHODS:
                        computed = table.computed(size, part, engine, method, setting)
                        found = computed or table.measured(size, engine, method, setting)
                        rows.append(shown(size, setting, method, engine, found, computed))
                        progress(" ".join(map(str, rows[-1])))
                        answers |= {found["answer"]} if not computed else set()
                        if size == part:
                            bars.setdefault(f"{method}, {engine}", []).append((f"IDF [{setting[0]}], tau {setting[1]}", found["disk"] / 1e6))
                if len(answers) > 1:
                    raise SystemExit(f"{size} documents, {setting}: methods or engines differ in pairs or clusters")
    plot.bars("table1", f"{part:,} documents: the most of the disk", "megabytes of disk", bars, top=None, log=True)
    save("table1", f"Term-Split and Doc-Split on {count:,} documents and a part of them (zhang2011, table 1)",
         ["documents", "idf", "tau", "method", "engine", "how", "seconds", "shuffled_million_rows", "shuffled_MB", "written_million_rows",
          "written_MB", "disk_MB", "pairs", "clusters"], rows, ["table1"],
         [f"{opts.corpus.name if opts.corpus else f'generate-corpus --seed {SEED} of {LENGTH:,} bytes a document'}; SpotSigs; two threads or tasks at once, in Hadoop "
          f"{cluster.MAPS} maps and {cluster.REDUCERS} reducers. Shuffled is what reducers read, written what steps write, the answer among it, both without compression; of Term-Split with the "
          "prefix filter in one process the candidates that it puts down. Disk is the most that was held beside the input, looked at twice a second; "
          "in Hadoop two replicas are in it. One run each.",
          f"Computed: not run, for it takes more than {opts.disk:g} GB of disk. Plain Term-Split's own index counts the rows that it would write; what each row takes is that of "
          f"{part:,} documents."])


if __name__ == "__main__":
    main()
