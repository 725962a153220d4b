"""What was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from . import _twinsplit
from ._inputs import Documents
from ._options import written

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Row = TypeVar("Row", bound=tuple[Any, ...])


class Pair(NamedTuple):
    """Two documents whose similarity reaches the threshold: the smaller id and the larger one, or a query and a document."""

    a: Any
    b: Any
    # Features in both, in a, and in b.
    overlap: int
    size_a: int
    size_b: int
    similarity: float


class NearPair(NamedTuple):
    """Two documents whose fingerprints are near (the chain `simhash`)."""

    a: Any
    b: Any
    # The bits in which they differ.
    distance: int
    # That of their texts, where these were compared (the option `check`).
    similarity: float | None


class Dropped(NamedTuple):
    """A document that is not kept, and the one that is kept for it."""

    id: Any
    kept: Any
    # To the kept document, rounded to six decimals; of a chain of pairs it may lie below the threshold.
    similarity: float | None


class Cluster(NamedTuple):
    """Documents that belong together, and the one of them to keep."""

    kept: Any
    dropped: list[Dropped]


class Change(NamedTuple):
    """A document of a store for which another one is kept now than before."""

    id: Any
    before: Any
    now: Any


@dataclass(frozen=True)
class Explanation:
    """Why two texts are a pair, or are not; `str` shows it."""

    overlap: int
    size_a: int
    size_b: int
    similarity: float
    is_pair: bool
    # Shared passages, those of most features first: how many features, and the place in each text, between brackets in its context.
    passages: list[tuple[int, str, str]]
    # The decision in whole numbers, a line each.
    arithmetic: list[str]

    def __bool__(self) -> bool:
        return self.is_pair

    def __str__(self) -> str:
        most = 10
        lines = [f"A has {self.size_a} features, B has {self.size_b}; they share {self.overlap}"]
        for count, in_a, in_b in self.passages[:most]:
            lines += [f"  {count} feature{'s' if count > 1 else ''}", f"    A  {in_a}", f"    B  {in_b}"]
        if len(self.passages) > most:
            lines.append(f"  … {len(self.passages) - most} more passages")
        lines += [*self.arithmetic[1:], "=> a pair" if self.is_pair else "=> not a pair"]
        return "\n".join(lines)


def explanation(settings: _twinsplit.Settings, a: str, b: str) -> Explanation:
    """Holds two texts against each other."""
    return Explanation(*settings.compare(a, b))


class _Tabular:
    """What can be taken as a table."""

    def _columns(self) -> dict[str, tuple[str, list[Any]]]:
        """By its name what a column holds, and its values."""
        raise NotImplementedError

    def _table(self) -> _twinsplit.Table:
        return _twinsplit.Table.of_columns([(name, kind, values) for name, (kind, values) in self._columns().items()])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """The table for PyArrow, which must be installed."""
        import pyarrow

        return pyarrow.table(self._table())

    def to_pandas(self) -> pandas.DataFrame:
        """The table for pandas, which must be installed; PyArrow need not be."""
        import pandas

        kinds = {"int": "Int64", "float": "float64", "bool": "bool", "str": "object"}
        series = {}
        for name, (kind, values) in self._columns().items():
            dtype = "int64" if kind == "int" and None not in values else kinds[kind]
            series[name] = pandas.Series(values, dtype=dtype)
        return pandas.DataFrame(series)

    def to_polars(self) -> polars.DataFrame:
        """The table for Polars, which must be installed; PyArrow need not be."""
        import polars

        # As a sequence of tuples it would be copied.
        return polars.DataFrame(self._table())


def _column(values: list[Any]) -> tuple[str, list[Any]]:
    """A column of ids: whole numbers, or texts."""
    there = [value for value in values if value is not None]
    if all(type(value) is int and -(2**63) <= value < 2**63 for value in there):
        return "int", values
    return "str", [None if value is None else str(value) for value in values]


class _Rows(_Tabular, Sequence[Row]):
    """Rows as tuples, and as a table."""

    def __init__(self, ids: Callable[[int], Any], queries: Callable[[int], Any], columns: tuple[list[Any], ...]) -> None:
        self._of_a, self._of_b, self._values = queries, ids, columns

    def _row(self, values: tuple[Any, ...]) -> Row:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._values[0])

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        a, b, *others = (column[at] for column in self._values)
        return self._row((self._of_a(a), self._of_b(b), *others))

    def __iter__(self) -> Iterator[Row]:
        for a, b, *others in zip(*self._values, strict=True):
            yield self._row((self._of_a(a), self._of_b(b), *others))

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:3]))
        return f"<{len(self):,} pairs: {shown}{', …' if len(self) > 3 else ''}>" if self else "<0 pairs>"

    def _ids(self) -> dict[str, tuple[str, list[Any]]]:
        a, b, *_ = self._values
        return {"a": _column([self._of_a(one) for one in a]), "b": _column([self._of_b(one) for one in b])}


class Pairs(_Rows[Pair]):
    """Pairs, in the order of their ids: a sequence of [Pair][twinsplit.Pair], and a table with its fields."""

    def _row(self, values: tuple[Any, ...]) -> Pair:
        return Pair(*values)

    def _columns(self) -> dict[str, tuple[str, list[Any]]]:
        overlap, size_a, size_b, similarity = self._values[2:]
        counts = {"overlap": overlap, "size_a": size_a, "size_b": size_b}
        return self._ids() | {name: ("int", values) for name, values in counts.items()} | {"similarity": ("float", similarity)}


class NearPairs(_Rows[NearPair]):
    """Pairs of fingerprints, in the order of their ids: a sequence of [NearPair][twinsplit.NearPair], and a table with its fields."""

    def _row(self, values: tuple[Any, ...]) -> NearPair:
        return NearPair(*values)

    def _columns(self) -> dict[str, tuple[str, list[Any]]]:
        distance, similarity = self._values[2:]
        return self._ids() | {"distance": ("int", distance), "similarity": ("float", similarity)}


def _counted(number: int, name: str) -> str:
    return f"{number:,} {name}" if number == 1 else f"{number:,} {name}s"


class Duplicates(_Tabular):
    """The near-duplicates of a collection.

    As a table it has a row for each document, in the order in which they came: `id`, `cluster` (a number, from 0), `size` (documents of the cluster),
    `keep`, `kept_id` (the document that is kept for it) and `similarity` to that one. A document that is like no other has no cluster.

    >>> import twinsplit
    >>> found = twinsplit.dedup(["Rain fell all night.", "Snow fell.", "Rain fell all night!"], features="words:2")
    >>> len(found)
    3
    >>> found.to_polars().select("id", "cluster", "keep", "kept_id").rows()
    [(0, 0, True, 0), (1, None, True, 1), (2, 0, False, 0)]
    """

    def __init__(
        self,
        found: _twinsplit.Found,
        documents: Documents,
        settings: _twinsplit.Settings,
        queries: Documents | None,
        options: list[tuple[str, str]],
        chain: str | None,
        again: Callable[[str], Duplicates] | None,
    ) -> None:
        self._found, self._documents, self._settings = found, documents, settings
        self._queries, self._options, self._chain, self._again = queries, dict(options), chain, again

    def __len__(self) -> int:
        return len(self._documents.texts)

    def __repr__(self) -> str:
        how = self._chain or "doc-split"
        if how in ("doc-split", "term-split", "minhash"):
            measure, tau = self._options.get("similarity", "jaccard"), self._options.get("tau", "0.65")
            how = f"{'' if how == 'doc-split' else how + ', '}{measure} >= {tau}"
        documents = _counted(len(self), "document")
        if self._queries is not None:
            asked = "1 query" if len(self._queries.texts) == 1 else f"{len(self._queries.texts):,} queries"
            return f"<Duplicates: {asked} of {documents}, {_counted(len(self.pairs()), 'pair')}; {how}>"
        kept = len(self.kept)
        found = f"{_counted(len(self._clusters), 'cluster')}, {kept:,} kept, {len(self) - kept:,} dropped"
        return f"<Duplicates: {documents}, {found}; {how}>"

    def _id(self, number: int) -> Any:
        """The id of a row, or of a document of a store."""
        ids = self._documents.ids
        if number >= 0:
            return number if ids is None else ids[number]
        name = self._found.others[-1 - number]
        return int(name) if ids and type(ids[0]) is int and name.isdecimal() else name

    def _query_id(self, number: int) -> Any:
        ids = None if self._queries is None else self._queries.ids
        return number if ids is None else ids[number]

    def pairs(self) -> Pairs | NearPairs:
        """All pairs, in the order of their ids.

        >>> import twinsplit
        >>> twinsplit.dedup({"text": ["Rain fell.", "Rain fell!"], "id": ["x", "y"]}, id="id", features="words:2").pairs()[0]
        Pair(a='x', b='y', overlap=1, size_a=1, size_b=1, similarity=1.0)
        """
        if self._found.compares_fingerprints:
            return NearPairs(self._id, self._id, self._found.near_pairs())
        if self._queries is None:
            return Pairs(self._id, self._id, self._found.pairs())
        return Pairs(self._id, self._query_id, self._found.pairs(len(self._queries.texts)))

    @cached_property
    def _clusters(self) -> list[tuple[int, list[tuple[int, float | None]]]]:
        return self._found.clusters()

    def clusters(self) -> list[Cluster]:
        """All clusters, in the order of the kept documents' ids."""
        clusters = []
        for kept, others in self._clusters:
            name = self._id(kept)
            clusters.append(Cluster(name, [Dropped(self._id(one), name, similarity) for one, similarity in others]))
        return clusters

    def dropped(self) -> list[Dropped]:
        """All documents that are not kept."""
        return [dropped for cluster in self.clusters() for dropped in cluster.dropped]

    @cached_property
    def mask(self) -> list[bool]:
        """Of each row whether it is kept: `df[found.mask]` with pandas, `df.filter(found.mask)` with Polars."""
        mask = [True] * len(self)
        for _, others in self._clusters:
            for row, _ in others:
                if row >= 0:
                    mask[row] = False
        return mask

    @cached_property
    def kept(self) -> list[int]:
        """The numbers of the rows to keep: `df.iloc[found.kept]` with pandas, `df[found.kept]` with Polars, `table.take(found.kept)` with PyArrow."""
        return [row for row, keep in enumerate(self.mask) if keep]

    @property
    def missing(self) -> list[int]:
        """The numbers of the rows without a text, which are in no pair and kept.

        >>> import twinsplit
        >>> twinsplit.dedup(["Rain fell.", None]).missing
        [1]
        """
        return self._documents.texts.missing

    def changes(self) -> list[Change]:
        """After a run with a store: the documents of earlier batches for which another one is kept now than before."""
        return [Change(*map(self._id, change)) for change in self._found.changes()]

    def rethreshold(self, threshold: float | str) -> Duplicates:
        """The same with another threshold. The documents are compared again, as by a new run, so that what is found is exact for lower ones, too.

        >>> import twinsplit
        >>> found = twinsplit.dedup(["Rain fell all night.", "Rain fell all day."], features="words:2")
        >>> len(found.pairs()), len(found.rethreshold(0.5).pairs())
        (0, 1)
        """
        if self._again is None:
            raise ValueError("a store has one threshold")
        return self._again(written(threshold))

    def least_similar(self, n: int = 10) -> list[Dropped]:
        """The documents that are least like the one that is kept for them: those to look at before they are thrown away."""
        known = [dropped for dropped in self.dropped() if dropped.similarity is not None]
        return sorted(known, key=lambda dropped: dropped.similarity or 0.0)[:n]

    def why(self, a: Any, b: Any) -> Explanation:
        """Why two documents, or a query and a document, are a pair or are not.

        >>> import twinsplit
        >>> found = twinsplit.dedup(["Rain fell all night.", "Rain fell all day."], features="words:2")
        >>> found.why(0, 1).is_pair, found.why(0, 1).similarity
        (False, 0.5)
        """
        first = self._documents if self._queries is None else self._queries
        return explanation(self._settings, _text(first, a), _text(self._documents, b))

    def _columns(self) -> dict[str, tuple[str, list[Any]]]:
        rows = range(len(self))
        cluster: list[int | None] = [None] * len(self)
        similarity: list[float | None] = [None] * len(self)
        size, kept = [1] * len(self), list(rows)
        for number, (own, others) in enumerate(self._clusters):
            for row, score in [(own, None), *others]:
                if row >= 0:
                    cluster[row], size[row], kept[row], similarity[row] = number, len(others) + 1, own, score
        return {
            "id": _column([self._id(row) for row in rows]),
            "cluster": ("int", cluster),
            "size": ("int", size),
            "keep": ("bool", self.mask),
            "kept_id": _column([self._id(row) for row in kept]),
            "similarity": ("float", similarity),
        }


def _text(documents: Documents, own: Any) -> str:
    """The text of the document with this id."""
    if documents.ids is not None:
        row = next((row for row, other in enumerate(documents.ids) if other == own), -1)
    else:
        row = own if isinstance(own, int) and own < len(documents.texts) else -1
    text = documents.texts[row] if row >= 0 else None
    if text is None:
        raise KeyError(f"no document with a text has the id {own!r}")
    return text
