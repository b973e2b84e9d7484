# SPDX-License-Identifier: BSD-3-Clause
"""tatp report --table: a line for each job whose statistics are in folders, from sums only."""

import csv
import functools
import io
import json
import os

import planning
import statistics_file
import text

SUMS, LARGEST = ("bytes", "seconds", "crossing_bytes"), ("ranks", "nodes")
COLUMNS = (  # name in the table, name in CSV, and how the table shows it
    ("date", "date", "{:%Y-%m-%d %H:%M}".format), ("user", "user", str), ("program", "program", str), ("ranks", "ranks", str),
    ("bytes", "bytes", text.size), ("seconds", "seconds", "{:.3f}".format), ("between nodes", "crossing_bytes", text.size),
    ("placed", "placed_bytes", text.size))
LEFT, FIRST_SUM = 3, 4  # so many columns begin at the left; the first with a total


def may_be_statistics(path):
    if not os.path.isfile(path) or path.endswith((".json", ".jsonl")):
        return os.path.isfile(path)
    with open(path, "rb") as stream:
        return stream.read(7) == b'{"op": '


def files_of(path, notes):
    """The file, or those of a folder that may have statistics."""
    if not os.path.isdir(path):
        yield path
        return
    for name in sorted(os.listdir(path)):
        file = os.path.join(path, name)
        try:
            if may_be_statistics(file):
                yield file
        except OSError as error:
            notes.append(f"{file}: {error.strerror}")


def add(jobs, known, path, call):
    """known: the jobs of each line by owner. A file with a line that is known is a copy, or a part of one, unless both are of
    different users."""
    run = str(call.get("run", ""))
    owner = call.pop("owner")
    line = hash(repr([value for value in call.values() if not isinstance(value, (list, dict))]))
    owners = known.setdefault(line, {})
    copied = [job for other, job in owners.items() if other == owner or None in (other, owner)]
    if copied:
        jobs.setdefault((path, run), copied[0])
        return
    job = owners[owner] = jobs.setdefault((path, run), statistics_file.Run(path=path, identity=run))
    job.look_at(call)
    if not job.calls:
        job.calls.append(dict.fromkeys(SUMS + LARGEST, 0))
    sums = job.calls[0]
    for name in SUMS:
        sums[name] += call[name]
    for name in LARGEST:
        sums[name] = max(sums[name], call[name])


def read(paths, notes):
    """The jobs, longest in calls first. Of damaged lines there is one note for each file."""
    jobs, known, opened = {}, {}, set()
    for path in sorted(paths, key=os.path.isdir):
        for file in files_of(path, notes):
            found = []
            try:
                for call in statistics_file.read_calls(file, found, opened):
                    add(jobs, known, file, call)
            except statistics_file.StatisticsError:
                if file == path:
                    raise
            except OSError as error:
                found.append(f"{file}: {error.strerror}")
            if found:
                more = f" {len(found) - 1} more notes about this file." if len(found) > 1 else ""
                notes.append(found[0] + more)
    return sorted({id(job): job for job in jobs.values()}.values(), key=lambda job: -job.sum("seconds"))


@functools.lru_cache(maxsize=None)
def map_record(tools, record, ranks, nodes):
    """What dla says of a record, and the run that it is of; None if it does not fit."""
    if not os.path.isfile(record):
        return None
    try:
        mapped = planning.map_evenly(tools, record, ranks, nodes)
        comments = json.loads(tools.run("dla", "show", "--json", "--", record))["provenance"]
    except planning.ToolError:
        return None
    return mapped, {line[len("run: "):] for line in comments if line.startswith("run: ")}


def bytes_placed(job, tools):
    """Between nodes, if its ranks were placed by its record; None: not known. A record that a later run has replaced counts
    if that run moved as many bytes."""
    found = map_record(tools, job.job["record"], job.ranks, job.nodes) if "record" in job.job else None
    if found is None or "crossing_bytes" not in found[0]:
        return None
    mapped, runs = found
    return mapped["crossing_bytes"] if job.identity in runs or mapped["total_bytes"] == job.sum("bytes") else None


def values_of(job, tools):
    """In the order of the columns; None: not known."""
    return [text.date(job.started), job.job.get("user"), job.program or None, job.ranks, job.sum("bytes"),
            round(job.sum("seconds"), 6), job.sum("crossing_bytes"), bytes_placed(job, tools)]


def show(values, first=0):
    return ["-" if value is None else column[2](value) for value, column in zip(values, COLUMNS[first:])]


def table(jobs):
    """Columns as wide as what is in them. A total is known if the values of all jobs are."""
    totals = [None if None in values else sum(values) for values in list(zip(*jobs))[FIRST_SUM:]]
    rows = [[column[0] for column in COLUMNS], *map(show, jobs),
            ["total", "", f"{len(jobs)} job{'s' * (len(jobs) > 1)}", "", *show(totals, FIRST_SUM)]]
    rows = [[text.printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, cells)) for cells in zip(*rows)]
    return ["  ".join(cell.ljust(width) if k < LEFT else cell.rjust(width)
                      for k, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows]


def as_text(value):
    """Spreadsheets take names that begin like this for formulas, and others may write into the folder. Tab and CR are gone."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@")) else value


def comma_separated(jobs):
    """With all digits, and nothing where something is not known."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(column[1] for column in COLUMNS)
    rows.writerows([date and date.isoformat(timespec="seconds"), *map(as_text, values)] for date, *values in jobs)
    return out.getvalue().split("\n")[:-1]


def lines(paths, tools, as_csv, notes):
    jobs = [values_of(job, tools) for job in read(paths, notes)]
    if not jobs:
        raise statistics_file.StatisticsError(f"{paths[0]}: no statistics in this folder; runs write them with --mca fcoll tatp "
                                              f"--mca fcoll_tatp_stats {os.path.join(paths[0], '%j.json')}")
    return comma_separated(jobs) if as_csv else table(jobs)
