"""A chain on an engine: seconds, the rows and bytes in between, the most of the disk, and the answer."""

import argparse
import hashlib
import json
import os
import shutil
import stat
import threading
from contextlib import contextmanager

from result import ran

ENGINES = ["local", "pipes", "hadoop"]
# How often is looked at the disk, in seconds.
OFTEN = 0.1
THREADS = 2


def held(folders, process):
    """Bytes of the disk that folders hold, and files without a name of a process."""
    total = 0
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                # Files come and go while one looks.
                try:
                    total += os.lstat(os.path.join(place, name)).st_blocks * 512
                except OSError:
                    pass
    try:
        for name in os.listdir(f"/proc/{process.pid}/fd"):
            about = os.stat(f"/proc/{process.pid}/fd/{name}")
            if stat.S_ISREG(about.st_mode) and not about.st_nlink:
                total += about.st_blocks * 512
    except OSError:
        pass
    return total


class Disk:
    """The most that a process and its folders have held, beyond what was there at the beginning."""

    def __init__(self, folders):
        self.folders = folders
        self.most = 0

    @contextmanager
    def watch(self, process):
        before = held(self.folders, process)
        ended = threading.Event()

        def look():
            while not ended.wait(OFTEN):
                self.most = max(self.most, held(self.folders, process) - before)
        looking = threading.Thread(target=look)
        looking.start()
        try:
            yield
        finally:
            self.most = max(self.most, held(self.folders, process) - before)
            ended.set()
            looking.join()


def volume(counters):
    """What reducers read, and what steps write: rows and bytes. In one process Term-Split with the prefix
    filter writes its candidates, and no other rows."""
    def total(*names):
        return sum(next((step[name] for name in names if name in step), 0) for step in counters.values())
    candidates = total("candidate_pairs") if total("candidate_bytes") else 0
    return {"shuffled_rows": total("reduce_records_in"), "shuffled_bytes": total("reduce_bytes_in"), "candidates": candidates,
            "written_rows": total("reduce_records_out", "map_records_out") + candidates,
            "written_bytes": total("reduce_bytes_out", "map_bytes_out", "candidate_bytes")}


def chosen(text):
    """Engines, separated by commas."""
    names = text.split(",")
    if not set(names) <= set(ENGINES):
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(ENGINES)}, found {text}")
    return names


def numbers(text):
    """Whole numbers, separated by commas."""
    return [int(number) for number in text.split(",")]


def digest(rows):
    """Of sorted lines."""
    return hashlib.sha256(b"\n".join(sorted(rows))).hexdigest()[:16]


def run(engine, documents, words, folder, cluster=None):
    """What a run of `words`, a chain and its options, took and found. `cluster` is for hadoop."""
    if engine == "hadoop":
        return cluster.run(documents, words)
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    disk = Disk([out])
    made = json.loads(ran("twinsplit", ["run", *words, "--json", "--quiet", "--engine", engine, "--threads", THREADS, "--input", documents,
                                        "--output", out], None, watch=disk.watch))
    lines = {name: (out / f"{name}.tsv").read_bytes().splitlines() for name in ("pairs", "clusters") if (out / f"{name}.tsv").is_file()}
    shutil.rmtree(out)
    return found(made, disk, lines)


def found(made, disk, lines):
    counters = made["counters"]
    # What the last step counts: keep, or keep-choose where clusters were made in rounds.
    kept = next(step for step in counters.values() if "documents_dropped" in step)
    return {"seconds": made["seconds"]["total"], "disk": disk.most, **volume(counters), "pairs": len(lines.get("pairs", [])),
            "clusters": kept["clusters"], "dropped": kept["documents_dropped"],
            "answer": digest([row for rows in lines.values() for row in rows])}
