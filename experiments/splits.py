"""Term-Split and Doc-Split (zhang2011) over heads of one collection: those runs that fit the disk, and what the others would take.

Doc-Split is always run. What Term-Split would hold of the disk is computed, from the rows that it would write (plain: counted by its own
index; with the prefix filter: the candidates of the run in one process) and from what each row took of the disk in the smallest head. A run of
which the rows to be shuffled or the disk are more than is allowed is not made.
"""

import engines
import volume
from points import NotNow, Points

METHODS = {"Doc-Split": ["doc-split"], "Term-Split, prefix": ["term-split", "--pcp", "prefix"], "Term-Split": ["term-split"]}
# The generated documents: bytes of one, and their seed.
LENGTH, SEED = 2_000, 77
# More than is ever counted: what fits is decided here.
NO_LIMIT = 10**15
# Gigabytes of the disk that a run may be expected to take.
DISK = 12
GENERATED = f"generate-corpus --seed {SEED} of {LENGTH:,} bytes a document"


def options(idf, tau):
    return ["--features", "spotsigs", "--idf", idf, "--tau", tau]


class Splits:
    """Runs over heads of a collection, of which the smallest is the part by which the others are judged. `write` is what runs write."""

    def __init__(self, documents, part, hadoop, opts, write):
        self.documents, self.part, self.hadoop, self.disk, self.write = documents, part, hadoop, opts.disk, write
        self.points = Points(documents.folder.name, opts.minutes)

    def measured(self, count, engine, method, setting):
        """A run; it may take four times as long as that of half as many documents."""
        half = self.points.get(count // 2, engine, method, *setting)
        words = [*METHODS[method], *options(*setting), "--max-pairs", NO_LIMIT, "--write", self.write]
        return self.points.measured([count, engine, method, *setting], lambda: engines.run(
            engine, self.documents.head(count), words, self.documents.folder, self.hadoop), 4 * half["seconds"] if half else 0)

    def rows(self, count, method, setting):
        """Rows between the steps of Term-Split, of which the rest is a multiple."""
        if method == "Term-Split":
            return self.points.measured([count, "rows", method, *setting], lambda: volume.plain_rows(
                self.documents.head(count), options(*setting), self.documents.folder))
        return self.measured(count, "local", method, setting)["candidates"]

    def computed(self, count, engine, method, setting):
        """What a run would shuffle, write and hold, by that of the part; nothing for what is small enough to be measured."""
        if method == "Doc-Split" or engine == "local" and method == "Term-Split, prefix" or count == self.part:
            return None
        found = self.measured(self.part, engine, method, setting)
        times = self.rows(count, method, setting) / max(1, self.rows(self.part, method, setting))
        all_of = {name: round(found[name] * times) for name in ("shuffled_rows", "shuffled_bytes", "written_rows", "written_bytes")}
        all_of["disk"] = round(self.disk_of_rows(found, engine, setting) * times)
        return all_of if max(all_of["disk"], all_of["shuffled_bytes"]) > self.disk * 1e9 else None

    def disk_of_rows(self, found, engine, setting):
        """What the rows of a run of the part took of the disk."""
        if engine == "local":
            # One process keeps the rows of the part in memory, and puts more of them on the disk.
            return max(found["disk"], found["shuffled_bytes"])
        if engine == "hadoop":
            # Jobs have files of their own, whatever the rows: of the part Doc-Split has next to nothing else.
            return max(0, found["disk"] - self.measured(self.part, engine, "Doc-Split", setting)["disk"])
        return found["disk"]

    def found(self, count, engine, method, setting):
        """("computed" or "measured", what a run would take or took), or nothing when the time does not suffice for it."""
        try:
            computed = self.computed(count, engine, method, setting)
            return ("computed", computed) if computed else ("measured", self.measured(count, engine, method, setting))
        except NotNow:
            return None
