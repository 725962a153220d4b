"""What several tests need."""

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest
import spark_session

ROOT = Path(__file__).resolve().parents[2]
# Real documents, which are a part of the repository.
DOCUMENTS = ROOT / "hdfs-fixtures" / "documents"


def records(language):
    with gzip.open(DOCUMENTS / f"{language}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="session")
def english():
    return records("en")


@pytest.fixture(scope="session")
def program():
    """The command line."""
    path = Path(os.environ.get("TWINSPLIT", ROOT / "target" / "debug" / "twinsplit"))
    assert path.is_file(), f"{path} is missing: build it (cargo build --bin twinsplit), or name it in TWINSPLIT"
    return path


@pytest.fixture(scope="session")
def answers():
    """Folders of answers of runs on Spark."""
    return []


@pytest.fixture(scope="session")
def spark(program, answers):
    with spark_session.session(program) as spark:
        yield spark
    # They live as long as the application.
    left = [folder for folder in answers if os.path.exists(folder.removeprefix("file:"))]
    assert left == []


def call(*command):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TWINSPLIT_")}
    subprocess.run(command, check=True, env=clean)


@pytest.fixture
def run(program, tmp_path):
    """Runs a chain on a file, and gives the folder of its answer."""

    def run(chain, source, *options):
        out = tmp_path / "-".join(["out", chain, *options]).replace("/", "_")
        call(program, "run", chain, "--input", source, "--output", out, "--quiet", *options)
        return out

    return run


@pytest.fixture
def annotate(program, tmp_path):
    """Writes what an answer says of each document, and gives where."""

    def annotate(out, *options):
        to = tmp_path / "annotated"
        call(program, "annotate", out, "--output", to, "--quiet", *options)
        return to

    return annotate
