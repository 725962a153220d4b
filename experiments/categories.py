"""What the categories of clough-stevenson say beside the rule of truth.py.

Ninety-five short answers to five questions were written with a page of Wikipedia at hand: cut from it, lightly or heavily revised, or
without it (clough2011). An answer of the first three kinds is a copy of its page to those who made the set, however little
of the page it takes.
"""

import corpora

KINDS = ["cut", "light", "heavy", "non"]


def found_by(joined, passed, taus, best, numbers):
    """Rows of one IDF range: of each category how many answers reach their source at `best`, the best tau by the rule, and at the tau
    which tells the first three kinds best from the last. `passed`: how many of `taus` a pair reaches."""
    keys, *sizes = joined
    reached = dict(zip(map(int, keys), map(int, passed(*sizes))))
    counts = {kind: [] for kind in KINDS}
    for answer, (task, kind) in corpora.categories().items():
        if kind in counts:
            pair = sorted((numbers[answer], numbers[f"orig_task{task}.txt"]))
            counts[kind].append(reached.get(pair[0] * len(numbers) + pair[1], 0))

    def reaching(kind, at):
        return sum(count > at for count in counts[kind])

    def f1(at):
        true, wrong = sum(reaching(kind, at) for kind in KINDS[:3]), reaching("non", at)
        return 2 * true / (true + wrong + sum(len(counts[kind]) for kind in KINDS[:3]))

    own = max(range(len(taus)), key=lambda at: (f1(at), -at))
    rows = []
    for kind in KINDS:
        row = [kind, len(counts[kind])]
        for at in (taus.index(best), own):
            row += [f"{float(taus[at]):.2f}", reaching(kind, at), f"{reaching(kind, at) / len(counts[kind]):.4f}"]
        rows.append([*row, f"{f1(own):.4f}"])
    return rows
