#!/usr/bin/env python3
"""`--html article` and `--html visible` beside libraries that extract main content: one table, from one run, on real pages.

    benches/html/run.py [--rounds N] [--libraries A,B] [--save [FILE]]

Each program runs alone, on one core, over all pages of wcxb-dev and html-articles-en (CORPORA_DIR, default ../shared/corpora), which are
decoded and in memory before the clock starts. Ours is measured in the library (`crates/html/examples/extract.rs`), which is built here. The
others come from PyPI, into .tools/bench-html, in the versions of constraints.txt (Python 3.11 or later, with venv).

The exit status is 1 where ours misses an aim on the half of the pages that it has not learned from: F1 .82 of all, .93 of articles; or 40 MB
a second for article and 100 for visible.
"""

import argparse
import datetime
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import pages
from peer import LIBRARIES

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REPORT = ROOT / "docs" / "performance" / "html.md"
TOOLS = ROOT / ".tools" / "bench-html"
OURS = {"twinsplit article": "article", "twinsplit visible": "visible"}
AIMS = {"article": 40, "visible": 100}
NOTES = """\
{pages} pages, {size:.0f} MB, on one core ({cpu}); {rounds} rounds for ours, one for the others.

- The score of a page is the F1 of the multisets of its words with those of its main content, as a person marked it (`benches/html/pages.py`).
  The table has the mean over pages.
- *Unseen* is the half of the pages from which `--html article` has learned nothing; only there it can be compared with others. These may have
  been made with any of them.
- *News* are the 181 pages of html-articles-en, all else is wcxb-dev.
- MB are those of the pages, decoded. What is measured is the extraction alone, in seconds of the processor, on which other programs have little influence.
"""
COLUMNS = ["program", "MB/s", "all, unseen", "articles, unseen", "news, unseen", "all", "articles", "news"]
KINDS = ["article", "collection", "documentation", "forum", "listing", "product", "service"]


def fail(message):
    sys.exit(f"bench: {message}")


def in_one_core(command):
    """Seconds of the processor that a program says it has taken."""
    core = min(os.sched_getaffinity(0))
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    if done.returncode:
        fail(f"{' '.join(map(str, command))} ended with exit status {done.returncode}")
    return float(done.stdout.split()[-1])


def extract_built():
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--package", "twinsplit-html", "--example", "extract"]
    subprocess.run(command, cwd=ROOT, check=True)
    return ROOT / "target/release/examples/extract"


def libraries_installed():
    python = TOOLS / "bin" / "python"
    if not python.exists():
        venv.create(TOOLS, clear=True, with_pip=True)
    # All but one have wheels; that one is built, by Cargo.
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--no-binary", "rs-trafilatura"]
    if subprocess.run([*pip, "--requirement", HERE / "constraints.txt"]).returncode:
        fail("the libraries could not be installed; --libraries '' measures ours alone")
    return python


def versions():
    lines = (HERE / "constraints.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def cpu():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(": ", 1)[1]
    return "an unknown processor"


def measured(program, command, found, folder, size):
    """A row of the first table, one of the second, and what was reached."""
    speed = size / in_one_core(command) / 1e6
    scores = {page: pages.f1((folder / f"{number}.txt").read_text(encoding="utf-8"), page.content) for number, page in enumerate(found)}
    groups = {
        "all": lambda page: page.corpus == pages.WCXB,
        "articles": lambda page: page.corpus == pages.WCXB and page.kind == "article",
        "news": lambda page: page.corpus == pages.NEWS,
    }
    unseen = {name: pages.mean(scores, lambda page, of=of: of(page) and not page.is_seen)[0] for name, of in groups.items()}
    of_all = {name: pages.mean(scores, of)[0] for name, of in groups.items()}
    of_kind = [
        pages.mean(scores, lambda page, kind=kind: page.corpus == pages.WCXB and page.kind == kind and not page.is_seen)[0] for kind in KINDS
    ]
    figures = [f"{score:.3f}" for score in [*unseen.values(), *of_all.values()]]
    rows = f"| {program} | {speed:.1f} | {' | '.join(figures)} |", f"| {program} | {' | '.join(f'{score:.3f}' for score in of_kind)} |"
    return *rows, speed, unseen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="runs of ours (default 5)")
    parser.add_argument("--libraries", default=",".join(LIBRARIES), help="only these; none for an empty word")
    parser.add_argument("--save", nargs="?", const=REPORT, type=Path, metavar="FILE",
                        help=f"also write the tables, by default to {REPORT.relative_to(ROOT)}")
    options = parser.parse_args()
    chosen = [library for library in options.libraries.split(",") if library]
    found, extract = pages.pages(), extract_built()
    python = libraries_installed() if chosen else None
    rows, of_kinds, missed = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for number, page in enumerate(found):
            (folder / f"{number}.html").write_text(page.html.decode("utf-8", "replace"), encoding="utf-8", newline="")
        size = sum(path.stat().st_size for path in folder.iterdir())
        programs = {name: [extract, which, str(options.rounds), folder] for name, which in OURS.items()}
        programs |= {f"{library} {versions()[library]}": [python, HERE / "peer.py", library, "1", folder] for library in chosen}
        for program, command in programs.items():
            row, of_kind, speed, unseen = measured(program, command, found, folder, size)
            print(row, flush=True)
            rows.append(row)
            of_kinds.append(of_kind)
            which = OURS.get(program)
            if which and speed < AIMS[which]:
                missed.append(f"{program}: {speed:.1f} MB/s")
            if which == "article" and (unseen["all"] < 0.82 or unseen["articles"] < 0.93):
                missed.append(f"{program}: F1 {unseen}")
    today = datetime.date.today().isoformat()
    notes = NOTES.format(pages=len(found), size=size / 1e6, rounds=options.rounds, cpu=cpu())
    line = lambda cells: f"| {' | '.join(cells)} |\n{'|---' * len(cells)}|"
    report = [f"# Main content of pages beside libraries, {today}", "", notes, line(COLUMNS), *rows, "",
              "By kind of page, unseen:", "", line(["program", *KINDS]), *of_kinds, ""]
    if options.save:
        options.save.write_text("\n".join(report))
    if missed:
        fail("; ".join(missed))


if __name__ == "__main__":
    main()
