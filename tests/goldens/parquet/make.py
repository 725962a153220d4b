#!/usr/bin/env python3
"""Writes the Parquet files of this folder with pyarrow, and what they hold as JSON lines.

    pip install pyarrow==26.0.1 && ./make.py

Each file holds the same rows, written otherwise. The JSON lines are made here, from the values and not from the files.
"""

import datetime
import decimal
import json
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent
ROWS = 60

TYPES = pa.schema([
    ("id", pa.string()),
    ("text", pa.large_string()),
    ("raw", pa.binary()),
    ("number", pa.int64()),
    ("unsigned", pa.uint64()),
    ("share", pa.float64()),
    ("flag", pa.bool_()),
    ("day", pa.date32()),
    ("time", pa.timestamp("us", tz="UTC")),
    ("nanos", pa.timestamp("ns")),
    ("price", pa.decimal128(12, 2)),
    ("tags", pa.list_(pa.string())),
    ("meta", pa.struct([("title", pa.string()), ("inner", pa.struct([("n", pa.int32())]))])),
    ("kind", pa.dictionary(pa.int32(), pa.string())),
])


def row(at):
    """A row. Every seventh has no optional value."""
    some = at % 7 != 3
    moment = datetime.datetime(2024, 2, 29, 12, 30, 5, 250_000 + at, tzinfo=datetime.timezone.utc)
    return {
        "id": f"doc-{at}",
        "text": f"text {at // 2} of the rows, with ünïcode 日本 and \t a tab",
        "raw": f"bytes {at}".encode() if at % 2 else b"\xff\x00",
        "number": at - 2**62 if some else None,
        "unsigned": 2**64 - 1 - at,
        "share": at / 8,
        "flag": at % 3 == 0 if some else None,
        "day": datetime.date(2024, 1, 1) + datetime.timedelta(days=at),
        "time": moment,
        "nanos": datetime.datetime(2024, 1, 1, 0, 0, at % 60),
        "price": decimal.Decimal(at) / 4 - 7 if some else None,
        "tags": [f"t{tag}" for tag in range(at % 4)],
        "meta": {"title": f"title {at}", "inner": {"n": at}} if some else None,
        "kind": ["news", "blog"][at % 2],
    }


def shown(values):
    """A row as the JSON object that a document becomes."""
    import base64

    def one(name, value):
        if name == "raw":
            try:
                return value.decode()
            except UnicodeDecodeError:
                return base64.b64encode(value).decode()
        if name == "day":
            return value.isoformat()
        if name == "time":
            return value.strftime("%Y-%m-%d %H:%M:%S.%f") + "Z"
        if name == "nanos":
            return int(value.replace(tzinfo=datetime.timezone.utc).timestamp()) * 10**9
        if isinstance(value, decimal.Decimal):
            return f"{value:.2f}"
        return value

    return {name: one(name, value) for name, value in values.items()}


def main():
    rows = [row(at) for at in range(ROWS)]
    table = pa.Table.from_pylist(rows, TYPES)
    for name, options in {
        "snappy": {"compression": "snappy"},
        "plain": {"compression": "none", "use_dictionary": False, "row_group_size": 7},
        "gzip": {"compression": "gzip", "data_page_version": "2.0"},
        "zstd": {"compression": "zstd", "data_page_size": 64, "row_group_size": 50},
        "lz4": {"compression": "lz4"},
        "delta": {"compression": "none", "use_dictionary": False, "column_encoding": {
            "id": "DELTA_BYTE_ARRAY", "text": "DELTA_LENGTH_BYTE_ARRAY", "number": "DELTA_BINARY_PACKED"}},
    }.items():
        pq.write_table(table, HERE / f"{name}.parquet", **options)
    pq.write_table(table.slice(0, 0), HERE / "empty.parquet")
    lines = (json.dumps(shown(values), ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n" for values in rows)
    (HERE / "rows.jsonl").write_text("".join(lines))


main()
