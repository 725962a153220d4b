"""Micro-batches of Structured Streaming, each into a store, once: a batch is called by the query's id and its number, which
Spark gives a batch again that it has not seen the end of. The store knows a batch by its name (docs/stores.md)."""

import os, re, shutil, subprocess
from urllib.parse import unquote

from .chain import literal
from .files import local

DOCUMENTS, ORIGINS, ANSWER = "documents.jsonl", "origins", "answer"
# Lines of documents and where they come from, of Spark's sources of texts and of Kafka.
OF_FOLDER = ["value", "_metadata.file_path AS origin"]
OF_KAFKA = ["value", "concat('topic ', topic, ', partition ', partition, ', offset ', offset) AS origin"]

class StreamFailed(Exception):
    """A batch that was refused, or a run that failed: nothing of the batch is in the store, or all of it and its answer will follow."""

class Batches:
    """What `foreachBatch` takes. `program` is a local file, `options` are those of `twinsplit run`, `store` and `output`
    folders of the driver's machine. `lines` makes of a batch a DataFrame whose column `value` has lines of documents, as
    strings or binary, and that may have a column `origin`: the file of each line, or its place in a queue."""

    def __init__(self, program, store, output, options, lines=None):
        self.program, self.store, self.output = program, os.path.abspath(store), os.path.abspath(output)
        self.options, self.lines, self.failed = list(options), lines or (lambda frame: frame), None
        made = re.search(r"--id[= ](auto|row)( |$)", " ".join(self.options))
        if made:
            raise ValueError("--id %s makes ids of a line's place in its file, which a batch has not; name the field that holds the ids" % made[1])
        os.makedirs(self.output, exist_ok=True)

    def __call__(self, frame, number):
        try:
            self.add(frame, number)
        except StreamFailed as failed:
            self.failed = failed
            raise

    def add(self, frame, number):
        """Adds a batch, whatever was done of it before."""
        query = frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        if query is None:
            raise StreamFailed("a batch of a query of Structured Streaming is needed: give this to foreachBatch")
        batch = "%s-%06d" % (query, number)
        answer = os.path.join(self.output, batch)
        if os.path.exists(answer):
            return  # Spark did not see the end of it.
        earlier = [name for name in os.listdir(self.output) if name.startswith(query + "-")]
        if earlier and not os.path.exists(self.store):
            said = "the store %s is gone, and %s has batches of this query; bring it back, or begin with a new checkpoint, output and store"
            raise StreamFailed(said % (self.store, self.output))
        # Of this batch alone; what is there is of a run of it that was stopped.
        place = os.path.join(self.output, "_" + batch)
        shutil.rmtree(place, ignore_errors=True)
        os.mkdir(place)
        try:
            self.write(self.lines(frame), place)
            self.run(frame.sparkSession, place, batch)
            settle(os.path.join(place, ANSWER), answer)
        finally:
            shutil.rmtree(place)

    def write(self, lines, place):
        """The batch as a file here, a partition after the other, and beside it where its lines come from."""
        rows = lines.selectExpr("cast(value AS binary) AS value", *["origin"] * ("origin" in lines.columns))
        with open(os.path.join(place, DOCUMENTS), "wb") as out, open(os.path.join(place, ORIGINS), "w", encoding="utf-8") as origins:
            for row in rows.toLocalIterator(prefetchPartitions=True):
                # A record of a queue may have line ends, which in JSON are spaces.
                out.write(bytes(row[0] or b"").replace(b"\n", b" ") + b"\n")
                origins.write((row[1] if len(row) > 1 else "") + "\n")

    def run(self, spark, place, batch):
        documents, answer = os.path.join(place, DOCUMENTS), os.path.join(place, ANSWER)
        words = ["run", *self.options, "--input", documents, "--output", answer, "--store", self.store, "--batch-id", batch]
        words += ["--write-kept", "--cluster", "components", "--quiet"]
        known = {name: value for name, value in os.environ.items() if not name.startswith("TWINSPLIT_")}
        # It leads a group, which another process ends when this one is gone, however it went.
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "start_new_session": True}
        with subprocess.Popen([self.program] + words, env=known, **pipes) as child:
            watch = [self.program, "job", "watch", "--group", str(child.pid)]
            silent = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
            with subprocess.Popen(watch, **silent) as watcher:
                said = child.stderr.read().decode("utf-8", "replace").strip()
                child.wait()
                watcher.communicate(b"ended\n")
        if child.returncode != 0:
            said = said.replace("error: ", "", 1) or "twinsplit run was ended by signal %d" % -child.returncode
            raise StreamFailed("batch %s: %s" % (batch, self.named(spark, said, place)))

    def named(self, spark, said, place):
        """What the program says, with the origin of a line in place of its number in the batch."""
        def origin(found):
            at = int(found.group(1)) - 1
            return origin_of(spark, place, at) or found.group(0)

        return re.sub(r"\S*%s, line (\d+)" % DOCUMENTS, origin, said)

def settle(place, answer):
    """Gives an answer its name, when all of it is on the disk: Spark writes that the batch is over as soon as this returns."""
    for name in [os.path.join(place, name) for name in os.listdir(place)] + [place]:
        sync(name)
    os.rename(place, answer)
    sync(os.path.dirname(answer))

def sync(name):
    opened = os.open(name, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)

def origin_of(spark, place, at):
    """Where the line of this number comes from, and its number there if that is a file."""
    with open(os.path.join(place, ORIGINS), encoding="utf-8") as origins, open(os.path.join(place, DOCUMENTS), "rb") as lines:
        origin, line = next((pair for number, pair in enumerate(zip(origins, lines)) if number == at), ("", b""))
    origin, line = origin.rstrip("\n"), line.rstrip(b"\n")
    if ":/" not in origin:
        return origin
    origin = unquote(origin)  # Spark gives files as addresses.
    frame = spark.read.option("lineSep", "\n").text(literal(origin)).coalesce(1).selectExpr("cast(value AS binary)")
    same = frame.rdd.zipWithIndex().filter(lambda row: bytes(row[0][0]) == line).map(lambda row: row[1]).take(1)
    name = local(origin) or origin
    return "%s, line %d" % (name, same[0] + 1) if same else name
