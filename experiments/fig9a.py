"""Figure 9a of zhang2011: the time of Term-Split and Doc-Split against the number of documents, and where plain Term-Split fills a disk.

The collections are heads of one, each twice the one before. Runs that do not fit the disk are not made (splits.py); plain Term-Split's rows
are counted for every size, by its own index.
"""

import argparse
from itertools import product

import cluster
import collection
import corpora
import engines
import plot
from points import NotNow, add_minutes
from result import progress, save
from splits import DISK, GENERATED, LENGTH, METHODS, SEED, Splits

SIZES = [25_000 << doubling for doubling in range(7)]
SETTING = ("0.3,0.85", "0.3")
# Bytes of a pair in two numbers of 32 bits, the shortest row there could be, and the paper's disk in bytes.
PAIR, PAPER_DISK = 8, 128e9
# Seconds, and documents at which it ended for want of disk.
PAPER = {"Doc-Split": (1_600_000, 5627)}


def volume_row(count, rows, part_rows, found):
    """Of plain Term-Split: its rows, and gigabytes at eight bytes each, as they are shuffled, and of the disk; `found` is the run of the part."""
    times = rows / max(1, part_rows)
    return [count, rows, f"{rows * PAIR / 1e9:.2f}", f"{found['shuffled_bytes'] * times / 1e9:.2f}", f"{found['disk'] * times / 1e9:.2f}",
            "yes" if found["disk"] * times > PAPER_DISK else "no"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", type=engines.chosen, default=["local", "pipes"], metavar="A,B", help="of local, pipes and hadoop")
    corpora.add_own(parser, parser)
    parser.add_argument("--sizes", type=engines.numbers, metavar="N,N", help="documents: only these")
    parser.add_argument("--disk", type=float, default=DISK, metavar="GB", help="that a run may be expected to take")
    add_minutes(parser)
    opts = parser.parse_args()
    corpus = corpora.own(opts)
    sizes = opts.sizes or SIZES
    documents = collection.own("fig9a", corpus) if corpus else collection.generated("fig9a", max(sizes), LENGTH, SEED)
    if opts.corpus and not opts.sizes:
        sizes = [documents.documents // parts for parts in (16, 8, 4, 2, 1) if documents.documents >= parts]
    rows, volumes, lines = [], [], {engine: {} for engine in opts.engines}
    with documents, cluster.Cluster() as hadoop:
        runs = Splits(documents, min(sizes), hadoop, opts, "clusters")
        for count in sorted(sizes):
            answers = set()
            for engine, method in product(opts.engines, METHODS):
                how, found = runs.found(count, engine, method, SETTING) or ("not run", None)
                seconds = found["seconds"] if how == "measured" else None
                before = lines[engine].get(method, [(0, 0)])[-1]
                rows.append([count, engine, method, how, f"{seconds:.2f}" if seconds else "", f"{seconds / before[1]:.2f}" if seconds and 2 * before[0] == count else "",
                             f"{found['disk'] / 1e6:.0f}" if found else "", *(found.get(name, "") if found else "" for name in ("clusters", "dropped"))])
                progress(" ".join(map(str, rows[-1])))
                if seconds:
                    lines[engine].setdefault(method, []).append((count, seconds))
                    answers.add(found["answer"])
            if len(answers) > 1:
                raise SystemExit(f"{count} documents: methods or engines differ in clusters")
            try:
                part = runs.measured(min(sizes), "pipes", "Term-Split", SETTING)
                volumes.append(volume_row(count, *(runs.rows(size, "Term-Split", SETTING) for size in (count, min(sizes))), part))
            except NotNow:
                pass
    if not opts.corpus:
        for engine in lines:
            lines[engine]["the paper's Doc-Split, ten nodes"] = [PAPER["Doc-Split"]]
    plot.panels("fig9a", f"IDF [{SETTING[0]}], tau {SETTING[1]}: where a line ends, the next run would not fit the disk", lines, "seconds", "documents", log=True)
    of = opts.corpus.name if opts.corpus else GENERATED
    save("fig9a", "Seconds of Term-Split and Doc-Split by documents (zhang2011, figure 9a)",
         ["documents", "engine", "method", "how", "seconds", "times_those_of_half", "disk_MB", "clusters", "dropped"], rows, ["fig9a"],
         [f"Heads of {of}; SpotSigs, IDF [{SETTING[0]}], tau {SETTING[1]}; two threads or tasks at once; clusters alone are written; one run each. "
          f"Computed: not run, for it would take more than {opts.disk:g} GB of disk. The paper: 5,627 seconds for Doc-Split with 1.6 million documents; Term-Split ended at "
          "800,000 after more than four hours, with disks of 128 GB full."])
    save("fig9a-volume", "What plain Term-Split writes, by documents", ["documents", "rows", "GB_at_8_bytes", "shuffled_GB", "disk_GB", "more_than_128_GB"],
         volumes, [], ["Rows are the sum of df(df-1)/2 over the posting lists, counted by index-term-reduce. Shuffled and disk are those of the engine pipes, for each row as "
                       f"much as in its run with {min(sizes):,} documents."])


if __name__ == "__main__":
    main()
