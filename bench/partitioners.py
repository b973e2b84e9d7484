# SPDX-License-Identifier: BSD-3-Clause
"""Places graphs of many kinds by `dla map`, and by METIS, Scotch and KaHIP where they are installed.

`bench/results/partitioners.csv` has its output with METIS 5.1.0, Scotch 7.0.3 and KaHIP 3.25 (5935f34). Prints a line for each graph and contestant. Up to 3,000 ranks, a partition of a peer that exceeds
the slots of a node is repaired by moves that lose least; otherwise `exceeded` tells by how many ranks (-1: not counted). Seconds are elapsed time, those of METIS and Scotch as they print them. The graphs are generated from fixed seeds.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from itertools import product


@dataclass
class Case:
    """A weighted graph of ranks, {(a, b): weight} with a < b, the slots of nodes, and perhaps hops between nodes."""
    name: str
    ranks: int
    edges: dict
    slots: list
    hops: list = None
    arch: str = ""


# ---- graphs ----

def even(ranks, slots, spare=0):
    return [slots] * (-(-ranks // slots) + spare)


def grid(dims, weights, wrap=False):
    """A mesh or torus."""
    strides = [1] * len(dims)
    for d in range(len(dims) - 2, -1, -1):
        strides[d] = strides[d + 1] * dims[d + 1]
    edges = {}
    for at in product(*map(range, dims)):
        here = sum(x * s for x, s in zip(at, strides))
        for d, size in enumerate(dims):
            step = strides[d] if at[d] + 1 < size else -strides[d] * (size - 1)
            if at[d] + 1 < size or (wrap and size > 2):
                edges[min(here, here + step), max(here, here + step)] = weights[d]
    return edges


def halo(dims, weights):
    """All 26 (8) neighbours in a mesh, weighted by how many coordinates differ."""
    number = {at: k for k, at in enumerate(product(*map(range, dims)))}
    edges = {}
    for at, here in number.items():
        for step in product((-1, 0, 1), repeat=len(dims)):
            there = number.get(tuple(x + s for x, s in zip(at, step)))
            if there is not None and here < there:
                edges[here, there] = weights[sum(map(abs, step)) - 1]
    return edges


def tree(ranks, children):
    return {((k - 1) // children, k): 1 for k in range(1, ranks)}


def random_tree(ranks, seed):
    rng = random.Random(seed)
    return {(rng.randrange(max(0, k - 20), k), k): rng.randint(1, 9) for k in range(1, ranks)}


def regular(ranks, degree, seed):
    """Random: pairs of the stubs, again until none is double."""
    rng = random.Random(seed)
    while True:
        stubs = [v for v in range(ranks) for _ in range(degree)]
        rng.shuffle(stubs)
        pairs = {(min(a, b), max(a, b)): 1 for a, b in zip(stubs[::2], stubs[1::2]) if a != b}
        if len(pairs) == ranks * degree // 2:
            return pairs
        if degree > 3 and len(pairs) >= ranks * degree // 2 - 2 * degree:
            return pairs


def heavy(edges, seed, most=100):
    rng = random.Random(seed)
    return {pair: rng.randint(1, most) for pair in edges}


def clusters(ranks, seed):
    """A mesh with heavy edges inside groups of uneven size."""
    rng = random.Random(seed)
    group, groups = [], 0
    while len(group) < ranks:
        group += [groups] * rng.randint(3, 40)
        groups += 1
    rows = int(ranks ** .5)
    edges = grid((rows, -(-ranks // rows)), (1, 1))
    return {(a, b): rng.randint(200, 999) if group[a] == group[b] else rng.randint(1, 99)
            for (a, b) in edges if b < ranks}


def preferential(ranks, links, seed):
    rng = random.Random(seed)
    ends, edges = list(range(links)), {}
    for v in range(links, ranks):
        for u in {rng.choice(ends) for _ in range(links)}:
            edges[u, v] = 1
            ends += [u, v]
    return edges


def hubs(ranks, centres, links):
    """Each rank has links to some of a few centres."""
    rng = random.Random(ranks)
    return {(h, k): rng.randint(1, 9) for k in range(centres, ranks) for h in rng.sample(range(centres), links)}


def adaptive(seed, wanted):
    """Squares, refined along a circle, that share borders."""
    rng = random.Random(seed)
    x0, y0, radius = rng.uniform(.3, .7), rng.uniform(.3, .7), rng.uniform(.2, .4)
    cells, depth = {(3, x, y) for x in range(8) for y in range(8)}, 3
    while len(cells) < wanted and depth < 9:
        for level, x, y in sorted(c for c in cells if c[0] == depth):
            size = .5 ** level
            distance = ((x + .5) * size - x0) ** 2 + ((y + .5) * size - y0) ** 2
            if abs(distance ** .5 - radius) < size and len(cells) < wanted:
                cells.remove((level, x, y))
                cells |= {(level + 1, 2 * x + i, 2 * y + j) for i in (0, 1) for j in (0, 1)}
        depth += 1
    owner, finest = {}, max(c[0] for c in cells)
    for k, (level, x, y) in enumerate(sorted(cells)):
        scale = 1 << finest - level
        for i in range(scale):
            for j in range(scale):
                owner[x * scale + i, y * scale + j] = k
    edges = {}
    for (i, j), a in owner.items():
        for b in (owner.get((i + 1, j)), owner.get((i, j + 1))):
            if b is not None and a != b:
                pair = min(a, b), max(a, b)
                edges[pair] = edges.get(pair, 0) + 1
    return len(cells), edges


def hypercube(bits):
    return {(v, v | 1 << b): 1 for v in range(1 << bits) for b in range(bits) if not v >> b & 1}


def triangles(rows, cols, seed):
    """A mesh with a diagonal in each square, numbered at random."""
    rng = random.Random(seed)
    edges = grid((rows, cols), (1, 1))
    for i in range(rows - 1):
        for j in range(cols - 1):
            pair = (i * cols + j, (i + 1) * cols + j + 1) if rng.random() < .5 else \
                (i * cols + j + 1, (i + 1) * cols + j)
            edges[pair] = 1
    return shuffled(edges, rows * cols, seed)


def shuffled(edges, ranks, seed):
    number = list(range(ranks))
    random.Random(seed).shuffle(number)
    return {(min(number[a], number[b]), max(number[a], number[b])): w for (a, b), w in edges.items()}


def uneven_slots(ranks, least, most, seed):
    rng, slots = random.Random(seed), []
    while sum(slots) < ranks:
        slots.append(rng.randint(least, most))
    return slots


def small_cases():
    for side, part in ((6, 3), (6, 2), (9, 3), (8, 4), (10, 5), (12, 4)):
        dims = (side,) * 3
        yield Case(f"cube {side} in {part}", side ** 3, shuffled(grid(dims, (1,) * 3), side ** 3, side),
                   even(side ** 3, part ** 3))
        if side < 12:
            yield Case(f"halo {side} in {part}", side ** 3, halo(dims, (100, 10, 1)), even(side ** 3, part ** 3))
    yield Case("box 10x12x14", 1680, grid((10, 12, 14), (1, 1, 1)), even(1680, 24))
    yield Case("box weighted", 1728, shuffled(grid((12, 12, 12), (1, 32, 1024)), 1728, 3), even(1728, 32))
    for ranks, slots, children in ((127, 8, 2), (255, 16, 2), (1023, 32, 2), (341, 20, 4)):
        yield Case(f"tree {ranks}", ranks, tree(ranks, children), even(ranks, slots))
    yield Case("random tree", 600, random_tree(600, 4), even(600, 24))
    for ranks, slots, degree in ((96, 12, 3), (256, 16, 3), (1000, 40, 3), (128, 8, 4), (600, 30, 6)):
        yield Case(f"regular {ranks} of {degree}", ranks, regular(ranks, degree, ranks), even(ranks, slots))
    yield Case("spare 300", 300, heavy(grid((15, 20), (1, 1)), 5), even(300, 13, 3))
    yield Case("spare 900", 900, grid((30, 30), (1, 1)), even(900, 20, 12))
    yield Case("spare cube", 512, grid((8, 8, 8), (1, 1, 1)), even(512, 28, 4))
    for seed, ranks in ((1, 400), (2, 1200)):
        yield Case(f"uneven {ranks}", ranks, clusters(ranks, seed), uneven_slots(ranks, 1, 49, seed))
    yield Case("uneven mesh", 900, grid((30, 30), (1, 1)), uneven_slots(900, 4, 40, 3))
    for side, slots in ((15, 9), (15, 15), (16, 10), (32, 24)):
        yield Case(f"torus {side} by {slots}", side ** 2, grid((side, side), (1, 1), True), even(side ** 2, slots))
    yield Case("torus 8x8x8", 512, grid((8, 8, 8), (1, 1, 1), True), even(512, 20))
    for seed, wanted, slots in ((1, 500, 16), (2, 1500, 48), (3, 1900, 32)):
        ranks, edges = adaptive(seed, wanted)
        yield Case(f"adaptive {wanted}", ranks, edges, even(ranks, slots))
    yield Case("hypercube", 512, hypercube(9), even(512, 24))
    yield Case("preferential", 800, preferential(800, 3, 1), even(800, 32))
    yield Case("triangles 1600", 1600, triangles(40, 40, 1), even(1600, 36))
    yield Case("ring", 500, grid((500,), (1,), True), even(500, 24))
    yield Case("mesh weighted", 1000, shuffled(heavy(grid((25, 40), (1, 1)), 7), 1000, 8), even(1000, 28))
    yield Case("mesh 17x19", 323, grid((17, 19), (1, 1)), even(323, 16))
    yield Case("small 12", 12, heavy(grid((3, 4), (1, 1)), 1), even(12, 4))
    yield Case("small 40", 40, heavy(regular(40, 3, 40), 2), even(40, 6))


def further_cases():
    """The kinds of small_cases in other sizes, from other seeds."""
    for side, part in ((9, 3), (10, 2), (8, 2), (12, 3), (12, 6), (11, 4)):
        yield Case(f"cube {side} in {part} again", side ** 3,
                   shuffled(grid((side,) * 3, (1,) * 3), side ** 3, side + 7), even(side ** 3, part ** 3))
    yield Case("halo 12 in 3", 1728, halo((12, 12, 12), (100, 10, 1)), even(1728, 27))
    yield Case("halo 40x40", 1600, halo((40, 40), (10, 1)), even(1600, 25))
    yield Case("box 9x11x16", 1584, grid((9, 11, 16), (1, 1, 1)), even(1584, 32))
    yield Case("box 16x8x12 weighted", 1536, shuffled(grid((16, 8, 12), (1, 8, 64)), 1536, 5), even(1536, 24))
    for ranks, slots, children in ((511, 24, 2), (1365, 32, 4), (1093, 28, 3)):
        yield Case(f"tree {ranks}", ranks, tree(ranks, children), even(ranks, slots))
    yield Case("random tree 1200", 1200, random_tree(1200, 9), even(1200, 32))
    for ranks, slots, degree in ((128, 16, 3), (500, 20, 3), (1500, 48, 3), (256, 16, 4), (900, 30, 5), (2000, 64, 3)):
        yield Case(f"regular {ranks} of {degree}", ranks, regular(ranks, degree, ranks + 1), even(ranks, slots))
    yield Case("spare 700", 700, heavy(grid((25, 28), (1, 1)), 6), even(700, 17, 5))
    yield Case("spare 1600", 1600, grid((40, 40), (1, 1)), even(1600, 32, 9))
    yield Case("spare triangles", 1225, triangles(35, 35, 6), even(1225, 30, 6))
    for seed, ranks in ((7, 600), (8, 1500), (9, 1000)):
        yield Case(f"uneven {ranks}", ranks, clusters(ranks, seed), uneven_slots(ranks, 1, 49, seed))
    yield Case("uneven mesh 1300", 1300, shuffled(grid((26, 50), (1, 1)), 1300, 3), uneven_slots(1300, 8, 60, 5))
    for side, slots in ((18, 12), (25, 16), (40, 32)):
        yield Case(f"torus {side} by {slots}", side ** 2, grid((side, side), (1, 1), True), even(side ** 2, slots))
    yield Case("torus 10x10x10", 1000, grid((10, 10, 10), (1, 1, 1), True), even(1000, 32))
    for seed, wanted, slots in ((11, 700, 20), (12, 1300, 40), (13, 1990, 64)):
        ranks, edges = adaptive(seed, wanted)
        yield Case(f"adaptive {wanted}", ranks, edges, even(ranks, slots))
    yield Case("hypercube 1024", 1024, hypercube(10), even(1024, 40))
    yield Case("preferential 1500", 1500, preferential(1500, 4, 3), even(1500, 40))
    yield Case("triangles 1000", 1000, triangles(25, 40, 3), even(1000, 25))
    yield Case("triangles 2000", 2000, triangles(40, 50, 4), even(2000, 50))
    yield Case("mesh 32x50 weighted", 1600, shuffled(heavy(grid((32, 50), (1, 1)), 9), 1600, 8), even(1600, 48))
    yield Case("mesh 23x29", 667, grid((23, 29), (1, 1)), even(667, 18))
    yield Case("small 60", 60, heavy(regular(60, 4, 60), 3), even(60, 8))


def large_cases():
    yield Case("mesh 20x25x50", 25000, grid((20, 25, 50), (1, 1, 1)), even(25000, 24))
    yield Case("mesh 30x40x50", 60000, grid((30, 40, 50), (1, 1, 1)), even(60000, 48))
    yield Case("triangles 5000", 5000, triangles(50, 100, 1), even(5000, 32))
    yield Case("triangles 100000", 100000, triangles(250, 400, 1), even(100000, 128))
    yield Case("regular 10000", 10000, regular(10000, 3, 1), even(10000, 50))
    yield Case("halo 27000", 27000, halo((30, 30, 30), (100, 10, 1)), even(27000, 27))
    yield Case("star 100000", 100000, tree(100000, 99999), even(100000, 48))
    yield Case("hubs 20000", 20000, hubs(20000, 20, 4), even(20000, 48))
    yield Case("no links 100000", 100000, {(0, 1): 1}, even(100000, 48))
    yield Case("box weighted 262144", 262144, shuffled(grid((64, 64, 64), (1, 32, 1024)), 262144, 3), even(262144, 64))
    yield Case("million", 1 << 20, shuffled(grid((128, 64, 128), (1, 32, 1024)), 1 << 20, 4), even(1 << 20, 64))


def curve_cases():
    """From 2,000 to 1,000,000 ranks."""
    for k in range(30):
        side = round((2000 * 500 ** (k / 29)) ** .5)
        yield Case(f"curve {side ** 2}", side ** 2, triangles(side, side, k), even(side ** 2, 64))


def lattice_hops(dims, wrap):
    """Between nodes whose first coordinate runs fastest."""
    def place(n):
        at = []
        for size in dims:
            at.append(n % size)
            n //= size
        return at

    def apart(a, b, size):
        return min(abs(a - b), size - abs(a - b)) if wrap else abs(a - b)

    nodes = range(len(list(product(*map(range, dims)))))
    return [[sum(map(apart, place(n), place(m), dims)) for m in nodes] for n in nodes]


def tree_hops(widths):
    """Leaves of a tree of switches, the root's width first: two hops, and two for each level up."""
    def level(n, m):
        up = 0
        for width in reversed(widths):
            if n == m:
                break
            n, m, up = n // width, m // width, up + 1
        return 2 * up

    total = 1
    for width in widths:
        total *= width
    return [[level(n, m) for m in range(total)] for n in range(total)]


def mapped_cases():
    networks = (("torus3D 3 3 3", lattice_hops((3, 3, 3), True)), ("torus2D 6 6", lattice_hops((6, 6), True)),
                ("mesh3D 4 4 2", lattice_hops((4, 4, 2), False)), ("tleaf 2 4 2 6 2", tree_hops((4, 6))),
                ("tleaf 3 2 2 4 2 4 2", tree_hops((2, 4, 4))))
    for arch, hops in networks:
        nodes = len(hops)
        ranks = nodes * 16
        side = round(ranks ** .5)
        cells, borders = adaptive(nodes, ranks - 40)
        graphs = (("cube", 729, grid((9, 9, 9), (1, 1, 1))), ("mesh", side * (ranks // side), grid((side, ranks // side), (1, 1))),
                  ("halo", 512, halo((8, 8, 8), (100, 10, 1))), ("regular", ranks, regular(ranks, 3, nodes)),
                  ("adaptive", cells, borders))
        for name, count, edges in graphs:
            slots = [-(-count // nodes)] * nodes
            yield Case(f"{name} on {arch}", count, shuffled(edges, count, 5), slots, hops, arch)


SETS = {"small": small_cases, "further": further_cases, "large": large_cases, "curve": curve_cases, "mapped": mapped_cases}


# ---- contestants ----

def cut_of(case, node):
    """With hops, each edge counts its hops."""
    if case.hops:
        return sum(w * case.hops[node[a]][node[b]] for (a, b), w in case.edges.items())
    return sum(w for (a, b), w in case.edges.items() if node[a] != node[b])


def neighbours_of(case):
    lists = [[] for _ in range(case.ranks)]
    for (a, b), w in case.edges.items():
        lists[a].append((b, w))
        lists[b].append((a, w))
    return lists


def repair(case, node):
    """Moves ranks from nodes with too many to nodes with free slots, the least loss first."""
    count = [0] * len(case.slots)
    for n in node:
        count[n] += 1
    lists = neighbours_of(case) if any(c > s for c, s in zip(count, case.slots)) else []
    while any(c > s for c, s in zip(count, case.slots)):
        best = None
        free = [n for n, (c, s) in enumerate(zip(count, case.slots)) if c < s]
        for v, n in enumerate(node):
            if count[n] <= case.slots[n]:
                continue
            weight = {}
            for u, w in lists[v]:
                weight[node[u]] = weight.get(node[u], 0) + w
            to = max(free, key=lambda k: weight.get(k, 0))
            loss = weight.get(n, 0) - weight.get(to, 0)
            if best is None or loss < best[0]:
                best = loss, v, to
        _, v, to = best
        count[node[v]] -= 1
        count[to] += 1
        node[v] = to


def run(words, folder):
    begun = time.monotonic()
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"partitioners: {' '.join(words)[:200]}: {done.stderr or done.stdout}")
    return done.stdout, time.monotonic() - begun


def write_view(case, folder):
    with open(os.path.join(folder, "view.mtx"), "w", encoding="ascii") as out:
        print("%%MatrixMarket matrix coordinate integer symmetric", file=out)
        print(case.ranks, case.ranks, len(case.edges), file=out)
        for (a, b), w in case.edges.items():
            print(b + 1, a + 1, w, file=out)


def write_hops(case, folder):
    with open(os.path.join(folder, "hops.mtx"), "w", encoding="ascii") as out:
        nodes = len(case.hops)
        print("%%MatrixMarket matrix coordinate integer general", file=out)
        print(nodes, nodes, nodes * (nodes - 1), file=out)
        for n, row in enumerate(case.hops):
            for m, hops in enumerate(row):
                if n != m:
                    print(n + 1, m + 1, hops, file=out)


def write_graphs(case, folder):
    """For METIS and Scotch."""
    lists = neighbours_of(case)
    with open(os.path.join(folder, "metis"), "w", encoding="ascii") as out:
        print(case.ranks, len(case.edges), "001", file=out)
        for near in lists:
            print(*(f"{u + 1} {w}" for u, w in near), file=out)
    with open(os.path.join(folder, "shares"), "w", encoding="ascii") as out:
        total = sum(case.slots)
        for n, slots in enumerate(case.slots):
            print(f"{n} = {slots / total:.9f}", file=out)
    with open(os.path.join(folder, "scotch"), "w", encoding="ascii") as out:
        print(0, case.ranks, 2 * len(case.edges), "0 010", sep="\n", file=out)
        for near in lists:
            print(len(near), *(f"{w} {u}" for u, w in near), file=out)
    with open(os.path.join(folder, "arch"), "w", encoding="ascii") as out:
        print(case.arch or " ".join(map(str, ["cmpltw", len(case.slots), *case.slots])), file=out)


def by_dla(case, folder, effort, dla):
    nodes = ",".join(f"n{n}:{slots}" for n, slots in enumerate(case.slots))
    if len(set(case.slots)) == 1:
        nodes = f"n[0-{len(case.slots) - 1}]:{case.slots[0]}"
    words = [dla, "map", "-f", "view.mtx", "-n", nodes, "-o", "neighbours", "--format", "json"]
    words += ["--topology", "hops.mtx"] if case.hops else []
    _, reading = run(words + ["-m", "byslot"], folder)
    out, seconds = run(words + (["--effort", effort] if effort != "old" else []), folder)
    return [int(name[1:]) for name in json.loads(out)["node_of_rank"]], max(0, seconds - reading)


def by_metis(case, folder, seed, method):
    words = ["gpmetis", f"-ptype={method}", f"-seed={seed}", "-ufactor=1", "-tpwgts=shares", "metis", str(len(case.slots))]
    if len(set(case.slots)) == 1:
        words.remove("-tpwgts=shares")
    out, _ = run(words, folder)
    with open(os.path.join(folder, f"metis.part.{len(case.slots)}"), encoding="ascii") as lines:
        node = [int(line) for line in lines]
    seconds = next(float(line.split()[1]) for line in out.splitlines() if "Partitioning:" in line)
    return node, seconds


def by_scotch(case, folder, _):
    out, _ = run(["scotch_gmap", "-b0.001", "-vt", "scotch", "arch", "map"], folder)
    node = [0] * case.ranks
    with open(os.path.join(folder, "map"), encoding="ascii") as lines:
        next(lines)
        for line in lines:
            v, n = line.split()
            node[int(v)] = int(n)
    seconds = sum(float(line.split()[-1].rstrip("s")) for line in out.splitlines() if "Mapping" in line)
    return node, seconds


def by_kahip(case, folder, seed, words):
    """Trees of switches only: KaHIP knows no other networks."""
    widths = [int(width) for width in case.arch.split()[2::2]]
    words = words + ["metis", f"--seed={seed}", "--preconfiguration=strong", "--imbalance=0", "--enforce_balance",
                     "--hierarchy_parameter_string=" + ":".join(map(str, reversed(widths))),
                     "--distance_parameter_string=" + ":".join(str(2 * k + 2) for k in range(len(widths))),
                     "--output_filename=kahip"]
    _, seconds = run(words, folder)
    with open(os.path.join(folder, "kahip"), encoding="ascii") as lines:
        return [int(line) for line in lines], seconds


def report(case, contestant, seed, node, seconds):
    count = Counter(node)
    exceeded = sum(max(0, count[n] - s) for n, s in enumerate(case.slots))
    if case.ranks <= 3000:
        repair(case, node)
    print(f"{case.name},{case.ranks},{len(case.slots)},{contestant},{seed},{cut_of(case, node)},{exceeded},{seconds:.4f}",
          flush=True)


def run_case(case, args):
    with tempfile.TemporaryDirectory() as folder:
        write_view(case, folder)
        if case.hops:
            write_hops(case, folder)
        for effort in args.effort:
            report(case, f"dla {effort}".strip(), 0, *by_dla(case, folder, effort, args.dla))
        if not args.peers:
            return
        write_graphs(case, folder)
        if shutil.which("gpmetis") and not case.hops:
            for seed in range(args.peers if case.ranks <= 3000 else 1):
                report(case, "metis", seed, *by_metis(case, folder, seed, "kway"))
                report(case, "metis rb", seed, *by_metis(case, folder, seed, "rb"))
        if shutil.which("scotch_gmap"):
            report(case, "scotch", 0, *by_scotch(case, folder, 0))
        if shutil.which("kaffpa") and case.arch.startswith("tleaf"):
            mapping = ["kaffpa", "--enable_mapping", f"--k={len(case.slots)}"]
            for seed in range(args.peers):
                report(case, "kahip kaffpa", seed, *by_kahip(case, folder, seed, mapping))
                report(case, "kahip multisection", seed, *by_kahip(case, folder, seed, ["global_multisection"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=SETS, default="small")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--effort", action="append", default=None)
    parser.add_argument("--peers", type=int, default=0, help="seeds of METIS and KaHIP; 0: no peers")
    parser.add_argument("--dla", default="dla")
    args = parser.parse_args()
    args.effort = args.effort or ["normal"]
    print("graph,ranks,nodes,contestant,seed,cut,exceeded,seconds")
    for case in SETS[args.set]():
        if args.only in case.name:
            run_case(case, args)


if __name__ == "__main__":
    main()
