# SPDX-License-Identifier: BSD-3-Clause
"""What fcoll/tatp records of collective accesses, computed from the pieces of the file that each rank accesses.

The rules are those of doc/viewfile.md, src/access/neighbours.c, src/collective/aggregation.c and src/record/record.c, written a second time. A record of a
real run of the same pattern has the same numbers.
"""
import numpy as np

MOST_BINS = 1 << 15
LEAST_UNIT = 64
BYTES_PER_ENTRY, ALWAYS_ENTRIES, MOST_ENTRIES = 4096, 4096, 1 << 19
MOST_PATTERNS = 64
LOCK = 4096  # bytes that a file system which is not local locks at once


class Call:
    """A collective access, `times` alike: pieces of the file by offset, each with its rank and length in bytes."""

    def __init__(self, owner, offset, length, times=1, file="out"):
        owner, offset, length = (np.asarray(x, np.int64) for x in (owner, offset, length))
        order = np.argsort(offset, kind="stable")
        order = order[length[order] > 0]
        owner, offset, length = owner[order], offset[order], length[order]
        ends = (owner[1:] != owner[:-1]) | (offset[1:] != offset[:-1] + length[:-1])
        first = np.flatnonzero(np.r_[True, ends])
        self.owner, self.offset = owner[first], offset[first]
        self.length = np.add.reduceat(length, first)
        self.times, self.file = times, file

    def renumber(self, rank_of):
        return Call(rank_of[self.owner], self.offset, self.length, self.times, self.file)

    def bytes(self):
        return int(self.length.sum()) * self.times


def has_aggregators(call, lock):
    pieces = np.bincount(call.owner)
    mean = (np.bincount(call.owner, call.length)[pieces > 0] // pieces[pieces > 0]).min()
    unaligned = call.offset[call.offset % lock != 0]
    return (pieces.max() > 1 and mean < 64 << 10) or (len(unaligned) > 0 and unaligned.max() > call.offset[0])


class Profile:
    """The accesses of a file that are alike: the bytes of each rank in each unit of the accessed range."""

    def __init__(self, call):
        self.file, self.times = call.file, call.times
        self.lo, self.hi = int(call.offset[0]), int((call.offset + call.length).max())
        self.unit = LEAST_UNIT
        while (self.hi - self.lo - 1) // self.unit >= MOST_BINS:
            self.unit *= 2
        first = (call.offset - self.lo) // self.unit
        bins = (call.offset + call.length - 1 - self.lo) // self.unit - first + 1
        piece = np.repeat(np.arange(len(bins)), bins)
        at = first[piece] + np.arange(len(piece)) - np.repeat(np.cumsum(bins) - bins, bins)
        size = (np.minimum(call.offset[piece] + call.length[piece], self.lo + (at + 1) * self.unit)
                - np.maximum(call.offset[piece], self.lo + at * self.unit))
        order = np.lexsort((at, call.owner[piece]))
        self.rank, self.bin, self.size = call.owner[piece][order], at[order], size[order]
        self._join()
        self.coarsen(min(max(int(call.length.sum()) // BYTES_PER_ENTRY, ALWAYS_ENTRIES), MOST_ENTRIES))

    def _join(self):
        start = np.flatnonzero(np.r_[True, (self.rank[1:] != self.rank[:-1]) | (self.bin[1:] != self.bin[:-1])])
        self.rank, self.bin, self.size = self.rank[start], self.bin[start], np.add.reduceat(self.size, start)

    def coarsen(self, most):
        while len(self.rank) > most and self.unit < self.hi - self.lo:
            self.unit, self.bin = self.unit * 2, self.bin >> 1
            self._join()

    def equals(self, other):
        return (self.file, self.unit) == (other.file, other.unit) and all(
            np.array_equal(a, b) for a, b in zip((self.rank, self.bin, self.size), (other.rank, other.bin, other.size)))


def find_profiles(calls):
    profiles = []
    for call in calls:
        profile = Profile(call)
        alike = next((p for p in profiles if p.equals(profile)), None)
        if alike:
            alike.times += call.times
        elif len(profiles) < MOST_PATTERNS:
            profiles.append(profile)
    while sum(len(p.rank) for p in profiles) > MOST_ENTRIES:
        largest = max(profiles, key=lambda p: len(p.rank))
        largest.coarsen(len(largest.rank) - 1)
    return profiles


def add_entries(ranks, row, column, value):
    """Row, column and value of a symmetric matrix, by column, from one entry of each pair; equal ones are added up."""
    code = np.r_[column * ranks + row, row * ranks + column]
    code, pair = np.unique(code, return_inverse=True)
    return code % ranks, code // ranks, np.bincount(pair, np.r_[value, value], len(code)).astype(np.int64)


def view_matrix(ranks, calls):
    """How often two ranks access neighbouring pieces."""
    neighbours = np.concatenate([np.stack((c.owner[:-1], c.owner[1:], np.full(len(c.owner) - 1, c.times))) for c in calls], axis=1)
    return add_entries(ranks, *neighbours)


def join(numbers):
    return " ".join(map(str, numbers.tolist()))


def write_matrix(path, ranks, row, column, value, head=()):
    with open(path, "w", encoding="ascii") as out:
        for line in ("FILEVIEW", *head, f"{len(row)} {ranks + 1}", join(row), join(value),
                     join(np.searchsorted(column, np.arange(ranks + 1)) + 1)):
            out.write(line + "\n")


def write_profile(out, p, division):
    rows, counts = np.unique(p.rank, return_counts=True)
    bins = -(-(p.hi - p.lo) // p.unit)
    out.write(f"ACCESS {p.times} {p.lo} {p.unit} {bins} {len(rows)} {len(p.rank)} {p.file}\n")
    entries = np.stack((p.bin, p.size * p.times), 1)
    for rank, row in zip(rows.tolist(), np.split(entries, np.cumsum(counts)[:-1])):
        out.write(f"{rank} {len(row)} {join(row.ravel())}\n")
    out.write(division)


def matrix_path(path):
    return path.removesuffix(".crs") + ".mtx.crs"


def write(path, ranks, calls, stripe=0, targets=0):
    """The record at `path`; and at matrix_path(path) the view matrix alone, as Open MPI's own recorder writes it."""
    matrix = view_matrix(ranks, calls)
    aggregated = [c for c in calls if has_aggregators(c, stripe or LOCK)]
    independent = sum(c.bytes() for c in calls) - sum(c.bytes() for c in aggregated)
    head = ["% view matrix of fcoll/tatp, format 4", "% program: corpus", "% run: c0.1", "% began: 1", "% written: 2",
            f"% ranks: {ranks}", "% weight: count", f"% files: {len({c.file for c in calls})}",
            f"% accesses: {sum(c.times for c in calls)}", f"% bytes: {sum(c.bytes() for c in calls)}",
            f"% independent: {independent}", "% missed: 0"]
    write_matrix(matrix_path(path), ranks, *matrix)
    write_matrix(path, ranks, *matrix, head)
    with open(path, "a", encoding="ascii") as out:
        for profile in find_profiles(aggregated):
            write_profile(out, profile, f"DIVISION 0 0 {stripe} {targets} 0\n" if stripe else "")
