#!/usr/bin/env python3
"""Draws docs/performance/scale.svg from scale.tsv, what benches/scale.py wrote.

    benches/scale_plot.py            writes the picture, and the tables of docs/corpus.md to standard output
"""
import csv
import math
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "performance"
COLOURS = ["#1b6ca8", "#d95f02", "#2e8b57", "#8e44ad"]
NAMES = {"doc-split": "Doc-Split", "term-split": "Term-Split"}
MEMORY = "8192"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 440, 64, 24, 72, 44
DOCUMENTS, SECONDS = (150_000, 2_200_000), (5, 20_000)
# zhang2011, section 5.3 and its figure 9a: the two runs that its text gives in figures. Ten nodes of eight cores.
PAPER = [(1_600_000, 5627.457, "Doc-Split on ten nodes, 5,627 s"),
         (800_000, 4 * 3600, "Term-Split on ten nodes, stopped after 4 hours, disks full")]


def rows():
    with open(FOLDER / "scale.tsv", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def place(documents, seconds):
    share = lambda value, bounds: math.log(value / bounds[0]) / math.log(bounds[1] / bounds[0])
    x = LEFT + share(documents, DOCUMENTS) * (WIDTH - LEFT - RIGHT)
    return x, HEIGHT - BOTTOM - share(seconds, SECONDS) * (HEIGHT - BOTTOM - TOP)


def picture(series):
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
           '<title>Seconds of local runs by number of documents, beside the paper</title>',
           '<style>text{font-family:sans-serif;fill:#222;font-size:11px}.t{font-weight:bold;font-size:12px}'
           '.g{stroke:#ddd}</style>', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    for seconds in (10, 30, 100, 300, 1000, 3000, 10000):
        x, y = place(DOCUMENTS[0], seconds)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" class="g"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{seconds:,} s</text>')
    for documents in (200_000, 400_000, 800_000, 1_600_000):
        x, y = place(documents, SECONDS[0])
        out.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{y:.1f}" class="g"/>')
        out.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{documents:,} documents</text>')
    for documents, seconds, label in PAPER:
        x, y = place(documents, seconds)
        out.append(f'<path d="M{x - 5:.1f},{y - 5:.1f}l10,10m0,-10l-10,10" stroke="#b00" stroke-width="2"/>')
        out.append(f'<text x="{x - 10:.1f}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    for number, ((name, points), colour) in enumerate(zip(series.items(), COLOURS)):
        at, down = LEFT + number % 2 * 330, 22 + number // 2 * 22
        out.append(f'<line x1="{at}" y1="{down}" x2="{at + 24}" y2="{down}" stroke="{colour}" stroke-width="3"/>')
        out.append(f'<text x="{at + 30}" y="{down + 4}" class="t">{name}</text>')
        places = [place(documents, seconds) for documents, seconds in points]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places]
    return out + ["</svg>"]


def table(head, lines):
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for line in lines:
        print(f"| {' | '.join(line)} |")
    print()


def number(row, name, unit=1):
    return f"{int(row[name]) // unit:,}"


def by_size(all_rows, chain, more):
    """Lines of one chain's runs with plenty of memory, each with its growth; `more` makes the last cells."""
    known, lines = {}, []
    for r in sorted((r for r in all_rows if (r["chain"], r["memory"]) == (chain, MEMORY)), key=lambda r: int(r["documents"])):
        key, documents, cpu = (r["idf"], r["tau"]), int(r["documents"]), float(r["cpu_seconds"])
        wall = float(r["seconds"])
        known[key, documents] = wall, cpu
        before = known.get((key, documents // 2))
        times = ["", ""] if before is None else [f"{wall / before[0]:.2f}", f"{cpu / before[1]:.2f}"]
        lines.append([f"{documents:,}", f"[{r['idf']}]", r["tau"], f"{wall:.0f}", times[0], f"{cpu:.0f}", times[1],
                      number(r, "peak_memory", 1 << 20)] + more(r))
    return lines


def main():
    all_rows = rows()
    series = {}
    for r in sorted((r for r in all_rows if r["memory"] == MEMORY), key=lambda r: (r["chain"], int(r["documents"]))):
        name = f"{NAMES[r['chain']]}, IDF [{r['idf']}], tau {r['tau']}"
        series.setdefault(name, []).append((int(r["documents"]), float(r["seconds"])))
    size = ["documents", "IDF", "tau", "seconds", "times those of half as many", "processor seconds", "times", "peak memory, MB"]
    table(size + ["pairs of sets", "clusters", "documents dropped"],
          by_size(all_rows, "doc-split",
                  lambda r: [number(r, name) for name in ("joined_pairs", "clusters", "dropped")]))
    table(size + ["candidates", "their rows, MB", "of these on disk, MB", "clusters"],
          by_size(all_rows, "term-split",
                  lambda r: [number(r, "candidate_pairs"), number(r, "candidate_bytes", 10**6),
                             number(r, "spilled_bytes", 10**6), number(r, "clusters")]))
    largest = max(int(r["documents"]) for r in all_rows)
    table(["--memory, MB", "IDF", "tau", "seconds", "processor seconds", "peak memory, MB", "on disk, MB", "clusters"],
          [[f"{int(r['memory']):,}", f"[{r['idf']}]", r["tau"], f"{float(r['seconds']):.0f}", f"{float(r['cpu_seconds']):.0f}",
            number(r, "peak_memory", 1 << 20), number(r, "spilled_bytes", 10**6), number(r, "clusters")]
           for r in sorted(all_rows, key=lambda r: (r["idf"], int(r["memory"])))
           if (r["chain"], int(r["documents"])) == ("doc-split", largest)])
    (FOLDER / "scale.svg").write_text("\n".join(picture(series)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
