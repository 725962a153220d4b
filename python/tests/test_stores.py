"""Stores: each batch against all that came before."""

import datetime

import pytest
from test_inputs import TEXTS

import twinsplit


def test_batches_find_what_one_run_finds(english, tmp_path):
    store = tmp_path / "docs.store"
    whole = {tuple(pair) for pair in twinsplit.find_pairs(english, id="id")}
    pairs = set()
    for at in range(0, len(english), 40):
        batch = twinsplit.dedup(english[at : at + 40], id="id", store=store, batch=f"b{at}")
        pairs.update(tuple(pair) for pair in batch.pairs())
    assert pairs == whole and len(whole) > 3
    again = twinsplit.dedup(english[:40], id="id", store=store, batch="b0")
    assert len(again) == 40


def test_a_store_is_compared_with_and_left(tmp_path):
    store = tmp_path / "a.store"
    first = [{"id": 20, "text": TEXTS[0]}, {"id": 30, "text": TEXTS[1]}]
    twinsplit.dedup(first, id="id", features="words:2", store=store)
    second = [{"id": 10, "text": TEXTS[3]}, {"id": 40, "text": "Snow fell."}]
    for _ in range(2):
        found = twinsplit.dedup(second, id="id", features="words:2", against=store)
        pair = found.pairs()[0]
        # Whole numbers come back as such, those of earlier batches too; a smaller one is kept now.
        assert (pair.a, pair.b, len(found.pairs())) == (10, 20, 1)
        assert found.clusters() == [twinsplit.Cluster(10, [twinsplit.Dropped(20, 10, 1.0)])]
        assert found.changes() == [twinsplit.Change(20, 20, 10)]
        assert found.kept == [0, 1]
    with pytest.raises(ValueError, match="one threshold"):
        found.rethreshold(0.9)


def test_what_a_store_needs(tmp_path):
    store = tmp_path / "a.store"
    with pytest.raises(TypeError, match="give id="):
        twinsplit.dedup(TEXTS, store=store)
    with pytest.raises(TypeError, match="all str or all int"):
        twinsplit.dedup(["x", "y"], id=[1, "b"], store=store)
    twinsplit.dedup(["x", "y"], id=["a", "b"], store=store, features="words:1")
    with pytest.raises(ValueError, match="store"):
        twinsplit.dedup(["x"], id=["c"], store=store, features="words:2")


def test_what_leaves_a_store(tmp_path):
    folder = tmp_path / "a.store"
    settings = {"id": "id", "features": "words:1", "store": folder}
    near = ["one two three four", "one two three four five", "one two three four five six"]
    for batch, rows in {"b1": [10, 11], "b2": [12], "b3": [9]}.items():
        texts = {9: "seven eight", 10: near[0], 11: near[1], 12: near[2]}
        twinsplit.dedup([{"id": row, "text": texts[row]} for row in rows], batch=batch, **settings)
    store = twinsplit.Store(folder, ids=int)
    assert repr(store) == f"<Store {str(folder)!r}: 4 documents>"
    assert [batch[:3] for batch in store.batches] == [("b1", 2, 2), ("b2", 1, 1), ("b3", 1, 1)]
    assert store.batches[0].time.endswith("Z") and store.options["features"] == "words:1"
    # In the order of ids as texts; 12 is in a pair with both of the others, as 4/6 and 5/6.
    assert store.documents() == [(10, "b1", 10, 4), (11, "b1", 10, 5), (12, "b2", 10, 6), (9, "b3", None, 2)]
    removal = store.forget([10, 77], dry_run=True)
    assert removal == twinsplit.Removal(1, [77], [], [(11, 10, 11), (12, 10, 11)], [])
    assert len(store) == 4
    assert store.forget([10, 77]) == removal and len(store) == 3
    # Who forgets again finds nothing to forget.
    assert store.forget([10]) == twinsplit.Removal(0, [10], [], [], [])
    assert store.drop_batches(["b2"]).orphans == []
    assert store.documents() == [(11, "b1", None, 5), (9, "b3", None, 2)]
    assert store.compact() and not store.compact()
    future = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
    assert store.expire(future, dry_run=True).batches == ["b1", "b3"]
    assert store.expire("2001-01-01").batches == []
    # A document that is forgotten is new when it comes again.
    again = twinsplit.dedup([{"id": 10, "text": near[0]}], batch="b4", **settings)
    assert again.changes() == [twinsplit.Change(11, 11, 10)]


def test_a_store_says_what_it_was_not_given(tmp_path):
    with pytest.raises(ValueError, match="holds no store"):
        twinsplit.Store(tmp_path)
    folder = tmp_path / "a.store"
    twinsplit.dedup(["x y"], id=["a"], store=folder, features="words:1", batch="b1")
    store = twinsplit.Store(folder)
    with pytest.raises(TypeError, match="give a list"):
        store.forget("a")
    with pytest.raises(TypeError, match="1 is no str"):
        store.forget([1])
    with pytest.raises(ValueError, match="no batch b9"):
        store.drop_batches(["b9"])
    with pytest.raises(ValueError, match="ISO 8601"):
        store.expire("yesterday")
    with pytest.raises(ValueError, match="time zone"):
        store.expire(datetime.datetime(2026, 1, 1))
    assert len(store) == 1
