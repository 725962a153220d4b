#!/usr/bin/env python3
"""MinHash signatures by the definition, value by value: prints minhash.tsv, which a unit test of crates/core/src/sketch/minhash.rs reads.

Each row: method, values of a signature, features of the set, the values. Feature i of the set of n features is the first eight
bytes of SHA-256 of "n:i". Here every value is looked for by itself, in all rounds there may be, where the program goes
through rounds of features and stops early.
"""
import hashlib

M = (1 << 64) - 1


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M
    z = (z ^ z >> 27) * 0x94D049BB133111EB & M
    return z ^ z >> 31


def stream(i):
    return mix(0x7477696E0004 + (i + 1) * 0x9E3779B97F4A7C15 & M)


def feature(n, i):
    return int.from_bytes(hashlib.sha256(f"{n}:{i}".encode()).digest()[:8], "big")


def smallest(features, seed):
    return min(mix(x ^ seed) >> 32 for x in features)


def classic(k, features):
    return [smallest(features, stream(i)) for i in range(k)]


def fold(x):
    product = x * 0xD1342543DE82EF95
    return (product & M) ^ product >> 64


def mix32(x):
    x = (x ^ x >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    x = (x ^ x >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return x ^ x >> 16


def smallest_of_bucket(i, features):
    seed = stream(1024 + i)
    factor, flip = seed >> 32 | 1, seed & 0xFFFFFFFF
    return mix32(min(((x & 0xFFFFFFFF) ^ flip) * factor & 0xFFFFFFFF for x in features))


def fast(k, features):
    throws = {}
    for r in range(max(2, (k + 63) // 64)):
        for x in features:
            h = fold(x ^ stream(r))
            throws.setdefault((h >> 32) * k >> 32, []).append((r, h & 0xFFFFFFFF))
    return [min(throws[i])[1] if i in throws else smallest_of_bucket(i, features) for i in range(k)]


for name, method in (("classic", classic), ("fast", fast)):
    for k, n in ((1, 3), (8, 1), (8, 5), (16, 40), (100, 30), (128, 1), (128, 7), (128, 500), (300, 90)):
        values = method(k, [feature(n, i) for i in range(n)])
        print(name, k, n, " ".join(map(str, values)), sep="\t")
