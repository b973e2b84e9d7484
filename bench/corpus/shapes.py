# SPDX-License-Identifier: BSD-3-Clause
"""Parts of access patterns: arrays in blocks, curves, partitions, numberings of ranks.

Dimensions of arrays and grids begin with the slowest. An owner is the rank that has an element, or -1: none has it.
"""
import heapq
from math import prod

import numpy as np

from recorded import Call


# ---- arrays ----

def cut_evenly(length, parts):
    return np.array([length * i // parts for i in range(parts + 1)])


def cut_pieces(dims, cuts, owner, element, base=0):
    """Owner, offset and length of the pieces of an array that is cut at `cuts` into cells with these owners."""
    for axis, cut in enumerate(cuts[:-1]):
        owner = np.take(owner, np.repeat(np.arange(len(cut) - 1), np.diff(cut)), axis=axis)
    owner = owner.reshape(-1, owner.shape[-1])
    last = np.asarray(cuts[-1])
    row = np.arange(len(owner), dtype=np.int64)
    offset = base + element * (row[:, None] * dims[-1] + last[None, :-1])
    length = np.broadcast_to(element * np.diff(last)[None, :], offset.shape)
    kept = owner >= 0
    return owner[kept], offset[kept], length[kept]


def cut_array(dims, cuts, owner, element, base=0, **call):
    return Call(*cut_pieces(dims, cuts, owner, element, base), **call)


def number_grid(grid, c_order=True):
    """The rank of each cell of a process grid."""
    ranks = np.arange(prod(grid))
    return ranks.reshape(grid) if c_order else ranks.reshape(grid[::-1]).T


def block_array(dims, grid, element=8, owner=None, **call):
    """An array in blocks, one for each rank of the grid."""
    cuts = [cut_evenly(n, parts) for n, parts in zip(dims, grid)]
    return cut_array(dims, cuts, number_grid(grid) if owner is None else owner, element, **call)


def list_elements(owner, element, levels=1, **call):
    """Elements in the order of the file, again for each level."""
    start = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
    length = np.diff(np.r_[start, len(owner)])
    kept = owner[start] >= 0
    start, length = start[kept], length[kept]
    offset = (np.arange(levels)[:, None] * len(owner) + start[None, :]).ravel()
    return Call(np.tile(owner[start], levels), element * offset, np.tile(length * element, levels), **call)


def chain_blocks(size, **call):
    """Contiguous blocks, rank after rank."""
    size = np.asarray(size, np.int64)
    return Call(np.arange(len(size)), np.cumsum(size) - size, size, **call)


def join_calls(parts):
    """One access of what several functions cut."""
    return Call(*(np.concatenate(column) for column in zip(*parts)))


# ---- curves ----

def bits_for(n):
    return max(1, int(n - 1).bit_length())


def morton(coordinates):
    code = np.zeros(len(coordinates[0]), np.int64)
    for bit in range(20):
        for axis, x in enumerate(coordinates):
            code |= ((np.asarray(x, np.int64) >> bit) & 1) << (bit * len(coordinates) + axis)
    return code


def hilbert(coordinates, bits):
    """Positions on Hilbert's curve of coordinates below 2^bits (Skilling, 2004)."""
    x = [np.array(c, np.int64) for c in coordinates]
    q = 1 << (bits - 1)
    while q > 1:
        for i in range(len(x)):
            on = (x[i] & q) != 0
            x[0] = np.where(on, x[0] ^ (q - 1), x[0])
            swap = np.where(on, 0, (x[0] ^ x[i]) & (q - 1))
            x[0], x[i] = x[0] ^ swap, x[i] ^ swap
        q >>= 1
    for i in range(1, len(x)):
        x[i] ^= x[i - 1]
    flip = np.zeros_like(x[0])
    for bit in range(bits - 1, 0, -1):
        flip = np.where((x[-1] >> bit) & 1 != 0, flip ^ ((1 << bit) - 1), flip)
    code = np.zeros_like(x[0])
    for bit in range(bits - 1, -1, -1):
        for c in x:
            code = code << 1 | (((c ^ flip) >> bit) & 1)
    return code


def all_cells(grid):
    return list(np.indices(grid).reshape(len(grid), -1))


def along_hilbert(grid):
    """The cells of a grid in the order of Hilbert's curve."""
    return np.argsort(hilbert(all_cells(grid), bits_for(max(grid))), kind="stable")


def number_along_morton(grid):
    """The rank of each cell of a process grid, along Morton's curve."""
    order = np.argsort(morton(all_cells(grid)[::-1]), kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank.reshape(grid)


# ---- partitions ----

def bisect(points, parts):
    """Recursive coordinate bisection into any number of parts."""
    part = np.zeros(len(points), np.int64)
    stack = [(np.arange(len(points)), 0, parts)]
    while stack:
        at, first, count = stack.pop()
        if count == 1:
            part[at] = first
            continue
        here = points[at]
        axis = int(np.argmax(here.max(0) - here.min(0)))
        order = np.argsort(here[:, axis], kind="stable")
        low = count // 2
        cut = len(at) * low // count
        stack += [(at[order[:cut]], first, low), (at[order[cut:]], first + low, count - low)]
    return part


def cut_by_weight(order, weight, parts):
    """Consecutive items of an order to parts of about equal weight."""
    ends = np.cumsum(weight[order])
    part = np.empty(len(order), np.int64)
    part[order] = np.minimum((ends - weight[order] / 2) * parts / ends[-1], parts - 1).astype(int)
    return part


def pack_knapsacks(weight, parts):
    """The heaviest item first, to the part with the least weight."""
    heap = [(0.0, part) for part in range(parts)]
    owner = np.empty(len(weight), np.int64)
    for item in np.argsort(-weight, kind="stable"):
        load, part = heapq.heappop(heap)
        owner[item] = part
        heapq.heappush(heap, (load + weight[item], part))
    return owner


# ---- numberings of ranks ----

def shuffle(ranks):
    return np.random.default_rng(7).permutation(ranks)


def deal(nodes):
    """Positions in the program were dealt to nodes in turn."""
    def number(ranks):
        rank = np.empty(ranks, np.int64)
        rank[np.concatenate([np.arange(n, ranks, nodes) for n in range(nodes)])] = np.arange(ranks)
        return rank
    return number
