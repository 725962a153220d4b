"""A chain of steps. Each reads data sets, runs a mapper, a reducer or both, and makes one data set. Rows are bytes all the
way: Spark's text files keep them as they are, and casts do not look at them."""

import argparse, atexit, itertools, json, os, shutil, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor

from pyspark import SparkFiles
from pyspark.sql import SparkSession

from .files import ask_program, below, documents, exists, fail, hadoop, read, remove, whole_name, write
from .tasks import ByTask, forget, lines_of_blocks, lines_of_whole, shuffle, through

# The page, this library and the program are of one version.
VERSION = "0.1.0"

def parse(about, words=None):
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("output", metavar="OUTPUT", help="folder of the answer, on any file system that Hadoop knows")
    add("input", metavar="INPUT", nargs="+", help="documents: files, folders, quoted patterns")
    add("--twinsplit", metavar="FILE", help="the program twinsplit, if it is not on PATH; it is sent to the executors")
    add("--reducers", metavar="N", type=int, help="tasks after a shuffle; give about twice the cluster's cores")
    add("--slices-at-once", metavar="N", type=int, default=2, help="Doc-Split's jobs that run at the same time")
    add("--work", metavar="FOLDER", help="folder of the data sets in between; OUTPUT/_work by default")
    add("--resume", action="store_true", help="go on after the last finished step of a run that was stopped")
    add("--overwrite", action="store_true", help="replace the answer that is there, when the new one is complete")
    add("--keep-work", action="store_true", help="keep the data sets in between")
    add("--shuffled", action="store_true", help="put values of equal keys out of order, to show hidden assumptions")
    add("--logs", metavar="FOLDER", help="a local folder for the step at hand, and what each step counted")
    add("--quiet", action="store_true", help="say nothing but errors")
    return parser.parse_args(words)

def literal(name):
    """A name that Spark shall not take for a pattern."""
    return "".join("\\" + letter if letter in "\\*?[]{}" else letter for letter in name)

class Chain:
    """A run of a script, whose docstring is `about`. `answers` are the data sets of its answer, `named_files` the files that
    options of stages name, `queries` names a batch of documents. A program that runs the script's steps in its own session
    gives that as `spark`, and the script's arguments as `words`."""

    def __init__(self, script, about, version, answers, named_files, queries=None, spark=None, words=None):
        self.options = parse(about, words)
        with open(script, encoding="utf-8") as stream:
            title = stream.read().split("\n")[1][2:]
        if version != VERSION:
            said = "this page was made by twinsplit %s, and its library is of %s; make the page anew: %s"
            fail(said % (version, VERSION, title))
        self.spark = spark or SparkSession.builder.appName(title).getOrCreate()
        self.context = self.spark.sparkContext
        if spark is None:
            atexit.register(self.spark.stop)
            # What a failed task says is said by `fail`; each part of Spark that passes it on would say it again.
            self.context.setLogLevel("OFF" if self.options.quiet else "WARN")
        self.reducers = self.options.reducers or max(2, self.context.defaultParallelism)
        # What the caller set for the stages goes to every task; a program has said it all in the steps.
        known = os.environ.items() if spark is None else ()
        self.variables = {name: value for name, value in known if name.startswith("TWINSPLIT_")}
        self.answers, self.steps, self.last_names, self.suspects = answers, [], {}, []
        output = whole_name(self.options.output)
        self.hidden = output + "/_work/_answer"
        self.work = whole_name(self.options.work) if self.options.work else output + "/_work"
        self.program = self.send_program()
        files, known = documents(self.options.input, SparkFiles.get(self.program))
        of_batch, batch = documents([queries], SparkFiles.get(self.program)) if queries else ([], {})
        # How the files are read of the data sets that lie in no folder of work.
        self.given = {"documents": known, "queries": batch}
        # Files that options name: tasks find them in their folders.
        list(map(self.context.addFile, named_files))
        self.user_files = {name: [name] for name in (name.rsplit("/", 1)[-1] for name in named_files)}
        self.log("_output", output)
        self.folders = ["--engine", "spark", "--output", output, "--work", self.work]
        self.folders += [option for option in ("--overwrite", "--keep-work") if vars(self.options)[option[2:].replace("-", "_")]]
        words = ["--page", script] + ["--resume"] * self.options.resume
        words += ["--file"] + [SparkFiles.get(name) for name in self.user_files]
        driven = os.path.join(self.options.logs or "", "_manifest.json")
        words += ["--manifest", driven] if self.options.logs and os.path.exists(driven) else []
        inputs = [{"path": name, "bytes": length, "changed": changed} for name, length, changed in files]
        inputs += [{"path": name, "bytes": length, "changed": changed, "queries": True} for name, length, changed in of_batch]
        if self.ask("begin", words, inputs) == "complete":
            self.say("%s holds the complete answer of this run" % output)
            sys.exit(0)

    def ask(self, what, words, first):
        """Lets the program decide on the folder of the answer."""
        return ask_program([SparkFiles.get(self.program), "job", what] + self.folders + words, first)

    def say(self, message):
        if not self.options.quiet:
            print(message, file=sys.stderr, flush=True)

    def log(self, name, text):
        """Tells a driver on this machine."""
        if self.options.logs:
            path = os.path.join(self.options.logs, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text + "\n")

    # What the executors need comes by Spark's own way of files; here are their names there.

    def send(self, name):
        # As Spark reads names with % in them.
        self.context.addFile(hadoop().fs.Path(name).toUri().toString())
        return name.rsplit("/", 1)[1]

    def send_program(self):
        """Sends the program to the executors, and gives its name there."""
        program = self.options.twinsplit or shutil.which("twinsplit")
        if program is None:
            fail("twinsplit is not on PATH; put its folder there, or name it with --twinsplit")
        self.context.addFile(program)
        name = program.rsplit("/", 1)[-1]
        try:
            said = subprocess.run([SparkFiles.get(name), "--version"], stdout=subprocess.PIPE, check=True).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            fail("%s does not run here: %s; take the program for this kind of machine" % (program, error))
        version = said.decode().strip()
        if version != "twinsplit " + VERSION:
            fail("%s is %s, and the library of this page is of %s; install one version of both" % (program, version, VERSION))
        return name

    def links(self, side):
        """The files of data sets that tasks find in their folders, by their names there."""
        return {link: [self.send(name) for name, _, _ in self.files(data)] for link, data in (side or {}).items()}

    def stage(self, command, links, mark=False):
        """What a task needs to know of its stage."""
        side = dict(self.user_files, **links)
        fixed = {"step": self.name, "program": self.program, "variables": self.variables}
        return dict(fixed, command=command, side=side, mark=mark)

    # Data sets: folders of text files. One is complete when it holds _SUCCESS, which is written last.

    def folder(self, data):
        """A data set lies in the folder of work, the answer beside its place until it is complete."""
        data = self.last_names.get(data, data)
        return (self.hidden if data in self.answers else self.work) + "/" + data

    def files(self, data):
        return below(self.folder(data))

    def rows_of(self, names):
        """The rows of text files, plain ones in splits, ended by LF and by nothing else."""
        if not names:
            return self.context.emptyRDD()
        frame = self.spark.read.option("lineSep", "\n").option("ignoreCorruptFiles", "false").option("ignoreMissingFiles", "false")
        frame = frame.text([literal(name) for name in names])
        if len(set(frame.inputFiles())) != len(names):
            fail("Spark reads no files whose names begin with _ or . or end in ._COPYING_; rename such documents, or give a link to them")
        return frame.selectExpr("cast(value AS binary)").rdd.map(lambda row: bytes(row[0]))

    def document_rows(self, files):
        sources = [self.rows_of([name for name, how in files.items() if how == "lines"])]
        whole = [literal(name) for name, how in files.items() if how == "whole"]
        if whole:
            frame = self.spark.read.format("binaryFile").option("ignoreCorruptFiles", "false").load(whole).select("content")
            sources.append(frame.rdd.flatMap(lines_of_whole))
        return sources

    def read(self, inputs):
        names = [name for data in inputs if data not in self.given for name, _, _ in self.files(data)]
        sources = [rows for data in inputs if data in self.given for rows in self.document_rows(self.given[data])]
        sources += [self.rows_of(names)] if names or not sources else []
        return self.context.union(sources) if len(sources) > 1 else sources[0]

    def save(self, blocks, folder):
        """Writes blocks of whole lines as text files. Whoever reads them takes a byte order mark at a file's start away, but
        no row begins with one: an id has it escaped."""
        # A block of whole lines is a row, which the writer ends.
        frame = self.spark.createDataFrame(blocks.map(lambda block: (block[:-1],)), "value binary", verifySchema=False)
        writer = frame.selectExpr("cast(value AS string) AS value").write.option("lineSep", "\n").option("compression", "none")
        writer = writer.option("maxRecordsPerFile", 0).option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
        writer.text(folder)

    # The steps. `step` says what the call that follows it is called, and why it is made.

    def step(self, name, why):
        self.name, self.why, self.suspects = name, why, []

    def map(self, inputs, data, mapper, tasks=None, side=None):
        """A map-only step."""
        self.map_reduce(0, 0, inputs, data, mapper, None, tasks, None, side)

    def map_reduce(self, partition, sort, inputs, data, mapper, reducer, tasks=None, slices=None, side=None):
        """Rows meet by their first `partition` fields and are sorted by their first `sort`. With `slices`, a plan, the key
        begins with the number of a line of the plan, and each has a task of its own."""
        def make(folder, counters):
            rows, links, reducers = self.read(inputs), self.links(side), tasks or self.reducers
            if mapper:
                if not reducer and tasks not in (None, rows.getNumPartitions()):
                    rows = rows.repartition(tasks)
                of_documents = self.given.keys() & set(inputs)
                stage = self.stage(mapper, links, bool(of_documents))
                self.suspects = [(name, how, stage) for data in of_documents for name, how in self.given[data].items()]
                rows = through(rows, stage, counters)
            if reducer:
                rows = rows.mapPartitions(lines_of_blocks) if mapper else rows
                if slices:
                    # A plan has a line before its slices and one after them.
                    reducers = max(1, sum(read(name).count("\n") - 2 for name, _, _ in self.files(slices)))
                rows = shuffle(rows, reducers, partition, sort, bool(slices), self.options.shuffled)
                rows = through(rows, self.stage(reducer, links), counters)
            self.save(rows, folder)

        self.make(data, make)

    def each(self, slices, link, inputs, data, mapper):
        """A map-only job for each slice, which every task of the job holds by that link; some jobs at a time."""
        def make(folder, counters):
            names = [name for name, length, _ in self.files(slices) if length > 0]
            made = sum(done["counters"].get("slices_made", 0) for done in self.steps)
            if len(names) != made:
                again = "remove it, and it is made anew when the program runs with --resume"
                fail("%s: %s holds %d of %d slices: %s" % (self.name, self.folder(slices), len(names), made, again))
            over = []

            def job(number, file):
                self.context.setJobGroup(self.name, self.why)
                last = self.send(file)
                rows = self.read(inputs)
                tasks = min(rows.getNumPartitions(), max(1, self.context.defaultParallelism))
                gone = list(over)
                rows = rows.coalesce(tasks).mapPartitions(lambda rows: forget(gone, rows), preservesPartitioning=True)
                rows = through(rows, self.stage(mapper, {link: [last]}), counters, number * tasks)
                self.save(rows, "%s/part-%05d" % (folder, number))
                over.append(last)
                forget([last])

            with ThreadPoolExecutor(self.options.slices_at_once) as pool:
                try:
                    list(pool.map(job, range(len(names)), names))
                except BaseException:
                    self.context.cancelJobGroup(self.name)
                    raise

        self.make(data, make)

    def make(self, data, make):
        """Makes a data set, unless it is there."""
        self.context.setJobGroup(self.name, self.why)
        self.log("_now", self.name)
        folder = self.folder(data)
        if exists(folder + "/_SUCCESS"):
            self.say("%s: finished before" % self.name)
            self.ended(json.loads(read(folder + "/_counters.json")))
            return
        self.say("%s: %s" % (self.name, self.why))
        started = time.time()
        remove(folder)
        counters = self.context.accumulator({}, ByTask())
        try:
            make(folder, counters)
        except Exception as error:
            fail("standard input, line " in str(error) and self.refused() or reason(self.name, error))
        done = {"step": self.name, "seconds": round(time.time() - started, 3), "counters": {}}
        for _, (numbers, bad) in sorted(counters.value.items()):
            for counter, number in numbers.items():
                known = done["counters"].get(counter, 0)
                done["counters"][counter] = max(known, number) if counter.startswith("peak_") else known + number
            for file, lines in bad.items():
                write("%s/quarantine/%s" % (self.hidden, file), lines)
        write(folder + "/_counters.json", json.dumps(done, sort_keys=True))
        write(folder + "/_SUCCESS", "")
        self.ended(done)

    def refused(self):
        """What the step's stage says of the first file of documents that it refuses: the rows of a task do not tell their file."""
        for name, how, stage in self.suspects:
            try:
                rows = self.document_rows({name: how})[0].coalesce(1)
                through(rows, stage, self.context.accumulator({}, ByTask())).foreach(len)
            except Exception as error:
                return reason(self.name, error, name)

    def ended(self, done):
        self.steps.append(done)
        numbers = dict(done["counters"], _micros=int(done["seconds"] * 1e6))
        self.log("steps/" + done["step"], "\n".join("%s\t%d" % number for number in sorted(numbers.items())))
        self.log("_order", "\n".join(done["step"] for done in self.steps))

    # Between steps: what the one that has just ended counted, or another one.

    def counted(self, counter, step=None):
        return sum(done["counters"].get(counter, 0) for done in self.steps if done["step"] == (step or self.steps[-1]["step"]))

    def few(self, limit, *counters):
        """Whether counters of steps add up to no more than the limit."""
        return sum(self.counted(*counter) for counter in counters) <= limit

    def guard(self, counter, limit, advice):
        """Stops when it counted more than the limit."""
        if self.counted(counter) > limit:
            fail("%s: %d %s (the limit is %d)" % (self.name, self.counted(counter), advice, limit))

    def limit(self, option, default):
        """A bound that was not given: the option's variable may say it."""
        value = self.variables.get("TWINSPLIT_" + option.upper().replace("-", "_"), default)
        return float("inf") if value == "all" else int(value)

    def some(self, counter, other, what):
        """Stops when it counted `other` and no `counter`."""
        if self.counted(counter) == 0 and self.counted(other) > 0:
            fail(what)

    def rounds(self, name, why):
        self.say("%s: %s" % (name, why))
        return itertools.count(1)

    def until_zero(self, counter, data, last):
        """Whether it counted nothing of a kind; then its data have their last name."""
        if self.counted(counter) == 0:
            self.last_names[last] = data
        return self.counted(counter) == 0

    def publish(self):
        """The answer is complete when counters.json, its record, lies beside it; it gets its place then."""
        made = self.answers + (["quarantine"] if exists(self.hidden + "/quarantine") else [])
        self.ask("publish", ["--data"] + made, self.steps)

def reason(name, error, file=None):
    """What a failed stage said, or what Spark did; with the name of the file that it read, where that is known."""
    text = str(error)
    if "<<<" in text and ">>>" in text:
        task, _, said = text.split("<<<", 1)[1].split(">>>", 1)[0].strip().partition("\n")
        return said.replace("error: ", "", 1).replace("standard input", file or "standard input", 1) + "\n" * bool(said) + task
    lines = [line.strip(" :").replace("Caused by: ", "") for line in text.splitlines()]
    known = [line for line in lines if "Exception: " in line or "Error: " in line] or lines[:1]
    return "\n".join(["step %s: Spark stopped it" % name] + list(dict.fromkeys(known))[:6])
