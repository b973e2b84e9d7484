#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks recorded view matrices (FILEVIEW files).

The diagonal is left out: it counts into how many pieces a rank's own range was cut.
"""
import argparse
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
    parser.add_argument("--no-profile", action="store_true", help="there must be none")
    parser.add_argument("file", metavar="FILE")
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
    if options.no_profile and sections not in ([], [""]):
        sys.exit(f"{options.file}: has a profile")


if __name__ == "__main__":
    main()
