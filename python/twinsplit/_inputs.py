"""Documents out of lists and tables, as columns of one length. Columns of texts are not copied where that can be helped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._twinsplit import Table, Texts


@dataclass(frozen=True)
class Documents:
    """Texts, and of each row what else is known of it."""

    texts: Texts
    # None: rows have their numbers.
    ids: Sequence[Any] | None
    dates: Sequence[str | None] | None
    scores: Sequence[float | None] | None


class _Column:
    """A column: its texts, or its values as a list."""

    def __init__(self, source: Any, name: str) -> None:
        self.source = source
        self.name = name

    def texts(self) -> Texts:
        stream = _stream_of(self.source, self.name)
        return Texts.of_list(self.values()) if stream is None else stream.texts(self.name)

    def values(self) -> list[Any]:
        source = self.source
        if _is_of(source, "pandas"):
            return list(source.astype(object).where(source.notna(), None))
        for method in ("to_pylist", "to_list", "tolist"):
            if hasattr(source, method):
                return list(getattr(source, method)())
        return list(source)


def _is_of(source: object, library: str) -> bool:
    return type(source).__module__.partition(".")[0] == library


def _stream_of(column: Any, name: str) -> Table | None:
    """A column of texts as a table, where Arrow holds it."""
    if _is_of(column, "pandas"):
        # Only texts that Arrow holds have this; of others it would be a copy.
        if "pyarrow" not in str(column.dtype) and getattr(column.dtype, "storage", None) != "pyarrow":
            return None
        column = column.array.__arrow_array__()
    if _is_of(column, "polars"):
        return Table.of_stream(column.to_frame(name)) if str(column.dtype) == "String" else None
    if _is_of(column, "pyarrow") and str(column.type) in ("string", "large_string", "string_view"):
        import pyarrow

        return Table.of_stream(pyarrow.table({name: column}))
    return None


def _columns(data: Any, names: list[str]) -> Mapping[str, Any] | Any | None:
    """What has the columns of a table by their names, at least those of these names; None where it is no table."""
    if _is_of(data, "polars") and hasattr(data, "collect"):
        there = data.collect_schema().names()
        # Nothing else is read; of what is missing the message names what is there.
        data = data.select(names).collect() if set(names) <= set(there) else data.head(0).collect()
    if _is_of(data, "pandas") or _is_of(data, "polars"):
        return data if hasattr(data, "columns") else None
    if _is_of(data, "pyarrow") and hasattr(data, "column_names"):
        return data
    if _is_of(data, "pyarrow") and hasattr(data, "schema") and hasattr(data, "column"):
        return {name: data.column(name) for name in data.schema.names}
    if isinstance(data, Mapping):
        return data
    return None


def _names(columns: Any) -> list[str]:
    names = getattr(columns, "column_names", None) or getattr(columns, "columns", None)
    return list(columns if names is None else names)


def _taken(columns: Any, name: str) -> _Column:
    if name not in _names(columns):
        raise KeyError(f"there is no column {name!r}; there are {', '.join(map(str, _names(columns)))}")
    return _Column(columns[name], name)


def read(
    data: Any,
    *,
    text: str = "text",
    id: str | Sequence[Any] | None = None,  # noqa: A002
    date: str | Sequence[Any] | None = None,
    score: str | Sequence[Any] | None = None,
) -> Documents:
    """The documents of a list or table. `id`, `date` and `score` are names of columns, or sequences of values."""
    if isinstance(data, (str, bytes)):
        raise TypeError("one text was given; expected a list of texts or a table")
    rows: Texts
    asked: dict[str, Any] = {"id": id, "date": date, "score": score}
    columns = _columns(data, [text, *(name for name in asked.values() if isinstance(name, str))])
    if columns is not None:
        rows = _taken(columns, text).texts()
        found = {key: _taken(columns, name).values() for key, name in asked.items() if isinstance(name, str)}
    elif _is_of(data, "pandas") or _is_of(data, "polars") or _is_of(data, "pyarrow"):
        rows = _Column(data, "text").texts()
        found = {}
    elif hasattr(data, "__arrow_c_stream__"):
        table = Table.of_stream(data)
        rows = table.texts(text)
        found = {key: table.values(name) for key, name in asked.items() if isinstance(name, str)}
    elif isinstance(data, Iterable):
        rows, found = _of_items(iter(data), text, {k: n for k, n in asked.items() if isinstance(n, str)})
    else:
        raise TypeError(f"{type(data).__name__} holds no documents; expected a list of texts or a table")
    for key, value in asked.items():
        if isinstance(value, str) and key not in found:
            raise TypeError(f"{key}={value!r} names a column, and the texts came without columns")
        if value is not None and not isinstance(value, str):
            found[key] = _Column(value, key).values()
        if key in found and len(found[key]) != len(rows):
            raise ValueError(f"{len(rows)} texts, and {len(found[key])} values of {key}")
    dates = found.get("date")
    return Documents(
        texts=rows,
        ids=found.get("id"),
        dates=None if dates is None else [_date(value) for value in dates],
        scores=found.get("score"),
    )


def _of_items(items: Any, text: str, names: dict[str, str]) -> tuple[Texts, dict[str, list[Any]]]:
    """The texts of strings, or of dicts with the fields of these names."""
    rows = list(items)
    if not isinstance(next((item for item in rows if item is not None), None), Mapping):
        return Texts.of_list(rows), {}
    texts: list[Any] = []
    found: dict[str, list[Any]] = {key: [] for key in names}
    for row, item in enumerate(rows):
        if not isinstance(item, Mapping):
            raise TypeError(f"row {row} is {type(item).__name__}; expected a dict, as others are")
        if text not in item:
            raise KeyError(f"row {row} has no {text!r}; it has {', '.join(map(str, item))}")
        texts.append(item[text])
        for key, name in names.items():
            if name not in item and key == "id":
                raise KeyError(f"row {row} has no {name!r}; it has {', '.join(map(str, item))}")
            found[key].append(item.get(name))
    return Texts.of_list(texts), found


def _date(value: Any) -> str | None:
    if value is None or value != value:
        return None
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)
