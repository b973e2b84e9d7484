# SPDX-License-Identifier: BSD-3-Clause
"""Access patterns of programs: each function returns the number of ranks and the collective accesses.

Sizes are small, so that records are; larger elements would only multiply the bytes.
"""
import heapq
from math import prod

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.spatial import Delaunay

from recorded import Call
from shapes import (all_cells, along_hilbert, bisect, bits_for, block_array, chain_blocks, cut_array, cut_by_weight,
                    cut_evenly, cut_pieces, hilbert, join_calls, list_elements, morton, number_along_morton, number_grid,
                    pack_knapsacks)


# ---- arrays in blocks ----

def blocks(dims, grid, element=8, c_order=True, times=1, along_morton=False):
    """One block for each rank: arrays, tiles, columns, lattices (QCD's fifth dimension is the slowest)."""
    owner = number_along_morton(grid) if along_morton else number_grid(grid, c_order)
    return prod(grid), [block_array(dims, grid, element, owner, times=times)]


def btio(side, length):
    """BT-IO: each rank has a diagonal of cells, five numbers a point."""
    z, y, x = np.indices((side, side, side))
    owner = ((y + z) % side) * side + (x - z) % side
    cut = np.r_[0, np.cumsum([length // side + (i < length % side) for i in range(side)])]
    return side * side, [cut_array((length,) * 3, [cut] * 3, owner, 40, times=5)]


def uneven_grid(dims, grid):
    """A rectilinear load balancer."""
    rng = np.random.default_rng(12)
    cuts = []
    for length, parts in zip(dims, grid):
        width = rng.uniform(.4, 1.6, parts)
        cuts.append(np.r_[0, np.round(np.cumsum(width) / width.sum() * length).astype(int)])
    return prod(grid), [cut_array(dims, cuts, number_grid(grid), 8)]


def pencils(p, q, length):
    """A spectral code: x-pencils of one array, z-pencils of another."""
    dims = (length,) * 3
    return p * q, [block_array(dims, (p, q, 1)), block_array(dims, (1, p, q), base=8 * length ** 3)]


def scalapack(p, q, length, block):
    """A block-cyclic matrix, stored by columns."""
    cut = np.unique(np.r_[np.arange(0, length, block), length])
    index = np.arange(len(cut) - 1)
    return p * q, [cut_array((length, length), [cut, cut], (index[None, :] % p) * q + (index % q)[:, None], 8)]


# ---- blocks in a chain ----

def flash(ranks):
    """FLASH: a block of each variable after another, 80 cells or so a rank."""
    count = 80 + np.random.default_rng(5).integers(-2, 3, ranks)
    return ranks, [chain_blocks(count * 8 ** 3 * 8, times=24), chain_blocks(count * 24, times=4)]


def flash_blocks(ranks):
    """All variables of a block together, blocks along Morton's curve, on ranks along Hilbert's."""
    side = 1 << bits_for(int(round((ranks * 16) ** (1 / 3))))
    grid = (side,) * 3
    owner = cut_by_weight(np.argsort(hilbert(all_cells(grid), bits_for(side))), np.ones(side ** 3), ranks)
    return ranks, [list_elements(owner[np.argsort(morton(all_cells(grid)))], 8 * 64 * 10)]


def hacc(ranks):
    count = np.random.default_rng(8).normal(6000, 900, ranks).clip(1000).astype(int)
    return ranks, [chain_blocks(count * 4, times=9)]


def heavy_chain(ranks):
    """Sizes differ by orders of magnitude; four pieces a rank."""
    count = (np.random.default_rng(10).pareto(1.5, ranks) * 2000 + 100).astype(int)
    size = np.tile(count * 8 // 4 + 8, 4)
    return ranks, [Call(np.tile(np.arange(ranks), 4), np.cumsum(size) - size, size, times=2)]


# ---- records ----

def strided_records(ranks, size, count):
    owner = np.tile(np.arange(ranks), count)
    return ranks, [Call(owner, np.arange(len(owner)) * size, np.full(len(owner), size))]


def ior(ranks, block, transfer, segments):
    """IOR: blocks of ranks in turn, one access for each transfer."""
    step = np.arange(segments * ranks)
    return ranks, [Call(step % ranks, step * block, np.full(len(step), transfer), times=block // transfer)]


def seismic(ranks, shots, receivers, trace, in_blocks):
    """Traces sorted by midpoint; ranks have blocks of shots, or take them in turn."""
    shot, receiver = np.indices((shots, receivers))
    owner = shot * ranks // shots if in_blocks else shot % ranks
    order = np.lexsort((receiver.ravel(), (shot * 2 + receiver).ravel()))
    return ranks, [list_elements(owner.ravel()[order], trace)]


def task_farm(ranks, records):
    """Results of a queue, in the order of its tasks; sizes differ much."""
    rng = np.random.default_rng(14)
    speed = rng.uniform(.8, 1.2, ranks)
    idle = [(0.0, rank) for rank in range(1, ranks)]
    owner = np.empty(records, np.int64)
    size = (rng.pareto(1.4, records) * 800 + 200).astype(np.int64)
    for i in range(records):
        time, rank = heapq.heappop(idle)
        owner[i] = rank
        heapq.heappush(idle, (time + size[i] / speed[rank], rank))
    return ranks, [Call(owner, np.cumsum(size) - size, size)]


# ---- climate and weather ----

def land_mask(rows, columns):
    """Smooth noise, of which a third is land."""
    rng = np.random.default_rng(3)
    height = np.zeros((rows, columns))
    y, x = np.mgrid[0:rows, 0:columns]
    for _ in range(24):
        ky, kx = rng.integers(1, 6), rng.integers(1, 6)
        height += (rng.normal() / (ky + kx) * np.cos(2 * np.pi * (ky * y / rows / 2 + rng.random()))
                   * np.cos(2 * np.pi * (kx * x / columns + rng.random())))
    return height > np.quantile(height, .66)


def ocean_by_curve(ranks, wet):
    """POP: blocks of 6 x 6 points along Hilbert's curve."""
    rows, columns = wet.shape
    grid = (-(-rows // 6), -(-columns // 6))
    weight = np.add.reduceat(np.add.reduceat(wet, np.arange(0, rows, 6), 0), np.arange(0, columns, 6), 1)
    part = cut_by_weight(along_hilbert(grid), weight.astype(float).ravel() + 1e-9, ranks).reshape(grid)
    return np.repeat(np.repeat(part, 6, 0), 6, 1)[:rows, :columns]


def ocean_by_patches(ranks, wet):
    """NEMO: patches without water are left out, and have no rank."""
    rows, columns = wet.shape
    down = int(np.sqrt(ranks * rows / columns)) + 1
    across = -(-ranks // down)
    while True:
        cuts = cut_evenly(rows, down), cut_evenly(columns, across)
        has_water = np.add.reduceat(np.add.reduceat(wet, cuts[0][:-1], 0), cuts[1][:-1], 1) > 0
        if has_water.sum() >= ranks:
            break
        across += 1
    number = np.where(has_water, np.cumsum(has_water.ravel()).reshape(down, across) - 1, -1)
    number = np.minimum(number, ranks - 1)
    return np.repeat(np.repeat(number, np.diff(cuts[0]), 0), np.diff(cuts[1]), 1)


def ocean_by_blobs(ranks, wet):
    """MPAS: compact parts without a regular shape."""
    owner = np.full(wet.shape, -1, np.int64)
    points = np.argwhere(wet)
    owner[wet] = bisect(points + np.random.default_rng(1).normal(0, .7, points.shape), ranks)
    return owner


def ocean(ranks, rows, columns, divide, levels=1):
    wet = ~land_mask(rows, columns)
    return ranks, [list_elements(np.where(wet, divide(ranks, wet), -1).ravel(), 4, levels)]


def spectral_element(ranks, side, physics, levels=26):
    """CAM-SE: a cubed sphere; dynamics along a curve, columns of physics dealt among four neighbours."""
    face = along_hilbert((side, side))
    along = np.concatenate([f * side * side + face for f in range(6)])
    owner = np.repeat(cut_by_weight(along, np.ones(6 * side * side), ranks), 9)
    if physics:
        owner = (owner // 4 * 4 + np.arange(len(owner)) % 4) % ranks
    return ranks, [list_elements(owner, 8, times=20), list_elements(owner, 8, levels, times=10)]


def icosahedron(ranks, level, side):
    """GCRM: ten diamonds of side x side blocks, dealt in order."""
    length = 1 << level
    owner = np.arange(10 * side * side).reshape(10, side, side) * ranks // (10 * side * side)
    return ranks, [block_array((10, length, length), (10, side, side), 8 * 26, owner, times=12)]


def wrf(down, across, rows, columns, levels=30):
    """WRF: patches of all levels, staggered variables one row or column longer."""
    grid = (1, down, across)
    return down * across, [block_array((levels, rows, columns), grid, 4, times=40),
                           block_array((levels, rows, columns + 1), grid, 4, times=6, base=4 << 30),
                           block_array((levels, rows + 1, columns), grid, 4, times=6, base=5 << 30),
                           block_array((1, rows, columns), grid, 4, times=60, base=6 << 30)]


def coupled(ranks):
    """Components on ranges of ranks, each with its file, and a coupler on all."""
    calls, first = [], 0
    for name, part, (rows, columns) in zip(("atm", "ocn", "ice", "lnd"), (.5, .3, .1, .1),
                                           ((192, 288), (384, 320), (384, 320), (192, 288))):
        count = max(2, int(ranks * part)) if name != "lnd" else ranks - first
        down = max(d for d in range(1, int(np.sqrt(count)) + 1) if count % d == 0)
        levels = 8 if name in ("atm", "ocn") else 1
        call = block_array((levels, rows, columns), (1, down, count // down), times=10, file=name)
        calls.append(call.renumber(np.arange(count) + first))
        first += count
    calls.append(list_elements(np.arange(ranks * 40) % ranks, 8, 2, file="cpl"))
    return ranks, calls


def ensemble(groups, dims, grid, shuffled):
    """Groups of ranks, each with an array and a file of its own."""
    ranks = groups * prod(grid)
    member = np.random.default_rng(9).permutation(ranks) if shuffled else np.arange(ranks)
    return ranks, [block_array(dims, grid, file=f"member{g}").renumber(rank)
                   for g, rank in enumerate(member.reshape(groups, -1))]


# ---- combustion, fluids, particles ----

def s3d(grid, length):
    """S3D: four variables of 11, 1, 1 and 3 components."""
    dims = tuple(parts * length for parts in grid)
    calls, base = [], 0
    for components in (11, 1, 1, 3):
        calls.append(block_array((components,) + dims, (1,) + grid, base=base))
        base += components * prod(dims) * 8
    return prod(grid), calls


def best_grid(dims, ranks):
    """The most even process grid without empty blocks; the slowest dimension is cut least often."""
    grids = ((ranks // a // b, b, a) for a in range(1, ranks + 1) if ranks % a == 0
             for b in range(1, ranks // a + 1) if ranks // a % b == 0)
    return min(grids, key=lambda g: sum(d < n for d, n in zip(dims, g)) * 1e9 + max(g) / min(g))


def multiblock(ranks, count):
    """Plot3D: structured blocks of different size, each divided among some ranks."""
    dims = np.random.default_rng(13).integers(24, 97, (count, 3))
    share = np.maximum(1, np.round(dims.prod(1) / dims.prod(1).sum() * ranks).astype(int))
    while share.sum() != ranks:
        k = int(np.argmax(share)) if share.sum() > ranks else int(np.argmin(share))
        share[k] += 1 if share.sum() < ranks else -1
    parts, base, first = [], 0, 0
    for shape, n in zip(dims.tolist(), share.tolist()):
        grid = best_grid(shape, n)
        cuts = [cut_evenly(d, g) for d, g in zip(shape, grid)]
        parts.append(cut_pieces(tuple(shape), cuts, number_grid(grid) + first, 40, base))
        base += prod(shape) * 40
        first += n
    return ranks, [join_calls(parts)]


def spectral_mesh(ranks, side, order):
    """Nek: spectral elements of a box, by bisection."""
    points = np.stack(all_cells((side,) * 3), 1).astype(float)
    owner = bisect(points + np.random.default_rng(3).normal(0, .2, points.shape), ranks)
    return ranks, [list_elements(owner, (order + 1) ** 3 * 8 * 3)]


def number_mesh(points, numbering):
    """The cells of a mesh in the order of the file."""
    if numbering == "random":
        return np.random.default_rng(2).permutation(len(points))
    if numbering == "hilbert":
        return np.argsort(hilbert(list((points * 1023).astype(np.int64).T), 10), kind="stable")
    corners = Delaunay(points).simplices
    a, b = corners.T.ravel(), np.roll(corners, -1, 1).T.ravel()
    graph = csr_matrix((np.ones(2 * len(a), np.int8), (np.r_[a, b], np.r_[b, a])), shape=(len(points),) * 2)
    return reverse_cuthill_mckee(graph, symmetric_mode=True)


def mesh(ranks, cells, numbering, dims=2):
    """An unstructured mesh of so many cells a rank, finer on one side, by bisection."""
    points = np.random.default_rng(4).random((ranks * cells, dims))
    points[:, 0] **= 1.3
    return ranks, [list_elements(bisect(points, ranks)[number_mesh(points, numbering)], 40)]


def amr_boxes(ranks, level, boxes):
    side = 1 << bits_for(int(round((ranks * boxes / 2) ** (1 / 3))))
    cells = np.indices((side,) * 3).reshape(3, -1)
    if level > 0:  # near a sphere
        radius = np.sqrt((((cells + .5) / side - .5) ** 2).sum(0))
        cells = cells[:, np.argsort(np.abs(radius - .3), kind="stable")[:cells.shape[1] // 3]]
        cells = cells[:, np.lexsort(cells[::-1])]
    return cells


def amr(ranks, levels, boxes=24, divide="curve", curve_file=False):
    """Boxes of refined levels, on ranks along Morton's curve or by weight; in the file row by row or along the curve."""
    rng = np.random.default_rng(11)
    calls, base = [], 0
    for level in range(levels):
        cells = amr_boxes(ranks, level, boxes)
        along = np.argsort(morton(list(cells)), kind="stable")
        weight = rng.lognormal(0, .4, len(along))
        size = (rng.integers(2, 5, (len(along), 3)) * 8).prod(1) * 4
        owner = pack_knapsacks(weight, ranks) if divide == "knapsack" else cut_by_weight(along, weight, ranks)
        order = along if curve_file else np.arange(len(along))
        calls.append(Call(owner[order], base + np.cumsum(size[order]) - size[order], size[order]))
        base += int(size.sum())
    return ranks, calls


def particles_by_identity(ranks, side, drift):
    """Particles of a displaced lattice, sorted by identity, on ranks along Hilbert's curve."""
    rng = np.random.default_rng(6)
    at = np.indices((side,) * 3).reshape(3, -1) / side
    for wave in rng.normal(0, 1, (8, 3)):
        at = at + drift * np.sin(2 * np.pi * (np.round(wave * 2) @ at))[None] * wave[:, None] / 3
    cell = ((at + rng.normal(0, drift / 20, at.shape)) % 1 * 64).astype(np.int64) % 64
    order = np.argsort(hilbert(list(cell), 6), kind="stable")
    return ranks, [list_elements(cut_by_weight(order, np.ones(cell.shape[1]), ranks), 24, times=2)]


# ---- models ----

def checkpoint(tensor, pipeline, data):
    """A language model: tensors in columns or rows over `tensor` ranks, layers over `pipeline`, rows over `data`."""
    rank = np.arange(tensor * pipeline * data).reshape(pipeline, data, tensor)
    parts, base = [], 0
    for stage in rank:
        for rows, columns, by_rows in ((3072, 1024, True), (1024, 1024, False), (4096, 1024, True), (1024, 4096, False)) * 2:
            if by_rows:
                owner, cuts = stage.T.reshape(-1, 1), [cut_evenly(rows, tensor * data), np.array([0, columns])]
            else:
                owner, cuts = stage, [cut_evenly(rows, data), cut_evenly(columns, tensor)]
            parts.append(cut_pieces((rows, columns), cuts, owner, 4, base))
            base += rows * columns * 4
    return rank.size, [join_calls(parts)]


# ---- views of many ranks: one entry for each pair of neighbours ----

def grid_view(grid, weights):
    rank = number_grid(grid)
    first = [rank.take(np.arange(n - 1), axis).ravel() for axis, n in enumerate(grid)]
    second = [rank.take(np.arange(1, n), axis).ravel() for axis, n in enumerate(grid)]
    return prod(grid), np.concatenate(first), np.concatenate(second), np.repeat(weights, [len(f) for f in first])


def shuffled_mesh_view(ranks):
    """Four neighbours near each rank and two farther away, in any numbering."""
    rng = np.random.default_rng(15)
    first = np.repeat(np.arange(ranks), 6)
    second = first + 1 + rng.integers(0, np.tile((8, 8, 8, 8, 64, 64), ranks))
    inside = second < ranks
    number = rng.permutation(ranks)
    return ranks, number[first[inside]], number[second[inside]], rng.integers(1, 51, inside.sum())
