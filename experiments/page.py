"""experiments/results/index.html: all tables and plots on one page that needs nothing else."""

import csv
import html
import json
import re

from result import RESULTS

STYLE = """\
:root { color-scheme: light dark; --text: #1a1a1a; --back: #fff; --line: #ccc; --quiet: #555; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e4e4; --back: #161616; --line: #444; --quiet: #aaa; }
  figure svg { filter: invert(1) hue-rotate(180deg); }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 68rem; margin: 0 auto; padding: 1rem; }
figure { margin: 1rem 0; } figure svg { width: 100%; height: auto; }
.table { overflow-x: auto; } table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
td.number { text-align: right; } .made { color: var(--quiet); font-size: .85rem; overflow-wrap: anywhere; }
@media print { body { max-width: none; } details { display: none; } section { break-inside: avoid-page; } }
"""
# Tables with more rows than this are folded.
LONG = 40


def cell(value):
    number = re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", value)
    return f'<td class="number">{value}</td>' if number else f"<td>{html.escape(value)}</td>"


def table(name):
    with open(RESULTS / f"{name}.csv", newline="") as lines:
        columns, *rows = csv.reader(lines)
    head = "".join(f"<th>{html.escape(column.replace('_', ' '))}</th>" for column in columns)
    body = "\n".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    text = f'<div class="table"><table id="{name}"><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'
    return text if len(rows) <= LONG else f"<details><summary>{len(rows):,} rows</summary>{text}</details>"


def plot(name):
    """An SVG that stands in the page: its ids are its own, for other plots have the same."""
    text = (RESULTS / f"{name}.svg").read_text()
    text = text[text.index("<svg"):]
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(xlink:href="#|url\(#)', rf"\1{name}-", text)
    return f'<figure role="img" aria-label="{html.escape(name)}">{text}</figure>'


def section(about):
    made = {key: about[key] for key in ("commit", "machine", "seed", "command", "date")}
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in about["notes"])
    plots = "\n".join(map(plot, about["plots"]))
    words = " · ".join(f"{key}: {value}" for key, value in made.items())
    return f"""<section><h2 id="about-{about['experiment']}">{html.escape(about['about'])}</h2>
{plots}
{table(about['experiment'])}
{notes}<p class="made">{html.escape(words)}</p></section>"""


def write():
    """The page, of whatever results are there."""
    found = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"), key=lambda path: path.stem)]
    links = "\n".join(f'<li><a href="#about-{about["experiment"]}">{html.escape(about["about"])}</a></li>' for about in found)
    sections = "\n".join(map(section, found))
    page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>twinsplit: experiments</title><style>{STYLE}</style></head>
<body><h1>twinsplit: the papers' experiments, measured</h1><ul>{links}</ul>
{sections}</body></html>
"""
    half = RESULTS / "index.html.part"
    half.write_text(page)
    half.rename(RESULTS / "index.html")


if __name__ == "__main__":
    write()
