"""Micro-batches of Structured Streaming in a store: whatever is killed, each document counts once."""

import json
import os
import re
import runpy
import signal
import subprocess
import sys
import time

import pytest
from conftest import ROOT, call
from spark_session import CONFS
from twinsplit_spark.stream import OF_KAFKA, Batches, StreamFailed

import twinsplit
import twinsplit.spark

PAGE = ROOT / "jobs" / "spark" / "stream.py"
OPTIONS = ["--features", "words:2", "--tau", "0.5"]
# Kills its driver and the JVM before or after a batch's run, once.
KILLER = """#!/bin/bash
case "$1 $* $(cat '{place}/fault')" in
run*-000000\\ *before) : > '{place}/fault'; echo $$ > '{place}/pid'; kill -9 -- -$PPID; exec sleep 300 ;;
run*-000001\\ *after) : > '{place}/fault'; '{program}' "$@"; kill -9 -- -$PPID ;;
esac
exec '{program}' "$@"
"""


def lines(documents):
    return "".join(json.dumps(document) + "\n" for document in documents)


class Stream:
    """A folder of files that become batches, in the order of their times."""

    def __init__(self, place, program):
        self.place, self.program, self.files = place, program, []
        (place / "in").mkdir()

    def write(self, name, text):
        path = self.place / "in" / name
        path.write_text(text, encoding="utf-8")
        self.files.append(path)
        os.utime(path, (10**9 + len(self.files),) * 2)

    def words(self, checkpoint="checkpoint", options=OPTIONS):
        folders = [f"--{name}={self.place / name}" for name in ("store", "output")]
        source = [f"--checkpoint={self.place / checkpoint}", f"--folder={self.place / 'in'}", "--source=maxFilesPerTrigger=1"]
        return [*folders, *source, f"--twinsplit={self.program}", "--available-now", "--", *options]

    def follow(self, monkeypatch, **words):
        """Runs the page in this session; what it says when it fails."""
        with monkeypatch.context() as changed:
            changed.setattr(sys, "argv", [str(PAGE), *self.words(**words)])
            changed.setattr(sys, "path", list(sys.path))
            try:
                runpy.run_path(str(PAGE), run_name="__main__")
            except SystemExit as end:
                return str(end.code)
        return None

    def answers(self):
        """The folders of batches; nothing else is there."""
        return sorted((self.place / "output").iterdir())

    def stored(self):
        said = subprocess.run([self.program, "store", "export", self.place / "store", "-o", "-"], capture_output=True, text=True, check=True)
        return [json.loads(line) for line in said.stdout.splitlines()]


def content(folder):
    names = ("pairs.tsv", "clusters.tsv", "changes.tsv", "batches.tsv", "kept.jsonl")
    return {name: (folder / name).read_text(encoding="utf-8") for name in names}


def is_running(pid):
    """Whether a process is there and has not ended; nobody may have asked for its end."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture
def batches(english):
    """Documents, and copies of them in the same batch and in later ones; one batch is empty."""
    taken = [{"id": f"z-{at:02}" if at % 3 else f"a-{at:02}", "text": document["text"][:1000]} for at, document in enumerate(english[:40])]
    copies = [{"id": f"m-{document['id']}", "text": document["text"] + " Rain fell."} for document in taken]
    cuts = [taken[:10] + copies[:3], taken[10:20] + copies[3:12], copies[12:25] + taken[20:25], [], taken[25:] + copies[25:]]
    return ["\n" + lines(cut) for cut in cuts]


def test_kills_change_nothing(batches, program, tmp_path, spark, monkeypatch):
    stream = Stream(tmp_path, tmp_path / "killer")
    stream.program.write_text(KILLER.format(place=tmp_path, program=program))
    stream.program.chmod(0o755)
    for number, batch in enumerate(batches):
        stream.write(f"{number} [b].jsonl", batch)
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in CONFS.items()))
    environment = dict(os.environ, SPARK_CONF_DIR=str(tmp_path / "conf"))
    # Of each kill: what is done of which batch in the moment, as the output has it and as the store.
    done = {"before": (0, 0), "after": (1, 2)}
    for kill, (answered, stored) in done.items():
        (tmp_path / "fault").write_text(kill)
        with open(tmp_path / "said", "w") as said:
            ended = subprocess.run([sys.executable, PAGE, *stream.words()], env=environment, stdout=said, stderr=said, start_new_session=True)
        assert ended.returncode == -signal.SIGKILL, (tmp_path / "said").read_text()
        assert len([folder for folder in stream.answers() if not folder.name.startswith("_")]) == answered
        assert len(twinsplit.Store(stream.place / "store").batches if stored else []) == stored
        commits = tmp_path / "checkpoint" / "commits"
        assert len([name for name in os.listdir(commits) if name.isdecimal()] if commits.exists() else []) == answered
        if kill == "before":
            # The run that the driver had started ends with it.
            deadline = time.monotonic() + 60
            while is_running((tmp_path / "pid").read_text().strip()):
                assert time.monotonic() < deadline, "the run goes on without its driver"
                time.sleep(0.05)
    assert stream.follow(monkeypatch) is None
    # As after a kill when the answer has its name, and Spark has not noted that the batch is over: it comes again.
    noted = [tmp_path / "checkpoint" / "commits" / name for name in ("4", ".4.crc")]
    before = {path: path.stat().st_mtime_ns for folder in stream.answers() for path in folder.iterdir()}
    for path in noted:
        path.unlink()
    assert stream.follow(monkeypatch) is None and all(path.exists() for path in noted)
    assert {path: path.stat().st_mtime_ns for folder in stream.answers() for path in folder.iterdir()} == before
    # Answers are those of the program that is given the files one by one, and nobody is killed.
    answers = stream.answers()
    assert [re.fullmatch(r"[0-9a-f-]{36}-00000(\d)", folder.name)[1] for folder in answers] == ["0", "1", "2", "3", "4"]
    pairs = []
    for folder, path in zip(answers, stream.files, strict=True):
        out = tmp_path / "expected" / folder.name
        own = ["--store", tmp_path / "expected-store", "--batch-id", folder.name, "--write-kept", "--cluster", "components", "--quiet"]
        call(program, "run", *OPTIONS, "--input", path, "--output", out, *own)
        assert content(folder) == content(out)
        pairs += content(folder)["pairs.tsv"].splitlines()
    # And those of one run over everything.
    call(program, "run", *OPTIONS, "--input", tmp_path / "in", "--output", tmp_path / "whole", "--quiet")
    assert sorted(pairs) == (tmp_path / "whole" / "pairs.tsv").read_text().splitlines() and len(pairs) > 40
    clusters = [line.split("\t") for line in (tmp_path / "whole" / "clusters.tsv").read_text().splitlines()]
    kept = {own: kept for kept, own, *_ in clusters}
    stored = stream.stored()
    documents = [json.loads(line)["id"] for path in stream.files for line in path.read_text().splitlines() if line]
    assert sorted(document["id"] for document in stored) == sorted(documents)
    assert {document["id"]: document["kept"] for document in stored} == {own: kept.get(own, own) for own in documents}
    # A new checkpoint has another query and so other batches: nothing is new in them.
    assert stream.follow(monkeypatch, checkpoint="another") is None
    assert len(stream.answers()) == 10 and stream.stored() == stored
    # A store that is gone is not begun again in the middle.
    os.rename(tmp_path / "store", tmp_path / "moved")
    stream.write("more.jsonl", lines([{"id": "more", "text": "Rain fell."}]))
    assert re.search(r"the store .* is gone", stream.follow(monkeypatch))
    os.rename(tmp_path / "moved", tmp_path / "store")
    assert stream.follow(monkeypatch) is None and len(stream.stored()) == len(documents) + 1


def test_a_bad_record_stops_the_stream_and_nothing_is_lost(program, tmp_path, spark, monkeypatch):
    stream = Stream(tmp_path, program)
    stream.write("1 a.jsonl", lines([{"id": "a", "text": "Rain fell."}]))
    stream.write("2%20b.jsonl", "\n" + lines([{"id": "b", "text": "Rain fell!"}, {"id": "c"}]))
    said = stream.follow(monkeypatch)
    assert f"{stream.files[1]}, line 3, field text: expected a string" in said and said.startswith("error: batch "), said
    assert len(stream.answers()) == 1 and [document["id"] for document in stream.stored()] == ["a"]
    with stream.files[1].open("a") as out:
        out.write(lines([{"id": "d", "text": "Snow fell."}]))
    stream.files[1].write_text(stream.files[1].read_text().replace('{"id": "c"}', '{"id": "c", "text": "Hail."}'))
    assert stream.follow(monkeypatch) is None
    assert len(stream.answers()) == 2 and [document["id"] for document in stream.stored()] == ["a", "b", "c", "d"]
    assert "makes ids of a line's place" in str(pytest.raises(ValueError, stream.follow, monkeypatch, options=["--id", "auto"]).value)


def test_records_of_a_queue_are_named(program, tmp_path, spark):
    """Rows as Kafka gives them, through the page's own expressions; one has a document on two lines, and one none at all."""
    values = [b'{"id": "a",\n "text": "Rain fell."}', None, b'{"id": "b"}']
    rows = [(value, "pages", 3, 2**40 + at) for at, value in enumerate(values)]
    frame = spark.createDataFrame(rows, "value binary, topic string, partition int, offset bigint")
    into = Batches(str(program), tmp_path / "store", tmp_path / "out", OPTIONS, lambda frame: frame.selectExpr(*OF_KAFKA))
    with pytest.raises(StreamFailed, match="give this to foreachBatch"):
        into(frame, 0)
    spark.sparkContext.setLocalProperty("sql.streaming.queryId", "query")
    try:
        with pytest.raises(StreamFailed, match=f"batch query-000000: tokenize: topic pages, partition 3, offset {2**40 + 2}, field text: "):
            into(frame, 0)
        assert os.listdir(tmp_path) == ["out"] and os.listdir(tmp_path / "out") == []
        into(frame.limit(2), 0)
    finally:
        spark.sparkContext.setLocalProperty("sql.streaming.queryId", None)
    assert (tmp_path / "out" / "query-000000" / "kept.jsonl").read_text() == '{"id": "a",  "text": "Rain fell."}\n'


def test_batches_of_a_data_frame(program, tmp_path, spark):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.jsonl").write_text(
        lines([{"nr": 1, "body": "Rain fell.", "n": [1]}, {"nr": 2, "body": "Rain fell!", "n": None}, {"nr": 3, "n": [2, 3]}])
    )
    frame = spark.readStream.schema("nr int, body string, n array<int>").json(str(tmp_path / "in"))
    into = twinsplit.spark.store_batches(tmp_path / "store", tmp_path / "out", text="body", id="nr", features="words:2", program=program)
    query = frame.writeStream.foreachBatch(into).trigger(availableNow=True).option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    query.awaitTermination()
    [answer] = (tmp_path / "out").iterdir()
    kept = [json.loads(line) for line in (answer / "kept.jsonl").read_text().splitlines()]
    assert kept == [{"nr": 1, "body": "Rain fell.", "n": [1]}, {"nr": 3, "body": "", "n": [2, 3]}]
    assert (answer / "clusters.tsv").read_text().splitlines()[1] == "1\t2\tdrop\t1.000000"
    with pytest.raises(TypeError, match="no option 'feature'"):
        twinsplit.spark.store_batches(tmp_path / "store", tmp_path / "out", feature="words:2")
