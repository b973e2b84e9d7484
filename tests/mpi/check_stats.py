#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks lines of fcoll_tatp_stats against what their own plans say, by the definitions: hop-bytes from C and the
distances, rank by rank. Prints what is wrong; the last line is 'lines N plans N timelines N'.

    check_stats.py STATS"""

import json
import sys

MOST_WINDOWS, MOST_LINES = 32, 64
KEYS = {"op", "file", "ranks", "nodes", "aggregators", "cycles", "bytes", "messages", "metadata_bytes", "seconds", "waited",
        "st1", "st2", "st3", "st4", "st5", "strategy", "hop_bytes", "hop_bytes_otp", "crossing_bytes", "format", "version", "program",
        "run", "call", "ended", "domains", "unit", "device_bytes", "device_copies", "device_seconds", "calls", "plans",
        "opens", "open_seconds", "closes", "close_seconds"}
JOB = {"user", "id", "host", "command", "mpi"}


def hops(distances, a, b):
    if a == b:
        return 1
    if "parent" in distances:
        crossed, parent = 0, distances["parent"]
        while a != b:
            if a < b:
                a = parent[a]
            else:
                b = parent[b]
            crossed += 1
        return crossed
    if "hops" in distances:
        place = distances["place_of_node"]
        places = round(len(distances["hops"]) ** 0.5)
        return distances["hops"][place[a] * places + place[b]]
    return 2


def check_plan(call, plan):
    node, serves = plan["node_of_rank"], plan["rank_of_domain"]
    yield len(plan["hosts"]) == call["nodes"] == len(set(node)), "a host for each node"
    yield len(node) == call["ranks"], "a node for each rank"
    yield len(serves) == call["aggregators"] == len(set(serves)), "a rank for each domain, none twice"
    triples = list(zip(*(plan["requests"][k::3] for k in range(3))))
    yield sum(size for _, _, size in triples) == call["bytes"], "C adds up to the bytes of the call"
    if plan["requests_by"] != "rank":
        return
    yield ("blocks" in plan) == (call["strategy"] == "latp_count"), "blocks for the strategy that goes by them"
    blocks = plan.get("blocks", plan["requests"])
    yield [blocks[k::3] for k in (0, 1)] == [plan["requests"][k::3] for k in (0, 1)], "blocks of what is accessed"
    yield all(0 < few <= many for few, many in zip(blocks[2::3], plan["requests"][2::3])), "no more blocks than bytes"
    cost = crossing = 0
    for rank, domain, size in triples:
        server = serves[domain]
        cost += 0 if rank == server else size * hops(plan["distances"], node[rank], node[server])
        crossing += size * (node[rank] != node[server])
    yield cost == call["hop_bytes"], f"hop-bytes of the plan: {cost}"
    yield crossing == call["crossing_bytes"], f"bytes between nodes: {crossing}"
    lowest = [[rank for rank in range(call["ranks"]) if node[rank] == n] for n in range(call["nodes"])]
    turns = [ranks[turn] for turn in range(call["ranks"]) for ranks in lowest if turn < len(ranks)]
    even = plan.get("even", plan)
    yield ("even" in plan) == (call["domains"] == "fitted"), "even domains beside fitted ones"
    triples = list(zip(*(even["requests"][k::3] for k in range(3))))
    yield sum(size for _, _, size in triples) == call["bytes"], "C of even domains adds up to the bytes of the call"
    usual = sum(0 if rank == turns[domain] else size * hops(plan["distances"], node[rank], node[turns[domain]])
                for rank, domain, size in triples)
    yield usual == call["hop_bytes_otp"], f"hop-bytes of the lowest ranks: {usual}"


def check_timeline(call):
    for entry in call["timeline"]:
        windows = entry["windows"]
        yield 0 <= entry["rank"] < call["ranks"] and 0 <= entry["domain"] < call["aggregators"], "who it is"
        yield 0 < len(windows) <= min(MOST_WINDOWS, call["cycles"]), "how many windows"
        for number, begin, end, first, last in windows:
            yield 0 <= number < call["cycles"], "which window"
            yield 0 <= begin <= end and 0 <= first <= last, "what begins before it ends"
            yield (end <= first if call["op"] == "write" else last <= begin), "what comes first"


def check(call):
    yield set(call) - {"plan", "timeline", "job", "schedule", "noncollective_bytes", "stripe_size", "stripe_count"} == KEYS, f"keys: {set(call) ^ KEYS}"
    yield ("schedule" in call) or not {"plan", "timeline"} & set(call), "totals without details"
    yield ("schedule" not in call) or (call["calls"] == 1 and call["plans"] <= 1), "one call, or totals"
    yield ("job" in call) == (call["call"] == 1), "the job in the first line"
    yield set(call.get("job", JOB)) - {"record"} == JOB, "what is known of the job"
    yield call["opens"] > 0 and call["open_seconds"] > 0, "its file was opened"
    yield call["closes"] <= call["opens"] and (call["closes"] > 0) == (call["close_seconds"] > 0), "closing takes time"
    yield call["format"] == 1 and call["domains"] in ("even", "stripe", "fitted", "none"), "format and domains"
    yield abs(sum(call[f"st{n}"] for n in range(1, 6)) - call["seconds"]) < 1e-5, "seconds are the sum of stages"
    yield all(call[key] >= 0 for key in KEYS if isinstance(call[key], (int, float))), "no number is negative"
    if "plan" in call:
        yield from check_plan(call, call["plan"])
    if "timeline" in call:
        yield from check_timeline(call)


def main():
    lines = plans = lanes = 0
    with open(sys.argv[1], encoding="utf-8") as stream:
        for lines, text in enumerate(stream, 1):
            call = json.loads(text)
            plans += "plan" in call
            lanes += "timeline" in call
            for right, name in check(call):
                if not right:
                    print(f"line {lines}: {name}")
    if max(plans, lanes) > MOST_LINES:
        print("too many plans or time lines")
    print(f"lines {lines} plans {plans} timelines {lanes}")


main()
