"""The service, asked by the client of Redis that Python programs have."""

import re
import signal
import subprocess
from contextlib import contextmanager

import pytest
import redis


@contextmanager
def service(program, folder, *options):
    """A service on a free port of this machine, until the block ends."""
    command = [program, "serve", folder, "--listen", "127.0.0.1:0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            said = iter(process.stderr.readline, "")
            line = next((line for line in said if line.startswith("listening at ")), None)
            assert line is not None, "it has ended before it listened"
            yield int(re.match(r"listening at [\d.]+:(\d+);", line).group(1))
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
    assert process.returncode == 0


TEXTS = ["It rained in the north all day, and rivers rose.", "It rained in the north all day and rivers rose!"]


@pytest.mark.parametrize("protocol", [2, 3])
def test_commands_of_the_page(program, tmp_path, protocol):
    with service(program, tmp_path / "seen") as port, redis.Redis(port=port, protocol=protocol) as r:
        assert r.ping()
        assert r.execute_command("FP.CHECKADD", "news", "a", "TEXT", TEXTS[0]) == [b"NEW"]
        verdict = [b"DUPLICATE", b"a", 0, b"hamming"]
        assert r.execute_command("FP.CHECKADD", "news", "b", "TEXT", TEXTS[1]) == verdict
        # A retry has the same verdict, and other content under the id is refused.
        assert r.execute_command("FP.CHECKADD", "news", "b", "TEXT", TEXTS[1]) == verdict
        with pytest.raises(redis.ResponseError, match="IDCONFLICT"):
            r.execute_command("FP.CHECKADD", "news", "b", "TEXT", TEXTS[0])
        all_at_once = r.execute_command("FP.MCHECKADD", "news", "FP", "c", "00000000000000ff", "d", "00000000000000fe")
        assert all_at_once == [[b"NEW"], [b"DUPLICATE", b"c", 1, b"hamming"]]
        count = r.execute_command("FP.COUNT", "news")
        held = count if protocol == 3 else dict(zip(count[::2], count[1::2], strict=True))
        assert held == {b"documents": 4, b"kept": 2}
        assert r.execute_command("FP.DEL", "news", "a") == [b"b"]
        assert r.execute_command("FP.DEL", "news", "a") is None
        assert r.execute_command("FP.BEGIN", "news", "monday", "ISOLATED") in (b"OK", "OK", True)
        assert r.execute_command("FP.CANCEL", "news", "monday") == []


@pytest.mark.parametrize("protocol", [2, 3])
def test_pipelines_and_sets(program, tmp_path, protocol, english):
    """Verdicts come in the order of the requests; with sets there is no distance."""
    documents = [document for document in english if len(document["text"]) < 5000][:300]
    options = ["--chain", "doc-split", "--tau", "0.7"]
    with service(program, tmp_path / "seen", *options) as port, redis.Redis(port=port, protocol=protocol) as r:
        pipe = r.pipeline(transaction=False)
        for document in documents:
            pipe.execute_command("FP.CHECKADD", "n", document["id"], "TEXT", document["text"])
        verdicts = pipe.execute()
        assert len(verdicts) == len(documents)
        new = [document["id"].encode() for document, said in zip(documents, verdicts, strict=True) if said == [b"NEW"]]
        duplicates = [said for said in verdicts if said[0] == b"DUPLICATE"]
        assert len(new) + len(duplicates) == len(documents) and len(duplicates) > 50
        for _, of, distance, measure in duplicates:
            assert of in new
            if measure != b"equal-text":
                assert distance is None and float(measure.removeprefix(b"jaccard:")) >= 0.7
