"""What runs in tasks: a process of a stage, fed by one thread, heard by another; and the shuffle between two."""

import gzip
import io
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zlib

from pyspark import AccumulatorParam, SparkFiles
from pyspark.cloudpickle import register_pickle_by_value

# Executors get these functions with the job, and need no file of this library.
register_pickle_by_value(sys.modules[__name__])
MARK = b"\xef\xbb\xbf"
BLOCK = 1 << 20


class StageFailed(Exception):
    pass


def run_stage(stage, number, rows, counters):
    """What a stage writes, as blocks of whole lines."""
    places = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    folder = tempfile.mkdtemp(prefix="twinsplit-", dir=places[number % len(places)] or None)
    child, ended = None, False
    try:
        for link, names in stage["side"].items():
            link_side_file(os.path.join(folder, link), names)
        # The task's folder is its working folder; its counters come as a file, which stands there only if all went well.
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("TWINSPLIT_", "mapreduce_"))}
        environment.update(stage["variables"], TWINSPLIT_TASK=str(number), TWINSPLIT_COUNTERS=os.path.join(folder, "_counters"))
        child = subprocess.Popen(
            stage["command"],
            executable=SparkFiles.get(stage["program"]),
            cwd=folder,
            env=environment,
            bufsize=BLOCK,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        said, failure = [], []
        feeder = threading.Thread(target=feed, args=(child, rows, stage["mark"], failure), daemon=True)
        listener = threading.Thread(target=listen, args=(child.stderr, said), daemon=True)
        feeder.start()
        listener.start()
        for block in whole_lines(child.stdout):
            yield block
        code = child.wait()
        listener.join()
        if code == 0 or failure:
            feeder.join()
        if failure:
            raise failure[0]
        if code != 0 or not os.path.isdir(environment["TWINSPLIT_COUNTERS"]):
            how = "was ended by signal %d" % -code if code < 0 else "ended with code %d" % code
            raise StageFailed(
                "<<<step %s: task %d: %s %s\n%s>>>"
                % (stage["step"], number, stage["command"][0], how, b"".join(said).decode("utf-8", "replace"))
            )
        counters.add({(stage["command"][0], number): (counted(folder), quarantine(folder))})
        ended = True
    finally:
        if child is not None and not ended:
            child.kill()
            child.wait()
        shutil.rmtree(folder, ignore_errors=True)


def link_side_file(link, names):
    """One file is the side file; more of them, or none, are a folder."""
    if len(names) == 1:
        os.symlink(SparkFiles.get(names[0]), link)
        return
    os.mkdir(link)
    for name in names:
        os.symlink(SparkFiles.get(name), os.path.join(link, name))


def feed(child, rows, mark, failure):
    try:
        with child.stdin as stream:
            # A stage of documents takes a mark off its input's start. It gets one, so that it takes none from a document.
            stream.write(MARK if mark else b"")
            for row in rows:
                stream.write(row)
                stream.write(b"\n")
    except BrokenPipeError:
        # Its exit code and its words say why, unless it thinks that all is well.
        if child.wait() == 0:
            failure.append(StageFailed("<<<%s ended before it had read its input>>>" % child.args[0]))
    except BaseException as error:
        failure.append(error)
        child.kill()


def listen(stream, said):
    """Keeps the end of what a stage says on standard error."""
    for line in stream:
        said.append(line)
        del said[:-50]


def whole_lines(stream):
    held = []
    while True:
        block = stream.read1(BLOCK)
        end = block.rfind(b"\n") + 1
        if end:
            held.append(block[:end])
            yield b"".join(held)
            held = []
        if end < len(block):
            held.append(block[end:])
        if not block:
            if held:
                yield b"".join(held) + b"\n"
            return


def counted(folder):
    numbers = {}
    for name in os.listdir(os.path.join(folder, "_counters")):
        with open(os.path.join(folder, "_counters", name), encoding="utf-8") as stream:
            numbers.update((key, int(number)) for key, number in (line.split("\t") for line in stream))
    return numbers


def quarantine(folder):
    """The lines that the task let pass; --bad-records bounds them."""
    folder = os.path.join(folder, "_bad")
    found = {}
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        with open(os.path.join(folder, name), "rb") as stream:
            found[name] = stream.read()
    return found


class ByTask(AccumulatorParam):
    """What tasks counted, by task: one that runs twice counts once."""

    def zero(self, value):
        return {}

    def addInPlace(self, one, other):
        one.update(other)
        return one


def through(rows, stage, counters, offset=0):
    """The rows of each partition through a process of the stage."""
    return rows.mapPartitionsWithIndex(lambda number, rows: run_stage(stage, offset + number, rows, counters))


def lines_of_blocks(blocks):
    for block in blocks:
        for row in block[:-1].split(b"\n"):
            yield row


def first_field(row):
    return bytes(row[0])


def lines_of_whole(row):
    """The lines of a file that was read whole."""
    content = bytes(row[0])
    stream = io.BytesIO(content)
    lines = gzip.GzipFile(fileobj=stream) if content[:2] == b"\x1f\x8b" else stream
    for number, line in enumerate(lines):
        line = line[len(MARK) :] if number == 0 and line.startswith(MARK) else line
        yield line[:-1] if line.endswith(b"\n") else line


def forget(names):
    """Removes, where a task runs, the files of jobs that are over: each executor fetched them."""

    def rows_after(rows):
        for name in names:
            try:
                os.remove(SparkFiles.get(name))
            except OSError:
                pass  # Never fetched here, or removed by another task.
        return rows

    return rows_after


def key_end(row, fields):
    end = 0
    for number in range(fields):
        end = row.find(b"\t", end + (number > 0))
        if end < 0:
            return len(row)
    return end


def shuffle(rows, reducers, partition, sort, numbered, shuffled):
    def keyed(rows):
        for row in rows:
            if row:
                end = key_end(row, sort)
                yield ((row[:end], zlib.crc32(row)) if shuffled else row[:end]), row[end:]

    def task_of(key):
        key = key[0] if shuffled else key
        key = key[: key_end(key, partition)]
        # Not Python's hash, which differs from process to process.
        return (int(key.partition(b".")[0]) if numbered else zlib.crc32(key)) % reducers

    def joined(pairs):
        for key, value in pairs:
            yield (key[0] if shuffled else key) + value

    pairs = rows.mapPartitions(keyed)
    if sort or shuffled:
        pairs = pairs.repartitionAndSortWithinPartitions(reducers, task_of)
    else:
        pairs = pairs.partitionBy(reducers, task_of)
    return pairs.mapPartitions(joined, preservesPartitioning=True)


def block_row(block):
    """A block of whole lines as a row of one column, for a writer that ends it."""
    return (block[:-1],)
