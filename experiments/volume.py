"""How many rows plain Term-Split writes: the sum of df(df-1)/2 over its posting lists, as its own index counts it before it writes any."""

import os
import re
import shutil
import subprocess

from result import BINARIES, environment, progress, twinsplit

COUNTED = re.compile(r"(\d+) pairs of postings, the sum of df")


def plain_rows(documents, words, folder):
    """Of documents and a run's options. The chain stops at the first row, with the number in its message, and ends well where there is none."""
    out, page = folder / "volume", folder / "volume.sh"
    shutil.rmtree(out, ignore_errors=True)
    page.write_text(twinsplit("plan", "term-split", "--engine", "pipes", "--inline", *words, "--max-pairs", 0, "--write", "clusters"))
    variables = environment({"PATH": f"{BINARIES}:{os.environ['PATH']}", "QUIET": "1"})
    ended = subprocess.run(["bash", page, out, documents], env=variables, capture_output=True, text=True)
    counted = COUNTED.search(ended.stderr)
    shutil.rmtree(out, ignore_errors=True)
    page.unlink()
    if not counted and ended.returncode:
        raise SystemExit(f"plain Term-Split failed before it counted its rows:\n{ended.stderr}")
    rows = int(counted.group(1)) if counted else 0
    progress(f"plain Term-Split would write {rows:,} rows")
    return rows
