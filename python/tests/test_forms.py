"""What the command line writes in the forms of others is read by those: tables by DuckDB, pandas and Polars, kept rows by pyarrow and csv."""

import csv
import io
import random
import subprocess

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from conftest import DOCUMENTS

# Chains, and the columns of their pairs.
CHAINS = [
    ("doc-split", [], ["id_a", "id_b", "overlap", "size_a", "size_b", "similarity"]),
    ("ccdet", [], ["id_a", "id_b", "overlap", "size_a", "size_b", "similarity", "clr", "relation"]),
    ("simhash", [], ["id_a", "id_b", "distance"]),
]


def fields(path):
    """A file of fields, numbers as such."""

    def value(text):
        known = {"-": None, "keep": True, "drop": False}
        try:
            return known[text] if text in known else float(text)
        except ValueError:
            return text

    with open(path, encoding="utf-8", newline="\n") as lines:
        return [tuple(value(field) for field in line.rstrip("\n").split("\t")) for line in lines]


def plain(rows):
    """Rows with one kind of number and one kind of what is missing."""
    kind = {int: float}
    rows = [[None if value is None or value != value else value for value in row] for row in rows]
    return [tuple(kind.get(type(value), lambda same: same)(value) for value in row) for row in rows]


@pytest.mark.parametrize(("chain", "options", "columns"), CHAINS, ids=[chain for chain, _, _ in CHAINS])
def test_tables_are_read_in_one_line(run, chain, options, columns):
    out = run(chain, DOCUMENTS / "en.jsonl.gz", "--tables", "jsonl,parquet", *options)
    score = "distance" if chain == "simhash" else "similarity"
    for name, names in [("pairs", columns), ("clusters", ["kept_id", "id", "keep", score])]:
        expected = fields(out / f"{name}.tsv")
        assert len(expected) > 100
        lines, table = out / f"{name}.jsonl", out / f"{name}.parquet"
        of_lines = pandas.read_json(lines, lines=True, dtype=False, precise_float=True)
        for frame in [of_lines, pandas.read_parquet(table)]:
            assert list(frame.columns) == names
            assert plain(frame.astype(object).itertuples(index=False)) == expected
        for frame in [polars.read_ndjson(lines), polars.read_parquet(table)]:
            assert frame.columns == names
            assert plain(frame.rows()) == expected
        for file in [lines, table]:
            found = duckdb.sql(f"select * from '{file}'")
            assert found.columns == names
            assert plain(found.fetchall()) == expected
        assert pyarrow.parquet.read_schema(table).field(names[-1]).nullable == (name == "clusters")


def dropped(out):
    return {row[1] for row in fields(out / "clusters.tsv") if row[2] is False}


@pytest.mark.parametrize("codec", ["snappy", "gzip", "zstd", "lz4", "none"])
def test_kept_rows_of_parquet_have_their_columns(run, english, tmp_path, codec):
    ids = [document["id"] for document in english]
    numbers = range(len(ids))
    table = pyarrow.table(
        {
            "id": ids,
            "text": pyarrow.array([document["text"] for document in english], pyarrow.large_string()),
            "whole": pyarrow.array([None if n % 3 else n for n in numbers], pyarrow.int32()),
            "list": [[{"a": n, "b": None}] * (n % 3) if n % 5 else None for n in numbers],
            "time": pyarrow.array(numbers, pyarrow.timestamp("us", "UTC")),
            "decimal": pyarrow.array(numbers).cast(pyarrow.decimal128(24, 2)),
            "bytes": [n.to_bytes(3, "big") for n in numbers],
            "word": pyarrow.array([f"w{n % 4}" for n in numbers]).dictionary_encode(),
            "is": [n % 2 == 0 for n in numbers],
            "share": pyarrow.array([n / 2 for n in numbers], pyarrow.float32()),
            "fixed": pyarrow.array([b"%04d" % n for n in numbers], pyarrow.binary(4)),
            "map": pyarrow.array([[("k", n)] for n in numbers], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
        }
    ).replace_schema_metadata({"who": "wrote it"})
    folder = tmp_path / "rows"
    folder.mkdir()
    source, copy = folder / "rows.parquet", folder / "copy.parquet"
    pyarrow.parquet.write_table(table, source, compression=codec, row_group_size=100, data_page_size=4000)
    out = run("doc-split", source, "--write-kept=same")
    before, after = pyarrow.parquet.ParquetFile(source), pyarrow.parquet.ParquetFile(out / "kept" / "rows.parquet")
    gone = dropped(out)
    assert 300 < len(gone) < len(ids)
    left = before.read().filter(pyarrow.array([name not in gone for name in ids]))
    found = after.read()
    assert found.schema.equals(left.schema, check_metadata=True)
    assert found.to_pylist() == left.to_pylist()
    assert after.schema.equals(before.schema)
    codecs = {file.metadata.row_group(0).column(1).compression for file in [before, after]}
    assert len(codecs) == 1
    # A file of which nothing is kept has its columns.
    pyarrow.parquet.write_table(table.slice(0, 1).set_column(0, "id", [["~"]]), copy, compression=codec)
    out = run("doc-split", folder, "--write-kept=same", "--tau", "0.99")
    assert "~" in dropped(out)
    empty = pyarrow.parquet.read_table(out / "kept" / "copy.parquet")
    assert empty.num_rows == 0
    assert empty.schema.equals(pyarrow.parquet.read_schema(copy), check_metadata=True)


def test_kept_rows_of_a_table_are_those_that_stay(run, english, tmp_path):
    ends = random.Random(5)
    text = io.StringIO(newline="")
    for quoting in [csv.QUOTE_ALL, csv.QUOTE_MINIMAL]:
        writer = csv.writer(text, quoting=quoting, lineterminator=ends.choice(["\n", "\r\n"]))
        if not text.tell():
            writer.writerow(["id", "n", "text"])
        some = english[::2] if quoting == csv.QUOTE_ALL else english[1::2]
        writer.writerows([[document["id"], ends.random(), document["text"]] for document in some])
    source = tmp_path / "table.csv"
    source.write_bytes(text.getvalue().encode())
    out = run("doc-split", source, "--write-kept=same")

    def rows(path):
        with open(path, encoding="utf-8", newline="") as lines:
            return list(csv.DictReader(lines))

    gone = dropped(out)
    assert rows(out / "kept" / "table.csv") == [row for row in rows(source) if row["id"] not in gone]


@pytest.mark.parametrize("codec", ["snappy", "zstd"])
def test_annotated_rows_of_parquet_are_read_by_others(run, annotate, english, tmp_path, codec):
    ids = [document["id"] for document in english]
    table = pyarrow.table(
        {
            "id": ids,
            "text": pyarrow.array([document["text"] for document in english], pyarrow.large_string()),
            "list": [[{"a": n}] * (n % 3) if n % 5 else None for n in range(len(ids))],
            "word": pyarrow.array([f"w{n % 4}" for n in range(len(ids))]).dictionary_encode(),
        }
    ).replace_schema_metadata({"who": "wrote it"})
    source = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(table, source, compression=codec, row_group_size=100)
    out = run("doc-split", source)
    path = annotate(out, "--form", "same") / "rows.parquet"
    names = ["kept", "size", "rank", "drop", "similarity", "share"]
    columns = [f"dup_{name}" for name in names]
    found = pyarrow.parquet.read_table(path)
    assert found.column_names == [*table.column_names, *columns]
    assert found.select(table.column_names).to_pylist() == table.to_pylist()
    # Long texts and dictionaries are what they were, and the new columns are those of the file.
    before = pyarrow.parquet.read_table(source).schema
    assert found.select(table.column_names).schema.equals(before, check_metadata=True)
    assert before.field("text").type == pyarrow.large_string()
    kinds = [found.schema.field(name).type for name in columns]
    whole, share = pyarrow.int64(), pyarrow.float64()
    assert kinds == [pyarrow.string(), whole, whole, pyarrow.bool_(), share, share]
    assert [found.schema.field(name).nullable for name in columns] == [False, False, False, False, True, True]
    clusters = {row[1]: row for row in fields(out / "clusters.tsv")}
    members = {}
    for kept, *_ in clusters.values():
        members[kept] = members.get(kept, 0) + 1
    for row in found.to_pylist():
        kept, _, keeps, score = clusters.get(row["id"], (row["id"], None, True, None))
        values = [row[name] for name in columns]
        assert values[:2] + values[3:5] == [kept, members.get(kept, 1), not keeps, score]
        assert (values[2] == 1) is keeps
        assert (values[5] is None) is keeps
    rows = plain(tuple(row[name] for name in ["id", *columns]) for row in found.to_pylist())
    frame = pandas.read_parquet(path)[["id", *columns]]
    assert plain(frame.astype(object).itertuples(index=False)) == rows
    assert plain(polars.read_parquet(path).select(["id", *columns]).rows()) == rows
    assert plain(duckdb.sql(f"select id, {', '.join(columns)} from '{path}'").fetchall()) == rows


def test_two_columns_of_one_name_are_refused(run, tmp_path, capfd):
    table = pyarrow.Table.from_arrays([pyarrow.array([value]) for value in ["1", "one", "two"]], ["id", "text", "text"])
    pyarrow.parquet.write_table(table, tmp_path / "twice.parquet")
    with pytest.raises(subprocess.CalledProcessError):
        run("doc-split", tmp_path / "twice.parquet")
    assert 'two of its columns are called "text"' in capfd.readouterr().err


def test_a_page_of_parquet_that_changed_is_refused(run, english, tmp_path, capfd):
    path = tmp_path / "rows.parquet"
    table = pyarrow.table({"id": [row["id"] for row in english], "text": [row["text"] for row in english]})
    pyarrow.parquet.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
    whole = path.read_bytes()
    at = whole.index(english[7]["text"].encode()) + 5
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    with pytest.raises(subprocess.CalledProcessError):
        run("doc-split", path)
    assert "rows.parquet" in capfd.readouterr().err
