#!/usr/bin/env python3
"""Writes the Arrow files of this folder with pyarrow and polars, and what those of more types hold as JSON lines.

    pip install pyarrow==26.0.1 polars==2.1.0 && ./make.py

All but types.arrow hold the rows of ../parquet/rows.jsonl, written otherwise. The JSON lines of types.arrow are made here, from the values and not
from the file.
"""

import datetime
import decimal
import json
import pathlib

import polars
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent
ROWS = 20


def write(name, table, is_file=True, rows=None, **options):
    options = pa.ipc.IpcWriteOptions(**options)
    start = pa.ipc.new_file if is_file else pa.ipc.new_stream
    with start(HERE / name, table.schema, options=options) as to:
        to.write_table(table, max_chunksize=rows)


def same_rows():
    table = pq.read_table(HERE / "../parquet/snappy.parquet")
    write("plain.arrow", table)
    write("zstd.arrow", table, rows=7, compression="zstd")
    write("stream.arrows", table, is_file=False, rows=11)
    write("lz4.arrows", table, is_file=False, rows=50, compression="lz4")
    write("legacy.arrows", table, is_file=False, use_legacy_format=True, metadata_version=pa.ipc.MetadataVersion.V4)
    pa.feather.write_feather(table, HERE / "table.feather", chunksize=23)
    # polars has texts as views.
    polars.from_arrow(table).write_ipc(HERE / "polars.arrow", compression="zstd")
    write("empty.arrow", table.slice(0, 0))
    # A dictionary that grows, and in a stream one that is replaced.
    index = table.schema.get_field_index("kind")
    kinds = [["news"], ["news", "blog"]]
    parts = []
    for at, kind in enumerate(kinds):
        part = table.slice(30 * at, 30)
        words = [kinds[1].index(word) for word in part["kind"].to_pylist()] if at else [0] * 30
        column = pa.DictionaryArray.from_arrays(pa.array(words, pa.int8()), kind)
        parts.append(part.set_column(index, "kind", column).combine_chunks().to_batches()[0])
    with pa.ipc.new_file(HERE / "delta.arrow", parts[0].schema, options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)) as to:
        for part in parts:
            to.write_batch(part)
    with pa.ipc.new_stream(HERE / "replaced.arrows", parts[0].schema) as to:
        for part in parts:
            to.write_batch(part)


def more_types():
    day = datetime.date(2024, 2, 28)
    moment = datetime.datetime(2024, 2, 29, 12, 30, 5)
    numbers = range(ROWS)
    some = [None if n % 5 == 3 else n for n in numbers]
    columns = {
        "id": ([f"doc-{n}" for n in numbers], pa.string_view(), None),
        "text": ([f"text {n // 2} in a view, longer than twelve bytes: 日本" for n in numbers], pa.string_view(), None),
        "bytes": ([b"\xff" if n % 2 else b"bytes in a view" for n in numbers], pa.binary_view(), lambda v: "/w==" if v == b"\xff" else v.decode()),
        "fixed": ([b"%04d" % n for n in numbers], pa.binary(4), bytes.decode),
        "large": ([b"x" * n for n in numbers], pa.large_binary(), bytes.decode),
        "half": ([n / 4 for n in numbers], pa.float16(), None),
        "single": ([None if n is None else n / 8 for n in some], pa.float32(), None),
        "nan": ([float("nan")] * ROWS, pa.float64(), lambda v: None),
        "tiny": (some, pa.int8(), None),
        "short": (some, pa.uint16(), None),
        "null": ([None] * ROWS, pa.null(), None),
        "date64": ([day + datetime.timedelta(n) for n in numbers], pa.date64(), lambda v: v.isoformat()),
        "time_s": ([moment.time()] * ROWS, pa.time32("s"), lambda v: "12:30:05"),
        "time_ms": ([moment.time()] * ROWS, pa.time32("ms"), lambda v: "12:30:05.000"),
        "time_us": ([moment.time()] * ROWS, pa.time64("us"), lambda v: "12:30:05.000000"),
        "stamp_s": ([moment] * ROWS, pa.timestamp("s"), lambda v: "2024-02-29 12:30:05Z"),
        "stamp_ms": ([moment] * ROWS, pa.timestamp("ms", "UTC"), lambda v: "2024-02-29 12:30:05.000Z"),
        "span": ([datetime.timedelta(seconds=n) for n in numbers], pa.duration("ms"), lambda v: int(v.total_seconds() * 1000)),
        "interval": ([pa.MonthDayNano([1, n, 3]) for n in numbers], pa.month_day_nano_interval(),
                     lambda v: {"months": v.months, "days": v.days, "nanoseconds": v.nanoseconds}),
        "decimal": ([decimal.Decimal(n) / 8 - 1 for n in numbers], pa.decimal256(40, 3), lambda v: f"{v:.3f}"),
        "list": ([list(range(n % 4)) if n % 5 else None for n in numbers], pa.large_list(pa.int32()), None),
        "pair": ([[n, None] for n in numbers], pa.list_(pa.int32(), 2), None),
        "view": ([["a", f"b{n}"][: n % 3] for n in numbers], pa.list_view(pa.string()), None),
        "map": ([[("k", n), ("a", 1)] for n in numbers], pa.map_(pa.string(), pa.int64()), dict),
        "map_of_numbers": ([[(n, "v")] for n in numbers], pa.map_(pa.int64(), pa.string()), lambda v: {str(k): w for k, w in v}),
        "meta": ([{"title": f"t{n}", "a": {"n": n}} if n % 5 else None for n in numbers],
                 pa.struct([("title", pa.string()), ("a", pa.struct([("n", pa.int32())]))]), None),
        "words": ([[f"w{n % 3}", None] for n in numbers], pa.list_(pa.dictionary(pa.uint8(), pa.large_string())), None),
    }
    arrays = {name: pa.array(values, kind) for name, (values, kind, _) in columns.items()}
    rows = [
        {name: None if values[n] is None else (show or (lambda same: same))(values[n]) for name, (values, _, show) in columns.items()}
        for n in numbers
    ]
    runs = [n // 6 for n in numbers]
    arrays["runs"] = pa.RunEndEncodedArray.from_arrays(pa.array([6, 12, 18, ROWS], pa.int32()), pa.array(["r0", None, "r2", "r3"]))
    for row, run in zip(rows, runs, strict=True):
        row["runs"] = ["r0", None, "r2", "r3"][run]
    kinds = pa.array([n % 2 for n in numbers], pa.int8())
    arrays["union"] = pa.UnionArray.from_sparse(kinds, [pa.array(numbers, pa.int64()), pa.array([f"u{n}" for n in numbers])])
    for n, row in zip(numbers, rows, strict=True):
        row["union"] = f"u{n}" if n % 2 else n
    write("types.arrow", pa.table(arrays), rows=9)
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n" for row in rows)
    (HERE / "types.jsonl").write_text("".join(lines))


same_rows()
more_types()
