#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Statistics and a view matrix as a run of that size would leave them: rank r accesses the blocks that
follow each other every PARTS ranks, ranks are dealt to nodes in turn, and nodes hang on leaf switches below
one spine. Hop-bytes are counted here one by one."""

import argparse
import json
import sys

BLOCK = 1 << 20


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--per-node", type=int, default=4)
    parser.add_argument("--leaf", type=int, default=2, help="nodes on a leaf switch")
    parser.add_argument("--serving", type=int, default=1, help="aggregators on each node")
    parser.add_argument("--neighbours", type=int, default=4, help="ranks whose data are interleaved")
    parser.add_argument("--calls", type=int, default=2)
    parser.add_argument("--windows", type=int, default=6)
    parser.add_argument("--host", default="n%d")
    parser.add_argument("--by", choices=("rank", "node"), default="rank")
    parser.add_argument("--program", default="generate")
    parser.add_argument("--view")
    parser.add_argument("--files", type=int, default=1, help="calls access these in turn")
    parser.add_argument("--level", choices=("calls", "files"), default="calls", help="a line for each call, or for each file and operation")
    parser.add_argument("--job", type=json.loads, help="what the first line says of the job")
    parser.add_argument("--ended", type=float, help="seconds since 1970 at the end of the first call")
    parser.add_argument("--run", default="generated")
    parser.add_argument("--unknown", action="store_true", help="the run did not know the network")
    return parser.parse_args()


def tree(nodes, leaf):
    leaves = -(-nodes // leaf)
    root = nodes + leaves
    return [nodes + node // leaf for node in range(nodes)] + [root] * leaves + [root]


def hops(parent, a, b):
    crossed = 0
    while a != b:
        if a < b:
            a = parent[a]
        else:
            b = parent[b]
        crossed += 1
    return crossed


def requests(options, domains):
    """(rank, domain, bytes): the ranks of a neighbourhood share the range of all of them."""
    span = options.ranks * BLOCK // domains
    for rank in range(options.ranks):
        first = rank - rank % options.neighbours
        last = min(first + options.neighbours, options.ranks)
        low, high = first * BLOCK, last * BLOCK
        for domain in range(low // span, min((high - 1) // span, domains - 1) + 1):
            inside = min(high, (domain + 1) * span) - max(low, domain * span)
            if inside > 0:
                yield rank, domain, inside // (last - first)


def cost(triples, node_of_rank, parent, rank_of_domain):
    total = crossing = 0
    for rank, domain, size in triples:
        server = rank_of_domain[domain]
        here, there = node_of_rank[rank], node_of_rank[server]
        total += size * (0 if rank == server else 1 if here == there else hops(parent, here, there))
        crossing += size * (here != there)
    return total, crossing


def time_line(options, domains, rank_of_domain):
    every = -(-domains // 32)
    for domain in range(0, domains, every):
        windows = []
        for window in range(options.windows):
            begin = 100 + 900 * window + 13 * (domain % 7)
            windows.append([window, begin, begin + 1500, begin + 1500, begin + 2300])
        yield {"domain": domain, "rank": rank_of_domain[domain], "windows": windows}


def write_view(options):
    rows = [[other for other in range(rank - rank % options.neighbours,
                                      min(rank - rank % options.neighbours + options.neighbours, options.ranks))
             if other != rank] for rank in range(options.ranks)]
    starts = [1]
    for row in rows:
        starts.append(starts[-1] + len(row))
    columns = [column for row in rows for column in row]
    with open(options.view, "w", encoding="utf-8") as out:
        print("FILEVIEW", "% view matrix, generated", f"{len(columns)} {len(starts)}", " ".join(map(str, columns)),
              " ".join("8" for _ in columns), " ".join(map(str, starts)), sep="\n", file=out)


def sums_by_file(lines):
    """As fcoll_tatp_stats_level = files writes them."""
    sums = {}
    for line in lines:
        line = {name: value for name, value in line.items() if name not in ("plan", "timeline", "schedule")}
        line.update(calls=1, plans=int(line["call"] == 1))
        total = sums.setdefault((line["file"], line["op"]), line)
        if total is not line:
            for name in ("calls", "plans", "bytes", "messages", "metadata_bytes", "seconds", "waited", "st1", "st2", "st3", "st4", "st5",
                         "hop_bytes", "hop_bytes_otp", "crossing_bytes"):
                total[name] += line[name]
            total.update((name, line[name]) for name in ("ended", "cycles") if name in line)
    return list(sums.values())


def main():
    options = parse_arguments()
    nodes = -(-options.ranks // options.per_node)
    node_of_rank = [rank % nodes for rank in range(options.ranks)]
    domains, parent = nodes * options.serving, tree(nodes, options.leaf)
    usual = list(range(domains))
    present = [domain * options.ranks // domains + domain % max(1, options.ranks // domains) for domain in range(domains)]
    triples = list(requests(options, domains))
    hop_bytes, crossing = cost(triples, node_of_rank, parent, present)
    told = triples
    if options.by == "node":
        sums = {}
        for rank, domain, size in triples:
            sums[node_of_rank[rank], domain] = sums.get((node_of_rank[rank], domain), 0) + size
        told = [(node, domain, size) for (node, domain), size in sorted(sums.items())]
    plan = {"per_node": options.serving, "hosts": [options.host.replace("%d", str(n)) for n in range(nodes)],
            "node_of_rank": node_of_rank, "rank_of_domain": present, "requests_by": options.by,
            "requests": [number for triple in told for number in triple],
            "distances": {"source": "generated", "parent": parent, "cables": [1] * nodes + [2] * (len(parent) - nodes)}}
    if options.unknown:
        plan["distances"] = {"source": "two hops between any two nodes"}
    lines = []
    for call in range(1, options.calls + 1):
        stages = {"st1": 0.0001, "st2": 0.002 / call, "st3": 0.003 / call, "st4": 0.05 + 0.001 * call, "st5": 0.021}
        line = {"op": "write" if call % 2 else "read", "file": "/scratch/" + options.program +
                (f".{(call - 1) % options.files}" if options.files > 1 else ""), "ranks": options.ranks,
                "nodes": nodes, "aggregators": domains, "cycles": options.windows,
                "bytes": sum(size for _, _, size in triples), "messages": 12, "metadata_bytes": 320,
                "seconds": round(sum(stages.values()), 6), "waited": 0.001, **stages, "strategy": "tatp",
                "hop_bytes": hop_bytes, "hop_bytes_otp": cost(triples, node_of_rank, parent, usual)[0],
                "crossing_bytes": crossing, "format": 1, "program": options.program, "run": options.run, "call": call,
                "schedule": 1, "domains": "even", "timeline": list(time_line(options, domains, present))}
        if call == 1:
            line["plan"] = plan
        if options.ended is not None:
            line["ended"] = options.ended + call - 1
        lines.append(line)
    lines = sums_by_file(lines) if options.level == "files" else lines
    if options.job is not None:
        lines[0].update(job=options.job, version="1.1.0")
    for line in lines:
        json.dump(line, sys.stdout)
        print()
    if options.view:
        write_view(options)


main()
