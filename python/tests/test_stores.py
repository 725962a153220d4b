"""Stores: each batch against all that came before."""

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
