#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Models of what tatp answers.

check_tatp.py make N writes N random problems; check_tatp.py MODEL reads what tatp printed for one of them as JSON
and prints "right", or what is wrong. check_tatp.py networks TOOLS REPORT does so for placements on random networks.
"""
import collections
import importlib.machinery
import itertools
import json
import math
import random
import sys


def write(name, rows, kind="integer"):
    """An array, column by column."""
    with open(name, "w", encoding="ascii") as file:
        file.write(f"%%MatrixMarket matrix array {kind} general\n{len(rows)} {len(rows[0])}\n")
        for column in zip(*rows):
            file.writelines(f"{value}\n" for value in column)


def read(name):
    """What write() has written, as rows."""
    with open(name, encoding="ascii") as file:
        words = file.read().split()[5:]
    rows, cols = int(words[0]), int(words[1])
    values = [float(word) for word in words[2:]]
    return [[values[j * rows + i] for j in range(cols)] for i in range(rows)]


def make(count):
    """Requests, hops between nodes and ranks, hosts, and costs, some of them of pairs that are not allowed."""
    for number in range(count):
        rng = random.Random(number)
        nodes = rng.randint(1, 3)
        ranks = rng.randint(3, 6)
        node = list(range(nodes)) + [rng.randrange(nodes) for _ in range(ranks - nodes)]
        rng.shuffle(node)
        first = {n: k for k, n in reversed(list(enumerate(dict.fromkeys(node))))}
        node = [first[n] for n in node]
        domains = rng.randint(1, 3)
        hops = [[0 if n == m else rng.randint(2, 9) for m in range(nodes)] for n in range(nodes)]
        write(f"C{number}.mtx", [[rng.choice([0, rng.randint(1, 99)]) for _ in range(domains)] for _ in range(ranks)])
        write(f"N{number}.mtx", hops)
        write(f"D{number}.mtx", [[0 if i == k else hops[node[i]][node[k]] or 1 for k in range(ranks)]
                                 for i in range(ranks)])
        with open(f"hosts{number}", "w", encoding="ascii") as file:
            file.writelines(f"host{n}\n" for n in node)
        shape = [(3, 3), (6, 2), (2, 6), (1, 5), (5, 5), (4, 5), (5, 4)][number % 7]
        write(f"A{number}.mtx", [[math.inf if rng.random() < .2 else rng.randint(-99, 99) / 8
                                  for _ in range(shape[1])] for _ in range(shape[0])], "real")
    write("Codd.mtx", [[5, 0], [0, 7], [3, 1]])
    write("Dodd.mtx", [[0, 1, 2], [1, 0, 1], [2, 1, 0]])


def check_plan(answer, number):
    """W is D times C, the first strategy is the best, and each one's hop-bytes are those of its assignment."""
    requests, hops = read(f"C{number}.mtx"), read(f"D{number}.mtx")
    ranks, domains = len(requests), len(requests[0])
    workload = [[sum(hops[i][k] * requests[k][j] for k in range(ranks)) for j in range(domains)] for i in range(ranks)]
    if answer["workload"] != workload:
        return f"workload {answer['workload']}, not {workload}"
    for strategy in answer["strategies"]:
        chosen = strategy["assignment"]
        if len(set(chosen)) != domains or strategy["hop_bytes"] != sum(workload[i][j] for j, i in enumerate(chosen)):
            return f"{strategy}"
    least = min(sum(workload[i][j] for j, i in enumerate(chosen))
                for chosen in itertools.permutations(range(ranks), domains))
    if answer["strategies"][0]["hop_bytes"] != least:
        return f"{answer['strategies'][0]['hop_bytes']}, not {least}"
    return "right"


def check_links(answer, number):
    """Without a tree a node's link carries what its ranks send to other nodes' aggregators, and what those send to it."""
    requests = read(f"C{number}.mtx")
    with open(f"hosts{number}", encoding="ascii") as file:
        node = [int(line.removeprefix("host")) for line in file]
    vertices = max(node) + 2
    if answer["parent"] != [vertices - 1] * vertices or answer["cables"] != [1] * (vertices - 1) + [0] or answer["is_tree"]:
        return "not one switch above all nodes"
    for entry in answer["strategies"] + [answer["given"]]:
        up, down = [0] * vertices, [0] * vertices
        for rank, row in enumerate(requests):
            for domain, size in enumerate(row):
                server = node[entry["assignment"][domain]]
                up[node[rank]] += size * (server != node[rank])
                down[server] += size * (server != node[rank])
        if (entry["up"], entry["down"]) != (up, down):
            return f"{entry}: up {up}, down {down}"
        if entry["max_link_bytes"] != max(up + down) or entry["crossing_bytes"] != sum(up):
            return f"{entry}: {max(up + down)} of a link, {sum(up)} in all"
    return "right"


def check_assign(answer, number):
    """Brute force."""
    cost = read(f"A{number}.mtx")
    rows, cols = len(cost), len(cost[0])
    if cols <= rows:
        choices = (dict(enumerate(chosen)) for chosen in itertools.permutations(range(rows), cols))
    else:
        choices = ({j: i for i, j in enumerate(chosen)} for chosen in itertools.permutations(range(cols), rows))
    least = min(sum(cost[i][j] for j, i in choice.items()) for choice in choices)
    if answer["assignment"] is None:
        return "right" if answer["cost"] is None and math.isinf(least) else "no assignment"
    pairs = {j: i for j, i in enumerate(answer["assignment"]) if i is not None}
    if len(answer["assignment"]) != cols or len(set(pairs.values())) != min(rows, cols):
        return f"assignment {answer['assignment']}"
    if not answer["cost"] == sum(cost[i][j] for j, i in pairs.items()) == least:
        return f"{answer['cost']}, not {least}"
    return "right"


def make_network(rng, depth, is_even):
    """The parent of each node, then of each switch, behind what is below it, and the cables to it."""
    up = {"node": [], "switch": []}

    def grow(height):
        below = [grow(height - 1 if is_even else rng.randint(0, height - 1)) for _ in range(rng.randint(2, 4) if height else 0)]
        kind = up["switch" if height else "node"]
        for parent in below:
            parent[0] = len(kind)
        kind.append([len(up["switch"])])
        return kind[-1]

    grow(depth)
    nodes = len(up["node"])
    return [nodes + parent for kind in up.values() for parent, in kind], [rng.randint(1, 3) for kind in up.values() for _ in kind]


def make_view(rng, name, ranks, bins, unit=1 << 16):
    """Some ranks have equal parts of each bin, in short pieces."""
    of_bin = [rng.sample(range(ranks), rng.choice([1, 2])) for _ in range(bins)]
    rows = [[b for b in range(bins) if r in of_bin[b]] for r in range(ranks)]
    pairs = [collections.Counter(other for b in row for other in of_bin[b] if other != r) for r, row in enumerate(rows)]
    with open(name, "w", encoding="ascii") as file:
        print("FILEVIEW", sum(map(len, pairs)), ranks + 1, file=file)
        print(*(other for pair in pairs for other in sorted(pair)), file=file)
        print(*(256 * pair[other] for pair in pairs for other in sorted(pair)), file=file)
        print(*(1 + sum(map(len, pairs[:r])) for r in range(ranks + 1)), file=file)
        print("ACCESS 1 0", unit, bins, ranks, sum(map(len, rows)), "file", file=file)
        for r, row in enumerate(rows):
            print(r, len(row), *(number for b in row for number in (b, unit // len(of_bin[b]))), file=file)


def loads_by_height(answer, up):
    height = [0] * len(up)
    for v, parent in enumerate(answer["parent"][:-1]):
        height[parent] = height[v] + 1
    return [sum(up[v] for v in range(len(up) - 1) if height[v] == h) for h in range(max(height))]


def check_network(number, tools, planning):
    """One placement on one network: what dla map, tatp plan, tatp report of a run and tatp simulate say of it."""
    rng, is_even = random.Random(number), number % 2 == 0
    parent, cables = make_network(rng, 1 + number % 3, is_even)
    names = [f"n{v}" for v in range(min(parent))]
    slots = {name: rng.randint(2, 4) for name in rng.sample(names, len(names))}
    ranks = sum(slots.values()) - 1
    make_view(rng, "view", ranks, 8 * len(names))
    network = ["--topology", tools.write("given", planning.describe_tree(names, parent, cables))]
    mapped = planning.map_ranks(tools, "view", ["--nodes", ",".join(f"{n}:{slots[n]}" for n in slots), *network], ranks)
    host = mapped["node_of_rank"]
    there = ["--view", "view", *network, "--json", "--hosts", "@" + tools.write("ranks", host)]
    answer = json.loads(tools.run("tatp", "plan", *there))
    plan, = answer["patterns"]
    seen = list(dict.fromkeys(host))
    if answer["cables"][:len(seen)] != [cables[names.index(name)] for name in seen]:
        return f"cables {answer['cables']}, not of {cables}"
    run = planning.Plan({"plan": {"hosts": seen, "requests_by": "none", "nodes_in_row": 1, "domains_in_column": 1,
                                  "distances": {"source": "", "parent": answer["parent"], "cables": answer["cables"]}},
                         "aggregators": 0}, [])
    report = planning.Planner(run, tools, None).predict("", "view", [seen.index(name) for name in host])
    figures = [plan["hop_bytes"], plan["crossing_bytes"], plan["max_link_bytes"], *sorted(plan["up"] + plan["down"])]
    if figures != [report.hop_bytes, report.crossing_bytes, report.max_link_bytes, *sorted(report.up + report.down)] \
            or mapped["crossing_bytes"] != plan["crossing_bytes"]:
        return f"plan {figures}, report {vars(report)}, map {mapped}"
    if is_even and mapped["crossing_by_level"] != loads_by_height(answer, plan["up"]):
        return f"map {mapped['crossing_by_level']}, plan {loads_by_height(answer, plan['up'])}"
    simulated = json.loads(tools.run("tatp", "simulate", *there, "--servers", "1x2GB/s"))["phases"][2]
    headers = 256 * simulated["messages_between_nodes"]
    if not (0 <= simulated["bytes_between_nodes"] - plan["crossing_bytes"] < headers
            and 0 <= simulated["busiest_link_bytes"] - plan["max_link_bytes"] < headers):
        return f"simulate {simulated}, plan {figures}"
    return "right"


def main():
    if sys.argv[1] == "make":
        make(int(sys.argv[2]))
        return
    if sys.argv[1] == "networks":
        planning = importlib.machinery.SourceFileLoader("planning", sys.argv[3] + "/planning.py").load_module()
        print(*(check_network(number, planning.Tools(sys.argv[2], "."), planning) for number in range(12)))
        return
    answer = json.load(sys.stdin)
    if sys.argv[1].startswith("assign"):
        print(check_assign(answer, sys.argv[1][len("assign"):]))
    elif sys.argv[1].startswith("links"):
        print(check_links(answer, sys.argv[1][len("links"):]))
    else:
        print(check_plan(answer, sys.argv[1].replace("plan", "")))


if __name__ == "__main__":
    main()
