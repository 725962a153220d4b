"""datatrove: stages 1 to 3 of its MinHash pipeline (signatures, buckets, clusters) as in its example, on one machine.

It gives clusters, connected by equal buckets and not verified; all pairs within a cluster count as its pairs. A
document is given as text whose words are the features, with shingles of one word and nothing normalised, so that its
shingles are twinsplit's. Stage 4, which writes the texts that are kept, is left out.
"""

import struct
import tempfile
from collections import defaultdict

from datatrove.data import Document
from datatrove.executor.local import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.utils.hashing import HashConfig
from datatrove.utils.text import TextNormConfig
from datatrove.utils.word_tokenizers import WordTokenizer

import sets

HASHES = 14 * 8  # of its example


class Features(WordTokenizer):
    """Cuts at spaces; the tokenizers that it has for languages would cost it minutes."""

    def word_tokenize(self, text):
        return text.split(" ")

    def sent_tokenize(self, text):
        raise NotImplementedError("MinHash asks for words only")

    span_tokenize = sent_tokenize


class Reader:
    """The documents of one task: every world_size-th."""

    def __init__(self, path):
        self.path = path

    def __call__(self, _data, rank, world_size):
        for number, (name, features) in enumerate(sets.lines(self.path)):
            if number % world_size == rank:
                yield Document(text=features, id=name)


def clusters(path, folder, tasks):
    ids = [name for name, _ in sets.lines(path)]
    members = defaultdict(list)
    for rank in range(tasks):
        try:
            with open(f"{folder}/{rank:06d}.clusters", "rb") as records:
                for document, cluster in struct.iter_unpack("<2I", records.read()):
                    members[cluster].append(ids[document * tasks + rank])
        except FileNotFoundError:  # no document of this task is in a cluster
            pass
    return members.values()


def main():
    path, pairs, tau, threads = sets.arguments()
    count, rows = sets.bands(HASHES, tau)
    plain = TextNormConfig(lowercase=False, norm_whitespace=False, remove_punctuation=False,
                           norm_unicode_diacritics=False, norm_numbers=False)
    config = MinhashConfig(n_grams=1, num_buckets=count, hashes_per_bucket=rows, norm_config=plain,
                           hash_config=HashConfig(precision=64))
    with tempfile.TemporaryDirectory() as work:
        stages = [
            (threads, [Reader(path), MinhashDedupSignature(f"{work}/signatures", config, Features())]),
            (count, [MinhashDedupBuckets(f"{work}/signatures", f"{work}/buckets", config=config)]),
            (1, [MinhashDedupCluster(f"{work}/buckets", f"{work}/clusters", config, save_cluster_id=True)]),
        ]
        for number, (tasks, pipeline) in enumerate(stages):
            # fork spares its workers the imports.
            LocalPipelineExecutor(pipeline, tasks=tasks, workers=min(tasks, threads), logging_dir=f"{work}/log{number}",
                                  start_method="fork").run()
        sets.write(pairs, clusters(path, f"{work}/clusters", threads))
    print(f"{HASHES} hashes of 64 bits, {count} buckets of {rows}, clusters, not verified; {threads} processes")


if __name__ == "__main__":
    main()
