"""A chain of steps. Each reads data sets, runs a mapper, a reducer or both, and makes one data set."""

import atexit
import hashlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from pyspark import SparkFiles
from pyspark.sql import SparkSession

from .answer import Answer
from .documents import documents
from .files import below, exists, fail, hadoop_path, read_text, remove, whole_name, write_bytes
from .options import log, parse, variable, watch
from .rows import document_rows, rows_of, save
from .tasks import ByTask, forget, lines_of_blocks, shuffle, through

# The page, this library and the program are of one version.
VERSION = "0.1.0"


class Chain:
    """A run of a script, whose docstring is `about`. `answers` are the data sets of its answer, `named_files` the files that
    options of stages name, and `bounds` the options that decide nothing about the answer."""

    def __init__(self, script, about, version, answers, named_files, bounds):
        self.options = parse(about)
        with open(script, "rb") as stream:
            text = stream.read()
        title = text.split(b"\n")[1].decode()[2:]
        if version != VERSION:
            said = "this page was made by twinsplit %s, and its library is of %s; make the page anew: %s"
            fail(said % (version, VERSION, title))
        self.spark = SparkSession.builder.appName(title).getOrCreate()
        self.context = self.spark.sparkContext
        atexit.register(self.spark.stop)
        self.context.setLogLevel("WARN")
        self.reducers = self.options.reducers or max(2, self.context.defaultParallelism)
        # What the caller set for the stages goes to every task, and into what --resume compares.
        self.variables = {name: value for name, value in os.environ.items() if name.startswith("TWINSPLIT_")}
        self.answers, self.steps, self.user_files, self.last_names = answers, [], {}, {}
        if self.options.driver_pid:
            threading.Thread(target=watch, args=(self.options.driver_pid, self.options.logs), daemon=True).start()
        output, work = whole_name(self.options.output), self.options.work and whole_name(self.options.work)
        self.answer = Answer(output, work)
        files, self.documents = documents(self.options.input)
        self.program, version = self.send_program()
        bounds = [variable(option) for option in bounds]
        self.manifest = {
            "script": hashlib.sha256(text).hexdigest(),
            "program": version,
            "variables": {name: value for name, value in self.variables.items() if name not in bounds},
            "files": {name: self.send_named_file(name) for name in named_files},
            "inputs": {name: [length, changed] for name, length, changed in files},
        }
        self.answer.begin(self.manifest, self.options.resume, self.options.overwrite, self.say)
        log(self.options.logs, "_output", output)

    def say(self, message):
        if not self.options.quiet:
            print(message, file=sys.stderr, flush=True)

    # What the executors need comes by Spark's own way of files; here are their names there.

    def send(self, name):
        # As Spark reads names with % in them.
        self.context.addFile(hadoop_path(name).toUri().toString())
        return name.rsplit("/", 1)[1]

    def send_program(self):
        """Sends the program to the executors, and gives its name there."""
        program = self.options.twinsplit or shutil.which("twinsplit")
        if program is None:
            fail("twinsplit is not on PATH; put its folder there, or name it with --twinsplit")
        self.context.addFile(program)
        name = program.rsplit("/", 1)[-1]
        try:
            version = subprocess.run([SparkFiles.get(name), "--version"], stdout=subprocess.PIPE, check=True).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            fail("%s does not run here: %s; take the program for this kind of machine" % (program, error))
        version = version.decode().strip()
        if version != "twinsplit " + VERSION:
            fail("%s is %s, and the library of this page is of %s; install one version of both" % (program, version, VERSION))
        return name, version

    def send_named_file(self, name):
        """Sends a file that an option names to the executors, where tasks find it in their folder, and gives its digest."""
        self.context.addFile(name)
        last = name.rsplit("/", 1)[-1]
        self.user_files[last] = [last]
        with open(SparkFiles.get(last), "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()

    def links(self, side):
        """The files of data sets that tasks find in their folders, by their names there."""
        return {link: [self.send(name) for name, _, _ in self.files(data)] for link, data in (side or {}).items()}

    def stage(self, command, links, mark=False):
        """What a task needs to know of its stage."""
        return {
            "step": self.name,
            "command": command,
            "side": dict(self.user_files, **links),
            "program": self.program,
            "variables": self.variables,
            "mark": mark,
        }

    # Data sets: folders of text files. One is complete when it holds _SUCCESS, which is written last.

    def folder(self, data):
        """A data set lies in the folder of work, the answer beside its place until it is complete."""
        data = self.last_names.get(data, data)
        return (self.answer.hidden if data in self.answers else self.answer.work) + "/" + data

    def files(self, data):
        return below(self.folder(data))

    def read(self, inputs):
        names = [name for data in inputs if data != "documents" for name, _, _ in self.files(data)]
        sources = [document_rows(self.spark, self.documents)] if "documents" in inputs else []
        if names or not sources:
            sources.append(rows_of(self.spark, names))
        return self.context.union(sources) if len(sources) > 1 else sources[0]

    def checked_lines(self, data):
        """How many lines a checked file has between its first and its last."""
        return sum(read_text(name).count("\n") - 2 for name, _, _ in self.files(data))

    # The steps. `step` says what the call that follows it is called, and why it is made.

    def step(self, name, why):
        self.name, self.why = name, why

    def map(self, inputs, data, mapper, tasks=None, side=None):
        """A map-only step."""

        def make(folder, counters):
            stage = self.stage(mapper, self.links(side), "documents" in inputs)
            rows = self.read(inputs)
            rows = rows if tasks in (None, rows.getNumPartitions()) else rows.repartition(tasks)
            save(self.spark, through(rows, stage, counters), folder)

        self.make(data, make)

    def map_reduce(self, partition, sort, inputs, data, mapper, reducer, tasks=None, slices=None, side=None):
        """Rows meet by their first `partition` fields and are sorted by their first `sort`. With `slices`, a plan, the key
        begins with the number of a line of the plan, and each has a task of its own."""

        def make(folder, counters):
            rows, links = self.read(inputs), self.links(side)
            if mapper:
                stage = self.stage(mapper, links, "documents" in inputs)
                rows = through(rows, stage, counters).mapPartitions(lines_of_blocks)
            reducers = max(1, self.checked_lines(slices)) if slices else tasks or self.reducers
            rows = shuffle(rows, reducers, partition, sort, bool(slices), self.options.shuffled)
            save(self.spark, through(rows, self.stage(reducer, links), counters), folder)

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
                stage = self.stage(mapper, {link: [last]})
                rows = self.read(inputs)
                tasks = min(rows.getNumPartitions(), max(1, self.context.defaultParallelism))
                rows = rows.coalesce(tasks).mapPartitions(forget(list(over)), preservesPartitioning=True)
                save(self.spark, through(rows, stage, counters, number * tasks), "%s/part-%05d" % (folder, number))
                over.append(last)
                forget([last])(())

            with ThreadPoolExecutor(self.options.slices_at_once) as pool:
                jobs = [pool.submit(job, number, file) for number, file in enumerate(names)]
                try:
                    for done in jobs:
                        done.result()
                except BaseException:
                    for waiting in jobs:
                        waiting.cancel()
                    self.context.cancelJobGroup(self.name)
                    raise

        self.make(data, make)

    def make(self, data, make):
        """Makes a data set, unless it is there."""
        self.context.setJobGroup(self.name, self.why)
        log(self.options.logs, "_now", self.name)
        folder = self.folder(data)
        if exists(folder + "/_SUCCESS"):
            self.say("%s: finished before" % self.name)
            self.ended(json.loads(read_text(folder + "/_counters.json")))
            return
        self.say("%s: %s" % (self.name, self.why))
        started = time.time()
        remove(folder)
        counters = self.context.accumulator({}, ByTask())
        try:
            make(folder, counters)
        except Exception as error:
            fail(reason(self.name, error))
        done = {"step": self.name, "seconds": round(time.time() - started, 3), "counters": {}}
        for _, (numbers, bad) in sorted(counters.value.items()):
            for counter, number in numbers.items():
                known = done["counters"].get(counter, 0)
                done["counters"][counter] = max(known, number) if counter.startswith("peak_") else known + number
            for file, lines in bad.items():
                write_bytes("%s/quarantine/%s" % (self.answer.hidden, file), lines)
        write_bytes(folder + "/_counters.json", json.dumps(done, sort_keys=True).encode())
        write_bytes(folder + "/_SUCCESS", b"")
        self.ended(done)

    def ended(self, done):
        self.steps.append(done)
        numbers = dict(done["counters"], _micros=int(done["seconds"] * 1e6))
        log(self.options.logs, "steps/" + done["step"], "\n".join("%s\t%d" % number for number in sorted(numbers.items())))
        log(self.options.logs, "_order", "\n".join(done["step"] for done in self.steps))

    # Between steps: what the one that has just ended counted.

    def guard(self, counter, limit, advice):
        """Stops when it counted more than the limit."""
        done = self.steps[-1]
        counted = done["counters"].get(counter, 0)
        if counted > limit:
            fail("%s: %d %s (the limit is %d)" % (done["step"], counted, advice, limit))

    def limit(self, option, default):
        """A bound that was not given: the option's variable may say it."""
        return int(self.variables.get(variable(option), default))

    def some(self, counter, other, what):
        """Stops when it counted `other` and no `counter`."""
        done = self.steps[-1]["counters"]
        if done.get(counter, 0) == 0 and done.get(other, 0) > 0:
            fail(what)

    def rounds(self, name, why):
        """The numbers of rounds."""
        self.say("%s: %s" % (name, why))
        return itertools.count(1)

    def until_zero(self, counter, data, last):
        """Whether it counted nothing of a kind; then its data have their last name."""
        if self.steps[-1]["counters"].get(counter, 0) > 0:
            return False
        self.last_names[last] = data
        return True

    def publish(self):
        """The answer is complete when counters.json, its record, lies beside it; it gets its place then."""
        made = self.answers + (["quarantine"] if exists(self.answer.hidden + "/quarantine") else [])
        outputs = [{"path": self.answer.output + "/" + data} for data in made]
        text = json.dumps({"manifest": self.manifest, "steps": self.steps, "outputs": outputs}, indent=1, sort_keys=True)
        write_bytes(self.answer.hidden + "/counters.json", text.encode())
        self.answer.swap(self.options.overwrite)
        self.answer.end(self.options.keep_work)


def reason(name, error):
    """What a failed stage said, or what Spark did."""
    text = str(error)
    if "<<<" in text and ">>>" in text:
        return text.split("<<<", 1)[1].split(">>>", 1)[0].strip()
    lines = [line.strip(" :").replace("Caused by: ", "") for line in text.splitlines()]
    known = [line for line in lines if "Exception: " in line or "Error: " in line] or lines[:1]
    return "\n".join(["step %s: Spark stopped it; its log says more" % name] + list(dict.fromkeys(known))[:6])
