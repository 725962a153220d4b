"""What is asked for one text at a time, beside runs and beside brute force."""

import random

import pytest

import twinsplit


@pytest.mark.parametrize("options", [{}, {"similarity": "containment", "threshold": 0.7}, {"features": "chars:5"}])
def test_an_index_finds_the_pairs_of_a_run(english, options):
    run = {(pair.a, pair.b): pair for pair in twinsplit.find_pairs(english, id="id", equal_texts=False, **options)}
    index = twinsplit.Index([], id=[], **options)
    # Parts of many sizes, so that some are merged.
    sizes, at = [3, 1, 1, 40, 7, 2, 60, 1], 0
    for size in [*sizes, len(english)]:
        index.add(english[at : at + size], id="id")
        at += size
    assert 1 <= len(index._parts) < len(sizes)
    asked = {}
    for row in english:
        matches = index.query(row["text"])
        assert [match.similarity for match in matches] == sorted((match.similarity for match in matches), reverse=True)
        for match in matches:
            if match.id < row["id"]:
                asked[match.id, row["id"]] = match
    assert asked.keys() == run.keys() and len(run) > 3
    for key, match in asked.items():
        assert (match.overlap, match.size, match.query_size) == (run[key].overlap, run[key].size_a, run[key].size_b)


def test_ids_of_an_index():
    index = twinsplit.Index(["one two three", None], features="words:1")
    index.add(["one two three"])
    assert [match.id for match in index.query("one two three")] == [0, 2] and len(index) == 2
    with pytest.raises(ValueError, match="for all documents, or for none"):
        index.add(["x"], id=["a"])
    named = twinsplit.Index(["one"], id=["a"], features="words:1")
    with pytest.raises(ValueError, match="the id 'a' is in the index"):
        named.add(["two"], id=["a"])
    assert named.query("two") == [] and len(named) == 1
    with pytest.raises(ValueError, match="idf"):
        twinsplit.Index(["one"], idf="0.1,1")
    with pytest.raises(TypeError, match="did you mean"):
        twinsplit.Index(["one"], feature="words:1")


def test_fingerprints_are_those_of_the_chain(english):
    printer = twinsplit.SimHash()
    prints = {row["id"]: printer.fingerprint(row["text"]) for row in english}
    pairs = {(pair.a, pair.b): pair.distance for pair in twinsplit.find_pairs(english, id="id", chain="simhash", distance=6)}
    near = {(a, b): (prints[a] ^ prints[b]).bit_count() for a in prints for b in prints if a < b}
    assert pairs == {key: distance for key, distance in near.items() if distance <= 6} and len(pairs) > 3
    index = twinsplit.HammingIndex(prints, distance=6)
    found = {(min(a, b), max(a, b)): distance for a in prints for b, distance in index.query(prints[a]) if a != b}
    assert found == pairs
    with pytest.raises(ValueError, match="too few features"):
        printer.fingerprint("one")


@pytest.mark.parametrize("bits", [64, 128])
def test_a_hamming_index_is_brute_force(bits):
    draw = random.Random(7)
    centres = [draw.getrandbits(bits) for _ in range(40)]
    values = {}
    index = twinsplit.HammingIndex(distance=4, bits=bits)
    for number in range(6000):
        value = draw.choice(centres)
        for _ in range(draw.randrange(7)):
            value ^= 1 << draw.randrange(bits)
        values[number] = value
        index.add(number, value)
        if number % 11 == 0:
            gone = draw.choice(list(values))
            del values[gone]
            index.remove(gone)
    assert len(index) == len(values)
    for query in centres[:10]:
        expected = {number: (value ^ query).bit_count() for number, value in values.items()}
        assert dict(index.query(query)) == {number: distance for number, distance in expected.items() if distance <= 4}
    with pytest.raises(KeyError):
        index.remove("nowhere")
    with pytest.raises(ValueError, match="is in the index"):
        index.add(next(iter(values)), 0)


def test_what_an_index_of_fingerprints_refuses():
    with pytest.raises(ValueError, match="more than 64 bits"):
        twinsplit.HammingIndex({"a": 1 << 64})
    with pytest.raises(ValueError, match="expected 64 or 128"):
        twinsplit.HammingIndex(bits=32)
    with pytest.raises(ValueError, match="expected 0 to"):
        twinsplit.HammingIndex(distance=60)


def test_signatures_estimate_the_similarity(english):
    signer = twinsplit.MinHash(hashes=1024)
    found = twinsplit.dedup(english, id="id", threshold=0.3)
    texts = {row["id"]: row["text"] for row in english}
    signatures = {own: signer.signature(text) for own, text in texts.items()}
    assert all(len(signature) == 1024 for signature in signatures.values() if signature)
    off = [abs(signer.similarity(signatures[a], signatures[b]) - s) for a, b, *_, s in found.pairs()]
    assert len(off) > 10 and sum(off) / len(off) < 0.02 and max(off) < 0.1
    assert signer.signature("") == []
    with pytest.raises(ValueError, match="cannot be compared"):
        signer.similarity([1], [1, 2])
    classic = twinsplit.MinHash(hashes=64, minhash="classic").signature("one two three four")
    assert len(classic) == 64 and classic != twinsplit.MinHash(hashes=64).signature("one two three four")
