# SPDX-License-Identifier: BSD-3-Clause
"""The summary on the terminal: five lines, and the first recommendation of the page."""

import advice
import text
from statistics_file import STAGES


def measured(run, others):
    calls = [text.count(run.count(op), op) for op in ("write", "read") if run.count(op) > 0]
    more = f"; the last of {others + 1} runs" if others > 0 else ""
    noncollective = run.sum("noncollective_bytes")
    if noncollective > 0:
        more = f"; {text.size(noncollective)} more by calls that are not collective" + more
    moved = f"{' and '.join(calls)} of {text.size(run.sum('bytes'))} in all" if calls else "no collective call"
    return (f"{run.program or 'a program'}: {moved}, in "
            f"{text.count(len(run.files), 'file')}, by {text.count(run.ranks, 'rank')} on {text.count(run.nodes, 'node')}{more}")


def time(run):
    total, spent = run.sum("seconds"), {stage: run.sum(stage) for stage in STAGES}
    stages = [f"{advice.STAGE_NAMES[stage]} {text.share(spent[stage], total)}"
              for stage in sorted(STAGES, key=spent.get, reverse=True) if spent[stage] > 0]
    return (f"{text.seconds(total)} in calls{': ' if stages else ''}{', '.join(stages)}; "
            f"waited before them {text.seconds(run.sum('waited'))}")


def between_nodes(run):
    crossing, total = run.sum("crossing_bytes"), run.sum("bytes")
    return f"{text.size(crossing)} of {text.size(total)} that were moved ({text.share(crossing, total)})"


def hop_bytes(run):
    hops, usual = run.sum("hop_bytes"), run.sum("hop_bytes_otp")
    if usual == 0:
        return text.hops(hops)
    change = text.share(abs(usual - hops), usual)
    compared = "as much as" if hops == usual else f"{change} {'less' if hops < usual else 'more'} than"
    return f"{text.hops(hops)}, {compared} with the usual aggregators ({text.hops(usual)})"


def plans(run):
    alone = sum(call["calls"] for call in run.calls if call["aggregators"] == 0)
    without = f", {text.count(alone, 'call')} without a plan" if alone > 0 else ""
    metadata, total = run.sum("metadata_bytes"), run.sum("bytes")
    return (f"{text.count(run.sum('plans'), 'plan')} for {text.count(run.count() - alone, 'call')}{without}; "
            f"metadata {text.size(metadata)} ({text.share(metadata, total)} of the data)")


def lines(runs, advised):
    """Of the last run; advised: what the page says to try, the most important first."""
    run, compared = runs[-1], advice.compared(runs)
    table = [("measured", measured(run, len(runs) - 1)), ("time", time(run)), ("between nodes", between_nodes(run)),
             ("hop-bytes", hop_bytes(run)), ("plans", plans(run))]
    if compared is not None:
        table.append(("compared", compared))
    table.append(("advice", advised[0].text))
    said = [f"{name + ':':<15}{line.replace(chr(0x202f), ' ')}" for name, line in table]
    return said + [f"{'':<15}{advised[0].command}"] * bool(advised[0].command)
