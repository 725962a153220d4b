"""Real pages with the main content of each, and how an extraction of it is scored.

The corpora wcxb-dev and html-articles-en lie below CORPORA_DIR. A score is that of wcxb: words are `\\w+` of the lower-cased text, and F1 is
that of the multisets of words of what was extracted and of the main content. The mean is over pages.
"""

import gzip
import hashlib
import io
import json
import os
import re
import sys
import tarfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

CORPORA = Path(os.environ.get("CORPORA_DIR", Path(__file__).resolve().parents[2] / "../shared/corpora"))
WCXB, NEWS = "wcxb-dev", "html-articles-en"
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Page:
    corpus: str
    name: str
    kind: str
    html: bytes
    content: str

    @property
    def is_seen(self):
        """Whether it is of the half that `learn.py` learns from: even in the first byte of the SHA-256 of its name."""
        return hashlib.sha256(self.name.encode()).digest()[0] % 2 == 0


def files(archive):
    """The names and bytes of the files in an archive."""
    if not archive.exists():
        sys.exit(f"error: {archive} is missing: CORPORA_DIR names the folder of the corpora")
    with tarfile.open(archive) as members:
        for member in members:
            if member.isfile():
                yield Path(member.name), members.extractfile(member).read()


def pages():
    """All pages, in the order of corpora and names."""
    found = []
    told = {path.stem: json.loads(raw) for path, raw in files(CORPORA / WCXB / "ground-truth.tar.gz")}
    for path, raw in files(CORPORA / WCXB / "html.tar"):
        name = path.name.removesuffix(".html.gz")
        kind = told[name]["_internal"]["page_type"]["primary"]
        html = gzip.GzipFile(fileobj=io.BytesIO(raw)).read()
        found.append(Page(WCXB, name, kind, html, told[name]["ground_truth"]["main_content"] or ""))
    news = {path.name: raw for path, raw in files(CORPORA / NEWS / "html.tar.gz")}
    for name, page in json.loads(news["ground-truth.json"]).items():
        found.append(Page(NEWS, name, "article", news[f"{name}.html"], page["articleBody"]))
    return sorted(found, key=lambda page: (page.corpus, page.name))


def words(text):
    return WORD.findall(text.lower())


def f1(text, content):
    """That of the words of a text, with those of the main content."""
    found, wanted = Counter(words(text)), Counter(words(content))
    common = sum((found & wanted).values())
    if not common:
        return float(not found and not wanted)
    return 2 * common / (found.total() + wanted.total())


def mean(scores, of):
    """The mean of the scores of the pages of which something is true, and how many these are."""
    chosen = [score for page, score in scores.items() if of(page)]
    return sum(chosen) / len(chosen), len(chosen)
