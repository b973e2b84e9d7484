# SPDX-License-Identifier: BSD-3-Clause
"""The papers' figures at the papers' sizes, on models of their machines: predicted, without data."""
import concurrent.futures
import os
import sys
from dataclasses import dataclass

from contests import predict, write_csv
from figures import Panel, plot

MACHINES = ("inspur", "bluelight")
RANKS = {"cube": (64, 125, 512), "btio": (100, 625, 900)}
MOST = {"cube": 512, "btio": 625}
STRATEGIES = {"otp": "OTP", "latp_volume": "LATP, volume", "latp_count": "LATP, count", "tatp": "TATP",
              "fitted": "TATP, fitted"}
PLACEMENTS = ("byslot", "bynode", "dla")
CRILL_NODES = {128: 4, 256: 8}
CRILL = {"byslot": "byslot, 48 a node", "byslot:L": "byslot", "bynode": "bynode", "mpipp-cart:L": "mpipp",
         "mpipp:L": "mpippg", "setmatch-cart:L": "setmatch", "setmatch:L": "setmatchg", "dla:L": "dla"}
TILES = {"1 KB": ("768x800", "1024"), "1 MB": ("40x15", "1048576")}
# Of the file systems only crill's rate is told (section 4.1); the others are assumed.
FILE_RATE = {"inspur": 2e9, "bluelight": 4e9, "crill": 0.8e9}
GB = 1e9


@dataclass(frozen=True)
class Job:
    """One run of `predict`."""
    machine: str
    kind: str
    ranks: int
    per_node: int = 1
    size: str = ""
    element: str = ""
    reorder: bool = False
    stripe: int = 1 << 20

    def limit(self):
        return -(-self.ranks // CRILL_NODES[self.ranks])

    def placements(self):
        """On crill, in the order of CRILL."""
        return [key.replace(":L", f":{self.limit()}") for key in CRILL]

    def arguments(self):
        words = ["--machine", self.machine, "--kind", self.kind, "--ranks", str(self.ranks),
                 "--size", self.size, "--stripe", str(self.stripe)]
        words += ["--element", self.element] if self.element else []
        words += ["--reorder"] if self.reorder else []
        if self.machine != "crill":
            return words + ["--per-node", str(self.per_node)]
        return words + ["--nodes", str(CRILL_NODES[self.ranks]), "--placements", " ".join(self.placements()),
                        "--strategies", "segments otp tatp fitted"]

    def name(self):
        return " ".join(self.arguments())


class Sizes:
    """The papers' sizes, or small ones that show no more than that all is there."""

    def __init__(self, quick):
        self.quick = quick
        self.points = "240" if quick else "2000"
        self.dump = "10000" if quick else "1000000"
        self.lattice = "16" if quick else "96"
        self.stripe = 1 << (16 if quick else 20)

    def array(self, machine, kind, ranks, per_node=1):
        return Job(machine, kind, ranks, per_node, self.points, "8", stripe=self.stripe)

    def tiles(self, name, ranks, reorder):
        size, element = ("16x20", "1024") if self.quick else TILES[name]
        return Job("crill", "tile", ranks, 1, size, element, reorder, self.stripe)

    def others(self, machine):
        return [Job(machine, "lattice", 256, 1, self.lattice, "288", stripe=self.stripe),
                Job(machine, "dump", 512, 1, self.dump, "8", stripe=self.stripe)]

    def jobs(self):
        jobs = [self.array(m, kind, ranks) for m in MACHINES for kind in RANKS for ranks in RANKS[kind]]
        jobs += [self.array(m, kind, MOST[kind], n) for m in MACHINES for kind in MOST for n in (2, 4)]
        jobs += [job for m in MACHINES for job in self.others(m)]
        jobs += [self.tiles(t, ranks, reorder) for t in TILES for ranks in (128, 256) for reorder in (False, True)]
        return list(dict.fromkeys(jobs))


# --- running ---

def run_jobs(jobs):
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        return [{"job": job.name(), **row} for job, rows in zip(jobs, pool.map(lambda j: predict(j.arguments()), jobs))
                for row in rows]


# --- figures ---

class Forecasts:
    """Rows found by job, placement and strategy."""

    def __init__(self, rows):
        self.at = {(r["job"], r["placement"], r["strategy"]): r for r in rows}

    def get(self, job, placement, strategy, column):
        return float(self.at[job.name(), placement, strategy][column])

    def shuffle(self, job, placement, strategy):
        """Seconds: the busiest link, and then the aggregators' memory."""
        return self.get(job, placement, strategy, "link_s") + self.get(job, placement, strategy, "copy_s")

    def access(self, job):
        """Seconds of file access at the file system's rate."""
        return float(self.at[job.name(), "byslot", "otp"]["file_bytes"]) / FILE_RATE[job.machine]

    def speed(self, job, placement, strategy):
        """Bytes a second of shuffle and access, one after the other."""
        seconds = self.shuffle(job, placement, strategy) + self.access(job)
        return float(self.at[job.name(), placement, strategy]["file_bytes"]) / seconds


def check_order(rows):
    """Hop-bytes of fitted domains are never above those of tatp, nor these above the others'; what is is told."""
    at, wrong = {}, []
    for row in rows:
        at.setdefault((row["job"], row["placement"]), {})[row["strategy"]] = float(row["hop_bytes"])
    for key, hops in at.items():
        if not hops["fitted"] <= hops["tatp"] <= min(h for s, h in hops.items() if s not in ("fitted", "segments")):
            wrong.append(f"{key}: not in order: {hops}")
    return wrong


def largest_arrays(sizes, per_node=1):
    return [sizes.array(m, kind, MOST[kind], per_node) for m in MACHINES for kind in MOST]


def arrays_by_ranks(sizes):
    """Each pattern on each machine with all its numbers of ranks."""
    return [[sizes.array(m, kind, r) for r in RANKS[kind]] for m in MACHINES for kind in RANKS]


def hop_bytes_panel(f, job):
    return Panel(f"{job.kind}, {job.ranks} ranks, {job.machine}", list(PLACEMENTS),
                 {label: [f.get(job, p, s, "hop_bytes") / GB for p in PLACEMENTS] for s, label in STRATEGIES.items()},
                 "hop-bytes (GB x hops)", "placement")


def share(f, job, placement, strategy):
    shuffle = f.shuffle(job, placement, strategy)
    return 100 * shuffle / (shuffle + f.access(job))


def figure10(folder, sizes, f):
    panels = [Panel(f"{jobs[0].kind}, {jobs[0].machine}", [str(j.ranks) for j in jobs],
                    {f"OTP, {p}": [share(f, j, p, "otp") for j in jobs] for p in ("byslot", "bynode")},
                    "shuffle, part of the time (%)", "ranks") for jobs in arrays_by_ranks(sizes)]
    plot(folder, "tatp-fig10", panels, "lines")


def figure11(folder, sizes, f):
    panels = []
    for job in largest_arrays(sizes):
        parts = {"links": [f.get(job, "bynode", s, "link_s") for s in STRATEGIES],
                 "memory of aggregators": [f.get(job, "bynode", s, "copy_s") for s in STRATEGIES],
                 "file access": [f.access(job) for _ in STRATEGIES]}
        panels.append(Panel(f"{job.kind}, {job.ranks} ranks, {job.machine}", list(STRATEGIES.values()), parts,
                            "time (s), by node"))
    plot(folder, "tatp-fig11", panels, "stacks")


def figure12(folder, sizes, f):
    panels = []
    for jobs in arrays_by_ranks(sizes):
        shown = {label: [f.speed(j, "bynode", s) / GB for j in jobs] for s, label in STRATEGIES.items()}
        shown["TATP, fitted, dla"] = [f.speed(j, "dla", "fitted") / GB for j in jobs]
        panels.append(Panel(f"{jobs[0].kind}, {jobs[0].machine}, by node", [str(j.ranks) for j in jobs], shown,
                            "speed (GB/s)", "ranks"))
    plot(folder, "tatp-fig12", panels)


def figure13(folder, sizes, f):
    cases = list(zip(*(largest_arrays(sizes, n) for n in (1, 2, 4))))
    panels = [Panel("TATP, by slot", ["1", "2", "4"],
                    {f"{jobs[0].kind}, {jobs[0].machine}": [value(j, "byslot", "tatp") / GB for j in jobs]
                     for jobs in cases}, unit, "aggregators a node")
              for value, unit in ((f.speed, "speed (GB/s)"),
                                  (lambda *key: f.get(*key, "hop_bytes"), "hop-bytes (GB x hops)"))]
    plot(folder, "tatp-fig13", panels)


# --- SetMatch ---

def tile_figure(folder, sizes, f, name, strategies, reorder):
    panels = []
    for tile in TILES:
        jobs = [sizes.tiles(tile, ranks, reorder) for ranks in (128, 256)]
        for strategy, label in strategies.items():
            series = {what: [f.shuffle(j, j.placements()[i], strategy) for j in jobs]
                      for i, what in enumerate(CRILL.values())}
            panels.append(Panel(f"{tile} tiles, {label}", ["128", "256"], series, "communication time (s)", "ranks"))
    plot(folder, name, panels)


def setmatch_figures(folder, sizes, f):
    tile_figure(folder, sizes, f, "setmatch-fig01", {"segments": "dynamic segmentation"}, False)
    tile_figure(folder, sizes, f, "setmatch-fig03", {"otp": "two-phase"}, False)
    tile_figure(folder, sizes, f, "setmatch-fig05", {"otp": "two-phase", "tatp": "TATP"}, True)
    jobs = [sizes.tiles("1 KB", ranks, False) for ranks in (128, 256)]
    series = {"48 ranks a node": [f.shuffle(j, "byslot", "otp") for j in jobs],
              "32 ranks a node": [f.shuffle(j, f"byslot:{j.limit()}", "otp") for j in jobs],
              "by node": [f.shuffle(j, "bynode", "otp") for j in jobs]}
    plot(folder, "setmatch-fig04", [Panel("1 KB tiles, two-phase, by slot", ["128", "256"], series,
                                          "communication time (s)", "ranks")])


def evaluate(options):
    sizes = Sizes(options.quick)
    rows = run_jobs(sizes.jobs())
    write_csv(os.path.join(options.output, "paper.csv"), rows)
    f = Forecasts(rows)
    for name, jobs in (("tatp-fig09", largest_arrays(sizes)),
                       ("other-patterns", [job for machine in MACHINES for job in sizes.others(machine)])):
        plot(options.output, name, [hop_bytes_panel(f, job) for job in jobs])
    for figure in (figure10, figure11, figure12, figure13, setmatch_figures):
        figure(options.output, sizes, f)
    wrong = check_order(rows)
    for text in wrong:
        print(f"evaluation: {text}", file=sys.stderr)
    return not wrong
