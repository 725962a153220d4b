"""DataFrames of Spark: the answers are those of the program, and columns, types and ids stay the user's own."""

import doctest
import json
import os
import re
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from conftest import ROOT

import twinsplit
import twinsplit.spark

CHAINS = {
    "doc-split": {"features": "words:2", "threshold": 0.5},
    "term-split": {"features": "words:2", "threshold": 8, "similarity": "overlap", "pcp": "prefix"},
    "minhash": {"features": "words:2", "threshold": 0.5, "bands": 32, "rows": 4},
    "simhash": {"features": "words:2", "distance": 20, "check": "edit:0.4"},
    "i-match": {"lexicons": 40, "idf": (0.1, 0.95)},
    "ccdet": {"threshold": 0.5, "cluster": "star", "idf": (0.1, 0.95), "site": "url"},
}
ODD = ["\ttab", "back\\slash", "\\x09", "\ufeffmark", "ü", "𝔘", "line\nend", "\x7f", "a'b\"c", " "]


@pytest.fixture(scope="module")
def documents(english):
    """Real ones and copies of them with other words in the middle, under ids with all that is escaped."""
    taken = [document["text"][:1500] for document in english[:40]]
    copies = [text[:600] + " Rain fell on the harbour all night. " + text[640:] for text in taken[:12]]
    texts = [*taken, *copies, *taken[:4], "", "short"]
    ids = [f"{ODD[at % len(ODD)]}{at}" for at in range(len(texts))]
    return [
        {"id": own, "text": text, "url": f"http://{at % 5}.example/{at}"} for at, (own, text) in enumerate(zip(ids, texts, strict=True))
    ]


def written(tmp_path, documents):
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return path


def plain(name):
    """An id as the document has it, by docs/formats.md."""
    return re.sub(rb"(\\x[0-9a-f]{2})+", lambda found: bytes.fromhex(found[0].decode().replace("\\x", "")), name.encode()).decode()


def table(path):
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    return sorted([plain(row[0]), plain(row[1]), *row[2:]] for row in rows)


def options_of(options):
    values = {"tau" if name == "threshold" else name: value for name, value in options.items()}
    return [f"--{name}={','.join(map(str, value)) if isinstance(value, tuple) else value}" for name, value in values.items()]


def six(value):
    return "-" if value is None else str(Decimal(repr(value)).quantize(Decimal("1.000000")))


@pytest.mark.parametrize("chain", CHAINS)
def test_chains_give_the_answer_of_the_program(chain, spark, answers, documents, run, annotate, tmp_path):
    options = CHAINS[chain]
    out = run(chain, written(tmp_path, documents), *options_of({"cluster": "components", **options}), "--write-kept")
    df = spark.createDataFrame(documents, "url string, id string, text string").repartition(2)
    found = twinsplit.spark.duplicates(df, chain=chain, **options)
    answers.append(found.folder)
    pairs = found.pairs().collect()
    expected = table(out / "pairs.tsv")
    assert len(expected) > 5
    if chain == "simhash":
        own = [[row.a, row.b, str(row.distance), six(row.similarity)] for row in pairs]
        assert sorted(own) == [row[:4] for row in expected]
    else:
        def score(value):
            return str(int(value)) if options.get("similarity") == "overlap" else six(value)

        own = [[row.a, row.b, str(row.overlap), str(row.size_a), str(row.size_b), score(row.similarity)] for row in pairs]
        assert sorted(own) == [row[:6] for row in expected]
    lines = map(json.loads, annotate(out).open(encoding="utf-8"))
    own = {row.id: row.asDict() for row in found.annotate().collect()}
    assert len(own) == len(documents)
    for line in lines:
        line.pop("dup_share")
        assert own[line["id"]] == line
    assert (found.rows, found.missing) == (len(documents), 0)
    if chain == "doc-split":
        kept = found.kept()
        assert kept.schema == df.schema
        assert sorted(row.id for row in kept.collect()) == sorted(json.loads(line)["id"] for line in (out / "kept.jsonl").open())
        members = [[row.kept, row.id, "keep" if row.keep else "drop", six(row.similarity)] for row in found.clusters().collect()]
        assert sorted(members) == table(out / "clusters.tsv")


def test_a_data_frame_in_and_one_out(spark, tmp_path):
    """Columns of all types, ids that are numbers, and rows without a text."""
    texts = [None, "Rain fell.", "Rain fell!", "The ferry left.", "Rain fell?", "The ferry left!", None]
    ids = [9, 10, -5, 100, -(2**63), 2**63 - 1, 0]
    rows = [
        (own, text, {"k": [own]}, Decimal("1.50"), datetime(2024, 1, 31, 12, at), float("nan") if at == 1 else 1.0 * at)
        for at, (own, text) in enumerate(zip(ids, texts, strict=True))
    ]
    df = spark.createDataFrame(rows, "`a.id` bigint not null, text string, m map<string, array<bigint>>, d decimal(5,2), t timestamp, score double")
    kept = twinsplit.spark.dedup(df, id="a.id", features="words:2", work=tmp_path)
    assert kept.schema == df.schema
    by_id = {row[0]: row for row in df.collect()}
    assert sorted(row[0] for row in kept.collect()) == [-(2**63), 0, 9, 100]
    assert all(row[2:5] == by_id[row[0]][2:5] for row in kept.collect())
    # As the package has it, for which ids are whole numbers, too.
    table = {"a.id": ids, "text": texts, "score": [row[5] if row[5] == row[5] else None for row in rows]}
    times = [row[4].replace(tzinfo=timezone.utc).isoformat() for row in rows]
    for rule, there, columns in (("score", {"score": "score"}, {"score": "score"}), ("newest", {"date": times}, {"date": "t"})):
        expected = twinsplit.dedup(table, id="a.id", features="words:2", keep=rule, **there)
        found = twinsplit.spark.duplicates(df, id="a.id", features="words:2", keep=rule, work=tmp_path, tasks=1, write="clusters", **columns)
        assert sorted(row[0] for row in found.kept().collect()) == sorted(ids[row] for row in expected.kept), rule
        assert (found.rows, found.missing) == (7, 2)
    assert len(os.listdir(tmp_path)) == 3 and all(os.listdir(folder) == ["answer"] for folder in tmp_path.iterdir())


def test_several_columns_queries_and_nothing(spark, tmp_path, run):
    documents = [{"id": "a", "title": "Rain", "text": "fell all night"}, {"id": "b", "title": "Rain fell", "text": "all night"}, {"id": "c", "title": None, "text": "snow"}]
    out = run("doc-split", written(tmp_path, documents), "--text=title,text", "--features=words:2")
    df = spark.createDataFrame([(d["id"], d["title"], d["text"]) for d in documents], "id string, title string, text string")
    pairs = twinsplit.spark.find_pairs(df, text=["title", "text"], features="words:2").collect()
    assert [[row.a, row.b] for row in pairs] == [row[:2] for row in table(out / "pairs.tsv")] == [["a", "b"]]
    queries = spark.createDataFrame([(1, "all night"), (2, "snow")], "id int, text string")
    asked = df.selectExpr("case id when 'a' then 3 when 'b' then 2 else 1 end as id", "text")
    found = twinsplit.spark.duplicates(asked, queries=queries, features="words:1", threshold=0.5, similarity="query-containment")
    assert sorted((row.a, row.b) for row in found.pairs().collect()) == [(1, 2), (1, 3), (2, 1)]
    with pytest.raises(ValueError, match="of queries there are pairs, and no clusters"):
        found.kept()
    nothing = twinsplit.spark.duplicates(df.limit(0), write="clusters")
    assert (nothing.rows, nothing.missing, nothing.annotate().collect()) == (0, 0, [])
    with pytest.raises(ValueError, match="told to write clusters alone"):
        nothing.pairs()


def test_what_is_refused(spark, tmp_path, monkeypatch):
    df = spark.createDataFrame([(7, "Rain fell.", 1.0), (-7, "Snow fell.", 1.0)], "id int, text string, x double")
    refused = [
        (TypeError, "no option 'thresh'; did you mean 'threshold'", {"thresh": 0.5}),
        (ValueError, "doc-split does not use --bands", {"bands": 20}),
        (ValueError, "--keep first looks at a line's place", {"keep": "first"}),
        (KeyError, "there is no column 'body'; there are id, text, x", {"text": "body"}),
        (TypeError, "the column 'x' is double", {"id": "x"}),
        (TypeError, "text: the column 'id' is int; expected a string", {"text": "id"}),
        (FileNotFoundError, "program='absent'", {"program": "absent"}),
    ]
    for kind, words, options in refused:
        with pytest.raises(kind, match=re.escape(words)):
            twinsplit.spark.dedup(df, work=tmp_path, **options)
    with pytest.raises(TypeError, match="DataFrame of Spark in this process"):
        twinsplit.spark.dedup([7])
    with pytest.raises(TypeError, match="give foreachBatch what store_batches makes"):
        twinsplit.spark.dedup(spark.readStream.format("rate").load())
    with pytest.raises(ValueError, match="1 of 3 rows have no id in the column 'id'"):
        twinsplit.spark.dedup(df.union(df.selectExpr("null", "text", "x").limit(1)), work=tmp_path)
    assert os.listdir(tmp_path) == []
    context = df.sparkSession.sparkContext
    context.setLocalProperty("spark.job.description", "mine")
    # The same id twice: the program names it as the user does, and the message where the files are.
    with pytest.raises(RuntimeError, match=r'the id "-7" stands at more than one(?s:.*)what the run had made is in .*twinsplit-') as failed:
        twinsplit.spark.dedup(df.union(df.where("id < 0")), work=tmp_path)
    assert context.getLocalProperty("spark.job.description") == "mine"
    context.setLocalProperty("spark.job.description", None)
    folder = Path(str(failed.value).rsplit(" ", 1)[1].removeprefix("file:"))
    assert folder.parent == tmp_path and (folder / "documents").is_dir()
    # With other machines there is a default where Spark has one.
    monkeypatch.setattr(context, "master", "spark://elsewhere:7077")
    with pytest.raises(ValueError, match="give work=FOLDER"):
        twinsplit.spark.dedup(df)
    context.setCheckpointDir(str(tmp_path / "checkpoints"))
    with pytest.raises(RuntimeError, match=f"what the run had made is in file:{tmp_path}/checkpoints/"):
        twinsplit.spark.find_pairs(df, max_pairs=0, features="words:1", threshold=0.3)


def test_examples_of_the_page(spark):
    """What docs/spark.md does in Python, as it stands there."""
    page = (ROOT / "docs" / "spark.md").read_text(encoding="utf-8")
    lines = ["" if line.startswith("```") else line for line in page.splitlines()]
    examples = doctest.DocTestParser().get_doctest("\n".join(lines), {}, "spark.md", "docs/spark.md", 0)
    said = []
    result = doctest.DocTestRunner().run(examples, out=said.append)
    assert result.failed == 0 and result.attempted == 7, "".join(said)


def test_the_recipe(spark, tmp_path):
    """That of docs/recipes.md, as it stands there, in another folder than that of the JVM."""
    words = " ".join(f"w{at}" for at in range(60))
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps({"id": own, "text": words + tail}) + "\n" for own, tail in (("b", ""), ("a", " more"))))
    section = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8").split("\n## A DataFrame of Spark\n")[1]
    code = section.split("```python\n")[1].split("```")[0]
    exec(re.sub(r'(json|parquet|csv)\("', rf'\1("{tmp_path}/', code), {"spark": spark})
    assert [row.id for row in spark.read.parquet(f"{tmp_path}/kept.parquet").collect()] == ["a"]
    assert [tuple(row) for row in spark.read.csv(f"{tmp_path}/dropped").collect()] == [("b", "a", "0.983051")]
