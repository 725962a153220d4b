"""The answer is that of the command line, byte for byte once it is written as the command line writes it."""

import pytest
from conftest import DOCUMENTS, records

import twinsplit

# Chains of sets, with options of theirs; what the command line is told, and what Python is.
SETS = [
    ("doc-split", [], {}),
    ("doc-split", ["--features", "chars:7", "--tau", "0.8"], {"features": "chars:7", "threshold": 0.8}),
    ("doc-split", ["--idf", "0.1,1", "--min-features", "5"], {"idf": (0.1, 1), "min_features": 5}),
    ("doc-split", ["--cluster", "star", "--keep", "longest"], {"cluster": "star", "keep": "longest"}),
    ("doc-split", ["--counts", "on", "--case-fold", "off"], {"counts": True, "case_fold": False}),
    ("term-split", ["--pcp", "prefix"], {"pcp": "prefix"}),
    ("term-split", ["--pcp", "plain", "--tau", "0.5"], {"pcp": "plain", "threshold": "0.5"}),
    ("minhash", ["--bands", "16", "--rows", "4"], {"bands": 16, "rows": 4}),
    ("ccdet", [], {}),
    ("i-match", [], {}),
]
MEASURES = [
    ("containment", "containment"),
    ("cosine", "cosine"),
    ("dice", "dice"),
]


def line(pair, name=None):
    """A pair as a line of pairs.tsv."""
    small, large = sorted([pair.size_a, pair.size_b])
    relation = "duplicate" if 2 * small >= large else "contains" if pair.size_a == large else "contained"
    others = [f"{rounded(small / large)}", relation] if name == "containment" else [name] if name else []
    return "\t".join(map(str, [*pair[:5], rounded(pair.similarity), *others])) + "\n"


def rounded(number):
    """Six decimals; the command line rounds half of a millionth up, as the exact fraction has it."""
    return f"{number + 1e-15:.6f}"


def clusters_of(found):
    """What clusters.tsv says: of each cluster the kept document and the others."""
    return {(cluster.kept, dropped.id) for cluster in found.clusters() for dropped in cluster.dropped}


def dropped_in(out):
    rows = [row.split("\t") for row in (out / "clusters.tsv").read_text().splitlines()]
    return {(kept, own) for kept, own, verdict, _ in rows if verdict == "drop"}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("chain", "told", "options"), SETS, ids=[" ".join([c, *t]) for c, t, _ in SETS])
def test_pairs_and_clusters_are_those_of_the_command_line(run, chain, told, options, language):
    out = run(chain, DOCUMENTS / f"{language}.jsonl.gz", *told)
    found = twinsplit.dedup(records(language), id="id", chain=chain, **options)
    assert clusters_of(found) == dropped_in(out)
    written = (out / "pairs.tsv").read_text()
    name = "containment" if chain == "ccdet" else None
    assert "".join(line(pair, name) for pair in found.pairs()) == written
    assert chain in ("ccdet", "i-match") or written.count("\n") > 3


@pytest.mark.parametrize(("similarity", "name"), MEASURES)
def test_every_measure(run, similarity, name, english):
    out = run("doc-split", DOCUMENTS / "en.jsonl.gz", "--similarity", similarity, "--tau", "0.6")
    pairs = twinsplit.find_pairs(english, id="id", similarity=similarity, threshold=0.6)
    assert "".join(line(pair, name) for pair in pairs) == (out / "pairs.tsv").read_text()


def test_fingerprints(run, english):
    out = run("simhash", DOCUMENTS / "en.jsonl.gz", "--distance", "8")
    found = twinsplit.dedup(english, id="id", chain="simhash", distance=8)
    assert "".join(f"{pair.a}\t{pair.b}\t{pair.distance}\n" for pair in found.pairs()) == (out / "pairs.tsv").read_text()
    assert len(found.pairs()) > 3 and all(pair.similarity is None for pair in found.pairs())
    assert clusters_of(found) == dropped_in(out)
    checked = twinsplit.dedup(english, id="id", chain="simhash", distance=8, check="jaccard:0.5").pairs()
    assert checked and all(pair.similarity >= 0.5 for pair in checked)


def test_another_threshold_is_another_run(english):
    found = twinsplit.dedup(english, id="id")
    for threshold in (0.4, 0.9):
        again = found.rethreshold(threshold)
        whole = twinsplit.dedup(english, id="id", threshold=threshold)
        assert list(again.pairs()) == list(whole.pairs())
        assert again.clusters() == whole.clusters()
        assert len(again.pairs()) != len(found.pairs())


def test_queries_come_first(english, tmp_path):
    asked = [row["text"][:400] for row in english[:3]]
    options = {"id": "id", "similarity": "query-containment", "threshold": 0.9, "folder": tmp_path}
    found = twinsplit.dedup(english, queries=asked, **options)
    assert list(found.pairs()) == list(twinsplit.find_pairs(english, queries=iter(asked), **options))
    assert len(list(tmp_path.iterdir())) == 1
    assert {pair.a for pair in found.pairs()} == {0, 1, 2}
    assert all(found.why(pair.a, pair.b).is_pair for pair in found.pairs())
    assert {(row, english[row]["id"]) for row in range(3)} <= {(pair.a, pair.b) for pair in found.pairs()}
    named = twinsplit.dedup(english, id="id", queries=english[:2], similarity="query-containment", threshold=0.9)
    assert {pair.a for pair in named.pairs()} == {english[0]["id"], english[1]["id"]}


def test_why_is_what_decides(english):
    found = twinsplit.dedup(english, id="id", threshold=0.5)
    pairs = {(pair.a, pair.b): pair for pair in found.pairs()}
    ids = [row["id"] for row in english[:12]]
    asked = [(a, b) for a in ids for b in ids if a < b] + list(pairs)[:20]
    for a, b in asked:
        why = found.why(a, b)
        assert why.is_pair == ((a, b) in pairs)
        if why:
            pair = pairs[a, b]
            assert (why.overlap, why.size_a, why.size_b) == (pair.overlap, pair.size_a, pair.size_b)
            assert why.passages and str(why).endswith("=> a pair")
    with pytest.raises(KeyError, match="no document with a text has the id 'nowhere'"):
        found.why(ids[0], "nowhere")


def test_the_least_similar_come_first(english):
    found = twinsplit.dedup(english, id="id", threshold=0.4)
    dropped = found.least_similar(5)
    scores = [one.similarity for one in found.dropped()]
    assert [one.similarity for one in dropped] == sorted(scores)[:5]
    assert len(found.least_similar(10_000)) == len(scores) > 5


def test_as_many_are_kept_as_are_asked_for(run, english):
    for wanted in (len(english) - 3, len(english) - 150, 300):
        out = run("doc-split", DOCUMENTS / "en.jsonl.gz", "--tau", "0.3", "--keep", "longest", "--reduce-to", str(wanted), "--overwrite")
        found = twinsplit.dedup(english, id="id", threshold=0.3, keep="longest", reduce_to=wanted)
        assert clusters_of(found) == dropped_in(out)
        assert len(found.kept) == wanted
        scores = [one.similarity for one in found.dropped()]
        assert [one.similarity for one in found.least_similar(5)] == sorted(scores)[:5]
    with pytest.raises(RuntimeError, match="documents are left when every pair has lost one"):
        twinsplit.dedup(english, id="id", threshold=0.9, reduce_to=5)
