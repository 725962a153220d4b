"""Plots, all in one style: SVG and PNG, colours that people with any colour vision can tell apart (okabe2008)."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot
from matplotlib.ticker import FuncFormatter, LogFormatter

from result import RESULTS

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
DASHES = ["-", "--", ":", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1))]
HATCHES = [None, "//"]
matplotlib.rcParams.update({
    "svg.hashsalt": "twinsplit", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.3,
})


def written(figure, name):
    RESULTS.mkdir(parents=True, exist_ok=True)
    # Without the date the same figures make the same file.
    figure.savefig(RESULTS / f"{name}.svg", metadata={"Date": None}, transparent=True)
    figure.savefig(RESULTS / f"{name}.png", dpi=144, metadata={"Software": None})
    pyplot.close(figure)


def curves(name, title, lines, marks):
    """Precision, recall and F1 against tau, side by side. `lines`: {IDF range: [(tau, precision, recall, f1)]}; `marks`:
    {IDF range: (tau, F1)} of the paper."""
    figure, axes = pyplot.subplots(1, 3, figsize=(10, 3.4), sharey=True, layout="constrained")
    for column, what in enumerate(["precision", "recall", "F1"]):
        axis = axes[column]
        for number, (idf, points) in enumerate(lines.items()):
            taus = [point[0] for point in points]
            axis.plot(taus, [point[column + 1] for point in points], color=COLOURS[number], linestyle=DASHES[number],
                      label=f"IDF [{idf.replace(',', ', ')}]")
            if what == "F1" and idf in marks:
                axis.plot(*marks[idf], "x", color=COLOURS[number], markersize=7, label=None)
        axis.set(xlabel="tau (Jaccard)", title=what, xlim=(0, 1), ylim=(0, 1.02))
    axes[0].set_ylabel("share of pairs")
    axes[2].legend(loc="lower center", fontsize=8, title="x: the paper's best", title_fontsize=8)
    figure.suptitle(title)
    written(figure, name)


def panels(name, title, lines_of, ylabel="F1", xlabel="tau", xlim=(0, 1), top=1.02, level=None, log=False):
    """Lines, a panel beside the other; F1 against tau if it is not said otherwise. `lines_of`: {title: {label: [(x, y)]}}; `level` is a
    value that gets a line, `top` the largest; without `xlim` each panel has its own; `log` is for both axes. A label looks alike in all panels."""
    figure, axes = pyplot.subplots(1, len(lines_of), figsize=(9, 3.8), sharey=True, layout="constrained", squeeze=False)
    axes = axes[0]
    numbers, drawn = {}, {}
    for axis, (what, lines) in zip(axes, lines_of.items()):
        for label, points in lines.items():
            number = numbers.setdefault(label, len(numbers))
            drawn[label], = axis.plot(*zip(*points), marker="o" if level or log else None, markersize=3, color=COLOURS[number], linestyle=DASHES[number], label=label)
        if level:
            axis.axhline(level, color="#888", linewidth=0.8)
        scale = {"xscale": "log", "yscale": "log"} if log else {"xlim": xlim, "ylim": (0, top)}
        axis.set(xlabel=xlabel, title=what, **scale)
        for own in (axis.xaxis, axis.yaxis) if log else ():
            own.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
            own.set_minor_formatter(LogFormatter())
    axes[0].set_ylabel(ylabel)
    axes[-1].legend(handles=list(drawn.values()), fontsize=8)
    figure.suptitle(title)
    written(figure, name)


def shares(name, title, lines):
    """Recall against a share of bytes. `lines`: {label: [(share, recall)]}."""
    figure, axis = pyplot.subplots(figsize=(6, 4), layout="constrained")
    for number, (label, points) in enumerate(lines.items()):
        axis.plot(*zip(*points), marker="o", markersize=3, color=COLOURS[number], linestyle=DASHES[number], label=label)
    axis.set(xlabel="bytes shuffled, share of the exact run", ylabel="recall (share of exact pairs)", xlim=(0, 1.02), ylim=(0, 1.02), title=title)
    axis.legend(fontsize=8)
    written(figure, name)


def distances(name, title, lengths, mark):
    """Precision and recall against distance, a panel for each length. `lengths`: {characters: {weights: [(distance, precision, recall,
    f1)]}}; `mark` is a distance that gets a line."""
    figure, axes = pyplot.subplots(1, len(lengths), figsize=(10, 3.6), sharey=True, layout="constrained")
    for axis, (length, lines) in zip(axes, lengths.items()):
        for number, (weights, points) in enumerate(lines.items()):
            at = [point[0] for point in points]
            axis.plot(at, [point[2] for point in points], color=COLOURS[number], label=f"{weights}: recall")
            axis.plot(at, [point[1] for point in points], color=COLOURS[number], linestyle="--", label=f"{weights}: precision")
        axis.axvline(mark, color="#888888", linewidth=0.8)
        what = "whole texts" if length == "whole" else f"first {length} characters"
        axis.set(xlabel="distance (bits of 64)", title=what, xlim=(0, 16), ylim=(0, 1.02))
    axes[0].set_ylabel("share of pairs")
    axes[-1].legend(loc="lower right", fontsize=6)
    figure.suptitle(title)
    written(figure, name)


def bars(name, title, what, lines, top=1.02, log=False):
    """A group of bars for each place. `lines`: {label: [(place, value)]}, the same places for each label; `top` is the largest value."""
    figure, axis = pyplot.subplots(figsize=(8, 3.6), layout="constrained")
    width = 0.8 / len(lines)
    for number, (label, points) in enumerate(lines.items()):
        at = [place - 0.4 + (number + 0.5) * width for place in range(len(points))]
        hatch = HATCHES[number // len(COLOURS)]
        axis.bar(at, [value for _, value in points], width, color=COLOURS[number % len(COLOURS)], hatch=hatch, label=label)
        axis.set_xticks(range(len(points)), [place for place, _ in points])
    axis.set(ylabel=what, title=title, **{"yscale": "log"} if log else {"ylim": (0, top)})
    figure.legend(fontsize=8, loc="outside lower center", ncols=min(5, len(lines)))
    written(figure, name)
