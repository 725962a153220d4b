"""One corpus at one threshold: what each program costs and finds."""

import json
import os
import statistics
import subprocess
import sys

from measure import measured
from peers import HERE, PEERS, PYTHON

FEATURES = "words:5"
THREADS = 2
PEAK = 1_000_000_000  # bytes
OURS, SETS = "twinsplit", "tokenize"  # the programs that are no peers
MINHASH, RECALL = "twinsplit-minhash", "0.99"  # its own MinHash, and what is asked of it
# (corpus, tau, package): how many times as fast twinsplit, from the text, has to be as the peer from the sets.
FASTER = {("reuters21578", "0.5", "SetSimilaritySearch"): 10}


def environment(folder):
    """This one's, without settings that change what twinsplit does; for peers, how many threads and a folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TWINSPLIT_")}
    threads = {"OMP_NUM_THREADS": str(THREADS), "RAYON_NUM_THREADS": str(THREADS)}
    return kept | threads | {"PYTHONHASHSEED": "0", "TMPDIR": str(folder)}


def own_peak(out):
    """The largest peak that twinsplit reports of a step, in bytes: it starts the kernel's count anew for each."""
    steps = json.loads((out / "run.json").read_text())["counters"].values()
    return max(step.get("peak_memory", 0) for step in steps)


def pairs_alone(out, target):
    with open(out / "pairs.tsv", "rb") as source, open(target, "wb") as ids:
        ids.writelines(b"\t".join(line.split(b"\t", 2)[:2]) + b"\n" for line in source)


class Case:
    """All programs by turns, then who found what."""

    def __init__(self, options, folder, documents, sets, tau, refused):
        self.folder, self.sets, self.tau = folder, sets, tau
        self.name = f"{folder.name} at {tau}"
        self.parameters = {}
        self.peers = [peer for peer in PEERS if peer.package in options.peers]
        self.costs = {OURS: [], MINHASH: [], SETS: []} | {peer: [] for peer in self.peers}
        self.notes = dict(refused)
        out, here = folder / "out", environment(folder)
        ours = [options.binaries / "twinsplit", "run", "doc-split", "--input", documents, "--features", FEATURES,
                "--tau", tau, "--threads", THREADS, "--output", out, "--overwrite"]
        by_bands = [options.binaries / "twinsplit", "run", "minhash", "--recall", RECALL, *ours[3:-2], folder / "minhash",
                    "--overwrite"]
        cut = [options.binaries / "tokenize", "--features", FEATURES, "--input", documents]
        for number in range(options.rounds):
            for name, command in ((OURS, ours), (MINHASH, by_bands), (SETS, cut)):
                cost = measured(command, folder / f"{name}.log", here)
                if cost.failure:
                    sys.exit(f"bench: {name} {cost.failure}")
                self.costs[name].append(cost)
            for name, answer in ((OURS, out), (MINHASH, folder / "minhash")):
                cost = self.costs[name][-1]
                self.costs[name][-1] = cost._replace(peak=max(cost.peak, own_peak(answer)))
            for peer in self.peers:
                if peer not in self.notes:
                    self.run(peer, options.peer_timeout, here)
            say = ", ".join(f"{program} {costs[-1].wall:.2f} s" for program, costs in self.costs.items()
                            if program not in self.notes)
            print(f"bench: {self.name}, round {number + 1}: {say}", file=sys.stderr)
        pairs_alone(out, self.pairs(OURS))
        pairs_alone(folder / "minhash", self.pairs(MINHASH))
        chosen = json.loads((folder / "minhash" / "run.json").read_text())["parameters"]
        self.parameters[MINHASH] = f"recall {RECALL}: {chosen['bands']} bands of {chosen['rows']}; {THREADS} threads"
        self.score()

    def pairs(self, program):
        return self.folder / f"{program}.pairs"

    def run(self, peer, limit, here):
        log = self.folder / f"{peer}.log"
        command = [PYTHON, peer.adapter, self.sets, self.pairs(peer), self.tau, THREADS]
        cost = measured(command, log, here, limit, peer.tree)
        if cost.failure:
            self.notes[peer] = cost.failure
            self.costs[peer] = [cost]
        else:
            self.costs[peer].append(cost)
            self.parameters[peer] = log.read_text(errors="replace").splitlines()[-1]

    def score(self):
        ended = [OURS, MINHASH, *(peer for peer in self.peers if peer not in self.notes)]
        command = [sys.executable, HERE / "score.py", self.sets, self.tau, *map(self.pairs, ended)]
        said = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        self.exact = said["exact"]
        self.scores = dict(zip(ended, said["scores"]))
        if not self.exact:
            sys.exit(f"bench: {self.name} has no pair, so there is nothing to compare")

    def seconds(self, program):
        return statistics.median(cost.wall for cost in self.costs[program])

    def times(self, peer):
        """How many times as long as twinsplit's its way from the text is: the sets, then the peer."""
        return (self.seconds(SETS) + self.seconds(peer)) / self.seconds(OURS)

    def row(self, program):
        """The cells from the seconds on."""
        if program in self.notes:
            return f"{self.notes[program]} | – | – | – | – | – | –"
        wall, processor, peak, _ = zip(*self.costs[program])
        cost = f"{self.seconds(program):.2f} ({min(wall):.2f} to {max(wall):.2f})"
        times = f"{self.times(program):.1f}" if program in self.peers else "–"
        cost += f" | {times} | {statistics.median(processor):.2f} | {max(peak) / 1e6:,.0f}"
        if program == SETS:
            return f"{cost} | – | – | –"
        pairs, hits = self.scores[program]
        return f"{cost} | {pairs:,} | {share(hits, self.exact)} | {share(hits, pairs)}"

    def wrong(self):
        pairs, hits = self.scores[OURS]
        if hits < self.exact:
            yield f"{self.name}: twinsplit misses {self.exact - hits:,} pairs"
        if hits < pairs:
            yield f"{self.name}: {pairs - hits:,} pairs of twinsplit are below the threshold"
        pairs, hits = self.scores[MINHASH]
        if hits < pairs or hits < float(RECALL) * self.exact:
            yield f"{self.name}: of {self.exact:,} pairs twinsplit minhash finds {hits:,}, and {pairs - hits:,} others"
        for peer in [peer for peer in self.peers if peer in self.scores]:
            if self.times(peer) <= 1:
                yield f"{self.name}: {peer} with the time for its sets takes {self.times(peer):.2f} of ours"
            wanted = FASTER.get((self.folder.name, self.tau, peer.package), 0)
            if self.seconds(peer) < wanted * self.seconds(OURS):
                times = self.seconds(peer) / self.seconds(OURS)
                yield f"{self.name}: {times:.1f} times as fast as {peer} from its sets, wanted {wanted}"
        peak = max(cost.peak for cost in self.costs[OURS])
        if peak >= PEAK:
            yield f"{self.name}: peak of {peak / 1e6:,.0f} MB, wanted under {PEAK / 1e6:,.0f}"


def share(part, whole):
    """Four decimals, and 1 only if it is 1."""
    return "–" if not whole else f"{part * 10_000 // whole / 10_000:.4f}"
