"""Writes the goldens of this folder. It shares nothing with the project but the input documents.

Needs Python 3.11 and, from PyPI, jieba 0.42.1 and simhash 2.1.2:

    python make.py CORPORA

where CORPORA is the folder with fudan-gbk and zh-revisions-iotdb.

- fingerprints.tsv: method, text (JSON), fingerprint. Methods:
  - webcorpora: the algorithm printed in section 4 of that article, written anew: the set of 3-character substrings of the text in
    lower case, MD5 of each, 128 bits, a bit is 1 where as many hashes or more have a 1 as have a 0;
  - pypi: Simhash(text).value of the package, which makes substrings of 4 characters with their counts, MD5, 64 bits.
- keywords.jsonl: documents of zh-revisions-iotdb (Apache License 2.0, Apache IoTDB) with jieba.analyse.extract_tags' words,
  counts and idf, in the order of the tags.
- keywords.tsv: corpus, document, number of keywords, MD5 of the same list: 1,000 documents, whose texts are not here (those of
  fudan-gbk are UTF-8, all but a few, which are left out).
"""

import gzip
import hashlib
import json
import logging
import pathlib
import sys
import tarfile

import jieba
import jieba.analyse
import simhash

jieba.setLogLevel(logging.WARNING)
here = pathlib.Path(__file__).parent
corpora = pathlib.Path(sys.argv[1])

TEXTS = [
    "The quick brown fox jumps over the lazy dog",
    "The quick brown fox leaps over the lazy dog",
    "abc",
    "abab",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "thequickbrownfoxjumpsoverthelazydogandrunsawayfromthequickbrownfox",
    "thequickbrownfoxjumpsoverthelazydogandrunsawayfromthelazybrownfox",
    "你妈妈喊你回家吃饭哦回家罗回家罗",
    "你妈妈叫你回家吃饭啦回家罗回家罗",
    "美国51区雇员称内部有9架飞碟曾看见灰色外星人",
    "one two three four five six seven eight nine ten " * 40,
    "多 语 言 mixed text 0123456789 with DIGITS and ÉCOLE",
]


def webcorpora(text):
    text = text.lower()
    features = {text[i : i + 3] for i in range(len(text) - 2)}
    votes = [0] * 128
    for feature in features:
        number = int.from_bytes(hashlib.md5(feature.encode()).digest(), "big")
        for bit in range(128):
            votes[bit] += 1 if number >> bit & 1 else -1
    return sum(1 << bit for bit in range(128) if votes[bit] >= 0)


def keywords(text):
    """The tags of a text as (word, count, idf), in their order."""
    extractor = jieba.analyse.default_tfidf
    tags = extractor.extract_tags(text, topK=None, withWeight=True)
    counts = {}
    for word in jieba.cut(text):
        counts[word] = counts.get(word, 0) + 1
    total = sum(counts[word] for word, _ in tags)
    rows = []
    for word, weight in tags:
        idf = extractor.idf_freq.get(word, extractor.median_idf)
        assert weight == float(counts[word]) * (idf / total), word
        rows.append((word, counts[word], round(idf * 2**20)))
    return rows


def digest(rows):
    lines = "".join(f"{word}\t{count}\t{idf}\n" for word, count, idf in rows)
    return hashlib.md5(lines.encode()).hexdigest()


with open(here / "fingerprints.tsv", "w", encoding="utf-8") as out:
    for text in TEXTS:
        text = text.strip()
        quoted = json.dumps(text, ensure_ascii=False)
        out.write(f"webcorpora\t{quoted}\t{webcorpora(text):032x}\n")
        # The package leaves out all but letters and digits first, which the texts given to it do not have.
        if text.isalnum() and len(text) >= 4:
            out.write(f"pypi\t{quoted}\t{simhash.Simhash(text).value:016x}\n")

documents = []
with gzip.open(corpora / "zh-revisions-iotdb/docs.jsonl.gz", "rt", encoding="utf-8") as lines:
    for line in lines:
        document = json.loads(line)
        documents.append(("zh-revisions-iotdb", document["id"], document["text"]))
few = sorted((len(text), name, text) for _, name, text in documents if len(text) > 1200)[:200:20]
with open(here / "keywords.jsonl", "w", encoding="utf-8") as out:
    for _, name, text in few:
        row = {"id": name, "text": text, "keywords": keywords(text)}
        out.write(json.dumps(row, ensure_ascii=False) + "\n")

chosen = []
with tarfile.open(corpora / "fudan-gbk/raw-gbk.tar.gz") as archive:
    for member in sorted(archive.getmembers(), key=lambda member: member.name):
        if member.isfile():
            try:
                text = archive.extractfile(member).read().decode("utf-8")
            except UnicodeDecodeError:
                continue
            chosen.append(("fudan-gbk", member.name, text))
step = len(documents) // (1000 - len(chosen))
chosen += documents[::step][: 1000 - len(chosen)]
with open(here / "keywords.tsv", "w", encoding="utf-8") as out:
    for corpus, name, text in chosen:
        rows = keywords(text)
        out.write(f"{corpus}\t{name}\t{len(rows)}\t{digest(rows)}\n")
print(len(few), len(chosen))
