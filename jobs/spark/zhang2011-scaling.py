#!/usr/bin/env python3
# twinsplit plan doc-split --engine spark --cluster star --features spotsigs --idf 0.3,0.85 --min-features 4 --tau 0.3 --write-kept
"""Near-duplicate documents on Spark, 3.5 and later: a chain of stages of twinsplit.

usage: spark-submit SCRIPT OUTPUT INPUT...   (documents as JSON lines, plain or gzip; OUTPUT is a folder)
"""

TITLE = "twinsplit plan doc-split --engine spark --cluster star --features spotsigs --idf 0.3,0.85 --min-features 4 --tau 0.3 --write-kept"
ANSWERS = ["pairs", "kept", "clusters"]
NAMED_FILES = []
BOUNDS = ["max-pairs", "combine", "combine-pairs", "forest", "ranked"]

import argparse
import atexit
import fnmatch
import gzip
import hashlib
import io
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

from pyspark import AccumulatorParam, SparkFiles
from pyspark.sql import SparkSession

# The options.

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("output", metavar="OUTPUT", help="folder of the answer, on any file system that Hadoop knows")
parser.add_argument("input", metavar="INPUT", nargs="+", help="documents: files, folders, quoted patterns")
parser.add_argument("--twinsplit", metavar="FILE", help="the program twinsplit, if it is not on PATH; it is sent to the executors")
parser.add_argument("--reducers", metavar="N", type=int, help="tasks after a shuffle; give about twice the cluster's cores")
parser.add_argument("--slices-at-once", metavar="N", type=int, default=2, help="Doc-Split's jobs that run at the same time")
parser.add_argument("--work", metavar="FOLDER", help="folder of the data sets in between; OUTPUT/_work by default")
parser.add_argument("--resume", action="store_true", help="go on after the last finished step of a run that was stopped")
parser.add_argument("--overwrite", action="store_true", help="replace the answer that is there, when the new one is complete")
parser.add_argument("--keep-work", action="store_true", help="keep the data sets in between")
parser.add_argument("--shuffled", action="store_true", help="put values of equal keys out of order, to show hidden assumptions")
parser.add_argument("--logs", metavar="FOLDER", help="a local folder for the step at hand, and what each step counted")
parser.add_argument("--driver-pid", metavar="PID", type=int, help="end when this process does")
parser.add_argument("--quiet", action="store_true", help="say nothing but errors")
options = parser.parse_args()

spark = SparkSession.builder.appName(TITLE).getOrCreate()
sc = spark.sparkContext
atexit.register(spark.stop)
sc.setLogLevel("WARN")
jvm = sc._jvm
REDUCERS = options.reducers or max(2, sc.defaultParallelism)
# What the caller set for the stages goes to every task, and into what --resume compares.
VARIABLES = {name: value for name, value in os.environ.items() if name.startswith("TWINSPLIT_")}
MARK = b"\xef\xbb\xbf"
BLOCK = 1 << 20


def fail(message):
    sys.stdout.flush()
    print("error:", message, file=sys.stderr, flush=True)
    sys.exit(1)


def refuse(message):
    sys.stdout.flush()
    print("error:", message, file=sys.stderr, flush=True)
    sys.exit(2)


def say(message):
    if not options.quiet:
        print(message, file=sys.stderr, flush=True)


# Files, wherever Hadoop finds them. Only the driver reaches them this way; tasks read and write rows.


def hadoop_path(name):
    return jvm.org.apache.hadoop.fs.Path(name)


def file_system(path):
    return path.getFileSystem(sc._jsc.hadoopConfiguration())


def whole_name(name):
    path = hadoop_path(name)
    return file_system(path).makeQualified(path).toString()


def exists(name):
    path = hadoop_path(name)
    return file_system(path).exists(path)


def listed(name):
    """The names in a folder with their FileStatus, in byte order."""
    path = hadoop_path(name)
    found = [(status.getPath().getName(), status) for status in file_system(path).listStatus(path)]
    return sorted(found, key=lambda entry: entry[0].encode())


def is_hidden(name):
    return name.startswith(("_", "."))


def below(name):
    """The files below a folder, without those that are hidden or lie in hidden folders: (name, length, changed)."""
    files = []
    for last, status in listed(name):
        if is_hidden(last):
            continue
        if status.isDirectory():
            files += below(status.getPath().toString())
        else:
            files.append((status.getPath().toString(), status.getLen(), status.getModificationTime()))
    return sorted(files, key=lambda file: file[0].encode())


def read_text(name):
    path = hadoop_path(name)
    stream = file_system(path).open(path)
    try:
        return jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
    finally:
        stream.close()


def write_bytes(name, content):
    """Writes a file that appears under its name when it is complete."""
    path, partial = hadoop_path(name), hadoop_path(name + "._partial")
    stream = file_system(path).create(partial, True)
    stream.write(bytearray(content))
    stream.close()
    file_system(path).delete(path, False)
    move(name + "._partial", name)


def move(name, to):
    path = hadoop_path(name)
    if not file_system(path).rename(path, hadoop_path(to)):
        fail("cannot rename %s to %s" % (name, to))


def make_folder(name):
    path = hadoop_path(name)
    file_system(path).mkdirs(path)


def remove(name):
    path = hadoop_path(name)
    file_system(path).delete(path, True)


# The documents: the same names mean the same files as for `twinsplit run --input`.


def expanded(name):
    """The files that an input names: a file, all below a folder, or what a pattern matches."""
    path = hadoop_path(name)
    if exists(name):
        status = file_system(path).getFileStatus(path)
        if status.isDirectory():
            return below(name)
        return [(status.getPath().toString(), status.getLen(), status.getModificationTime())]
    if not any(special in name for special in "*?["):
        fail("%s: there is no such file or folder" % name)
    files = {}
    parts = name.split("/")
    plain = next(number for number, part in enumerate(parts) if any(special in part for special in "*?["))
    for found in matching("/".join(parts[:plain]) + "/" if plain else ".", parts[plain:]):
        files.update((file[0], file) for file in expanded(found))
    if not files:
        fail(
            "%s: this pattern matches no file; * and ? match no / and no . or _ at the start of a name, and ** stands "
            "for folders at any depth" % name
        )
    return [files[name] for name in sorted(files, key=str.encode)]


def matching(folder, parts):
    """The names below a folder that match the parts of a pattern, one part for each level."""
    if not parts:
        return [folder]
    if not exists(folder) or not file_system(hadoop_path(folder)).getFileStatus(hadoop_path(folder)).isDirectory():
        return []
    part, rest = parts[0], parts[1:]
    if not part:
        return matching(folder, rest)
    found = []
    if part == "**":
        found += matching(folder, rest) if rest else [folder]
    for last, status in listed(folder):
        name = status.getPath().toString()
        if part == "**" and not is_hidden(last) and status.isDirectory():
            found += matching(name, parts)
        elif fnmatch.fnmatchcase(last, part) and (not is_hidden(last) or part[0] == last[0]):
            found += matching(name, rest)
    return found


def kind_of(file):
    """How a file of documents is read: by lines, or whole where its name and its first bytes tell Hadoop and us different things."""
    name, length, _ = file
    path = hadoop_path(name)
    stream = file_system(path).open(path)
    try:
        is_gzip = length >= 2 and (stream.read(), stream.read()) == (0x1F, 0x8B)
    finally:
        stream.close()
    codec = CODECS.getCodec(path)
    by_name = None if codec is None else codec.getClass().getSimpleName()
    if by_name == ("GzipCodec" if is_gzip else None):
        return "lines"
    if length > 1 << 30:
        fail("%s: its content is %sgzip and its name says another thing; rename it" % (name, "" if is_gzip else "not "))
    return "whole"


def lines_of_whole(row):
    """The lines of a file that was read whole."""
    content = bytes(row[0])
    stream = io.BytesIO(content)
    lines = gzip.GzipFile(fileobj=stream) if content[:2] == b"\x1f\x8b" else stream
    for number, line in enumerate(lines):
        line = line[len(MARK) :] if number == 0 and line.startswith(MARK) else line
        yield line[:-1] if line.endswith(b"\n") else line


# Rows are bytes all the way: Spark's text files keep them as they are, and casts do not look at them.


def first_field(row):
    return bytes(row[0])


def literal(name):
    """A name that Spark shall not take for a pattern."""
    return "".join("\\" + letter if letter in "\\*?[]{}" else letter for letter in name)


def rows_of(names):
    """The rows of text files, plain ones in splits, ended by LF and by nothing else."""
    if not names:
        return sc.emptyRDD()
    frame = spark.read.option("lineSep", "\n").option("ignoreCorruptFiles", "false").option("ignoreMissingFiles", "false")
    frame = frame.text([literal(name) for name in names])
    if len(set(frame.inputFiles())) != len(names):
        fail("Spark reads no files whose names begin with _ or . or end in ._COPYING_; rename such documents, or give a link to them")
    return frame.selectExpr("cast(value AS binary)").rdd.map(first_field)


def document_rows():
    by_lines = rows_of([name for name in DOCUMENTS if DOCUMENTS[name] == "lines"])
    whole = [literal(name) for name in DOCUMENTS if DOCUMENTS[name] == "whole"]
    if not whole:
        return by_lines
    frame = spark.read.format("binaryFile").option("ignoreCorruptFiles", "false").load(whole).select("content")
    return sc.union([by_lines, frame.rdd.flatMap(lines_of_whole)])


def read(inputs):
    names = [name for data in inputs if data != "documents" for name, _, _ in below(folder_of(data))]
    sources = [document_rows()] if "documents" in inputs else []
    return sc.union(sources + [rows_of(names)]) if names and sources else (sources or [rows_of(names)])[0]


def save(blocks, folder):
    """Writes blocks of whole lines as text files. Whoever reads them takes a byte order mark at a file's start away, but
    no row begins with one: an id has it escaped."""
    frame = spark.createDataFrame(blocks.map(lambda block: (block[:-1],)), "value binary", verifySchema=False)
    writer = frame.selectExpr("cast(value AS string) AS value").write.option("lineSep", "\n").option("compression", "none")
    writer = writer.option("maxRecordsPerFile", 0).option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
    writer.text(folder)


# A task: a process of the stage, fed by one thread, heard by another.


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


# The shuffle: rows meet by their first fields and are sorted by some more, in the order of their bytes.


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


def lines_of_blocks(blocks):
    for block in blocks:
        for row in block[:-1].split(b"\n"):
            yield row


def through(rows, stage, counters, offset=0):
    """The rows of each partition through a process of the stage."""
    return rows.mapPartitionsWithIndex(lambda number, rows: run_stage(stage, offset + number, rows, counters))


def stage_of(step, command, side=None, mark=False):
    return {
        "step": step,
        "command": command,
        "side": dict(USER_FILES, **(side or {})),
        "program": PROGRAM,
        "variables": VARIABLES,
        "mark": mark,
    }


def shipped(data):
    """Sends the parts of a data set to the executors, and gives their names there."""
    return [send(name) for name, _, _ in below(folder_of(data))]


def send(name):
    # As Spark reads names with % in them.
    sc.addFile(hadoop_path(name).toUri().toString())
    return name.rsplit("/", 1)[1]


# The steps.


def folder_of(data):
    """A data set lies in WORK, the answer beside OUTPUT's until it is complete."""
    data = ROUNDS.get(data, data)
    return (HIDDEN if data in ANSWERS else WORK) + "/" + data


def step(name, data, why, make):
    """Makes a data set, unless it is there. It is complete when it holds _SUCCESS, which is written last."""
    sc.setJobGroup(name, why)
    log("_now", name)
    if exists(folder_of(data) + "/_SUCCESS"):
        say("%s: finished before" % name)
        ended(json.loads(read_text(folder_of(data) + "/_counters.json")))
        return
    say("%s: %s" % (name, why))
    started, folder = time.time(), folder_of(data)
    remove(folder)
    counters = sc.accumulator({}, ByTask())
    try:
        make(folder, counters)
    except Exception as error:
        fail(reason(name, error))
    done = {"step": name, "seconds": round(time.time() - started, 3), "counters": {}}
    for (stage, task), (numbers, bad) in sorted(counters.value.items()):
        for counter, number in numbers.items():
            known = done["counters"].get(counter, 0)
            done["counters"][counter] = max(known, number) if counter.startswith("peak_") else known + number
        for file, lines in bad.items():
            write_bytes("%s/quarantine/%s" % (HIDDEN, file), lines)
    write_bytes(folder + "/_counters.json", json.dumps(done, sort_keys=True).encode())
    write_bytes(folder + "/_SUCCESS", b"")
    ended(done)


def ended(done):
    STEPS.append(done)
    numbers = dict(done["counters"], _micros=int(done["seconds"] * 1e6))
    log("steps/" + done["step"], "\n".join("%s\t%d" % number for number in sorted(numbers.items())))
    log("_order", "\n".join(done["step"] for done in STEPS))


def log(name, text):
    """Tells a driver on this machine."""
    if options.logs:
        path = os.path.join(options.logs, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".partial", "w", encoding="utf-8") as stream:
            stream.write(text + "\n")
        os.replace(path + ".partial", path)


def reason(name, error):
    """What a failed stage said, or what Spark did."""
    text = str(error)
    if "<<<" in text and ">>>" in text:
        return text.split("<<<", 1)[1].split(">>>", 1)[0].strip()
    lines = [line.strip(" :").replace("Caused by: ", "") for line in text.splitlines()]
    known = [line for line in lines if "Exception: " in line or "Error: " in line] or lines[:1]
    return "\n".join(["step %s: Spark stopped it; its log says more" % name] + list(dict.fromkeys(known))[:6])


def map_only(name, data, why, inputs, mapper, tasks=None, side=None):
    def make(folder, counters):
        stage = stage_of(name, mapper, {link: shipped(of) for link, of in (side or {}).items()}, "documents" in inputs)
        rows = read(inputs)
        rows = rows if tasks in (None, rows.getNumPartitions()) else rows.repartition(tasks)
        save(through(rows, stage, counters), folder)

    step(name, data, why, make)


def map_reduce(name, data, why, inputs, mapper, reducer, partition, sort, tasks=None, numbered=None, side=None):
    """Rows meet by their first `partition` fields and are sorted by their first `sort`. With `numbered` the key
    begins with the number of a line of that checked file, and each has a task of its own."""

    def make(folder, counters):
        links = {link: shipped(of) for link, of in (side or {}).items()}
        rows = read(inputs)
        if mapper:
            stage = stage_of(name, mapper, links, "documents" in inputs)
            rows = through(rows, stage, counters).mapPartitions(lines_of_blocks)
        reducers = tasks or REDUCERS
        if numbered:
            reducers = max(1, checked_lines(numbered))
        rows = shuffle(rows, reducers, partition, sort, bool(numbered), options.shuffled)
        stage = stage_of(name, reducer, links)
        save(through(rows, stage, counters), folder)

    step(name, data, why, make)


def checked_lines(data):
    """How many lines a checked file has between its first and its last."""
    return sum(read_text(name).count("\n") - 2 for name, _, _ in below(folder_of(data)))


def each_file(name, data, why, files, link, inputs, mapper):
    """A job for each file of a data set, which every task of the job holds; some jobs at a time."""

    def make(folder, counters):
        names = [name for name, length, _ in below(folder_of(files)) if length > 0]
        made = sum(done["counters"].get("slices_made", 0) for done in STEPS)
        if len(names) != made:
            again = "remove it, and it is made anew when the program runs with --resume"
            fail("%s: %s holds %d of %d slices: %s" % (name, folder_of(files), len(names), made, again))
        over = []

        def job(number, file):
            sc.setJobGroup(name, why)
            last = send(file)
            rows = read(inputs)
            tasks = min(rows.getNumPartitions(), max(1, sc.defaultParallelism))
            rows = rows.coalesce(tasks).mapPartitions(forget(list(over)), preservesPartitioning=True)
            save(through(rows, stage_of(name, mapper, {link: [last]}), counters, number * tasks), "%s/part-%05d" % (folder, number))
            over.append(last)
            forget([last])(())

        with ThreadPoolExecutor(options.slices_at_once) as pool:
            jobs = [pool.submit(job, number, file) for number, file in enumerate(names)]
            try:
                for done in jobs:
                    done.result()
            except BaseException:
                for waiting in jobs:
                    waiting.cancel()
                sc.cancelJobGroup(name)
                raise

    step(name, data, why, make)


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


def guard(counter, limit, advice):
    """Stops when the step that has just ended counted more than the limit."""
    done = STEPS[-1]
    counted = done["counters"].get(counter, 0)
    if counted > limit:
        fail("%s: %d %s (the limit is %d)" % (done["step"], counted, advice, limit))


def some(counter, other, what):
    """Stops when the step that has just ended counted `other` and no `counter`."""
    done = STEPS[-1]["counters"]
    if done.get(counter, 0) == 0 and done.get(other, 0) > 0:
        fail(what)


def limit(option, default):
    return int(VARIABLES.get(variable(option), default))


def variable(option):
    return "TWINSPLIT_" + option.upper().replace("-", "_")


def rounds(name, why):
    """The numbers of rounds."""
    say("%s: %s" % (name, why))
    return itertools.count(1)


def until_zero(counter, data, last):
    """Whether the step that has just ended counted nothing of a kind; then its data have their last name."""
    if STEPS[-1]["counters"].get(counter, 0) > 0:
        return False
    ROUNDS[last] = data
    return True


def finish():
    """The answer is complete when counters.json, its record, lies beside it; it gets its place then."""
    made = ANSWERS + (["quarantine"] if exists(HIDDEN + "/quarantine") else [])
    outputs = [{"path": OUTPUT + "/" + data} for data in made]
    text = json.dumps({"manifest": MANIFEST, "steps": STEPS, "outputs": outputs}, indent=1, sort_keys=True)
    write_bytes(HIDDEN + "/counters.json", text.encode())
    swap(options.overwrite)
    end(options.keep_work)


# The folder of the answer. What a run recorded as its own is replaced, and nothing else: run.json and counters.json list
# the names of an answer, and _work is a run's when its _run.json says so.

LEFT_NAMES = ["run.json", "counters.json", "pairs", "clusters", "kept", "quarantine"] + [
    "pairs.tsv", "clusters.tsv", "kept.jsonl", "quarantine.tsv", "report.html",
]


def is_link(name):
    """Whether it is a link of this machine's file system."""
    return name.startswith("file:") and os.path.islink(local_path(name))


def local_path(name):
    return "/" + name[len("file:") :].lstrip("/")


def bytes_of(name):
    """A small file's content, as it stands there whatever checksum an earlier one of its name had."""
    if name.startswith("file:"):
        with open(local_path(name), "rb") as stream:
            return stream.read()
    return read_text(name).encode()


def object_of(name):
    """What a file of JSON holds, if there is one and it is no link."""
    if not exists(name) or is_link(name):
        return {}
    try:
        value = json.loads(bytes_of(name))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def recorded(name):
    """The names that a record lists, its own among them."""
    value = object_of(name)
    ours = "twinsplit" in value and "chain" in value or "manifest" in value and "steps" in value
    if not ours or not isinstance(value.get("outputs"), list):
        return set()
    paths = [str(output.get("path")) for output in value["outputs"] if isinstance(output, dict)]
    return {path.rstrip("/").rsplit("/", 1)[-1] for path in paths + [name]} & set(LEFT_NAMES)


def owned(folder):
    """The names in a folder that are a run's."""
    names = recorded(folder + "/run.json") | recorded(folder + "/counters.json")
    return names | ({"report.html"} if "run.json" in names and is_page(folder + "/report.html") else set())


def is_page(name):
    """Whether `twinsplit report` wrote it."""
    return exists(name) and not is_link(name) and b'<meta name="generator" content="twinsplit ' in bytes_of(name)[:4096]


def refuse_others(own):
    others = [name for name in LEFT_NAMES if (exists(OUTPUT + "/" + name) or is_link(OUTPUT + "/" + name))]
    others = [OUTPUT + "/" + name for name in others if name not in own or is_link(OUTPUT + "/" + name)]
    if others:
        refuse(
            "%s in the way: no run recorded this as its own, so none replaces it; move it, or choose another folder"
            % " ".join(others)
        )


def swap(replaces):
    """The answer, which is complete, comes to its place. The old records go first, so that nothing in between is taken
    for an answer, and the new one comes last. Whoever is called after a stop goes on where that was."""
    new = recorded(HIDDEN + "/counters.json")
    moved = {name for name in new if not exists(HIDDEN + "/" + name)}
    own = owned(PLACE + "/_replaced")
    own |= {"report.html"} if "run.json" in own and is_page(OUTPUT + "/report.html") else set()
    replaces = replaces or object_of(PLACE + "/_run.json").get("overwrite") is True
    own = (own | owned(OUTPUT) if replaces else own) - moved
    refuse_others(own | moved)
    make_folder(PLACE + "/_replaced")
    for name in LEFT_NAMES:
        if name in own and exists(OUTPUT + "/" + name):
            move(OUTPUT + "/" + name, PLACE + "/_replaced/" + name)
    for name in sorted(new, key=lambda name: (name == "counters.json", name)):
        if name not in moved:
            move(HIDDEN + "/" + name, OUTPUT + "/" + name)


def end(keep):
    """Removes what a run that is over has no more use for."""
    if keep:
        write_bytes(PLACE + "/_kept", b"")
        remove(HIDDEN)
        return
    for folder in {WORK, PLACE}:
        # The manifest goes last, for what it does not name is nobody's.
        for name, _ in listed(folder) if exists(folder) else []:
            if name not in ("_run.json", "_replaced"):
                remove(folder + "/" + name)
        remove(folder)


def is_over():
    """Whether the run in PLACE has published its answer."""
    return exists(PLACE + "/_replaced") and not exists(HIDDEN + "/counters.json")


# Before the first step: the program, the documents, and whether this run may go on with what is there.


def send_program():
    """Sends the program to the executors, and gives its name there."""
    program = options.twinsplit or shutil.which("twinsplit")
    if program is None:
        fail("twinsplit is not on PATH; put its folder there, or name it with --twinsplit")
    sc.addFile(program)
    name = program.rsplit("/", 1)[-1]
    try:
        version = subprocess.run([SparkFiles.get(name), "--version"], stdout=subprocess.PIPE, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        fail("%s does not run here: %s; take the program for this kind of machine" % (program, error))
    return name, version.decode().strip()


def send_named_file(name):
    """Sends a file that an option names to the executors, where tasks find it in their folder, and gives its digest."""
    sc.addFile(name)
    last = name.rsplit("/", 1)[-1]
    USER_FILES[last] = [last]
    with open(SparkFiles.get(last), "rb") as stream:
        return hashlib.sha256(stream.read()).hexdigest()


def begin():
    """Looks at what an earlier run left, and compares with it."""
    for folder in {PLACE, WORK}:
        found = [] if is_link(folder) or not exists(folder) else [name for name, _ in listed(folder)]
        manifest = object_of(folder + "/_run.json")
        ours = "twinsplit" in manifest or str(manifest.get("program")).startswith("twinsplit ")
        if "_same" in found and bytes_of(folder + "/_same").lstrip(b"# ").startswith(b"twinsplit "):
            ours = True
        if is_link(folder) or found and not ours:
            refuse("%s was made by no run, and a run works in a folder of its own; move it, or choose another folder" % folder)
    stopped = object_of(PLACE + "/_run.json")
    if exists(HIDDEN + "/counters.json") and (options.resume or options.overwrite):
        if options.resume:
            compare(stopped, PLACE)
        swap(options.overwrite)
    if stopped and is_over():
        stopped = {}
        if not exists(PLACE + "/_kept"):
            end(False)
    if options.overwrite:
        refuse_others(owned(OUTPUT))
        remove(WORK)
        remove(PLACE)
    elif stopped and options.resume:
        compare(stopped, PLACE)
        return
    elif recorded(OUTPUT + "/counters.json"):
        if not options.resume:
            fail("%s holds an answer; remove it first" % OUTPUT)
        compare(object_of(OUTPUT + "/counters.json")["manifest"], OUTPUT)
        say("%s holds the complete answer of this run" % OUTPUT)
        sys.exit(0)
    for folder in (OUTPUT, WORK):
        if not options.overwrite and exists(folder) and listed(folder):
            fail("%s is not empty: --resume goes on with what is there, or remove it" % folder)
    manifest = json.dumps(dict(MANIFEST, overwrite=options.overwrite), sort_keys=True).encode()
    for folder in {PLACE, WORK}:
        write_bytes(folder + "/_run.json", manifest)


def watch(driver):
    """Ends with the driver, which may be killed; Spark and its tasks end with this process."""
    while True:
        try:
            os.kill(driver, 0)
            if ended_unseen(driver):
                raise OSError
        except OSError:
            # A driver that was killed can neither keep the logs nor say where they are.
            shutil.rmtree(options.logs or "", ignore_errors=True)
            os._exit(1)
        time.sleep(0.5)


def ended_unseen(process):
    """Whether a process has ended, and nobody has asked for its exit code yet."""
    try:
        with open("/proc/%d/stat" % process) as stream:
            return ") Z " in stream.read()
    except OSError:
        return False


def compare(earlier, folder):
    for what in ("script", "program", "variables", "files", "inputs"):
        was, now = earlier.get(what), MANIFEST[what]
        if was == now:
            continue
        if isinstance(now, dict):
            names = sorted(name for name in set(was) | set(now) if was.get(name) != now.get(name))
            what = "%s (%s)" % (what, ", ".join(names[:3]))
        fail("%s is of a run with other %s; remove it to begin anew" % (folder, what))


if options.driver_pid:
    threading.Thread(target=watch, args=(options.driver_pid,), daemon=True).start()
OUTPUT = whole_name(options.output)
PLACE = OUTPUT + "/_work"
WORK = whole_name(options.work) if options.work else PLACE
HIDDEN = PLACE + "/_answer"
CODECS = jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(sc._jsc.hadoopConfiguration())
STEPS, USER_FILES, ROUNDS = [], {}, {}
with ThreadPoolExecutor(16) as pool:
    FILES = [file for files in pool.map(expanded, options.input) for file in files]
    NAMES = [file[0] for file in FILES]
    for twice in sorted(name for name in set(NAMES) if NAMES.count(name) > 1)[:1] if len(set(NAMES)) < len(NAMES) else []:
        fail("the input names %s twice" % twice)
    if not FILES:
        fail("%s: no file lies in this folder or below it; names that begin with _ or . are left out" % options.input[0])
    DOCUMENTS = dict(zip(NAMES, pool.map(kind_of, FILES)))
PROGRAM, VERSION = send_program()
with open(__file__, "rb") as script:
    MANIFEST = {
        "script": hashlib.sha256(script.read()).hexdigest(),
        "program": VERSION,
        "variables": {name: value for name, value in VARIABLES.items() if name not in map(variable, BOUNDS)},
        "files": {name: send_named_file(name) for name in NAMED_FILES},
        "inputs": {name: [length, changed] for name, length, changed in FILES},
    }
begin()
log("_output", OUTPUT)

# The chain.

map_only(
    "tokenize", "sets",
    "Turns each document into its set of features.",
    ["documents"], ["tokenize", "--features", "spotsigs", "--min-features", "4"],
)
guard("bad_records", limit("bad-records", 0), "bad documents in all tasks together; correct them, or raise --bad-records")

map_reduce(
    "doc-meta", "meta",
    "Takes what the keep rule needs; sorted by id, two documents with one id meet and are named.",
    ["documents"], ["doc-meta"], ["doc-meta-reduce"],
    partition=1, sort=1,
)

map_reduce(
    "feature-count", "feature-counts",
    "Counts the documents of each feature; sorted by feature, its counts meet.",
    ["sets"], ["feature-count"], ["feature-count-reduce"],
    partition=1, sort=1,
)

map_reduce(
    "feature-order", "order",
    "Orders features by frequency and lists those in the IDF range; N sorts before all features.",
    ["feature-counts"], None, ["feature-order", "--idf", "0.3,0.85", "--features", "spotsigs"],
    partition=1, sort=1,
    tasks=1,
)

map_only(
    "idf-filter", "filtered-sets",
    "Leaves out features out of the IDF range.",
    ["sets"], ["idf-filter", "--features", "spotsigs", "--order", "order"],
    side={"order": "order"},
)

map_reduce(
    "equal-sets", "members",
    "Joins equal sets once; sorted by hash, then id, the smallest id of a group comes first.",
    ["filtered-sets"], ["equal-sets", "--min-features", "4"], ["equal-sets-reduce"],
    partition=1, sort=2,
)

map_reduce(
    "size-count", "sizes",
    "Counts the sets of each size; sizes have a fixed width, so bytes sort them as numbers.",
    ["members"], ["size-count", "--min-features", "4"], ["size-count-reduce"],
    partition=1, sort=1,
)

map_reduce(
    "slice-plan", "plan",
    "Cuts the sizes into slices of about equal cost.",
    ["sizes"], None, ["slice-plan", "--tau", "0.3", "--features", "spotsigs"],
    partition=1, sort=1,
    tasks=1,
)

map_reduce(
    "index-doc", "slices",
    "Sends each set to its slice; sorted by slice, then size, then id.",
    ["members"], ["index-doc", "--min-features", "4", "--features", "spotsigs", "--plan", "plan"], ["index-doc-reduce", "--features", "spotsigs"],
    partition=1, sort=3,
    numbered="plan",
    side={"plan": "plan"},
)

each_file(
    "docsplit-query", "joined-pairs",
    "Streams all sets past each slice, which is held in memory.",
    "slices", "index", ["members"], ["docsplit-query", "--tau", "0.3", "--min-features", "4", "--cluster", "star", "--features", "spotsigs", "--index", "index"],
)

map_reduce(
    "expand-left", "half-expanded",
    "Repeats pairs for the copies of their first document; sorted by it, copies come before pairs.",
    ["joined-pairs", "members"], ["expand-left"], ["expand-left-reduce"],
    partition=1, sort=2,
)

map_reduce(
    "expand-right", "pairs",
    "Repeats pairs for the copies of their second document, and pairs the copies with one another.",
    ["half-expanded", "members"], ["expand-right"], ["expand-right-reduce"],
    partition=1, sort=2,
)
guard("pairs", limit("max-pairs", 1000000000), "pairs of documents; a higher tau has fewer, --write clusters needs none, or raise --max-pairs")

for r in rounds("components", "Links documents to ever smaller ones of their component until no link has to change: then each is linked to the smallest."):
    map_reduce(
        "large-star-%d" % r, "large-stars-%d" % r,
        "Links the larger neighbours of each document to its smallest one; sorted by neighbour, that one comes first.",
        ["joined-pairs", "members"] if r == 1 else ["small-stars-%d" % (r - 1)], ["large-star"], ["large-star-reduce"],
        partition=1, sort=2,
    )
    if until_zero("changes", "large-stars-%d" % r, "components"):
        break
    map_reduce(
        "small-star-%d" % r, "small-stars-%d" % r,
        "Links each document and its smaller neighbours to the smallest of them.",
        ["large-stars-%d" % r], ["small-star"], ["small-star-reduce"],
        partition=1, sort=2,
    )

map_reduce(
    "star-rank", "star-members",
    "Brings each document's component, rank and representative together; sorted by id.",
    ["components", "meta", "members"], ["star-rank"], ["star-rank-reduce"],
    partition=1, sort=2,
)

map_reduce(
    "star-link", "star-links",
    "Brings each pair, in both directions, the rank of its representative's best copy; sorted by representative, copies come before pairs.",
    ["star-members", "joined-pairs"], ["star-link"], ["star-link-reduce"],
    partition=1, sort=2,
)

map_reduce(
    "star", "labels",
    "Goes through each component, best document first: it is a centre unless an earlier neighbour is one; sorted by component, then rank, members come last.",
    ["star-links", "star-members"], ["star"], ["star-reduce"],
    partition=1, sort=4,
)

map_reduce(
    "keep", "ranked",
    "Brings each document's cluster, rank and set together; sorted by id.",
    ["labels", "meta", "filtered-sets"], ["keep"], ["keep-reduce"],
    partition=1, sort=2,
)

map_reduce(
    "keep-choose", "clusters",
    "Keeps the best document of each cluster; sorted by cluster, then rank, then id, it comes first.",
    ["ranked"], None, ["keep-choose", "--tau", "0.3"],
    partition=1, sort=3,
)

map_only(
    "write-kept", "kept",
    "Passes on the lines of documents that no cluster drops.",
    ["documents"], ["write-kept", "--clusters", "clusters"],
    side={"clusters": "clusters"},
)

finish()
