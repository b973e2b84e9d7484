#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks recorded view matrices (FILEVIEW files) against logs of accesses or each other.

The diagonal is left out: it counts into how many pieces a rank's own range was cut.
"""
import argparse
import collections
import sys


def read_fileview(path):
    """Returns the number of rows and {(row, column): value}; any flaw in the format raises."""
    with open(path) as stream:
        if stream.readline().strip() != "FILEVIEW":
            raise ValueError("no FILEVIEW")
        lines = stream.read().split("\n")
    while lines[0].startswith("%"):
        lines.pop(0)
    numbers = []
    for line in lines:
        if line[:1].isupper():
            break
        numbers += [int(word) for word in line.split()]
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
    return pointers - 1, matrix


def neighbours(logs):
    """What the logged accesses amount to: each pair of neighbours in each call counts 1."""
    calls = collections.defaultdict(list)
    for path in logs:
        with open(path) as stream:
            for line in stream:
                call, rank, offset, _length = line.split()
                calls[call].append((int(offset), int(rank)))
    matrix = collections.Counter()
    for pieces in calls.values():
        pieces.sort()
        for (_, left), (_, right) in zip(pieces, pieces[1:]):
            matrix[left, right] += 1
            matrix[right, left] += 1
    return matrix


def without_diagonal(matrix):
    return {place: value for place, value in matrix.items() if place[0] != place[1] and value}


def compare(got, wanted):
    got, wanted = without_diagonal(got), without_diagonal(wanted)
    for place in sorted(got.keys() | wanted.keys()):
        if got.get(place, 0) != wanted.get(place, 0):
            sys.exit(f"entry {place} is {got.get(place, 0)}, not {wanted.get(place, 0)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, help="how many rows FILE must have")
    parser.add_argument("--equals", metavar="FILE", help="another FILEVIEW file of the same content")
    parser.add_argument("--dense", metavar="ROWS", help="the content: rows of numbers, '/' between them")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("log", metavar="LOG", nargs="*", help="logs of the program `record`")
    options = parser.parse_args()
    try:
        rows, got = read_fileview(options.file)
    except (ValueError, IndexError) as error:
        sys.exit(f"{options.file}: {error}")
    if options.ranks is not None and rows != options.ranks:
        sys.exit(f"{options.file}: {rows} rows, not {options.ranks}")
    if options.equals:
        compare(got, read_fileview(options.equals)[1])
    if options.dense:
        dense = [[int(word) for word in row.split()] for row in options.dense.split("/")]
        compare(got, {(i, j): value for i, row in enumerate(dense) for j, value in enumerate(row)})
    if options.log:
        compare(got, neighbours(options.log))


if __name__ == "__main__":
    main()
