#!/usr/bin/env python3
"""Runs the papers' experiments: each writes CSV, SVG and PNG.

    experiments/run.py NAME... [options of the experiment]     NAME: see EXPERIMENTS, or `page`

`make fig8` and its like call this. Build first (`make build`). Packages come from PyPI, as wheels, into
.tools/experiments, in the versions of constraints.txt (Python 3.11 or later, with venv). What an experiment has computed
stays in out/experiments, so that one that was stopped goes on. Environment:

    CORPORA_DIR  where CORPUS/docs.jsonl.gz are (default ../shared/corpora)
    BIN_DIR      where twinsplit is             (default target/release)
    RESULTS_DIR  where results and the page go  (default experiments/results)
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOOLS = HERE.parent / ".tools" / "experiments"
PYTHON = TOOLS / "bin" / "python"
EXPERIMENTS = ["fig8", "feature_choice", "edge", "approximations", "ccdet_accuracy", "ccdet_time", "simhash_curve", "recall", "minhash_vs_simhash",
               "minhash_scale", "table1", "fig9a", "fig9b", "ccdet_scale"]


def environment_made():
    """A virtual environment with the packages; nothing is asked of the network when they are there."""
    constraints = HERE / "constraints.txt"
    made = TOOLS / "made"
    if made.is_file() and made.read_text() == constraints.read_text():
        return
    venv.create(TOOLS, clear=True, with_pip=True)
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:",
           "--requirement", constraints]
    subprocess.run(pip, check=True)
    made.write_text(constraints.read_text())


def main():
    names = sys.argv[1:2]
    if not names or names[0] not in [*EXPERIMENTS, "page"]:
        sys.exit(f"{__doc__}\nexperiments: {', '.join(EXPERIMENTS)}")
    if names[0] == "page":
        import page
        page.write()
        return
    environment_made()
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(PYTHON, [PYTHON, HERE / f"{names[0]}.py", *sys.argv[2:]])


if __name__ == "__main__":
    main()
