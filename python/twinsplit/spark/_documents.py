"""The rows of a DataFrame as documents of a chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DateType, NumericType, StringType, TimestampNTZType, TimestampType

from . import _ids

_TEXTS = (StringType,)
_DATES = (StringType, DateType, TimestampType, TimestampNTZType, NumericType)


@dataclass(frozen=True)
class Columns:
    """Which columns documents are made of."""

    id: str
    # Joined by a line end where they are several.
    text: Sequence[str]
    # Those of options, by the names that the documents have for them: `date`, `score`, `site`.
    others: dict[str, str]

    def check(self, df: DataFrame) -> None:
        """Refuses columns that are not there, and those of other types."""
        if not hasattr(df, "_jdf"):
            kind = type(df).__module__.partition(".")[0] + "." + type(df).__name__
            raise TypeError(f"a DataFrame of Spark in this process is needed, and this is a {kind}; Spark Connect has no way to the executors")
        if df.isStreaming:
            raise TypeError("a streaming DataFrame has no end; give foreachBatch what store_batches makes")
        _ids.refuse(self.id, _kind(df, self.id))
        allowed = {"date": (_DATES, "string, a date, a timestamp or a number"), "score": ((NumericType,), "number")}
        for name in self.text:
            _refuse(df, "text", name, _TEXTS, "string")
        for field, name in self.others.items():
            _refuse(df, field, name, *allowed.get(field, (_TEXTS, "string")))


@dataclass(frozen=True)
class Counts:
    """What was counted of rows while they were written."""

    rows: int
    # Those without a text.
    missing: int


def quoted(name: str) -> Column:
    """A column by its whole name, which may have points in it."""
    return F.col("`" + name.replace("`", "``") + "`")


def _kind(df: DataFrame, name: str) -> DataType:
    if name not in df.columns:
        raise KeyError(f"there is no column {name!r}; there are {', '.join(df.columns)}")
    return df.schema[name].dataType


def id_kind(df: DataFrame, name: str) -> DataType:
    """The type of the ids."""
    return _kind(df, name)


def _refuse(df: DataFrame, field: str, name: str, kinds: tuple[type, ...], expected: str) -> None:
    kind = _kind(df, name)
    if not isinstance(kind, kinds):
        raise TypeError(f"{field}: the column {name!r} is {kind.simpleString()}; expected a {expected}")


def write(df: DataFrame, columns: Columns, folder: str) -> Counts:
    """Writes the rows that have a text as JSON lines, part files of a folder, in one pass over the DataFrame."""
    kind = _kind(df, columns.id)
    own = quoted(columns.id)
    has_id = own.isNotNull() & (own.cast("string") != "")
    texts = [quoted(name) for name in columns.text]
    has_text = F.coalesce(*texts).isNotNull()
    counted = Observation()
    none, missing = F.count_if(~has_id).alias("none"), F.count_if(~has_text).alias("missing")
    rows = df.observe(counted, F.count(F.lit(1)).alias("rows"), none, missing).where(has_text)
    fields = [_ids.stored(own, kind).alias("id"), F.concat_ws("\n", *texts).alias("text")]
    fields += [_finite(df, name).alias(field) for field, name in columns.others.items()]
    options = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"}
    lines = rows.select(F.to_json(F.struct(*fields), options).alias("value"))
    lines.write.option("lineSep", "\n").option("compression", "none").text(folder)
    found = counted.get
    if found["none"]:
        raise ValueError(f"{found['none']} of {found['rows']} rows have no id in the column {columns.id!r}")
    return Counts(found["rows"], found["missing"])


def _finite(df: DataFrame, name: str) -> Column:
    """A value, without what is no number, for which JSON has no form."""
    column = quoted(name)
    is_float = df.schema[name].dataType.typeName() in ("float", "double")
    return F.when(~F.isnan(column), column) if is_float else column
