#!/usr/bin/env python3
"""Draws docs/performance/corpus-shape.svg from corpus-shape.tsv, what `cargo bench --bench corpus_shape` printed.

    benches/corpus_plot.py            writes the picture, and the table of docs/corpus.md to standard output
"""
import csv
import math
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "performance"
MEASURES = [("df2", "sum of df² a document"), ("candidates", "candidates a document"), ("pairs", "pairs a document"),
            ("component", "largest component"), ("equal", "largest equal group")]
COLOURS = ["#555555", "#d95f02", "#1b6ca8"]
WIDTH, HEIGHT, LEFT, TOP = 236, 210, 46, 60


def rows():
    with open(FOLDER / "corpus-shape.tsv", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def panel(all_rows, measure, kind, files, x0, y0, title):
    values = {file: [(float(r["tau"]), float(r[measure])) for r in all_rows
                     if r["file"] == file and r["features"] == kind] for file in files}
    flat = [value for series in values.values() for _, value in series if value > 0]
    low, high = math.floor(math.log10(min(flat))), math.ceil(math.log10(max(flat)) + 1e-9)
    high = max(high, low + 1)
    left, right, top, bottom = x0 + LEFT, x0 + WIDTH - 8, y0 + 22, y0 + HEIGHT - 26
    x = lambda tau: left + (tau - 0.3) / 0.6 * (right - left)
    y = lambda value: bottom - (math.log10(value) - low) / (high - low) * (bottom - top)
    out = [f'<text x="{left}" y="{y0 + 12}" class="t">{title}</text>']
    for power in range(low, high + 1):
        at = y(10.0 ** power)
        label = f"{10 ** power:,}" if power >= 0 else f"{10.0 ** power:g}"
        out.append(f'<line x1="{left}" y1="{at:.1f}" x2="{right}" y2="{at:.1f}" class="g"/>')
        out.append(f'<text x="{left - 4}" y="{at + 3:.1f}" class="a" text-anchor="end">{label}</text>')
    for tau in (0.3, 0.5, 0.7, 0.9):
        out.append(f'<text x="{x(tau):.1f}" y="{bottom + 14}" class="a" text-anchor="middle">{tau}</text>')
    for file, colour in zip(files, COLOURS):
        points = " ".join(f"{x(tau):.1f},{y(value):.1f}" for tau, value in values[file] if value > 0)
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    return out


def main():
    all_rows = rows()
    files = list(dict.fromkeys(r["file"] for r in all_rows))
    kinds = list(dict.fromkeys(r["features"] for r in all_rows))
    width, height = WIDTH * len(MEASURES) + 16, TOP + (HEIGHT + 12) * len(kinds)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
           '<title>How hard generated corpora are to join, beside real text, by tau</title>',
           '<style>text{font-family:sans-serif;fill:#222}.t{font-size:12px;font-weight:bold}.a{font-size:10px}'
           '.g{stroke:#ddd}</style>', f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for number, (file, colour) in enumerate(zip(files, COLOURS)):
        at = LEFT + number * 330
        out.append(f'<line x1="{at}" y1="22" x2="{at + 24}" y2="22" stroke="{colour}" stroke-width="3"/>')
        out.append(f'<text x="{at + 30}" y="26" class="t">{file}</text>')
    for row, kind in enumerate(kinds):
        for column, (measure, title) in enumerate(MEASURES):
            y0 = TOP + row * (HEIGHT + 12)
            out += panel(all_rows, measure, kind, files, column * WIDTH, y0, f"{title}, {kind}")
    out.append("</svg>")
    (FOLDER / "corpus-shape.svg").write_text("\n".join(out) + "\n", encoding="utf-8")
    print("| corpus | features | tau | " + " | ".join(title for _, title in MEASURES) + " |")
    print("|---|---|---|" + "---|" * len(MEASURES))
    for r in all_rows:
        cells = " | ".join(f"{float(r[m]):,.{0 if m in ('component', 'equal') else 3 if m != 'df2' else 0}f}"
                           for m, _ in MEASURES)
        print(f"| {r['file']} | {r['features']} | {r['tau']} | {cells} |")
    easier = [(r["file"], r["features"], r["tau"], m) for r in all_rows for m, _ in MEASURES
              for real in all_rows if real["file"] == files[0] and real["features"] == r["features"]
              and real["tau"] == r["tau"] and float(r[m]) < float(real[m])]
    print("\nBelow the real text: " + (", ".join(map(str, easier)) if easier else "nothing."))


if __name__ == "__main__":
    main()
