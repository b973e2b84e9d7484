#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_figures.py SOURCE: prints each line or phrase that a page should have by its CSV file, and has not."""

import csv
import math
import statistics
import sys
from decimal import Decimal
from pathlib import Path

SOURCE = Path(sys.argv[1])


def rows(path, **given):
    with open(SOURCE / path, encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if all(row[key] == value for key, value in given.items())]


def short(value):
    """Two digits."""
    return format(Decimal(f"{value:.2g}"), "f")


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def span(values):
    return f"{min(values):.2f} to {max(values):.2f}"


def scale():
    for pattern, ranks in (("cube", 4096), ("cube", 16384), ("records", 4096), ("random", 1024)):
        for servers in ("1", "16"):
            both = rows("bench/results/scale.csv", pattern=pattern, ranks=str(ranks), ranks_per_node="32", servers=servers,
                        phase="write")
            cells = (", ".join(form(float(row[key]) / over) for row in both) for key, over, form in (
                ("seconds", 1, short), ("messages_between_nodes", ranks, short), ("bytes_between_nodes", 1e6, short),
                ("most_posted", 1, "{:,.0f}".format)))
            yield f"| {pattern}, {ranks:,} | {servers} | {' | '.join(cells)} |"
    for ranks in (4096, 16384):
        first = rows("bench/results/scale.csv", pattern="cube", ranks=str(ranks), ranks_per_node="32", servers="1",
                     exchange="tatp", phase="first write")[0]
        yield f"{first['most_sent']} messages with {ranks:,} ranks"


def calibration():
    cases = rows("bench/results/calibration.csv")
    yield f"seconds were {span([float(row['ratio']) for row in cases])} of the measured ones"
    limited = [float(row["ratio"]) for row in cases if float(row["link_s"]) > float(row["measured_s"]) / 2]
    yield f"{span(limited)} where the busiest link needed more than half of the time"
    extra = [100 * float(row["bytes_ratio"]) - 100 for row in cases]
    yield f"{min(extra):.1f} to {max(extra):.0f} % of headers"


def reorder():
    for name, mode in (("old order", "0"), ("by neighbours", "1"), ("by a record of the writes", "rec")):
        c, f = (rows("bench/results/reorder.csv", ranks="64", mapped="slot", reorder=mode, order=order)[0] for order in "CF")
        yield f"| {name} | " + " | ".join(f"{int(n) / 1e6:.1f}" for n in (c["halo_bytes"], c["write_bytes"], f["write_bytes"])) + " |"


def saved(kind, ranks, placement, strategy):
    for machine in ("inspur", "bluelight"):
        of = {row["strategy"]: float(row["hop_bytes"]) for row in rows(
            "doc/evaluation/paper.csv", machine=machine, kind=kind, ranks=ranks, per_node="1", placement=placement)}
        yield 100 - 100 * of[strategy] / of["otp"]


def evaluation():
    largest = (("cube", "512"), ("btio", "625"))
    for placement, text in (("byslot", "{:.0f} to {:.0f} % by slot"), ("bynode", "{:.0f} to {:.0f} % by node")):
        parts = [part for kind in largest for part in saved(*kind, placement, "fitted")]
        yield text.format(min(parts), max(parts))
    parts = sorted(part for kind in largest for placement in ("byslot", "bynode") for part in saved(*kind, placement, "tatp"))
    yield f"TATP saves {parts[-2]:.1f} % of OTP's hop-bytes at most, but {parts[-1]:.0f} %"
    parts = [part for kind in (("lattice", "256"), ("dump", "512")) for part in saved(*kind, "byslot", "fitted")]
    yield f"Fitted domains save {min(parts):.0f} to {max(parts):.0f} % of OTP's hop-bytes by slot"
    measured = [row for row in rows("doc/evaluation/measured.csv") if row["per_node"]]
    uplinks = [abs(float(row["uplink_bytes"]) / float(row["predicted_uplink_bytes"]) - 1) for row in measured
               if float(row["predicted_uplink_bytes"]) > 2 << 20]
    yield f"differ by {100 * max(uplinks):.1f} % at most"
    yield span([float(row["uplink_bytes"]) / float(row["bytes"]) for row in measured if row["case"].startswith("btio")
                and (row["placement"], row["strategy"], row["operation"]) == ("dla", "fitted", "write")]) + " of BT-IO's bytes"


def applications():
    for ways in zip(*(rows("bench/results/applications.csv", way=way, mapping="slot") for way in ("default", "romio", "tatp"))):
        over = [", ".join(f"{float(ways[2][key]) / float(stock[key]):.2f}" for key in ("write_seconds", "read_seconds") if stock[key]) or "-"
                for stock in ways[:2]]
        yield f"| {' | '.join(over)} | {', '.join(format(int(way['uplink_bytes']) / 1e6, '.1f') for way in ways)} |"


def parts():
    of = {(row["placement"], row["strategy"], row["case"], row["operation"]): row
          for row in rows("doc/evaluation/measured.csv") if row["per_node"] in ("", "1")}

    def over(placement, strategy, other, figure):
        return mean([float(row[figure]) / float(of[placement, other, case, operation][figure])
                     for (where, what, case, operation), row in of.items() if (where, what) == (placement, strategy)])

    for strategy, other, figure in (("otp", "romio", "median_s"), ("otp", "vulcan", "median_s"), ("tatp", "otp", "median_s"),
                                    ("tatp", "otp", "node_bytes"), ("fitted", "otp", "median_s"), ("fitted", "otp", "node_bytes")):
        yield "| " + " | ".join(f"{over(placement, strategy, other, figure):.2f}" for placement in ("byslot", "dla", "bynode")) + " |"


def contests():
    for mapping, name in (("slot", "by slot"), ("node", "by node"), ("dla", "placed")):
        cases = rows("bench/results/contest.csv", mapping=mapping)
        over = (f"{mean([float(row[f'over_{other}']) for row in cases]):.2f}" for other in ("vulcan", "romio", "hand"))
        yield f"| {name} | {len(cases) // 2} | {' | '.join(over)} |"
    for mapping, name in (("slot", "by slot"), ("dla", "placed")):
        programs = rows("bench/results/programs.csv", mapping=mapping)
        over = (f"{mean([float(row[f'over_{other}']) for row in programs]):.2f}" for other in ("vulcan", "romio", "otp"))
        yield f"| {name} | {len(programs) // 2} | {' | '.join(over)} |"
    slower = [row for row in rows("bench/results/programs.csv", mapping="slot") if float(row["over_romio"]) >= 1]
    yield f"ROMIO is faster in {('no call', 'one call', 'two calls')[len(slower)]}"
    yield " and ".join(f"`{row['pattern']}` ({row['over_romio']})" for row in slower)


def programs():
    slot = rows("bench/results/programs.csv", mapping="slot")
    placed = rows("bench/results/programs.csv", mapping="dla")
    pairs = list(zip(slot, placed))
    kept = {one["pattern"] for one, other in pairs if int(other["node_bytes"]) < 0.8 * int(one["node_bytes"])}
    left = [int(other["node_bytes"]) / int(one["node_bytes"]) for one, other in pairs if one["pattern"] in kept]
    yield f"the engine takes {mean([float(row['over_romio']) / float(row['over_otp']) for row in slot]):.2f} of ROMIO's time"
    yield f"assignment {mean([float(row['over_otp']) for row in slot]):.2f} of that of `otp`"
    yield f"in {('none', 'one')[len(kept)]} of them (`{''.join(kept)}`: {mean(left):.2f} are left)"
    yield f"and takes {mean([float(other['median_ms']) / float(one['median_ms']) for one, other in pairs]):.2f} of the time"


def gio():
    of = {(row["program"], row["way"], row["operation"]): float(row["median_ms"]) for row in rows("bench/results/gio.csv")}
    for program in dict.fromkeys(program for program, _, _ in of):
        cells = [", ".join(f"{of[program, 'tatp', operation] / of[program, other, operation]:.2f}" for operation in ("write", "read")
                           if (program, other, operation) in of) for other in ("gio", "romio")]
        yield f"| {program.replace('_', ' ') if program.startswith('E3SM') else program} | {' | '.join(cells)} |"


def corpus():
    by = {(row["case"], row["method"]): float(row["bytes"]) for row in rows("bench/results/corpus.csv")}
    ratios = [1 if placed == by[case, "byslot"] else placed / by[case, "byslot"]
              for (case, method), placed in by.items() if method == "auto"]
    yield (f"Of {len(ratios)} access patterns, {sum(r <= 0.5 for r in ratios)} then send at most half of the bytes between nodes"
           f" that they send by slot; the median is {statistics.median(ratios):.2f}, and {ratios.count(1)} gain nothing")


def placement():
    for pattern in ("cube", "halo", "shuffled mesh"):
        cells = (f"{short(float(row['seconds']))} s, {float(row['cut_over_before']):.3f}"
                 for row in rows("bench/results/placement.csv", pattern=pattern))
        yield f"| {pattern} | {' | '.join(cells)} |"


def demo():
    of = {(row["program"], row["way"]): row for row in rows("bench/results/demo.csv")}
    for way in dict.fromkeys(way for _, way in of):
        both = [of[program, way] for program in ("array", "field") if (program, way) in of]
        yield " | ".join(f"{short(float(row['write_seconds']))}, {short(float(row['read_seconds']))} s |"
                         f" {float(row['uplink_bytes']) / 1e6:.1f} MB" for row in both)


def lap():
    cases = [(row["kind"], float(row["seconds"]) / float(row["scipy_seconds"])) for row in rows("bench/results/lap.csv")]
    for kind in ("usual", "heavy", "ordered"):
        yield f"| {span([ratio for of, ratio in cases if of == kind])} |"


def auction():
    cases = rows("bench/results/auction.csv")
    trees = [row for row in cases if " x " in row["network"] and "torus" not in row["network"]]

    def more(chosen):
        return 100 * max(float(row["hop_bytes"]) / float(row["before_hop_bytes"]) - 1 for row in chosen if row["before_hop_bytes"])

    yield f"up to {more([row for row in trees if row['units'] == '16384']):.1f} % more with 16,384 units"
    yield f"{more([row for row in trees if row['units'] == '1048576']):.2f} % with a million"
    slow = [float(row["seconds"]) / float(row["before_seconds"]) for row in trees if float(row["before_seconds"] or 0) > 5]
    yield f"in {max(slow):.2f} of the time"
    torus = [row for row in cases if "torus" in row["network"]]
    yield f"up to {1 + more(torus) / 100:.1f} times the hop-bytes"
    yield f"up to {more([row for row in torus if 'random' not in row['pattern']]):.1f} % more elsewhere"
    yield f"{span([float(row['seconds']) for row in trees if row['units'] == '1048576'])} s of one processor"
    flat = sorted(float(row["seconds"]) for row in cases if (row["network"], row["units"]) == ("flat", "1048576"))
    yield f"{flat[0]:.2f} to {flat[-1]:.2f} s without levels"


PAGES = {"README": (demo, corpus), "doc/scale": (scale, calibration), "doc/reorder": (reorder,), "doc/setmatch": (placement,), "doc/benchmarks": (contests, gio), "doc/evaluation": (evaluation, parts, programs), "doc/applications": (applications,), "doc/lap": (lap,), "doc/fitted": (auction,)}
for page, wanted in PAGES.items():
    text = " ".join((SOURCE / f"{page}.md").read_text(encoding="utf-8").split())
    for figures in wanted:
        for phrase in figures():
            if phrase not in text:
                print(f"{page}.md: {phrase}")
