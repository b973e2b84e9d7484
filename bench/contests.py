# SPDX-License-Identifier: BSD-3-Clause
"""Runs of `contest` and `programs` on the test cluster, with the bytes on its links: what drivers share."""
import csv
import math
import os
import subprocess
import sys
import threading
from dataclasses import dataclass

UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


@dataclass(frozen=True)
class Links:
    """What is asked of `cluster up`; rates in bytes a second, 0 where not limited."""
    name: str
    words: tuple
    node_rate: float
    uplink_rate: float


def rate(text):
    for unit, bits in UNITS.items():
        if text.endswith(unit) and text[:-len(unit)].isdigit():
            return int(text[:-len(unit)]) * bits / 8
    sys.exit(f"--links: '{text}' is not a rate like 2gbit, 800mbit/400mbit or unlimited")


def parse_links(text):
    if text == "unlimited":
        return Links(text, (), 0, 0)
    node, _, uplink = text.partition("/")
    uplink = uplink or node
    return Links(text, ("--link-rate", node, "--uplink-rate", uplink), rate(node), rate(uplink))


class Cluster:
    """A test cluster of the shape that the last case wanted."""

    def __init__(self):
        self.program = os.environ["CLUSTER"]
        self.name = f"bench-{os.getpid()}"
        self.shape = None
        self.counted = False
        self.transport = "ob1"

    def take_down(self):
        if self.shape is not None:
            subprocess.run([self.program, "down", "--name", self.name], check=False)
        self.shape = None

    def bring_up(self, case, links):
        shape = (case.nodes, case.slots, links)
        if shape == self.shape:
            return
        self.take_down()
        words = ["--nodes", str(case.nodes), "--slots", str(case.slots),
                 "--leaf", str(max(1, case.nodes // 2)), *links.words]
        subprocess.run([self.program, "up", "--name", self.name, "--owner", str(os.getpid()), *words],
                       stdout=subprocess.DEVNULL, check=True)
        self.shape = shape
        self.counted = self.count() is not None

    def count(self):
        """Bytes of each link since it is up: {name: (kind, up, down)}; None: not counted here."""
        done = subprocess.run([self.program, "links", "--name", self.name, "--csv"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        if done.returncode != 0:
            return None
        return {row["link"]: (row["kind"], int(row["up_bytes"]), int(row["down_bytes"]))
                for row in csv.DictReader(done.stdout.splitlines())}

    def command(self):
        return [self.program, "run", "--name", self.name, "--transport", self.transport]


def link_bytes(before, after):
    """What each link has carried: {name: (kind, up, down)}."""
    return {link: (kind, up - before[link][1], down - before[link][2]) for link, (kind, up, down) in after.items()}


def link_figures(moved):
    """Bytes that left nodes and leaves, and what the busiest link of each kind carried one way."""
    figures = {}
    for kind in ("node", "uplink"):
        links = [(max(up, 0), max(down, 0)) for of, up, down in moved.values() if of == kind]
        figures[f"{kind}_bytes"] = sum(up for up, _ in links)
        figures[f"busiest_{kind}_bytes"] = max((max(pair) for pair in links), default=0)
    return figures


def answer_questions(process, cluster):
    """Counts bytes on links when asked; returns the other lines and the counts, without what asking costs."""
    lines, counted, begun, asking = [], {}, None, None
    for line in process.stdout:
        if not line.startswith("@"):
            lines.append(line)
            continue
        contestant, operation, moment = line[1:].split()
        now = cluster.count()
        if moment == "begin":
            begun = now
        elif contestant == "nothing":
            asking = link_bytes(begun, now)
        else:
            counted[contestant, operation] = link_figures(link_bytes(asking, link_bytes(begun, now)))
        try:
            process.stdin.write("\n")
            process.stdin.flush()
        except BrokenPipeError:  # it has ended, which its status tells
            pass
    return lines, counted


def run_contest(command, cluster, limit):
    """Runs it for at most so many seconds: its status, its lines, and the counted bytes."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    watch = threading.Timer(limit, process.terminate)
    watch.start()
    try:
        lines, counted = answer_questions(process, cluster)
        return process.wait(), lines, counted
    finally:
        watch.cancel()
        if process.poll() is None:
            process.terminate()
            process.wait()


# --- figures ---

def add_links(row, links, counted):
    row["links"] = links.name
    row.update(counted.get((row["contestant"], row["operation"]), {}))
    row["bound_s"] = ""
    if links.node_rate and "node_bytes" in row:
        seconds = max(row["busiest_node_bytes"] / links.node_rate,
                      row["busiest_uplink_bytes"] / links.uplink_rate)
        row["bound_s"] = f"{seconds:.6f}"


class Figures:
    """All rows, found by links, case, contestant and operation."""

    def __init__(self, rows):
        self.rows = rows
        self.at = {(r["links"], r["case"], r["contestant"], r["operation"]): r for r in rows}

    def names(self, column, **where):
        wanted = [r[column] for r in self.rows if all(r[k] == v for k, v in where.items())]
        return list(dict.fromkeys(wanted))

    def number(self, links, case, contestant, operation, column):
        """None where not known; the operation may be "write + read"."""
        numbers = [self.at.get((links, case, contestant, single), {}).get(column)
                   for single in operation.split(" + ")]
        return None if None in numbers or "" in numbers else sum(float(n) for n in numbers)


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def text(value, form):
    return "-" if value is None else format(value, form)


def write_csv(path, rows):
    columns = list(dict.fromkeys(column for row in rows for column in row))
    first = ("transport", "links", "group", "case")
    columns.sort(key=lambda c: first.index(c) if c in first else len(first))
    with open(path, "w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
