#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Models of what tatp answers.

check_tatp.py make N writes N random problems; check_tatp.py MODEL reads what tatp printed for one of them as JSON
and prints "right", or what is wrong.
"""
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


def main():
    if sys.argv[1] == "make":
        make(int(sys.argv[2]))
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
