"""What runs in tasks: a process of a stage, fed by one thread; and the shuffle between two."""

import gzip, io, os, shutil, subprocess, sys, tempfile, threading, zlib

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
        counted = os.path.join(folder, "_counters")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("TWINSPLIT_", "mapreduce_"))}
        environment.update(stage["variables"], TWINSPLIT_TASK=str(number), TWINSPLIT_COUNTERS=counted)
        said, failure = open(os.path.join(folder, "_said"), "w+b"), []
        pipes = {"bufsize": BLOCK, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": said}
        program = SparkFiles.get(stage["program"])
        child = subprocess.Popen(stage["command"], executable=program, cwd=folder, env=environment, **pipes)
        feeder = threading.Thread(target=feed, args=(child, rows, stage["mark"], failure), daemon=True)
        feeder.start()
        yield from whole_lines(child.stdout)
        code = child.wait()
        if code == 0 or failure:
            feeder.join()
        if failure:
            raise failure[0]
        if code != 0 or not os.path.isdir(counted):
            how = "was ended by signal %d" % -code if code < 0 else "ended with code %d" % code
            said.seek(0)
            words = b"".join(said.readlines()[-50:]).decode("utf-8", "replace")
            # The marks are not on the line that raises, which a traceback shows too.
            what = "<<<step %s: task %d: %s %s\n%s>>>" % (stage["step"], number, stage["command"][0], how, words)
            raise StageFailed(what)
        lines = b"".join(files_in(counted).values()).decode().splitlines()
        numbers = {name: int(number) for name, number in (line.split("\t") for line in lines)}
        # The lines that the task let pass; --bad-records bounds them.
        counters.add({(stage["command"][0], number): (numbers, files_in(os.path.join(folder, "_bad")))})
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

def whole_lines(stream):
    held = []
    for block in iter(lambda: stream.read1(BLOCK), b""):
        end = block.rfind(b"\n") + 1
        if end:
            held.append(block[:end])
            yield b"".join(held)
            held = []
        held += [block[end:]] if end < len(block) else []
    if held:
        yield b"".join(held) + b"\n"

def files_in(folder):
    """The content of each file."""
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
        yield from block[:-1].split(b"\n")

def lines_of_whole(row):
    """The lines of a file that was read whole."""
    content = bytes(row[0])
    stream = io.BytesIO(content)
    for line in gzip.GzipFile(fileobj=stream) if content[:2] == b"\x1f\x8b" else stream:
        yield line[:-1] if line.endswith(b"\n") else line

def forget(names, rows=()):
    """Removes, where a task runs, the files of jobs that are over, which each executor fetched; the rows go on."""
    for name in names:
        try:
            os.remove(SparkFiles.get(name))
        except OSError:
            pass  # Never fetched here, or removed by another task.
    return rows

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
