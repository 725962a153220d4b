"""Every form of documents gives the same answer, and ids come back as they came."""

import datetime
import uuid

import duckdb
import pandas
import polars
import pyarrow
import pytest

import twinsplit

TEXTS = [
    "Rain fell on the harbour all night. The ferry left at six.",
    "Nobody saw it go.",
    None,
    "Rain fell on the harbour all night! The ferry left at six.",
    "雨下了一整夜。渡轮六点离开了港口。",
    "雨下了一整夜，渡轮六点离开了港口！",
]
IDS = ["e", "d", "c", "b", "a", "f"]
ROWS = [{"id": own, "text": text} for own, text in zip(IDS, TEXTS, strict=True)]


class Stream:
    """What has the stream of Arrow and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def chunked():
    half = [pyarrow.table({"id": IDS[at : at + 2], "text": pyarrow.array(TEXTS[at : at + 2], pyarrow.string())}) for at in (0, 2, 4)]
    return pyarrow.concat_tables(half)


def forms():
    table, frame = chunked(), pandas.DataFrame(ROWS)
    views = table.set_column(1, "text", table["text"].cast(pyarrow.string_view()))
    large = table.set_column(1, "text", table["text"].cast(pyarrow.large_string()))
    relation = duckdb.sql("SELECT id, text FROM frame")
    return {
        "dicts": ROWS,
        "a generator of dicts": (row for row in ROWS),
        "columns": {"id": IDS, "text": TEXTS},
        "pandas": frame,
        "pandas with objects": frame.astype(object),
        "pandas with Arrow": frame.convert_dtypes(dtype_backend="pyarrow"),
        "pandas with categories": frame.astype({"text": "category"}),
        "polars": polars.DataFrame(ROWS),
        "polars, lazy": polars.LazyFrame(ROWS),
        "polars with categories": polars.DataFrame(ROWS).with_columns(polars.col("text").cast(polars.Categorical)),
        "pyarrow": table,
        "pyarrow with views": views,
        "pyarrow with large texts": large,
        "pyarrow with a dictionary": table.set_column(1, "text", table["text"].dictionary_encode()),
        "a batch": table.combine_chunks().to_batches()[0],
        "a slice": pyarrow.concat_tables([table.slice(0, 1), table])[1:],
        "duckdb": relation,
        "a stream": Stream(table),
        "a stream of views": Stream(views),
        "a stream of large texts": Stream(large),
    }


def test_every_form_has_the_same_answer():
    expected = [("a", "f"), ("b", "e")]
    compared = 0
    for name, data in forms().items():
        found = twinsplit.dedup(data, id="id", features="words:2")
        assert [(pair.a, pair.b) for pair in found.pairs()] == expected, name
        assert (found.kept, found.missing, len(found)) == ([1, 2, 3, 4], [2], 6), name
        compared += 1
    assert compared == 20


def test_texts_alone_have_row_numbers():
    series = [
        TEXTS,
        tuple(TEXTS),
        (text for text in TEXTS),
        [float("nan") if text is None else text for text in TEXTS],
        pandas.Series(TEXTS),
        pandas.Series(TEXTS, dtype=object),
        polars.Series(TEXTS),
        pyarrow.array(TEXTS),
        pyarrow.chunked_array([TEXTS[:3], TEXTS[3:]]),
    ]
    for data in series:
        found = twinsplit.dedup(data, features="words:2")
        assert [(pair.a, pair.b) for pair in found.pairs()] == [(0, 3), (4, 5)], type(data)
        assert found.mask == [True, True, True, False, True, False]


@pytest.mark.parametrize(
    "ids",
    [
        [60, 50, 40, 30, 20, 100],
        [6.5, 5.5, 4.5, 3.5, 2.5, 10.5],
        [("x", 6), ("x", 5), ("x", 4), ("x", 3), ("x", 2), ("y", 1)],
        [datetime.date(2024, 1, day) for day in (6, 5, 4, 3, 2, 7)],
        [uuid.UUID(int=number) for number in (6, 5, 4, 3, 2, 7)],
        [2**70, 50, 40, 30, 20, 2**80],
    ],
    ids=lambda ids: type(ids[0]).__name__,
)
def test_ids_of_any_type_come_back(ids):
    for data in ([{"text": text, "own": own} for text, own in zip(TEXTS, ids, strict=True)], {"text": TEXTS, "own": ids}):
        found = twinsplit.dedup(data, id="own", features="words:2")
        assert [(pair.a, pair.b) for pair in found.pairs()] == [(ids[4], ids[5]), (ids[3], ids[0])]
        # The smallest id is kept.
        assert [cluster.kept for cluster in found.clusters()] == [ids[4], ids[3]]
        assert type(found.pairs()[0].a) is type(ids[4])
    assert twinsplit.dedup(TEXTS, id=ids, features="words:2").clusters() == found.clusters()


def test_ids_without_an_order_have_that_of_rows():
    ids = ["six", 5, None.__class__, 3, "two", 7]
    found = twinsplit.dedup(TEXTS, id=ids, features="words:2")
    assert [(pair.a, pair.b) for pair in found.pairs()] == [("six", 3), ("two", 7)]


def test_rules_that_keep():
    texts = ["one two three", "one two three!", "one two three?"]
    data = {"text": texts, "when": ["2024-01-01", "2024-03-01", None], "stars": [2.5, None, 7.0]}
    kept = {"smallest-id": 0, "first": 0, "longest": 1, "newest": 1, "score": 2}
    for rule, row in kept.items():
        found = twinsplit.dedup(data, features="words:1", keep=rule, date="when", score="stars", cluster="star")
        assert found.kept == [row], rule
    dates = [datetime.datetime(2024, 1, 1, 9), datetime.datetime(2024, 1, 1, 10), None]
    assert twinsplit.dedup(texts, features="words:1", keep="newest", date=dates).kept == [1]
    with pytest.raises(ValueError, match="date"):
        twinsplit.dedup(texts, features="words:1", keep="newest", date=["soon", "later", "never"])


def test_tables_out():
    found = twinsplit.dedup(ROWS, id="id", features="words:2")
    expected = {
        "id": IDS,
        "cluster": [1, None, None, 1, 0, 0],
        "size": [2, 1, 1, 2, 2, 2],
        "keep": [False, True, True, True, True, False],
        "kept_id": ["b", "d", "c", "b", "a", "a"],
        "similarity": [1.0, None, None, None, None, 1.0],
    }
    assert found.to_arrow().to_pydict() == expected
    assert found.to_polars().to_dict(as_series=False) == expected
    frame = found.to_pandas()
    assert list(frame.columns) == list(expected)
    assert list(frame["kept_id"]) == expected["kept_id"] and list(frame["keep"]) == expected["keep"]
    assert frame["cluster"].isna().tolist() == [one is None for one in expected["cluster"]]
    pairs = found.pairs()
    assert pairs.to_polars().rows() == list(pairs) == pairs[:]
    assert pairs.to_arrow().to_pylist() == [pair._asdict() for pair in pairs]
    assert pairs.to_pandas()["overlap"].tolist() == [pair.overlap for pair in pairs]
    assert duckdb.sql("SELECT count(*), min(a) FROM arrow_of").fetchall() == [(2, "a")] if (arrow_of := pairs.to_arrow()) else False
    none = twinsplit.dedup(["one"], features="words:1")
    assert none.pairs().to_polars().shape == (0, 6) and repr(none.pairs()) == "<0 pairs>"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: twinsplit.dedup("one text"), TypeError, "one text was given; expected a list of texts or a table"),
        (lambda: twinsplit.dedup(7), TypeError, "int holds no documents"),
        (lambda: twinsplit.dedup(["one", 2]), TypeError, "the text of row 1 is int; expected str or None"),
        (lambda: twinsplit.dedup(["a\ud800"]), ValueError, "the text of row 0 is no Unicode text"),
        (lambda: twinsplit.dedup([{"body": "x"}]), KeyError, "row 0 has no 'text'; it has body"),
        (lambda: twinsplit.dedup([{"text": "x"}], id="nr"), KeyError, "row 0 has no 'nr'; it has text"),
        (lambda: twinsplit.dedup([{"text": "x"}, "y"]), TypeError, "row 1 is str; expected a dict"),
        (lambda: twinsplit.dedup(pandas.DataFrame({"body": ["x"]})), KeyError, "there is no column 'text'; there are body"),
        (lambda: twinsplit.dedup(polars.DataFrame({"body": ["x"]})), KeyError, "there is no column 'text'; there are body"),
        (lambda: twinsplit.dedup(polars.LazyFrame({"body": ["x"]})), KeyError, "there is no column 'text'; there are body"),
        (lambda: twinsplit.dedup(Stream(pyarrow.table({"body": ["x"]}))), KeyError, "there is no column 'text'; there are body"),
        (lambda: twinsplit.dedup(Stream(pyarrow.table({"text": [1]}))), TypeError, 'column "text" holds Int64; expected texts'),
        (lambda: twinsplit.dedup(["x", "y"], id=[1, 1]), ValueError, "the id 1 stands at row 0 and at row 1; ids must be unique"),
        (lambda: twinsplit.dedup(["x", "y"], id=[1, None]), ValueError, "row 1 has no id"),
        (lambda: twinsplit.dedup(["x", "y"], id=[1]), ValueError, "2 texts, and 1 values of id"),
        (lambda: twinsplit.dedup(["x"], id="nr"), TypeError, "id='nr' names a column, and the texts came without columns"),
        (lambda: twinsplit.dedup(["x"], thresh=0.7), TypeError, "no option 'thresh'; did you mean 'threshold'"),
        (lambda: twinsplit.dedup(["x"], min_feature=3), TypeError, "did you mean 'min_features'"),
        (lambda: twinsplit.dedup(["x"], zzz=3), TypeError, "no option 'zzz'; twinsplit.options\\(\\) has all"),
        (lambda: twinsplit.dedup(["x"], threshold=1.5), ValueError, "1.5"),
        (lambda: twinsplit.dedup(["x"], features="letters:3"), ValueError, "letters:3"),
        (lambda: twinsplit.dedup(["x"], chain="doc"), ValueError, "expected one of"),
        (lambda: twinsplit.dedup(["x"], bands=20), ValueError, "bands"),
        (lambda: twinsplit.dedup(["x"] * 20, features="words:1", max_pairs=3), RuntimeError, "max-pairs"),
        (lambda: twinsplit.dedup(["x"], folder="/nowhere/at/all"), OSError, "/nowhere/at/all"),
        (lambda: twinsplit.dedup(["x"], batch="monday"), TypeError, "give store=FOLDER"),
        (lambda: twinsplit.dedup(["x"], store="a", against="b"), TypeError, "store and against do not go together"),
    ],
)
def test_what_is_wrong_is_said(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_nothing_is_an_answer_too():
    for data in ([], pandas.DataFrame({"text": []}), polars.DataFrame({"text": []}, schema={"text": polars.String})):
        found = twinsplit.dedup(data)
        assert (len(found), found.kept, len(found.pairs()), found.clusters()) == (0, [], 0, [])
    assert twinsplit.dedup([None, None]).kept == [0, 1]
