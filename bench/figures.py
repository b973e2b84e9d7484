# SPDX-License-Identifier: BSD-3-Clause
"""Plots that can be read in black and white."""
import io
import os
import re
from dataclasses import dataclass

HATCHES = ("", "//", "", "x", "\\\\", "+", "|", "-")
GREYS = ("0.15", "0.95", "0.75", "0.9", "0.55", "0.85", "0.65", "0.8")
MARKERS = "osD^vPX*"
LINES = ("-", "--", ":", "-.")

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    matplotlib.rcParams.update({"svg.hashsalt": "evaluation", "svg.fonttype": "none", "font.family": "DejaVu Sans", "font.size": 9, "axes.grid": True,
                                "axes.grid.axis": "y", "grid.color": "0.85", "axes.axisbelow": True,
                                "hatch.linewidth": 0.6, "figure.constrained_layout.use": True})
    MISSING = None
except ImportError:
    MISSING = "python3-matplotlib is missing"


@dataclass
class Panel:
    """Values of each series over the same places of the horizontal axis; None is left out."""
    title: str
    places: list
    series: dict
    unit: str       # the label of the vertical axis
    axis: str = ""  # the label of the horizontal one
    log: bool = False  # values of several orders of magnitude


def draw_bars(axes, panel):
    width = 0.8 / len(panel.series)
    for i, (name, values) in enumerate(panel.series.items()):
        at = [place + (i - (len(panel.series) - 1) / 2) * width for place in range(len(panel.places))]
        axes.bar(at, [v or 0 for v in values], width, label=name, color=GREYS[i % 8], hatch=HATCHES[i % 8],
                 edgecolor="black", linewidth=0.6)


def draw_stacks(axes, panel):
    base = [0.0] * len(panel.places)
    for i, (name, values) in enumerate(panel.series.items()):
        axes.bar(range(len(panel.places)), values, 0.6, bottom=base, label=name, color=GREYS[i % 8],
                 hatch=HATCHES[i % 8], edgecolor="black", linewidth=0.6)
        base = [b + v for b, v in zip(base, values)]


def draw_lines(axes, panel):
    for i, (name, values) in enumerate(panel.series.items()):
        axes.plot(range(len(panel.places)), values, label=name, color="black", marker=MARKERS[i % 8],
                  linestyle=LINES[i % 4], markerfacecolor="white" if i % 2 else "black")
    if not panel.log:
        axes.set_ylim(bottom=0)


DRAW = {"bars": draw_bars, "stacks": draw_stacks, "lines": draw_lines}


def plot(folder, name, panels, kind="bars"):
    """Writes NAME.svg, up to four panels in a row, with one legend if there are several series; nothing without matplotlib."""
    if MISSING:
        return
    columns = min(4, len(panels))
    rows = -(-len(panels) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(3.6 * columns + 0.6, 3.2 * rows + 0.2), squeeze=False)
    all_axes = [axes for line in grid for axes in line]
    for axes in all_axes[len(panels):]:
        axes.remove()
    for axes, panel in zip(all_axes, panels):
        DRAW[kind](axes, panel)
        axes.set_xticks(range(len(panel.places)), panel.places)
        axes.set_title(panel.title, fontsize=9)
        axes.set_ylabel(panel.unit)
        if panel.log:
            axes.set_yscale("log")
        axes.set_xlabel(panel.axis)
        if max((len(str(p)) for p in panel.places), default=0) > 9:
            axes.tick_params(axis="x", rotation=35)
    handles, labels = all_axes[0].get_legend_handles_labels()
    if len(labels) > 1:
        figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0), ncol=min(len(labels), 4), fontsize=8)
    save(figure, os.path.join(folder, name + ".svg"))


def save(figure, path):
    """A tenth of a point is as exact as a screen or a printer, in half of the bytes."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")), bbox_inches="tight")
    plt.close(figure)
    short = re.sub(r"-?\d+\.\d\d+", lambda number: f"{float(number[0]):.1f}", text.getvalue())
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"\n\s*", "\n", short))
