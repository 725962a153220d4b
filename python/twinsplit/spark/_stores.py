"""Micro-batches of Structured Streaming into a store."""

from __future__ import annotations

import os
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from twinsplit_spark.stream import Batches

from .. import _options
from .._options import Option
from . import _programs
from ._documents import Columns, quoted


def store_batches(
    store: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    text: str = "text",
    id: str = "id",  # noqa: A002
    features: str | None = None,
    threshold: float | str | None = None,
    program: str | os.PathLike[str] | None = None,
    **options: Option | None,
) -> Any:
    """What `foreachBatch` of a streaming DataFrame takes, so that each micro-batch is added to a store, once, after it was compared with all that is there.

    `query = df.writeStream.foreachBatch(store_batches("news.store", "answers")).option("checkpointLocation", …).start()`

    `store` and `output` are folders of the driver's machine. In `output` each batch has a folder, complete or absent, of the name of the query's id and the batch's number: `pairs.tsv`,
    `clusters.tsv`, `changes.tsv` and `batches.tsv` ([stores](stores.md)), and `kept.jsonl` with the rows to keep, all columns of them. The batch has this name in the store, too, so one that
    Spark sends again after a restart counts once. A row without a text is one with an empty text. The rows of a batch come to the driver, a partition at a time.

    A batch that is refused ends the query, and the store is what it was. The other arguments are those of [duplicates][twinsplit.spark.duplicates].
    """
    own = _options.listed({"features": features, "tau": threshold})
    words = _programs.words([*own, *_options.listed(options), ("id", id), ("text", text)])

    def lines(df: DataFrame) -> DataFrame:
        Columns(id, [text], {}).check(df)
        rows = df.withColumns({text: F.coalesce(quoted(text), F.lit(""))})
        return rows.select(F.to_json(F.struct(*[quoted(name) for name in rows.columns])).alias("value"))

    return Batches(_programs.find(program), store, output, words, lines)
