#!/usr/bin/env python3
"""Draws docs/performance/scale.svg from scale.tsv, what benches/scale.py wrote.

    benches/scale_plot.py            writes the picture, and the tables of docs/corpus.md to standard output
"""
import csv
import math
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "performance"
COLOURS = ["#1b6ca8", "#d95f02", "#2e8b57"]
MEMORY = "8192"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 420, 64, 24, 56, 44
DOCUMENTS, SECONDS = (150_000, 2_200_000), (5, 20_000)
# Paper 000, section 5.3 and its figure 9a: the two runs that its text gives in figures. Ten nodes of eight cores.
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
           '<title>Seconds of local Doc-Split by number of documents, beside the paper</title>',
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
        at = LEFT + number * 230
        out.append(f'<line x1="{at}" y1="22" x2="{at + 24}" y2="22" stroke="{colour}" stroke-width="3"/>')
        out.append(f'<text x="{at + 30}" y="26" class="t">{name}</text>')
        places = [place(documents, seconds) for documents, seconds in points]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places]
    return out + ["</svg>"]


def main():
    all_rows = rows()
    series = {}
    print("| documents | IDF | tau | seconds | processor seconds | times those of half as many | peak memory, MB | "
          "pairs of sets | clusters | documents dropped |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    processor = {}
    for r in sorted((r for r in all_rows if r["memory"] == MEMORY), key=lambda r: int(r["documents"])):
        documents, setting = int(r["documents"]), f"IDF [{r['idf']}], tau {r['tau']}"
        series.setdefault(setting, []).append((documents, float(r["seconds"])))
        processor[setting, documents] = float(r["cpu_seconds"])
        before = processor.get((setting, documents // 2))
        times = "" if before is None else f"{float(r['cpu_seconds']) / before:.2f}"
        print(f"| {documents:,} | [{r['idf']}] | {r['tau']} | {float(r['seconds']):.0f} | {float(r['cpu_seconds']):.0f} | "
              f"{times} | {int(r['peak_memory']) >> 20:,} | {int(r['joined_pairs']):,} | {int(r['clusters']):,} | "
              f"{int(r['dropped']):,} |")
    print("\n| --memory, MB | IDF | tau | seconds | peak memory, MB | clusters |\n|---|---|---|---|---|---|")
    largest = max(int(r["documents"]) for r in all_rows)
    for r in sorted(all_rows, key=lambda r: (r["idf"], int(r["memory"]))):
        if int(r["documents"]) == largest:
            print(f"| {int(r['memory']):,} | [{r['idf']}] | {r['tau']} | {float(r['seconds']):.1f} | "
                  f"{int(r['peak_memory']) >> 20:,} | {int(r['clusters']):,} |")
    (FOLDER / "scale.svg").write_text("\n".join(picture(series)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
