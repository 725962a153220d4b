"""What the command line writes as Arrow is read by pyarrow and polars, and what these write is read by it."""

import json
import subprocess

import polars
import pyarrow
import pyarrow.feather
import pytest
from test_forms import dropped, fields, plain


def table_of(english):
    """Real documents beside columns of many types."""
    numbers = range(len(english))
    views = pyarrow.array([document["text"] for document in english], pyarrow.string_view())
    union = pyarrow.UnionArray.from_sparse(
        pyarrow.array([n % 2 for n in numbers], pyarrow.int8()), [pyarrow.array(numbers), pyarrow.array([f"u{n}" for n in numbers])]
    )
    table = pyarrow.table(
        {
            "id": [document["id"] for document in english],
            "text": pyarrow.array([document["text"] for document in english], pyarrow.large_string()),
            "view": views,
            "whole": pyarrow.array([None if n % 3 else n for n in numbers], pyarrow.int32()),
            "list": [[{"a": n, "b": None}] * (n % 3) if n % 5 else None for n in numbers],
            "time": pyarrow.array(numbers, pyarrow.timestamp("ns", "Europe/Berlin")),
            "decimal": pyarrow.array(numbers).cast(pyarrow.decimal128(24, 2)),
            "word": pyarrow.array([f"w{n % 4}" for n in numbers]).dictionary_encode(),
            "half": pyarrow.array([n / 2 for n in numbers], pyarrow.float16()),
            "map": pyarrow.array([[("k", n)] for n in numbers], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
            "union": union,
        }
    )
    field = table.schema.field("word").with_metadata({"of": "a field"})
    schema = table.schema.set(table.schema.get_field_index("word"), field)
    return table.cast(schema).replace_schema_metadata({"who": "wrote it"})


def write(table, path, is_file, codec):
    options = pyarrow.ipc.IpcWriteOptions(compression=codec)
    start = pyarrow.ipc.new_file if is_file else pyarrow.ipc.new_stream
    with start(str(path), table.schema, options=options) as to:
        to.write_table(table, max_chunksize=100)


def read(path, is_file):
    start = pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream
    with pyarrow.OSFile(str(path)) as source:
        return start(source).read_all()


CASES = [(is_file, codec) for is_file in [True, False] for codec in [None, "lz4", "zstd"]]


@pytest.mark.parametrize(("is_file", "codec"), CASES)
def test_kept_rows_have_their_columns(run, english, tmp_path, is_file, codec):
    table = table_of(english)
    source = tmp_path / "rows.arrow"
    write(table, source, is_file, codec)
    out = run("doc-split", source, "--write-kept=same")
    gone = dropped(out)
    assert 300 < len(gone) < table.num_rows
    # pyarrow does not filter views.
    left = [row for row in table.to_pylist() if row["id"] not in gone]
    found = read(out / "kept" / "rows.arrow", is_file)
    found.validate(full=True)
    assert found.schema.equals(table.schema, check_metadata=True)
    assert found.to_pylist() == left
    sizes = [path.stat().st_size for path in [source, out / "kept" / "rows.arrow"]]
    assert 0.15 < sizes[1] / sizes[0] < 0.95


@pytest.mark.parametrize(("is_file", "codec"), CASES)
def test_annotated_rows_are_read_by_others(run, annotate, english, tmp_path, is_file, codec):
    table = table_of(english)
    source = tmp_path / "rows.arrow"
    write(table, source, is_file, codec)
    out = run("doc-split", source)
    found = read(annotate(out, "--form", "same") / "rows.arrow", is_file)
    found.validate(full=True)
    assert found.select(table.column_names).equals(table)
    assert found.schema.metadata == table.schema.metadata
    names = ["kept", "size", "rank", "drop", "similarity", "share"]
    columns = [f"dup_{name}" for name in names]
    assert found.column_names == [*table.column_names, *columns]
    clusters = {row[1]: row for row in fields(out / "clusters.tsv")}
    for row in found.select(["id", *columns]).to_pylist():
        kept, _, keeps, score = clusters.get(row["id"], (row["id"], None, True, None))
        values = [row[name] for name in columns]
        assert [values[0], *values[3:5]] == [kept, not keeps, score]
        assert (values[2] == 1) is keeps
        assert (values[5] is None) is keeps


def test_polars_and_feather_are_read_and_written_again(run, annotate, english, tmp_path):
    frame = polars.DataFrame({name: [document[name] for document in english] for name in ["id", "text"]})
    frame = frame.with_columns(polars.Series("kind", [f"k{n % 3}" for n in range(len(english))], polars.Categorical))
    folder = tmp_path / "rows"
    folder.mkdir()
    frame.write_ipc(folder / "polars.arrow", compression="lz4")
    out = run("doc-split", folder, "--write-kept=same")
    gone = dropped(out)
    left = frame.filter(~polars.col("id").is_in(list(gone)))
    assert plain(polars.read_ipc(out / "kept" / "polars.arrow").rows()) == plain(left.rows())
    annotated = polars.read_ipc(annotate(out, "--form", "same") / "polars.arrow")
    assert annotated.columns[3:5] == ["dup_kept", "dup_size"]
    assert plain(annotated.select(frame.columns).rows()) == plain(frame.rows())
    feather = tmp_path / "rows.feather"
    pyarrow.feather.write_feather(frame.to_arrow(), feather, chunksize=50)
    again = run("doc-split", feather, "--write-kept=same", "--tau", "0.65")
    assert (again / "pairs.tsv").read_bytes() == (out / "pairs.tsv").read_bytes()
    assert pyarrow.feather.read_table(again / "kept" / "rows.feather").num_rows == left.height


def test_two_columns_of_one_name_and_large_batches_are_refused(run, tmp_path, capfd):
    table = pyarrow.Table.from_arrays([pyarrow.array([value]) for value in ["1", "one", "two"]], ["id", "text", "text"])
    write(table, tmp_path / "twice.arrow", True, None)
    with pytest.raises(subprocess.CalledProcessError):
        run("doc-split", tmp_path / "twice.arrow")
    assert 'two of its columns are called "text"' in capfd.readouterr().err
    # 2.6 GB of zeros in a file of a megabyte or two.
    numbers = pyarrow.array([0] * 1_000_000, pyarrow.int64())
    columns = [pyarrow.array(["a"] * len(numbers)), pyarrow.array(["b"] * len(numbers))]
    many = pyarrow.RecordBatch.from_arrays([*columns, *[numbers] * 330], [str(n) for n in range(332)])
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with pyarrow.ipc.new_file(str(tmp_path / "large.arrow"), many.schema, options=options) as to:
        to.write_batch(many)
    with pytest.raises(subprocess.CalledProcessError):
        run("doc-split", tmp_path / "large.arrow")
    error = capfd.readouterr().err
    assert "held in memory as a whole" in error
    assert "--max-line" in error


def test_rows_are_those_of_the_lines(run, english, tmp_path):
    source, lines = tmp_path / "rows.arrow", tmp_path / "rows.jsonl"
    write(table_of(english), source, False, "zstd")
    lines.write_text("".join(json.dumps(document) + "\n" for document in english))
    expected, answer = run("doc-split", lines), run("doc-split", source, "--tau", "0.65")
    assert (answer / "pairs.tsv").read_bytes() == (expected / "pairs.tsv").read_bytes()
