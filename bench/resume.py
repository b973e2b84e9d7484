# SPDX-License-Identifier: BSD-3-Clause
"""A table that grows job by job in a CSV file, so that a run goes on where the last one stopped."""
import csv
import os
import sys
import time


class Table:
    """Rows of a CSV file; those of a job are there as a whole or not at all."""

    def __init__(self, path, fresh=False):
        self.path = path
        self.rows = []
        if not fresh and os.path.exists(path):
            with open(path, newline="", encoding="utf-8") as file:
                self.rows = list(csv.DictReader(file))
        self.done = {row.get("job") for row in self.rows}

    def add(self, job, rows):
        """The file is replaced as a whole, so that a killed run leaves the old one or the new one."""
        self.rows += [{"job": job, **row} for row in rows]
        self.done.add(job)
        columns = list(dict.fromkeys(column for row in self.rows for column in row))
        # As a reader of the file gets them: every row has all columns.
        self.rows = [{column: str(row.get(column, "")) for column in columns} for row in self.rows]
        with open(self.path + ".new", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)
        os.replace(self.path + ".new", self.path)

    def keep(self, jobs):
        """Forgets jobs that nobody asks for any more, and puts the others in order."""
        order = {job: i for i, job in enumerate(jobs)}
        self.rows = sorted((r for r in self.rows if r.get("job") in order), key=lambda r: order[r["job"]])

    def find(self, **wanted):
        return [r for r in self.rows if all(r[k] == str(v) for k, v in wanted.items())]


class Progress:
    """On a terminal one line that changes, else a line for each step."""

    def __init__(self, name, steps, done):
        self.name, self.steps, self.done, self.begun, self.first = name, steps, done, time.monotonic(), done
        if done:
            print(f"{name}: {done} of {steps} are there from an earlier run (--fresh begins anew)", file=sys.stderr)

    def step(self, text):
        self.done += 1
        spent = time.monotonic() - self.begun
        left = spent / (self.done - self.first) * (self.steps - self.done)
        line = f"{self.name} [{self.done}/{self.steps}] {text}, about {left:.0f} s left"
        if sys.stderr.isatty():
            print(f"\r\033[K{line}", end="\n" if self.done == self.steps else "", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)
