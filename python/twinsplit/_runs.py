"""Functions that take documents and give what was found."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, TextIO

from . import _inputs, _options, _twinsplit
from ._duplicates import Cluster, Duplicates, Explanation, NearPairs, Pairs, explanation
from ._inputs import Documents
from ._options import Option


class Progress(NamedTuple):
    """How far a run is."""

    step: str
    doing: str
    # How much is done, of how much; 0 where that is not known.
    done: int
    total: int
    # What is counted: bytes, rows or sets.
    unit: str


# What is asked for the progress of a run.
Tell = bool | Callable[[Progress], object]


class _Line:
    """Shows the progress in one line of a stream."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def __call__(self, now: Progress) -> None:
        share = f"{100 * now.done // now.total} %" if now.total else f"{now.done:,} {now.unit}"
        self.stream.write(f"\r{f'{now.step}: {now.doing}, {share}':<60}")
        self.stream.flush()

    def end(self) -> None:
        self.stream.write(f"\r{'':<60}\r")
        self.stream.flush()


def options() -> dict[str, str]:
    """All options that `dedup` takes by keyword, and what they mean. A run refuses those that its chain does not use.

    >>> options()["bands"]
    'Bands of a MinHash signature: documents that agree in all rows of one are candidates'
    """
    about = {name: about for name, _, about, _ in _twinsplit.options()}
    return {keyword: about[name] for keyword, name in _options.known().items()}


def dedup(
    data: Any,
    *,
    text: str = "text",
    id: str | Sequence[Any] | None = None,  # noqa: A002
    date: str | Sequence[Any] | None = None,
    score: str | Sequence[Any] | None = None,
    features: str | None = None,
    threshold: float | str | None = None,
    chain: str | None = "doc-split",
    keep: str | None = None,
    queries: Any = None,
    store: str | os.PathLike[str] | None = None,
    against: str | os.PathLike[str] | None = None,
    batch: str | None = None,
    threads: int = 0,
    memory: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: Tell = False,
    **options: Option | None,
) -> Duplicates:
    """Finds the near-duplicates of a collection.

    >>> rows = [{"id": 7, "text": "The ferry left the harbour at six."},
    ...         {"id": 8, "text": "Rain fell on the harbour all night."},
    ...         {"id": 9, "text": "The ferry left the harbour at six!"}]
    >>> found = dedup(rows, id="id", features="words:2", threshold=0.8)
    >>> found.pairs()[0]
    Pair(a=7, b=9, overlap=6, size_a=6, size_b=6, similarity=1.0)
    >>> found.kept, found.mask
    ([0, 1], [True, True, False])

    `data` is a list of texts, a list of dicts, a DataFrame or Series of pandas or Polars, a table or array of PyArrow, or what has
    `__arrow_c_stream__`. A missing text (None, NaN) is in no pair, and is kept.

    `text`, `id`, `date` and `score` name columns, the last three may be sequences of values as well. Ids are of any type and are given back as they came;
    without `id` they are row numbers. `date` and `score` are for `keep="newest"` and `keep="score"`; other rules are `smallest-id` (the
    default), `first` and `longest`.

    `features` is what is compared, such as `words:3` (the default) or `chars:7`. `threshold` is the least similarity of a pair, 0.65 by default, as
    the decimal that you write: 0.7 is 7/10. `chain` is `doc-split` or `term-split`, which find all pairs, `ccdet`, or `minhash`, `simhash` and `i-match`,
    which may miss some. All other options of the command line are keywords ([options][twinsplit.options] has them), such as
    `similarity="containment"`, `idf=(0.1, 1)`, `cluster="star"`, `bands=20`.

    `queries` are documents, in the same forms and columns: only pairs of a query and a document are found then, the query first. `store` is a folder to
    which the documents are added as a batch (of the name `batch`), after they were compared with all that is there; `against` one with
    which they are compared only.

    `memory` is the most bytes that the run holds, 2 GB by default; what does not fit goes to temporary files in `folder`. `progress=True` shows how
    far the run is; a function is called with a [Progress][twinsplit.Progress]. The work is done on `threads` threads (0: all cores) without the
    interpreter's lock, and Control-C ends it.
    """
    _refuse_both(store, against, queries)
    documents = _inputs.read(data, text=text, id=id, date=date, score=score)
    own = {"features": features, "tau": threshold, "keep": keep}
    listed = _options.listed(own) + _options.listed(options, tuple(_KEYWORDS))
    settings = _twinsplit.Settings(chain, listed, threads=threads, memory=memory, folder=folder)
    if queries is not None:
        # The file itself is made for each run.
        settings = settings.with_queries("queries.jsonl")
    settings.refuse_unused()
    names = None
    if store is not None or against is not None:
        names = _names(documents)
        settings = settings.with_store(store if against is None else against, adds=against is None, batch=batch)
    elif batch is not None:
        raise TypeError("batch is the name of what is added to a store; give store=FOLDER")
    asked = None if queries is None else _queries(queries, text, id)
    ranks = None if names is not None else _ranks(documents.ids)

    def run(settings: _twinsplit.Settings) -> _twinsplit.Found:
        return _run(settings, documents, ranks, names, asked, folder, progress)

    def again(tau: str) -> Duplicates:
        changed = [(name, value) for name, value in listed if name != "tau"] + [("tau", tau)]
        other = _twinsplit.Settings(chain, changed, threads=threads, memory=memory, folder=folder)
        if queries is not None:
            other = other.with_queries("queries.jsonl")
        return Duplicates(run(other), documents, other, asked, changed, chain, again)

    if names is not None:
        return Duplicates(run(settings), documents, settings, asked, listed, chain, None)
    return Duplicates(run(settings), documents, settings, asked, listed, chain, again)


_KEYWORDS = (dedup.__kwdefaults__ or {}).keys()


def find_pairs(data: Any, **options: Any) -> Pairs | NearPairs:
    """The pairs that [dedup][twinsplit.dedup] finds, with the same arguments.

    >>> find_pairs(["Rain fell all night.", "Rain fell all night!"], features="words:2")[0].similarity
    1.0
    """
    return dedup(data, **options).pairs()


def clusters(data: Any, **options: Any) -> list[Cluster]:
    """The clusters that [dedup][twinsplit.dedup] finds, with the same arguments. Pairs are not kept, so it takes less where much is alike.

    >>> clusters(["Rain fell all night.", "Snow fell.", "Rain fell all night!"], features="words:2")
    [Cluster(kept=0, dropped=[Dropped(id=2, kept=0, similarity=1.0)])]
    """
    return dedup(data, **{"write": "clusters", **options}).clusters()


def explain(
    a: str,
    b: str,
    *,
    features: str | None = None,
    threshold: float | str | None = None,
    **options: Option | None,
) -> Explanation:
    """Why two texts are a pair, or are not.

    >>> print(explain("The ferry left at six.", "Yes, the ferry left at six.", features="words:2"))
    A has 4 features, B has 5; they share 4
      4 features
        A  [The ferry left at six].
        B  Yes, [the ferry left at six].
    Jaccard = |A∩B| / |A∪B| = 4 / (4 + 5 - 4) = 4 / 5 = 0.800000
    tau = 0.65 = 13/20; a pair shares at least one feature, and o·(p+q) >= p·(|A|+|B|):
    4·33 = 132  >=  13·9 = 117
    => a pair
    """
    own = _options.listed({"features": features, "tau": threshold})
    settings = _twinsplit.Settings(None, own + _options.listed(options))
    return explanation(settings, a, b)


def _refuse_both(store: object, against: object, queries: object) -> None:
    given = [name for name, value in (("store", store), ("against", against), ("queries", queries)) if value is not None]
    if len(given) > 1:
        raise TypeError(f"{' and '.join(given)} do not go together; give one of them")


def _run(
    settings: _twinsplit.Settings,
    documents: Documents,
    ranks: list[int] | None,
    names: list[str] | None,
    asked: Documents | None,
    folder: str | os.PathLike[str] | None,
    progress: Tell,
) -> _twinsplit.Found:
    line = _Line(sys.stderr) if progress is True else None
    shown: Callable[[Progress], object] | None = line or (progress if callable(progress) else None)
    tell = None if shown is None else lambda *told: shown(Progress(*told))
    with ExitStack() as until:
        if line is not None:
            until.callback(line.end)
        if asked is not None:
            made = until.enter_context(tempfile.TemporaryDirectory(prefix="twinsplit-queries-", dir=folder))
            path = os.path.join(made, "queries.jsonl")
            with open(path, "w", encoding="utf-8") as out:
                for row in range(len(asked.texts)):
                    if (query := asked.texts[row]) is not None:
                        out.write(json.dumps({"id": f"{row:010}", "text": query}) + "\n")
            settings = settings.with_queries(path)
        return settings.run(
            documents.texts,
            ranks=ranks,
            names=names,
            dates=documents.dates,
            scores=documents.scores,
            tell=tell,
        )


def _queries(queries: Any, text: str, id: Any) -> Documents:  # noqa: A002
    if isinstance(queries, Iterator):
        queries = list(queries)
    try:
        return _inputs.read(queries, text=text, id=id if isinstance(id, str) else None)
    except TypeError:
        # Texts alone, beside documents with ids.
        return _inputs.read(queries, text=text)


def _ranks(ids: Sequence[Any] | None) -> list[int] | None:
    """Of each row its place in the order of ids; None where that is the row. Ids that have no order keep that of the rows.

    >>> _ranks(["b", "c", "a"]), _ranks(["a", "b"])
    ([1, 2, 0], [0, 1])
    """
    if ids is None:
        return None
    _refuse_twice(ids)
    try:
        order = sorted(range(len(ids)), key=ids.__getitem__)
    except TypeError:
        return None
    ranks = [0] * len(ids)
    for rank, row in enumerate(order):
        ranks[row] = rank
    return ranks


def _refuse_twice(ids: Sequence[Any]) -> None:
    rows: dict[Any, int] = {}
    for row, own in enumerate(ids):
        if own is None or own != own:
            raise ValueError(f"row {row} has no id")
        if rows.setdefault(own, row) != row:
            raise ValueError(f"the id {own!r} stands at row {rows[own]} and at row {row}; ids must be unique")


def _names(documents: Documents) -> list[str]:
    """The ids of documents as a store has them."""
    ids = documents.ids
    if ids is None:
        raise TypeError("documents of a store have ids, by which later batches name them; give id=…")
    _refuse_twice(ids)
    if not all(isinstance(own, str) for own in ids) and not all(type(own) is int for own in ids):
        raise TypeError("ids of a store are all str or all int")
    return [str(own) for own in ids]
