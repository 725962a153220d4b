#!/usr/bin/env python3
"""What a batch costs that comes to a store, beside a run over everything, datasketch with Redis, and DuckDB.

    benches/store.py --work FOLDER [--documents N] [--bytes B] [--memory MB] [--peers-documents N] [--many N] [--save [FILE]]

Needs a release build (`make bench-store` does it) and redis-server. Documents are those of generate-corpus, so that one command gives them to everyone;
they stay in FOLDER and are not made again. Three tables:

- Batches of .1, 1 and 10 % of N documents against a store of N, each only compared and then added, and a run over all documents without a store.
  Before each measurement the pages of all files are given back, so that what is read from the disk can be counted: it has the system's reading ahead in it.
- A store that grows by --many batches: what the tenth, the hundredth and so on took, each the median of five.
- The first --peers-documents again, and what of a batch of 1 % the peers find of the exact pairs, by 128 hashes for the threshold.

Seconds of a processor are user and system time of all threads, which other work on the machine changes least. The exit status is 1 where a batch of 1 %
takes more than a twentieth of the processor time of a run over all, or of the store's bytes.
"""

import argparse
import itertools
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("BIN_DIR", ROOT / "target" / "release")) / "twinsplit"
BATCHES = [("0.1 %", 1000), ("1 %", 100), ("10 %", 10)]
MOST, HASHES, TAU, WORDS = 0.05, 128, 0.65, 3


class Cost(NamedTuple):
    wall: float
    processor: float
    peak: int
    read: int


def cold(*folders):
    """Gives back the pages of all files below, so that the next to read them reads from the disk."""
    os.sync()
    for path in (path for folder in folders for path in [folder, *folder.rglob("*")] if path.is_file()):
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def twinsplit(*words):
    """Runs the program and says what it took, from its start to its end."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TWINSPLIT_")}
    start = time.perf_counter()
    process = subprocess.Popen([str(word) for word in (PROGRAM, *words)], env=clean, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"bench: {' '.join(map(str, words))}\n{said}")
    wall = time.perf_counter() - start
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, usage.ru_inblock * 512)


def corpus(opts):
    """Documents for the store, the three batches and those of the store that grows, each a file; 12 % more documents than the store has."""
    folder = opts.work / f"documents-{opts.documents}-{opts.bytes}"
    if not folder.exists():
        total = opts.documents * 112 // 100
        made = opts.work / "generated"
        twinsplit("generate-corpus", "--documents", total, "--bytes", opts.bytes * total, "--seed", 7, "--quiet", "--overwrite", "-o", made)
        unfinished = opts.work / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        with open(made / "documents.jsonl", "rb") as lines:
            for name, count in [("store", opts.documents), *((str(part), opts.documents // part) for _, part in BATCHES)]:
                with open(unfinished / f"{name}.jsonl", "wb") as out:
                    out.writelines(itertools.islice(lines, count))
        shutil.rmtree(made)
        unfinished.rename(folder)
    return folder


def run(opts, out, inputs, *more):
    shutil.rmtree(out, ignore_errors=True)
    named = [word for path in inputs for word in ("-i", path)]
    return twinsplit("run", "doc-split", "--memory", opts.memory, "--max-pairs", 10**12, "--quiet", *named, "-o", out, "--features", f"words:{WORDS}", "--tau", TAU, *more)


def pairs(out):
    with open(out / "pairs.tsv", encoding="utf-8") as lines:
        return {tuple(line.split("\t")[:2]) for line in lines}


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def row(name, cost, whole, found, held):
    share = f"{cost.processor / whole:.3f}" if whole else "1"
    read = f"{cost.read / 1e6:,.0f}" + (f" ({cost.read / held:.1%})" if held else "")
    return f"| {name} | {cost.wall:,.2f} | {cost.processor:,.2f} | {share} | {cost.peak / 1e6:,.0f} | {read} | {found} |"


def batches(opts, files):
    """The table of batches, and whether one of 1 % is within what it may take."""
    store, out = opts.work / "store", opts.work / "answer"
    shutil.rmtree(store, ignore_errors=True)
    cold(files)
    whole = run(opts, out, [files / "store.jsonl", files / "100.jsonl"])
    yield "| | seconds | processor's | of a run's | memory, MB | read from the disk, MB (of the store) | pairs |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    yield row(f"a run over {opts.documents * 101 // 100:,} documents", whole, None, f"{len(pairs(out)):,}", None)
    cold(files)
    made = run(opts, out, [files / "store.jsonl"], "--store", store)
    yield row(f"{opts.documents:,} documents become a store", made, whole.processor, f"{len(pairs(out)):,}", None)
    held, within = size(store), True
    segments = sum(path.stat().st_size for path in store.glob("segment-*"))
    for name, part in BATCHES:
        for what, option in [("only compared", "--against"), ("added", "--store")]:
            cold(store, files)
            batch = files / f"{part}.jsonl"
            cost = run(opts, out, [batch], option, store)
            yield row(f"{name}: {opts.documents // part:,} documents, {what}", cost, whole.processor, f"{len(pairs(out)):,}", held)
            # What a batch reads of itself is no part of the store.
            if part == 100 and what == "only compared":
                within = cost.processor <= MOST * whole.processor and cost.read - batch.stat().st_size <= MOST * held
    cold(store)
    yield row("`store ls`", twinsplit("store", "ls", store), whole.processor, "–", held)
    yield ""
    yield f"The store of {opts.documents:,} documents has {held / 1e6:,.0f} MB, of which {segments / 1e6:,.0f} are segments."
    return within


def growing(opts, files):
    """The table of a store that grows by equal batches."""
    store, out, batch = opts.work / "growing", opts.work / "answer", opts.work / "batch.jsonl"
    shutil.rmtree(store, ignore_errors=True)
    costs = []
    with open(files / "store.jsonl", "rb") as lines:
        for _ in range(opts.many):
            with open(batch, "wb") as some:
                some.writelines(itertools.islice(lines, opts.documents // opts.many))
            costs.append(run(opts, out, [batch], "--store", store))
    yield f"| batches of {opts.documents // opts.many:,} documents in the store | seconds of the processor: median of five | the most |"
    yield "|--:|--:|--:|"
    for after in [10, 25, 50, 75, 100, 200, 400]:
        if after + 2 <= opts.many or after == opts.many:
            near = [cost.processor for cost in costs[max(0, after - 3) : after + 2]]
            yield f"| {after} | {statistics.median(near):.3f} | {max(near):.3f} |"
    yield f"| all, one after the other | {sum(cost.processor for cost in costs):.1f} | |"


def shingles(path):
    words = re.compile(r"[^\W_]+")
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            of = words.findall(document["text"].lower())
            yield document["id"], [" ".join(of[at : at + WORDS]).encode() for at in range(len(of) - WORDS + 1)]


def sketches(path):
    from datasketch import MinHash

    ids, sets = zip(*shingles(path))
    return list(zip(ids, MinHash.bulk(sets, num_perm=HASHES)))


class Redis:
    """A server of its own on a free port of loopback, which keeps nothing."""

    def __enter__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        words = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except ConnectionRefusedError:
                if self.process.poll() is not None:
                    sys.exit("bench: redis-server ended")
                time.sleep(0.05)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def with_redis(held, batch):
    from datasketch import MinHashLSH

    with Redis() as server:
        storage = {"type": "redis", "redis": {"host": "127.0.0.1", "port": server.port}}
        index = MinHashLSH(threshold=TAU, num_perm=HASHES, storage_config=storage)
        start = time.perf_counter()
        with index.insertion_session() as session:
            for name, sketch in held:
                session.insert(name, sketch)
        filled = time.perf_counter()
        known = dict(held)
        found = {(old, name) for name, sketch in batch for old in index.query(sketch) if known[old].jaccard(sketch) >= TAU}
        return filled - start, time.perf_counter() - filled, found


def with_duckdb(held, batch):
    import duckdb
    import numpy
    from datasketch import MinHashLSH

    index = MinHashLSH(threshold=TAU, num_perm=HASHES)
    bands, rows = index.b, index.r

    def keys(sketches):
        for number, (_, sketch) in enumerate(sketches):
            values = numpy.ascontiguousarray(sketch.hashvalues)
            for band in range(bands):
                yield number, band, hash(values[band * rows : (band + 1) * rows].tobytes())

    def table(name, sketches):
        number, band, key = (numpy.array(column, dtype=numpy.int64) for column in zip(*keys(sketches)))
        rows_of = {"number": number, "band": band, "key": key}
        base.register("rows_of", rows_of)
        base.execute(f"create table {name} as select number, band, key from rows_of")
        base.unregister("rows_of")

    base = duckdb.connect()
    start = time.perf_counter()
    table("held", held)
    filled = time.perf_counter()
    table("batch", batch)
    met = base.execute("select distinct held.number, batch.number from held join batch using (band, key)").fetchall()
    found = {(held[old][0], batch[new][0]) for old, new in met if held[old][1].jaccard(batch[new][1]) >= TAU}
    return filled - start, time.perf_counter() - filled, found


def peers(opts, files):
    """The table of peers: a store of the first documents, and a batch of 1 % of them."""
    some, batch = opts.work / "some.jsonl", opts.work / "some-batch.jsonl"
    with open(files / "store.jsonl", "rb") as lines:
        for path, count in [(some, opts.peers_documents), (batch, opts.peers_documents // 100)]:
            with open(path, "wb") as out:
                out.writelines(itertools.islice(lines, count))
    store, out = opts.work / "some-store", opts.work / "answer"
    shutil.rmtree(store, ignore_errors=True)
    made = run(opts, out, [some], "--store", store)
    asked = run(opts, out, [batch], "--against", store)
    with open(batch, encoding="utf-8") as lines:
        new = {json.loads(line)["id"] for line in lines}
    exact = {(a, b) if b in new else (b, a) for a, b in pairs(out) if (a in new) != (b in new)}
    start = time.perf_counter()
    held = sketches(some)
    read = time.perf_counter() - start
    queries = sketches(batch)
    yield f"| {opts.peers_documents:,} documents, then {opts.peers_documents // 100:,} more | seconds to fill | for the batch | pairs with the store | recall | precision |"
    yield "|---|--:|--:|--:|--:|--:|"
    yield f"| twinsplit, whole processes from text | {made.wall:.2f} | {asked.wall:.2f} | {len(exact):,} | 1 | 1 |"
    for name, work in [("datasketch with Redis", with_redis), ("DuckDB over band hashes", with_duckdb)]:
        filled, seconds, found = work(held, queries)
        hits = len(found & exact)
        yield f"| {name} | {filled:.2f} | {seconds:.2f} | {len(found):,} | {hits / max(1, len(exact)):.3f} | {hits / max(1, len(found)):.3f} |"
    yield ""
    yield f"Peers begin with signatures of {HASHES} hashes, which took {read:.1f} s more for the documents, and keep pairs whose estimate is at least {TAU}."


def environment():
    """Starts this script again where the peers are, if it has not been."""
    home = ROOT / ".tools" / "bench-store"
    python = home / "bin" / "python"
    if not python.is_file():
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
    if Path(sys.prefix) != home:
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
        subprocess.run([*pip, "-c", ROOT / "benches/peers/constraints.txt", "datasketch", "duckdb", "redis"], check=True)
        os.execv(python, [python, *sys.argv])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=1_600_000, help="documents of the store (default 1,600,000)")
    parser.add_argument("--bytes", type=int, default=6700, help="bytes of a document, about (default 6,700)")
    parser.add_argument("--memory", default="8192", help="--memory of each run (default 8192)")
    parser.add_argument("--peers-documents", type=int, default=20_000, help="documents for the peers (default 20,000)")
    parser.add_argument("--many", type=int, default=100, help="batches of the store that grows (default 100)")
    parser.add_argument("--save", nargs="?", const=ROOT / "docs/performance/stores.md", type=Path, help="also write the tables to FILE")
    opts = parser.parse_args()
    environment()
    opts.work.mkdir(parents=True, exist_ok=True)
    files = corpus(opts)
    within = True

    def lines():
        nonlocal within
        within = yield from batches(opts, files)
        for table in (growing, peers):
            yield ""
            yield from table(opts, files)

    shown = []
    for line in lines():
        print(line, flush=True)
        shown.append(line)
    if opts.save:
        said = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.strip()
        head = [f"# Batches of a store, {time.strftime('%Y-%m-%d')}, commit {said}", "",
                f"{opts.documents:,} documents of {opts.bytes:,} bytes from `generate-corpus`, words:3 at .65, `--memory {opts.memory}`, {os.cpu_count()} cores; `make bench-store`.", ""]
        opts.save.write_text("\n".join([*head, *shown, ""]), encoding="utf-8")
    sys.exit(0 if within else "bench: a batch of 1 % takes more than a twentieth")


if __name__ == "__main__":
    main()
