"""Runs over DataFrames."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pyspark import SparkContext
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DataType
from twinsplit_spark.chain import Chain, literal
from twinsplit_spark.files import Failed

from .. import _options, _twinsplit
from .._options import Option
from . import _ids, _programs
from ._documents import Columns, Counts, id_kind, quoted, write
from ._folders import Folder

Failed.silent = True
_LOG = logging.getLogger("twinsplit.spark")
# Where the page of a chain begins, behind what finds its library.
_BEGIN = "\nchain = Chain("


class Duplicates:
    """What a run over a DataFrame has found.

    The run is over when this is there. The DataFrames that it gives are lazy, as all of Spark's are: they read the files of the answer, in `folder`, and those with
    the columns of the user's DataFrame read that again. So its ids must be the same each time: a DataFrame with ids that are made when it
    is read, as by `monotonically_increasing_id`, has to be cached or written first. The files go when the application ends.
    """

    def __init__(
        self, df: DataFrame, columns: Columns, queries: DataFrame | None, planned: dict[str, Any], counts: Counts, folder: str
    ) -> None:
        self._df, self._columns = df, columns
        self._chain, self._there = planned["chain"], planned["outputs"]
        self._kind = id_kind(df, columns.id)
        self._first = self._kind if queries is None else id_kind(queries, columns.id)
        # The rows that the run has read, and those of them without a text: they are in no pair, and kept.
        self.rows, self.missing = counts.rows, counts.missing
        # Where the answer lies: `clusters`, `pairs`, and what each step has counted, in `counters.json`.
        self.folder = folder

    def __repr__(self) -> str:
        return f"<Duplicates: {self.rows:,} rows, {self.missing:,} without a text; {self._chain}, {self.folder}>"

    def _fields(self, data: str, names: Sequence[str]) -> DataFrame:
        if data not in self._there:
            why = "of queries there are pairs, and no clusters" if data == "clusters" else "the run was told to write clusters alone"
            raise ValueError(f"there are no {data}: {why}")
        frame = self._df.sparkSession.read.option("lineSep", "\n").text(literal(f"{self.folder}/{data}"))
        fields = F.split(F.col("value"), "\t")
        return frame.select(*[F.get(fields, number).alias(name) for number, name in enumerate(names)])

    def pairs(self) -> DataFrame:
        """All pairs, in no order: `a`, `b`, `overlap`, `size_a`, `size_b` and `similarity`, rounded to six decimals; of the chain `simhash` `a`, `b`,
        `distance` and `similarity`. `a` is the smaller id, or that of the query."""
        has_distance = self._chain == "simhash"
        counts = ["distance"] if has_distance else ["overlap", "size_a", "size_b"]
        found = self._fields("pairs", ["a", "b", *counts, "similarity"])
        ids = [_ids.own(F.col("a"), self._first).alias("a"), _ids.own(F.col("b"), self._kind).alias("b")]
        return found.select(*ids, *[F.col(name).cast("long").alias(name) for name in counts], F.col("similarity").cast("double"))

    def _clustered(self) -> DataFrame:
        found = self._fields("clusters", ["kept", "id", "verdict", "score"])
        score = F.when(F.col("score") != "-", F.col("score").cast(self._score[1]))
        return found.select("kept", "id", (F.col("verdict") == "drop").alias("drop"), score.alias("score"))

    @property
    def _score(self) -> tuple[str, str]:
        return ("distance", "long") if self._chain == "simhash" else ("similarity", "double")

    def clusters(self) -> DataFrame:
        """A row for each document of each cluster, in no order: `kept`, the id of the document to keep, which names the cluster; `id`; `keep`; and
        `similarity` to the kept one, null of that one itself. With the chain `simhash` it is `distance`."""
        own = [_ids.own(F.col(name), self._kind).alias(name) for name in ("kept", "id")]
        return self._clustered().select(*own, (~F.col("drop")).alias("keep"), F.col("score").alias(self._score[0]))

    def kept(self) -> DataFrame:
        """The rows of the DataFrame that no cluster drops, with its columns."""
        dropped = self.clusters().where(~F.col("keep")).select(F.col("id").alias(_own("id")))
        return self._df.join(dropped, quoted(self._columns.id) == F.col(_own("id")), "left_anti")

    def annotate(self, prefix: str = "dup_") -> DataFrame:
        """All rows of the DataFrame with its columns, and five more, which mean what `twinsplit annotate` says: `dup_kept`, `dup_size`, `dup_rank`, `dup_drop`
        and `dup_similarity` (with `simhash` `dup_distance`). A row of no cluster is its own `dup_kept`."""
        score = self._score[0]
        taken = sorted({prefix + name for name in ("kept", "size", "rank", "drop", score)} & set(self._df.columns))
        if taken:
            raise ValueError(f"there is a column {taken[0]!r}; give another prefix")
        cluster = Window.partitionBy("kept")
        likest = F.col("score").asc() if score == "distance" else F.col("score").desc_nulls_last()
        rank = F.row_number().over(cluster.orderBy(F.col("drop"), likest, F.col("id")))
        found = self._clustered().withColumns({"size": F.count(F.lit(1)).over(cluster), "rank": rank})
        ids = [_ids.own(F.col(name), self._kind).alias(_own(name)) for name in ("id", "kept")]
        found = found.select(*ids, *[F.col(name).alias(_own(name)) for name in ("size", "rank", "drop", "score")])
        own = quoted(self._columns.id)
        joined = self._df.join(found, own == F.col(_own("id")), "left")

        def of(name: str, otherwise: Column) -> Column:
            return F.coalesce(F.col(_own(name)), otherwise)

        added = {
            prefix + "kept": of("kept", own),
            prefix + "size": of("size", F.lit(1).cast("long")),
            prefix + "rank": of("rank", F.lit(1)),
            prefix + "drop": of("drop", F.lit(False)),
            prefix + score: F.col(_own("score")),
        }
        return joined.withColumns(added).drop(*[_own(name) for name in ("id", "kept", "size", "rank", "drop", "score")])


def _own(name: str) -> str:
    """A name that no column of a user has."""
    return f"__twinsplit_{name}"


def duplicates(
    df: DataFrame,
    *,
    text: str | Sequence[str] = "text",
    id: str = "id",  # noqa: A002
    date: str | None = None,
    score: str | None = None,
    features: str | None = None,
    threshold: float | str | None = None,
    chain: str | None = "doc-split",
    keep: str | None = None,
    queries: DataFrame | None = None,
    work: str | os.PathLike[str] | None = None,
    program: str | os.PathLike[str] | None = None,
    tasks: int | None = None,
    **options: Option | None,
) -> Duplicates:
    """Finds the near-duplicates among the rows of a DataFrame of Spark, on its own session: all that [dedup][twinsplit.spark.dedup] and the others give, by one run.

    `text` names the column of the texts, or several, which are compared as one text with line ends between; `id` that of the ids, strings or whole numbers, unique
    and without nulls. `date` and `score` name columns for `keep="newest"` and `keep="score"`. A row whose text is null is in no pair, and is kept.

    `features`, `threshold`, `chain`, `keep` and all other options are those of [twinsplit.dedup][], and so is the answer: the same pairs and clusters. `queries` is a
    DataFrame with the same columns: only pairs of a query and a row are found then. `site="url"` names a column, too. `keep="first"` is refused, for rows of Spark have no order.

    The run is eager: its steps are jobs of Spark, which shows their progress. Nothing but counters comes to the driver. Documents and answer are files in a folder of
    the run's own below `work`, on storage that the driver and all executors reach. It may be left out where Spark has a checkpoint directory, and with a master
    `local`, where it is a temporary folder. `program` is the file of the program `twinsplit`, if it is not on PATH; it is sent to
    the executors. `tasks` is the number of tasks after a shuffle, Spark's default parallelism otherwise.
    """
    named = {"date": date, "score": score, "site": options.get("site")}
    others = {field: str(name) for field, name in named.items() if name is not None}
    columns = Columns(id, [text] if isinstance(text, str) else list(text), others)
    columns.check(df)
    if queries is not None:
        columns.check(queries)
    own = {"features": features, "tau": threshold, "keep": keep}
    listed = _options.listed(own) + _options.listed({name: value for name, value in options.items() if name != "site"}, _KEYWORDS)
    asked = _twinsplit.Settings(chain, listed + [("site", "site")] * ("site" in others))
    (asked if queries is None else asked.with_queries("queries.jsonl")).refuse_unused()
    found = _programs.find(program)
    words = [*_programs.words(listed + [(field, field) for field in others]), "--engine=spark"]
    # So that what the chain refuses is refused before anything is written.
    _programs.plan(found, chain, words if queries is None else [*words, "--queries=queries"])
    context = df.sparkSession.sparkContext
    folder = Folder(context, work)
    with _kept_where_it_fails(folder, context, id_kind(df, id)):
        counts = write(df, columns, folder / "documents")
        if queries is not None:
            write(queries, columns, folder / "queries")
            words.append(f"--queries={folder / 'queries'}")
        page = _programs.plan(found, chain, words)
        planned = json.loads(_programs.plan(found, chain, [*words, "--json"]))
        arguments = [folder / "answer", folder / "documents", "--twinsplit", found, "--quiet"]
        _steps(df, page, arguments + ([] if tasks is None else ["--reducers", str(tasks)]))
        folder.leave("documents", "queries")
    _LOG.info("%d rows, %d of them without a text; the answer is in %s", counts.rows, counts.missing, folder / "answer")
    return Duplicates(df, columns, queries, planned, counts, folder / "answer")


_KEYWORDS = tuple(duplicates.__kwdefaults__ or ())


@contextmanager
def _kept_where_it_fails(folder: Folder, context: SparkContext, kind: DataType) -> Iterator[None]:
    """Says of a run that fails where its files are, and gives the caller's thread its own jobs' names back."""
    names = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
    before = {name: context.getLocalProperty(name) for name in names}
    where = f"what the run had made is in {folder.name}"
    try:
        yield
    except Failed as failed:
        raise RuntimeError(f"{_ids.in_words(failed.message, kind)}\n{where}") from None
    except ValueError:
        # Rows without an id: nothing of a chain has begun.
        folder.remove()
        raise
    except BaseException as error:
        error.add_note(where)
        raise
    finally:
        for name, value in before.items():
            # None takes a property away.
            context.setLocalProperty(name, value)  # type: ignore[arg-type, unused-ignore]


def _steps(df: DataFrame, page: str, arguments: list[str]) -> None:
    """Runs the steps of a page in the DataFrame's session."""
    with tempfile.TemporaryDirectory(prefix="twinsplit-page-") as place:
        path = os.path.join(place, "page.py")
        with open(path, "w", encoding="utf-8") as out:
            out.write(page)

        def begin(*given: Any, **named: Any) -> Chain:
            return Chain(*given, **named, spark=df.sparkSession, words=arguments)

        # The lines before are for a page that is a program; without them, lines in tracebacks are those of the page.
        before, _, steps = page.partition(_BEGIN)
        exec(compile("\n" * before.count("\n") + _BEGIN + steps, path, "exec"), {"Chain": begin, "__file__": path, "__doc__": ""})


def dedup(df: DataFrame, **options: Any) -> DataFrame:
    """The rows of a DataFrame without near-duplicates, with all its columns; the arguments are those of [duplicates][twinsplit.spark.duplicates].

    The chain runs at once, and the DataFrame that is given back is lazy: it reads the ids of dropped rows from files that go when the application ends.
    """
    return duplicates(df, **{"write": "clusters", **options}).kept()


def find_pairs(df: DataFrame, **options: Any) -> DataFrame:
    """The pairs among the rows of a DataFrame ([pairs][twinsplit.spark.Duplicates.pairs]); the arguments are those of [duplicates][twinsplit.spark.duplicates]."""
    return duplicates(df, **options).pairs()


def clusters(df: DataFrame, **options: Any) -> DataFrame:
    """The clusters of a DataFrame's rows ([clusters][twinsplit.spark.Duplicates.clusters]); the arguments are those of [duplicates][twinsplit.spark.duplicates]."""
    return duplicates(df, **{"write": "clusters", **options}).clusters()


def annotate(df: DataFrame, *, prefix: str = "dup_", **options: Any) -> DataFrame:
    """All rows of a DataFrame, with columns that say what is near-duplicate ([annotate][twinsplit.spark.Duplicates.annotate]); the other arguments are those of
    [duplicates][twinsplit.spark.duplicates]."""
    return duplicates(df, **{"write": "clusters", **options}).annotate(prefix)
