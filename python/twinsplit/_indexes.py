"""What is asked for one text at a time: an exact index, signatures, fingerprints and an index of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from . import _inputs, _options, _twinsplit
from ._options import Option
from ._runs import _refuse_twice
from ._twinsplit import Texts


class Match(NamedTuple):
    """A document that is like a text."""

    id: Any
    # Features in both, in the document, and in the text.
    overlap: int
    size: int
    query_size: int
    similarity: float


class Index:
    """A collection that is asked for the documents that are like a text: exact, and it can grow.

    >>> index = Index(["Rain fell on the harbour all night.", "Nobody saw it go."], features="words:2", threshold=0.5)
    >>> index.query("All night rain fell on the harbour.")
    [Match(id=0, overlap=5, size=6, query_size=6, similarity=0.7142857142857143)]
    >>> index.add(["All night rain fell on the harbour!"])
    >>> [match.id for match in index.query("All night rain fell on the harbour.")]
    [2, 0]

    Documents come in the forms that [dedup][twinsplit.dedup] takes, and options are the same. Texts with too few features find nothing and are found by
    nothing. What is new stands beside what is there, and is merged with it when it is half as large: a document is read again as often as N
    has binary digits at most.
    """

    def __init__(
        self,
        data: Any = (),
        *,
        text: str = "text",
        id: str | Sequence[Any] | None = None,  # noqa: A002
        features: str | None = None,
        threshold: float | str | None = None,
        threads: int = 0,
        **options: Option | None,
    ) -> None:
        if options.get("idf") is not None:
            raise ValueError("idf: frequencies change when an index grows")
        own = {"features": features, "tau": threshold}
        listed = _options.listed(own) + _options.listed(options)
        self._settings = _twinsplit.Settings("doc-split", listed, threads=threads)
        self._settings.refuse_unused()
        # Parts of falling size: the rows and texts of each, and the index of them.
        self._parts: list[tuple[list[int], list[str], _twinsplit.Index]] = []
        # The ids of rows, once there are any of their own; and all of them.
        self._ids: list[Any] | None = None
        self._rows = 0
        self._known: set[Any] = set()
        self.add(data, text=text, id=id)

    def __len__(self) -> int:
        """How many documents can be found: those with enough features."""
        return sum(len(index) for _, _, index in self._parts)

    def add(self, data: Any, *, text: str = "text", id: str | Sequence[Any] | None = None) -> None:  # noqa: A002
        """Adds documents. Ids are of any type; without any they are numbers in the order in which documents came."""
        documents = _inputs.read(data, text=text, id=id)
        count = len(documents.texts)
        if not count:
            return
        ids = documents.ids
        if self._rows and (ids is None) != (self._ids is None):
            raise ValueError("an index has ids for all documents, or for none")
        if ids is not None:
            _refuse_twice(ids)
            twice = next((own for own in ids if own in self._known), None)
            if twice is not None:
                raise ValueError(f"the id {twice!r} is in the index; ids must be unique")
        there = [(self._rows + row, documents.texts[row]) for row in range(count)]
        rows = [row for row, own in there if own is not None]
        texts = [own for _, own in there if own is not None]
        parts = list(self._parts)
        while parts and len(parts[-1][0]) <= 2 * len(rows):
            older, of_older, _ = parts.pop()
            rows, texts = older + rows, of_older + texts
        parts.append((rows, texts, self._settings.index(Texts.of_list(texts))))
        # Nothing has changed if that was interrupted.
        self._parts, self._rows = parts, self._rows + count
        if ids is not None:
            self._ids = [*(self._ids or []), *ids]
            self._known.update(ids)

    def query(self, text: str) -> list[Match]:
        """The documents whose similarity to the text reaches the threshold, the most similar first. Many threads may ask at once."""
        found = []
        for rows, _, index in self._parts:
            for row, overlap, size, query_size, similarity in index.query(text):
                found.append((rows[row], Match(None, overlap, size, query_size, similarity)))
        found.sort(key=lambda one: (-one[1].similarity, one[0]))
        return [match._replace(id=row if self._ids is None else self._ids[row]) for row, match in found]


class MinHash:
    """Makes MinHash signatures, those of `dedup(chain="minhash")`.

    >>> signer = MinHash(features="words:2", hashes=512)
    >>> a = signer.signature("Rain fell on the harbour all night.")
    >>> b = signer.signature("Rain fell on the harbour all day.")
    >>> abs(signer.similarity(a, b) - 5 / 7) < 0.1
    True

    Options are those that say what features are, `hashes` (values of a signature, 128 by default) and `minhash` (`fast` or `classic`).
    """

    def __init__(self, *, features: str | None = None, hashes: int | None = None, **options: Option | None) -> None:
        listed = _options.listed({"features": features, "hashes": hashes, **options})
        self._signer = _twinsplit.Settings(None, listed).min_hash()

    def signature(self, text: str) -> list[int]:
        """The signature of a text; an empty one where it has too few features."""
        return self._signer.signature(text) or []

    @staticmethod
    def similarity(a: Sequence[int], b: Sequence[int]) -> float:
        """The share of equal values, which estimates the Jaccard similarity of two texts."""
        return _twinsplit.MinHash.similarity(list(a), list(b))


class SimHash:
    """Makes SimHash fingerprints, those of `dedup(chain="simhash")`.

    >>> printer = SimHash(features="words:2")
    >>> a = printer.fingerprint("Rain fell on the harbour all night.")
    >>> printer.distance(a, printer.fingerprint("Rain fell on the harbour, all night!"))
    0

    Options are those that say what features are, `bits` (64 or 128), `weights`, `hash` and `tie`.
    """

    def __init__(self, *, features: str | None = None, bits: int | None = None, **options: Option | None) -> None:
        listed = _options.listed({"features": features, "bits": bits, **options})
        self._printer = _twinsplit.Settings(None, listed).sim_hash()

    def fingerprint(self, text: str) -> int:
        """The fingerprint of a text.

        Raises ValueError when it has too few features: all such texts would be alike.
        """
        fingerprint = self._printer.fingerprint(text)
        if fingerprint is None:
            raise ValueError("the text has too few features for a fingerprint")
        return fingerprint

    @staticmethod
    def distance(a: int, b: int) -> int:
        """The number of bits in which two fingerprints differ."""
        return (a ^ b).bit_count()


class HammingIndex:
    """Fingerprints, and all that differ from another one in few bits: exact, and it can grow.

    >>> index = HammingIndex({"a": 0b0000, "b": 0b0111, "c": 0b1111_1111}, distance=2)
    >>> index.query(0b0001)
    [('a', 1), ('b', 2)]
    >>> index.add("d", 0b0001)
    >>> index.remove("a")
    >>> index.query(0b0001)
    [('d', 0), ('b', 2)]
    """

    def __init__(self, fingerprints: Iterable[tuple[Any, int]] | dict[Any, int] = (), *, distance: int = 3, bits: int = 64) -> None:
        self._index = _twinsplit.HammingIndex(distance, bits)
        self._numbers: dict[Any, int] = {}
        self._ids: dict[int, Any] = {}
        for own, fingerprint in fingerprints.items() if isinstance(fingerprints, dict) else fingerprints:
            self.add(own, fingerprint)

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, id: Any, fingerprint: int) -> None:  # noqa: A002
        """Adds a fingerprint under an id of any type."""
        if id in self._numbers:
            raise ValueError(f"the id {id!r} is in the index; ids must be unique")
        number = self._index.add(fingerprint)
        self._numbers[id], self._ids[number] = number, id

    def remove(self, id: Any) -> None:  # noqa: A002
        """Takes a fingerprint out.

        Raises KeyError when there is none of this id.
        """
        number = self._numbers.pop(id)
        del self._ids[number]
        self._index.remove(number)

    def query(self, fingerprint: int) -> list[tuple[Any, int]]:
        """The ids of all fingerprints within the distance, each with its own distance, the nearest first."""
        found = sorted(self._index.query(fingerprint), key=lambda one: (one[1], one[0]))
        return [(self._ids[number], distance) for number, distance in found]
