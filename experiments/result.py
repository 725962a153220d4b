"""What an experiment leaves: rows as CSV, and beside them how they were made."""

import csv
import datetime
import json
import os
import platform
import shlex
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(os.environ.get("RESULTS_DIR", ROOT / "experiments" / "results")).resolve()
WORK = ROOT / "out" / "experiments"
CORPORA = Path(os.environ.get("CORPORA_DIR", ROOT.parent / "shared" / "corpora"))
BINARIES = Path(os.environ.get("BIN_DIR", ROOT / "target" / "release"))
SEED = 20261124


class Failed(SystemExit):
    """A program that ended with an error: whoever expects it looks at `errors`, and else it ends the experiment."""

    def __init__(self, command, errors):
        super().__init__(f"{shlex.join(command)}\n{errors}")
        self.errors = errors


def progress(text):
    """A line for those who wait."""
    now = datetime.datetime.now().strftime("%H:%M:%S")
    print(f"{now} {text}", file=sys.stderr, flush=True)


def processor():
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").is_file() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} x {models[0] if models else platform.machine()}"


def commit():
    """The commit of the source, with a + when files of it have been changed since."""
    git = ["git", "-C", str(ROOT)]
    name = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    changed = subprocess.run([*git, "status", "--porcelain", "--untracked-files=no", "src", "experiments/*.py"],
                             capture_output=True, text=True).stdout.strip()
    return f"{name}{'+' if changed else ''}" or "unknown"


def provenance(seed=SEED):
    words = ["experiments/run.py", Path(sys.argv[0]).stem, *sys.argv[1:]]
    return {"commit": commit(), "machine": processor(), "python": platform.python_version(), "seed": seed,
            "command": shlex.join(words), "date": datetime.date.today().isoformat()}


def save(name, about, columns, rows, plots=(), notes=()):
    """Writes NAME.csv and NAME.json. `rows` are lists in the order of `columns`; `plots` are names of files made."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    with open(RESULTS / f"{name}.csv", "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    made = {"experiment": name, "about": about, **provenance(), "plots": list(plots), "notes": list(notes)}
    (RESULTS / f"{name}.json").write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    progress(f"wrote {name}.csv, {len(rows)} rows, to {RESULTS}")


def twinsplit(*words):
    """Runs twinsplit, and gives what it writes to standard output."""
    return ran("twinsplit", words, None)


def stage(name, source, *words):
    """Runs a stage over a file."""
    with open(source, "rb") as rows:
        return ran(name, words, rows)


def environment(variables={}):
    """That of programs: without settings that change what they do, and with these variables."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TWINSPLIT_")} | variables


def ran(program, words, source, variables={}, watch=None):
    """Runs a program; `watch(process)` is a block around its time."""
    command = [str(BINARIES / program), *map(str, words)]
    pipes = {"stdin": source, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment(variables), text=True, **pipes) as process:
        with watch(process) if watch else nullcontext():
            said, errors = process.communicate()
    if process.returncode:
        raise Failed(command, errors)
    return said
