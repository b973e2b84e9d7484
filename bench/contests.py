# SPDX-License-Identifier: BSD-3-Clause
"""Runs of `contest` on the test cluster, with the bytes on its links: what drivers share."""
import argparse
import csv
import fnmatch
import json
import math
import os
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass

UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
LINKS = "2gbit,unlimited,800mbit/400mbit"
STAGES = ("st1", "st2", "st3", "st4", "st5")
CONTEST = os.environ.get("CONTEST", os.path.join(os.environ["BENCH_DIR"], "contest"))


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
    """One of the option --links."""
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
    """Runs it for at most so many seconds: its status, its rows, and the counted bytes."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    watch = threading.Timer(limit, process.terminate)
    watch.start()
    try:
        lines, counted = answer_questions(process, cluster)
        return process.wait(), list(csv.DictReader(lines)), counted
    finally:
        watch.cancel()
        if process.poll() is None:
            process.terminate()
            process.wait()


def calls_of(path, row, suffix=""):
    """What fcoll/tatp reports of the calls of a row, with --stats PATH."""
    try:
        with open(f"{path}.{row['contestant']}{suffix}", encoding="utf-8") as lines:
            return [call for call in map(json.loads, lines) if call["op"] == row["operation"] and call["seconds"] > 0]
    except FileNotFoundError:
        return []


def add_statistics(row, path):
    """Of the last call, the first, and medians of all but that."""
    first, later = calls_of(path, row, ".first"), calls_of(path, row)
    if not first or not later:
        return
    def planning(calls):
        return statistics.median((c["st1"] + c["st2"] + c["st3"]) / c["seconds"] for c in calls)
    last = later[-1]
    row.update(crossing_bytes=f"{last['crossing_bytes']:.0f}", planning_share=f"{planning(later):.5f}",
               first_planning_share=f"{planning(first):.5f}", messages=last["messages"],
               metadata_bytes=first[-1]["metadata_bytes"], hop_bytes=f"{last['hop_bytes']:.0f}",
               aggregators=last["aggregators"],
               **{f"{stage}_s": f"{statistics.median(c[stage] for c in later):.6f}" for stage in STAGES})


def predict(arguments):
    """The rows of `predict`."""
    done = subprocess.run([os.path.join(os.environ["BENCH_DIR"], "predict"), *arguments], stdout=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"evaluation: predict {' '.join(arguments)}: ended with status {done.returncode}")
    return list(csv.DictReader(done.stdout.splitlines()))


# --- what drivers do alike ---

class Driver:
    """A program that runs cases: its options, and the run of all of them."""

    def __init__(self, name, doc, contestants, file):
        self.name = name
        self.parser = argparse.ArgumentParser(prog=name, description=doc,
                                              formatter_class=argparse.RawDescriptionHelpFormatter)
        add = self.parser.add_argument
        add("--list", action="store_true", help="list what can be run, and end")
        add("--links", metavar="LIST", help=f"limits of node links and uplinks ({LINKS})")
        add("--contestants", default=contestants, metavar="LIST",
            help="by blanks; ratios are of the first (%(default)s); see contest --help")
        add("--rounds", type=int, metavar="N", help="rounds that count (5)")
        add("--quick", action="store_true", help="small sizes, few rounds, links unlimited, where not said otherwise")
        add("--csv", metavar="FILE", help="write all figures there")
        add("--file", default=file, metavar="FILE", help="the file that is written and read (%(default)s)")
        add("--mpirun", metavar="COMMAND",
            help="run by this command in place of the test cluster; links are not counted")
        add("--limit", type=int, default=1800, metavar="SECONDS", help="longest time for one case (%(default)s)")
        add("more", nargs="*", metavar="ARGUMENT", help="after --: arguments for mpirun, as --mca NAME VALUE")

    def parse(self, usual, quick):
        """With these values, or quick ones, where none are given."""
        options = self.parser.parse_args()
        for name, value in (quick if options.quick else usual).items():
            if getattr(options, name) is None:
                setattr(options, name, value)
        if options.mpirun:
            options.links = "unlimited"
        numbers = [name for name in usual if isinstance(usual[name], int)]
        if min(getattr(options, name) for name in numbers) < 1:
            self.parser.error(f"positive numbers are wanted for {', '.join('--' + name for name in numbers)}")
        self.options = options
        return options

    def choose(self, option, known):
        """Of names with their groups, those that the words of an option name."""
        chosen = []
        for word in getattr(self.options, option).replace(",", " ").split():
            found = [name for name, group in known.items() if word in ("all", group) or fnmatch.fnmatch(name, word)]
            if not found:
                sys.exit(f"{self.name}: --{option}: nothing matches '{word}'; see --list")
            chosen += [name for name in found if name not in chosen]
        return chosen

    def command(self, cluster, ranks, mapping, mca=()):
        base = shlex.split(self.options.mpirun) if self.options.mpirun else cluster.command()
        return base + ["-np", str(ranks), "--map-by", mapping, *mca, *self.options.more, CONTEST, "--csv",
                       "--file", self.options.file]

    def place(self, cluster, ranks, mapping, view, arguments):
        """For --map-by; by dla from a record of one run by node, which is kept as `view`. None: recording failed."""
        if mapping != "dla":
            return mapping
        if not os.path.exists(view):
            command = self.command(cluster, ranks, "node", ("--mca", "fcoll_tatp_record", view)) + arguments
            status, _, _ = run_contest([*command, "--rounds", "0", "--no-verify", "--contestants", "tatp"], cluster,
                                       self.options.limit)
            if status != 0 or not os.path.exists(view):
                print(f"{self.name}: {view} cannot be recorded", file=sys.stderr)
                return None
        return f"dla:file={view}"

    def asks(self, cluster):
        return ["--ask"] if not self.options.mpirun and cluster.counted else []

    def prepare(self, case, links, cluster):
        """False: links cannot be limited here."""
        if not self.options.mpirun:
            cluster.bring_up(case, links)
            if links.words and not cluster.counted:
                print(f"{self.name}: links cannot be limited here: {links.name} left out", file=sys.stderr)
                return False
        return True

    def run(self, jobs, run_case, print_tables):
        """Of each job, a tuple that begins with links and case, run_case returns rows, and whether all went well."""
        os.environ["OMPI_MCA_mca_base_component_path"] = os.environ["TATP_COMPONENT_PATH"]
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        cluster, rows, well = Cluster(), [], True
        # On a cluster, the file is where all nodes see it.
        where = os.path.dirname(os.path.abspath(self.options.file)) if self.options.mpirun else None
        try:
            with tempfile.TemporaryDirectory(dir=where) as folder:
                for job in jobs:
                    if not self.prepare(job[1], job[0], cluster):
                        continue
                    new, right = run_case(cluster, folder, *job)
                    rows += new
                    well = well and right
                    if self.options.csv:
                        write_csv(self.options.csv, rows)
        finally:
            cluster.take_down()
        print_tables(rows)
        wrong = sorted({f"{r['contestant']} in {r['case']}" for r in rows if r["verified"] == "WRONG"})
        print("\n" + ("Wrong bytes: " + "; ".join(wrong) if wrong else
                      "Every byte of every file and buffer was checked and is right." if well else
                      "Something went wrong: see above."))
        return 0 if well else 1


def run_main(main):
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)


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
    first = ("job", "transport", "links", "group", "case")
    columns.sort(key=lambda c: first.index(c) if c in first else len(first))
    with open(path, "w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
