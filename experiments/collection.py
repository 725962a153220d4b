"""Heads of one large collection, each the smaller collection of its size; the file is made when a head is first asked for."""

import gzip
import shutil
from itertools import islice

import corpora
from result import WORK, progress, twinsplit


class Collection:
    """`make(folder)` writes documents.jsonl, of so many documents, into a folder that does not exist. It goes when the block ends."""

    def __init__(self, folder, documents, make):
        self.folder = WORK / folder
        self.documents = documents
        self.make = make

    def __enter__(self):
        self.remove()
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        shutil.rmtree(self.folder / "whole", ignore_errors=True)
        (self.folder / "head.jsonl").unlink(missing_ok=True)

    def head(self, count):
        """The file of the first documents; that of an earlier head is gone."""
        whole, head = self.folder / "whole", self.folder / "head.jsonl"
        if not whole.exists():
            self.make(whole)
        if count >= self.documents:
            return whole / "documents.jsonl"
        with open(whole / "documents.jsonl", "rb") as lines, open(head, "wb") as kept:
            kept.writelines(islice(lines, count))
        return head


def generated(folder, documents, length, seed):
    """That of `twinsplit generate-corpus`, of a mean length in bytes."""
    def make(whole):
        progress(f"{documents:,} documents of {length:,} bytes")
        twinsplit("generate-corpus", "--documents", documents, "--bytes", documents * length, "--seed", seed, "--output", whole, "--quiet")
    return Collection(folder, documents, make)


def own(folder, path):
    """That of a user's JSON lines, each with id and text, gzipped or not."""
    def make(whole):
        whole.mkdir()
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rb") as lines, open(whole / "documents.jsonl", "wb") as out:
            shutil.copyfileobj(lines, out)
    return Collection(f"{folder}-{corpora.name(path)}", sum(1 for _ in corpora.checked(path)), make)
