#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the performance variables of a run, summed over all ranks, with the statistics of the same run. Prints what
differs; the last line is 'lines N variables N'.

    check_pvars.py STATS PRINTED"""

import json
import sys

NAMES = {"calls", "bytes_written", "bytes_read", "hop_bytes", "crossing_bytes", "noncollective_bytes_written",
         "noncollective_bytes_read", "plans_made", "plans_reused", "st1", "st2",
         "st3", "st4", "st5"}
# Times in a line are rounded to microseconds.
ROUNDING = 1e-6


def read_printed(path):
    with open(path, encoding="utf-8", errors="replace") as stream:
        words = (line.split() for line in stream if line.startswith("fcoll_tatp_"))
        return {word[0].removeprefix("fcoll_tatp_"): float(word[1]) for word in words}


def expected(calls):
    """Variables that the lines determine."""
    plans = {}
    for call in calls:
        if call["aggregators"] > 0:
            plans.setdefault((call["file"], call["schedule"]), []).append(call["ranks"])
    return {
        "calls": sum(call["ranks"] * call["calls"] for call in calls),
        "bytes_written": sum(call["bytes"] for call in calls if call["op"] == "write"),
        "bytes_read": sum(call["bytes"] for call in calls if call["op"] == "read"),
        "noncollective_bytes_written": sum(call.get("noncollective_bytes", 0) for call in calls if call["op"] == "write"),
        "noncollective_bytes_read": sum(call.get("noncollective_bytes", 0) for call in calls if call["op"] == "read"),
        "hop_bytes": sum(call["hop_bytes"] for call in calls),
        "crossing_bytes": sum(call["crossing_bytes"] for call in calls),
        "plans_made": sum(ranks[0] for ranks in plans.values()),
        "plans_reused": sum(sum(ranks[1:]) for ranks in plans.values()),
    }


def bounds(calls, stage):
    """Of the sum over all ranks: a line has the time of the slowest rank, of stage 1 that of the fastest."""
    allowed = ROUNDING * sum(call["ranks"] for call in calls)
    if stage == "st1":
        return (sum(call["ranks"] * call["st1"] for call in calls) - allowed,
                sum(call["ranks"] * (call["st1"] + call["waited"]) for call in calls) + 2 * allowed)
    return (sum(call[stage] for call in calls) - allowed,
            sum(call["ranks"] * call[stage] for call in calls) + allowed)


def main():
    with open(sys.argv[1], encoding="utf-8") as stream:
        calls = [json.loads(line) for line in stream]
    printed = read_printed(sys.argv[2])
    if set(printed) != NAMES:
        print(f"other variables: {sorted(set(printed) ^ NAMES)}")
    for name, value in expected(calls).items():
        if printed.get(name) != value:
            print(f"{name} is {printed.get(name)}, not {value}")
    for stage in ("st1", "st2", "st3", "st4", "st5"):
        least, most = bounds(calls, stage)
        if not least <= printed.get(stage, -1) <= most:
            print(f"{stage} is {printed.get(stage)}, not from {least} to {most}")
    print(f"lines {len(calls)} variables {len(printed)}")


main()
