# SPDX-License-Identifier: BSD-3-Clause
"""Statistics of fcoll/tatp: JSON lines, as tatp_stats(5) describes them."""

import json
import os
import pwd
import re
import stat
from dataclasses import dataclass, field

import text

FORMAT = 1
COUNTS = ("ranks", "nodes", "aggregators")
NUMBERS = ("cycles", "bytes", "seconds", "st1", "st2", "st3", "st4", "st5", "hop_bytes", "hop_bytes_otp", "crossing_bytes")
# And what is meant where they lack.
LATER_NUMBERS = {"messages": 0, "metadata_bytes": 0, "waited": 0, "calls": 1, "noncollective_bytes": 0, "stripe_size": 0, "stripe_count": 0,
                 "opens": 0, "open_seconds": 0, "closes": 0, "close_seconds": 0}
NUMBERS_THAT_MAY_LACK = ("call", "schedule", "format", "ended", "plans")
MOST_LEVELS, MOST_CABLES = 64, 1 << 20
MOST_LINES, MOST_CHARACTERS = 1 << 18, 1 << 26  # of a file, of a line
MOST_NOTES = 20  # about lines of a file
HEAD_CHARACTERS = 4096  # of a file, by which it is known what else it is
# Control characters, and halves of surrogate pairs, which have no UTF-8.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
STAGES = ("st1", "st2", "st3", "st4", "st5")


class StatisticsError(Exception):
    """A file that has no statistics; what it is, and what to do."""


@dataclass
class Calls:
    """Lines of statistics. Each stands for a call, or for all of an operation and file."""

    calls: list = field(default_factory=list)

    def sum(self, name, op=None):
        return sum(call[name] for call in self.calls if op is None or call["op"] == op)

    def count(self, op=None):
        return self.sum("calls", op)

    @property
    def ranks(self):
        return max(call["ranks"] for call in self.calls)

    @property
    def nodes(self):
        return max(call["nodes"] for call in self.calls)

    @property
    def files(self):
        return sorted({call["file"] for call in self.calls})

    @property
    def rate(self):
        """MB/s"""
        seconds = self.sum("seconds")
        return self.sum("bytes") / seconds / 1e6 if seconds > 0 else 0


@dataclass
class Run(Calls):
    """The calls of one run of a program, in the order in which they ended."""

    path: str = ""
    identity: str = ""
    program: str = ""
    version: str = ""  # of this project
    job: dict = field(default_factory=dict)  # as far as known: user, id, host, command, mpi, record
    started: float = None  # seconds since 1970
    schedules: set = field(default_factory=set)

    def look_at(self, call):
        """What a line says of the run. Counts its plans, if it does not: a plan has a number; a call that reuses it has the
        same one."""
        schedule = call.get("schedule"), call["ranks"]
        call.setdefault("plans", int(call["aggregators"] > 0 and schedule not in self.schedules))
        self.schedules.add(schedule)
        for name in ("program", "version"):
            if isinstance(call.get(name), str):
                setattr(self, name, call[name])
        if isinstance(call.get("job"), dict):
            self.job.update((name, value) for name, value in call["job"].items() if isinstance(value, str) and value)
        if "ended" in call:
            begun = call["ended"] - call["seconds"]
            self.started = begun if self.started is None else min(self.started, begun)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e300


def is_whole(value, limit):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < limit


def are_whole(values, count, limit):
    return isinstance(values, list) and (count is None or len(values) == count) \
        and all(is_whole(value, limit) for value in values)


def check_call(call):
    """What is wrong with a line, or None."""
    if not isinstance(call, dict):
        return "not a JSON object"
    if call.get("op") not in ("read", "write"):
        return "no 'op' that is read or write"
    if not isinstance(call.get("file"), str) or not isinstance(call.get("strategy"), str):
        return "no name of a file or strategy"
    for name in COUNTS:
        if not is_whole(call.get(name), 1 << 62):
            return f"no whole number '{name}'"
    for name in NUMBERS:
        if not is_number(call.get(name)):
            return f"no number '{name}'"
    for name, meant in LATER_NUMBERS.items():
        if not is_number(call.setdefault(name, meant)):
            return f"'{name}' is no number"
    for name in NUMBERS_THAT_MAY_LACK:
        if not is_number(call.get(name, 0)):
            return f"'{name}' is no number"
    return None


def depths(parent):
    depth = [0] * len(parent)
    for v in range(len(parent) - 2, -1, -1):
        depth[v] = depth[parent[v]] + 1
    return depth


def is_tree(parent, cables, nodes):
    """Vertices after their children, the root last; no deeper and no thicker than any network."""
    vertices = len(parent) if isinstance(parent, list) else 0
    if vertices <= nodes or not are_whole(parent, vertices, vertices) or not are_whole(cables, vertices, 1 << 16):
        return False
    if parent[-1] != vertices - 1 or any(v >= up for v, up in enumerate(parent[:-1])):
        return False
    return max(depths(parent)) <= MOST_LEVELS and sum(cables) <= MOST_CABLES


def check_distances(distances, nodes):
    if not isinstance(distances, dict) or not isinstance(distances.get("source"), str):
        return False
    parent, hops = distances.get("parent"), distances.get("hops")
    if parent is not None:
        return is_tree(parent, distances.get("cables"), nodes)
    if hops is not None:
        places = round(len(hops) ** 0.5) if isinstance(hops, list) else 0
        return places * places == len(hops) and are_whole(hops, None, 65536) \
            and are_whole(distances.get("place_of_node"), nodes, places)
    return True


def check_requests(plan, nodes, ranks, domains):
    """Whether C is one of so many."""
    by = plan.get("requests_by")
    row_nodes, column_domains = plan.setdefault("nodes_in_row", 1), plan.setdefault("domains_in_column", 1)
    if plan.setdefault("requests_by", "none") not in ("rank", "node", "none") \
            or not is_whole(row_nodes, 1 << 30) or row_nodes < 1 \
            or not is_whole(column_domains, 1 << 30) or column_domains < 1:
        return False
    triples = plan.setdefault("requests", [])
    rows = ranks if by == "rank" else -(-nodes // row_nodes)
    return isinstance(triples, list) and len(triples) % 3 == 0 \
        and are_whole(triples[0::3], None, rows) \
        and are_whole(triples[1::3], None, -(-domains // column_domains)) \
        and are_whole(triples[2::3], None, 1 << 63)


def check_even(plan, call):
    even = plan.get("even")
    return even is None or isinstance(even, dict) and is_whole(even.get("count"), call["ranks"] + 1) \
        and check_requests(even, call["nodes"], call["ranks"], even["count"])


def check_plan(plan, call):
    """Whether everything in a plan fits together."""
    if not isinstance(plan, dict) or not isinstance(plan.get("hosts"), list):
        return False
    hosts, ranks, domains = plan["hosts"], call["ranks"], call["aggregators"]
    if not all(isinstance(host, str) for host in hosts) or len(hosts) != call["nodes"]:
        return False
    return are_whole(plan.get("node_of_rank"), ranks, len(hosts)) \
        and are_whole(plan.get("rank_of_domain"), domains, ranks) \
        and check_requests(plan, len(hosts), ranks, domains) and check_even(plan, call) \
        and is_whole(plan.get("per_node"), 1 << 62) and check_distances(plan.get("distances"), len(hosts))


def check_timeline(line, call):
    """Whether it is a list of aggregators with their windows: [window, four moments]."""
    return isinstance(line, list) and all(
        isinstance(entry, dict) and is_whole(entry.get("rank"), call["ranks"])
        and isinstance(entry.get("windows"), list)
        and all(are_whole(window, 5, 1 << 62) for window in entry["windows"])
        for entry in line)


def clean(value):
    """The value with U+FFFD instead of what is unprintable in its strings."""
    if isinstance(value, str):
        return UNPRINTABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [clean(part) if isinstance(part, (str, list, dict)) else part for part in value]
    if isinstance(value, dict):
        return {key: clean(part) for key, part in value.items()}
    return value


def parse_line(line, place, notes):
    """A call, or None after a note."""
    try:
        call = clean(json.loads(line))
        wrong = check_call(call)
    except (ValueError, RecursionError):
        wrong = "not JSON" if line.endswith("\n") else "it has no end, as when a job is killed"
    if wrong is not None:
        notes.append(f"{place}: left out: {wrong}.")
        return None
    if call.get("format", 0) > FORMAT:
        notes.append(f"{place}: written by a later version, in format {call['format']}; "
                     "what this version does not know is left out.")
    if "plan" in call and not check_plan(call["plan"], call):
        notes.append(f"{place}: its plan does not fit together and is left out.")
        del call["plan"]
    if "timeline" in call and not check_timeline(call["timeline"], call):
        notes.append(f"{place}: its time line does not fit together and is left out.")
        del call["timeline"]
    return call


def read_lines(stream, path, notes):
    """The lines with their numbers, up to the limits."""
    for number in range(1, MOST_LINES + 2):
        line = stream.readline(MOST_CHARACTERS + 1)
        if line == "":
            return
        if number > MOST_LINES:
            notes.append(f"{path}: more than {MOST_LINES} lines; the others are left out.")
        elif len(line) > MOST_CHARACTERS:
            notes.append(f"{path}:{number}: more than {MOST_CHARACTERS} characters; the file is left out from there on.")
            return
        else:
            yield number, line


def open_statistics(path):
    try:
        return open(path, encoding="utf-8-sig", errors="replace")
    except FileNotFoundError:
        raise StatisticsError(f"{path}: no such file; a run with --mca fcoll tatp --mca fcoll_tatp_stats {path} writes it, unless fcoll/tatp "
                              "served no access to a file: 'tatp doctor' finds out why") from None
    except IsADirectoryError:
        raise StatisticsError(f"{path}: is a folder; 'tatp report --table {path}' lists its jobs") from None


def refuse(path, head):
    """The error of a file that begins like this."""
    if head.startswith("FILEVIEW"):
        return StatisticsError(f"{path}: is a record, not statistics; see 'dla show {path}', or give it with --view")
    if text.PAGE_MARK in head:
        return StatisticsError(f"{path}: is a page of tatp report, not statistics; open it in a browser")
    wrong = "is not a statistics file" if head.strip() else "is empty"
    return StatisticsError(f"{path}: {wrong}; a run writes one with --mca fcoll tatp --mca fcoll_tatp_stats FILE")


def owner_of(stream, path):
    """The user who owns the file, if others may write into its folder: then that is who wrote the lines, whoever they name."""
    if not os.stat(os.path.dirname(os.path.realpath(path))).st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return None
    uid = os.fstat(stream.fileno()).st_uid
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def set_owner(call, owner, place, notes):
    call["owner"] = owner
    if owner is not None:
        job = call.get("job") if isinstance(call.get("job"), dict) else {}
        if job.get("user", owner) != owner:
            notes.append(f"{place}: names the user {job['user']}, but the file is {owner}'s, who counts.")
        call["job"] = {**job, "user": owner}


def read_calls(path, notes, opened):
    """The calls of a file one by one, none if it is among those opened before; an error after the last if it has none."""
    head, found, is_statistics, calls = "", [], False, 0
    with open_statistics(path) as stream:
        file = os.fstat(stream.fileno())[1:3]  # inode and device
        if file in opened:
            return
        opened.add(file)
        owner = owner_of(stream, path)
        for number, line in read_lines(stream, path, notes):
            head += line[:HEAD_CHARACTERS - len(head)]
            is_statistics = is_statistics or line.startswith('{"op":')
            if not line.strip():
                continue
            call = parse_line(line, f"{path}:{number}", found)
            if call is not None:
                calls += 1
                set_owner(call, owner, f"{path}:{number}", found)
                yield call
    if calls == 0 and not is_statistics:
        raise refuse(path, head)
    notes += found[:MOST_NOTES]
    if len(found) > MOST_NOTES:
        notes.append(f"{path}: {len(found) - MOST_NOTES} more notes of this kind.")
    if calls == 0:
        raise StatisticsError(f"{path}: no line can be used")


def read(paths, notes):
    """The runs of all files, in the order of their first lines."""
    runs, opened = {}, set()
    for path in paths:
        for call in read_calls(path, notes, opened):
            identity = str(call.get("run", ""))
            run = runs.setdefault((path, identity), Run(path=path, identity=identity))
            run.look_at(call)
            run.calls.append(call)
    return list(runs.values())
