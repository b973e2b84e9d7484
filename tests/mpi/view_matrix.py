#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks recorded view matrices (FILEVIEW files) against logs of accesses or each other.

The diagonal is left out: it counts into how many pieces a rank's own range was cut.
"""
import argparse
import collections
import sys


def read_fileview(path):
    """The rows of the matrix, {(row, column): value}, and the lines of the sections. Any flaw in the format raises."""
    with open(path) as stream:
        if stream.readline().strip() != "FILEVIEW":
            raise ValueError("no FILEVIEW")
        lines = stream.read().split("\n")
    while lines[0].startswith("%"):
        lines.pop(0)
    numbers = []
    while lines and not lines[0][:1].isupper():
        numbers += [int(word) for word in lines.pop(0).split()]
    count, pointers = numbers[0], numbers[1]
    if len(numbers) != 2 + 2 * count + pointers:
        raise ValueError(f"{len(numbers)} numbers for {count} values and {pointers} row pointers")
    columns = numbers[2:2 + count]
    values = numbers[2 + count:2 + 2 * count]
    starts = numbers[2 + 2 * count:]
    if starts[0] != 1 or starts[-1] != count + 1 or starts != sorted(starts):
        raise ValueError("wrong row pointers")
    matrix = {}
    for row in range(pointers - 1):
        for k in range(starts[row] - 1, starts[row + 1] - 1):
            if not 0 <= columns[k] < pointers - 1 or values[k] < 0:
                raise ValueError("a column or a value is out of range")
            matrix[row, columns[k]] = values[k]
    return pointers - 1, matrix, lines


def read_profile(lines):
    """The ACCESS sections: (file, calls, unit, bins, {(rank, bin): bytes}) each."""
    patterns = []
    while lines and lines[0].startswith("ACCESS "):
        calls, _first, unit, bins, rows, entries = (int(word) for word in lines[0].split()[1:7])
        name = lines.pop(0).split(" ", 7)[7]
        row = [[int(word) for word in lines.pop(0).split()] for _ in range(rows)]
        got = {(r[0], b): n for r in row for b, n in zip(r[2::2], r[3::2])}
        if len(got) != entries or any(len(r) != 2 + 2 * r[1] for r in row):
            raise ValueError("wrong number of entries")
        patterns.append((name, calls, unit, bins, got))
        if lines and lines[0].startswith("DIVISION "):
            if len([int(word) for word in lines.pop(0).split()[1:]]) != 5:
                raise ValueError("a division has five numbers")
    if lines not in ([], [""]):
        raise ValueError("more lines than the sections have")
    return patterns


def read_logs(logs):
    """The accesses of each call: (offset, rank, length), sorted, pieces of a rank that touch as one."""
    calls = collections.defaultdict(list)
    for path in logs:
        with open(path) as stream:
            for line in stream:
                call, rank, offset, length = line.split()
                calls[call].append((int(offset), int(rank), int(length)))
    for name, pieces in calls.items():
        whole = []
        for offset, rank, length in sorted(pieces):
            if whole and whole[-1][1] == rank and whole[-1][0] + whole[-1][2] == offset:
                offset, _, before = whole.pop()
                length += before
            whole.append((offset, rank, length))
        calls[name] = whole
    return calls


def neighbours(calls):
    """Each pair of neighbours in each call counts 1."""
    matrix = collections.Counter()
    for pieces in calls.values():
        for (_, left, _), (_, right, _) in zip(pieces, pieces[1:]):
            matrix[left, right] += 1
            matrix[right, left] += 1
    return matrix


def binned(pieces, unit):
    """The number of bins of a call's range, and {(rank, bin): bytes}."""
    first = pieces[0][0]
    bins = collections.Counter()
    for offset, rank, length in pieces:
        at, end = offset - first, offset - first + length
        while at < end:
            part = min(end, at - at % unit + unit) - at
            bins[rank, at // unit] += part
            at += part
    return (max(offset + length for offset, _, length in pieces) - first - 1) // unit + 1, bins


def check_profile(patterns, calls):
    """Every call belongs to one pattern of its file, and every pattern is made of such calls."""
    left = dict(calls)
    for name, count, unit, bins, got in patterns:
        for _ in range(count):
            for call in sorted(left):
                wanted_bins, wanted = binned(left[call], unit)
                if (call.split(".")[0] == name.split("/")[-1] and wanted_bins == bins and
                        {place: count * n for place, n in wanted.items()} == got):
                    del left[call]
                    break
            else:
                sys.exit(f"a pattern of {name} is that of no call")
    if left:
        sys.exit(f"no pattern has {', '.join(sorted(left))}")


def compare(got, wanted):
    for row, column in sorted(got.keys() | wanted.keys()):
        one, other = got.get((row, column), 0), wanted.get((row, column), 0)
        if row != column and one != other:
            sys.exit(f"entry {row, column} is {one}, not {other}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, help="how many rows FILE must have")
    parser.add_argument("--equals", metavar="FILE", help="another FILEVIEW file of the same content")
    parser.add_argument("--dense", metavar="ROWS", help="the content: rows of numbers, '/' between them")
    parser.add_argument("--profile", action="store_true", help="check the profile against the logs as well")
    parser.add_argument("--no-profile", action="store_true", help="there must be none")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("log", metavar="LOG", nargs="*", help="logs of the program `record`")
    options = parser.parse_args()
    try:
        rows, got, sections = read_fileview(options.file)
    except (ValueError, IndexError) as error:
        sys.exit(f"{options.file}: {error}")
    if options.ranks is not None and rows != options.ranks:
        sys.exit(f"{options.file}: {rows} rows, not {options.ranks}")
    if options.equals:
        compare(got, read_fileview(options.equals)[1])
    if options.dense:
        dense = [[int(word) for word in row.split()] for row in options.dense.split("/")]
        compare(got, {(i, j): value for i, row in enumerate(dense) for j, value in enumerate(row)})
    if options.no_profile and read_profile(sections):
        sys.exit(f"{options.file}: has a profile")
    if options.log:
        calls = read_logs(options.log)
        compare(got, neighbours(calls))
        if options.profile:
            check_profile(read_profile(sections), calls)


if __name__ == "__main__":
    main()
