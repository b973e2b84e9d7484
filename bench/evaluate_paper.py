# SPDX-License-Identifier: BSD-3-Clause
"""The papers' figures at the papers' sizes, on models of their machines: predicted, without data."""
import concurrent.futures
import csv
import os
import subprocess
import sys
from dataclasses import dataclass

from figures import Panel, Section, plot, table, write_page
from resume import Progress, Table

MACHINES = ("inspur", "bluelight")
RANKS = {"cube": (64, 125, 512), "btio": (100, 625, 900)}
MOST = {"cube": 512, "btio": 625}
STRATEGIES = {"otp": "OTP", "latp_volume": "LATP, volume", "latp_count": "LATP, count", "tatp": "TATP",
              "fitted": "TATP, fitted"}
PLACEMENTS = ("byslot", "bynode", "dla")
CRILL_NODES = {128: 4, 256: 8, 144: 4}
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

    def arguments(self):
        words = ["--machine", self.machine, "--kind", self.kind, "--ranks", str(self.ranks),
                 "--size", self.size, "--stripe", str(self.stripe)]
        words += ["--element", self.element] if self.element else []
        words += ["--reorder"] if self.reorder else []
        if self.machine != "crill":
            return words + ["--per-node", str(self.per_node)]
        placements = " ".join(CRILL).replace(":L", f":{self.limit()}")
        return words + ["--nodes", str(CRILL_NODES[self.ranks]), "--placements", placements,
                        "--strategies", "segments otp tatp fitted"]

    def name(self):
        return " ".join(self.arguments())

    def short(self):
        return f"{self.kind}, {self.ranks} ranks, {self.machine}"


class Sizes:
    """The papers' sizes, or small ones that show no more than that all is there."""

    def __init__(self, quick):
        self.quick = quick
        self.points = "240" if quick else "2000"
        self.dump = "10000" if quick else "1000000"
        self.lattice = "16" if quick else "96"
        self.stripe = 1 << (16 if quick else 20)

    def tile(self, name):
        size, element = TILES[name]
        return ("16x20", "1024") if self.quick else (size, element)

    def array(self, machine, kind, ranks, per_node=1):
        return Job(machine, kind, ranks, per_node, self.points, "8", stripe=self.stripe)

    def tiles(self, name, ranks, reorder):
        size, element = self.tile(name)
        return Job("crill", "tile", ranks, 1, size, element, reorder, self.stripe)

    def btio_run(self, ranks):
        return Job("crill", "btio", ranks, 1, "102" if self.quick else "408", "40", stripe=self.stripe)

    def others(self, machine):
        return [Job(machine, "lattice", 256, 1, self.lattice, "288", stripe=self.stripe),
                Job(machine, "dump", 512, 1, self.dump, "8", stripe=self.stripe)]

    def jobs(self):
        jobs = [self.array(m, kind, ranks) for m in MACHINES for kind in RANKS for ranks in RANKS[kind]]
        jobs += [self.array(m, kind, MOST[kind], n) for m in MACHINES for kind in MOST for n in (2, 4)]
        jobs += [job for m in MACHINES for job in self.others(m)]
        jobs += [self.tiles(t, ranks, reorder) for t in TILES for ranks in (128, 256) for reorder in (False, True)]
        return list(dict.fromkeys(jobs + [self.btio_run(ranks) for ranks in (144, 256)]))


# --- running ---

def run_job(job):
    program = os.path.join(os.environ["BENCH_DIR"], "predict")
    done = subprocess.run([program, *job.arguments()], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"evaluation: predict {job.name()}: ended with status {done.returncode}")
    return list(csv.DictReader(done.stdout.splitlines()))


def run_jobs(jobs, results):
    left = [job for job in jobs if job.name() not in results.done]
    progress = Progress("predicting", len(jobs), len(jobs) - len(left))
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        running = {pool.submit(run_job, job): job for job in left}
        try:
            for future in concurrent.futures.as_completed(running):
                results.add(running[future].name(), future.result())
                progress.step(running[future].short())
        finally:
            for future in running:
                future.cancel()
    results.keep([job.name() for job in jobs])


# --- figures ---

class Forecasts:
    """Rows found by job, placement and strategy."""

    def __init__(self, results):
        self.at = {(r["job"], r["placement"], r["strategy"]): r for r in results.rows}

    def get(self, job, placement, strategy, column):
        return float(self.at[job.name(), placement, strategy][column])

    def hop_bytes(self, job, placement, strategy):
        return self.get(job, placement, strategy, "hop_bytes")

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


def check_order(results):
    """Hop-bytes of tatp are never above those of the others; what is is told."""
    least, wrong = {}, []
    for row in results.rows:
        least.setdefault((row["job"], row["placement"]), {})[row["strategy"]] = float(row["hop_bytes"])
    for key, by_strategy in least.items():
        for strategy in ("otp", "latp_volume", "latp_count"):
            if by_strategy["tatp"] > by_strategy.get(strategy, float("inf")):
                wrong.append(f"{key}: tatp is above {strategy}")
        if by_strategy["fitted"] > by_strategy["tatp"]:
            wrong.append(f"{key}: fitted is above tatp")
    return wrong


def less(now, before):
    return 100 * (1 - now / before)


def per_cent(value):
    return f"{value:.1f} %"


def largest_arrays(sizes, per_node=1):
    return [sizes.array(m, kind, MOST[kind], per_node) for m in MACHINES for kind in MOST]


def arrays_by_ranks(sizes):
    """Each pattern on each machine with all its numbers of ranks."""
    return [[sizes.array(m, kind, r) for r in RANKS[kind]] for m in MACHINES for kind in RANKS]


def rank_labels(jobs):
    return [str(job.ranks) for job in jobs]


def hop_bytes_panel(f, job):
    return Panel(f"{job.kind}, {job.ranks} ranks, {job.machine}", list(PLACEMENTS),
                 {label: [f.hop_bytes(job, p, s) / GB for p in PLACEMENTS] for s, label in STRATEGIES.items()},
                 "hop-bytes (GB x hops)", "placement")


def figure9(folder, sizes, f):
    rows = []
    for job in largest_arrays(sizes):
        for p in PLACEMENTS:
            values = {s: f.hop_bytes(job, p, s) for s in STRATEGIES}
            rows.append([job.kind, job.machine, p, *(values[s] / GB for s in STRATEGIES),
                         per_cent(less(values["tatp"], values["otp"])),
                         per_cent(less(values["tatp"], values["latp_volume"])),
                         per_cent(less(values["fitted"], values["otp"])),
                         per_cent(less(values["fitted"], f.hop_bytes(job, "bynode", "otp")))])
    plot(folder, "tatp-fig09", [hop_bytes_panel(f, job) for job in largest_arrays(sizes)])
    return Section(
        "TATP, Figure 9: hop-bytes of OTP, LATP and TATP",
        "'the volume of the total hop-bytes is considerably reduced', on BlueLight by more than on Inspur; the text has "
        "no numbers.",
        table(["pattern", "machine", "placement", *STRATEGIES.values(), "TATP under OTP", "under LATP",
               "fitted under OTP", "fitted under OTP by node"], rows),
        "GB x hops. With contiguous domains of equal size and one aggregator a node, TATP gains next to nothing over OTP where ranks "
        "are placed by slot: domain j then is mostly on node j and its neighbours, which is OTP's choice already; by node it "
        "gains 9 % on Inspur, where racks differ, and .4 % on BlueLight, where the nodes of a scattered job are all equally far "
        "apart. A multipartition gives every slab of the file to all ranks alike, so that no assignment of contiguous domains can "
        "gain. What the paper calls considerable is there with fitted domains, and then, as in the paper, greater on "
        "BlueLight (65 % of the cube's hop-bytes by slot) than on Inspur (44 %), where 12 ranks a node do not divide the "
        "64 blocks of a slab.",
        "tatp-fig09")


def share(f, job, placement, strategy):
    shuffle = f.shuffle(job, placement, strategy)
    return 100 * shuffle / (shuffle + f.access(job))


def figure10(folder, sizes, f):
    panels, rows = [], []
    for jobs in arrays_by_ranks(sizes):
        shares = {p: [share(f, j, p, "otp") for j in jobs] for p in ("byslot", "bynode")}
        panels.append(Panel(f"{jobs[0].kind}, {jobs[0].machine}", rank_labels(jobs),
                            {f"OTP, {p}": values for p, values in shares.items()},
                            "shuffle, part of the time (%)", "ranks"))
        rows += [[j.kind, j.machine, j.ranks, *(per_cent(values[i]) for values in shares.values())]
                 for i, j in enumerate(jobs)]
    plot(folder, "tatp-fig10", panels, "lines")
    return Section(
        "TATP, Figure 10: the part of the shuffle in the time, by ranks",
        "'The cost of the shuffle stage increases with the process number'; no numbers in the text.",
        table(["pattern", "machine", "ranks", "OTP by slot", "OTP by node"], rows),
        "Predicted from bytes over link rates, with a file system of 2 GB/s (Inspur) and 4 GB/s (BlueLight), which the paper "
        "does not state. Single messages have no cost in the prediction, so that more nodes, and with them more links, shorten"
        " the shuffle except where a job exceeds a rack and uses the spine; the paper's rise with the number of ranks is that "
        "of messages. The measured part has the actual stages.", "tatp-fig10")


def figure11(folder, sizes, f):
    panels, rows = [], []
    for job in largest_arrays(sizes):
        parts = {"links": [f.get(job, "bynode", s, "link_s") for s in STRATEGIES],
                 "memory of aggregators": [f.get(job, "bynode", s, "copy_s") for s in STRATEGIES],
                 "file access": [f.access(job) for _ in STRATEGIES]}
        panels.append(Panel(f"{job.kind}, {job.ranks} ranks, {job.machine}", list(STRATEGIES.values()), parts,
                            "time (s), by node"))
        rows += [[job.kind, job.machine, label, *(values[i] for values in parts.values())]
                 for i, label in enumerate(STRATEGIES.values())]
    plot(folder, "tatp-fig11", panels, "stacks")
    return Section(
        "TATP, Figure 11: stages",
        "'The slowest stages are data shuffle and data I/O'; no numbers in the text.",
        table(["pattern", "machine", "strategy", "links (s)", "memory (s)", "file access (s)"], rows),
        "Ranks placed by node. The metadata stages are not predicted; the measured part has them (st1 to st3). File "
        "access is the same for all, as in the paper.", "tatp-fig11")


def figure12(folder, sizes, f):
    panels, rows = [], []
    for jobs in arrays_by_ranks(sizes):
        shown = {label: [f.speed(j, "bynode", s) / GB for j in jobs] for s, label in STRATEGIES.items()}
        shown["TATP, fitted, dla"] = [f.speed(j, "dla", "fitted") / GB for j in jobs]
        panels.append(Panel(f"{jobs[0].kind}, {jobs[0].machine}, by node", rank_labels(jobs), shown,
                            "speed (GB/s)", "ranks"))
        rows += [[j.kind, j.machine, j.ranks, *(values[i] for values in shown.values())] for i, j in enumerate(jobs)]
    plot(folder, "tatp-fig12", panels)
    return Section(
        "TATP, Figure 12: aggregated I/O speed by ranks",
        "'Topology-aware two-phase I/O has the best I/O performance', and speed rises as hop-bytes fall; no numbers in "
        "the text.",
        table(["pattern", "machine", "ranks", *STRATEGIES.values(), "fitted, dla"], rows),
        "GB/s of shuffle and file access in sequence, at the assumed rates of the file systems. The order is the paper's "
        "wherever links bound the shuffle; on BlueLight they hardly do, and all strategies are within a few per cent. "
        "Hop-bytes and speed do not always correspond: the busiest link decides, not the sum.", "tatp-fig12")


def figure13(folder, sizes, f):
    cases = list(zip(*(largest_arrays(sizes, n) for n in (1, 2, 4))))
    rows = [[j.kind, j.machine, j.per_node, *(value(j, "byslot", s) / GB for value in (f.hop_bytes, f.speed)
                                              for s in ("tatp", "fitted"))] for jobs in cases for j in jobs]
    panels = [Panel("TATP, by slot", ["1", "2", "4"],
                    {f"{jobs[0].kind}, {jobs[0].machine}": [value(j, "byslot", "tatp") / GB for j in jobs]
                     for jobs in cases}, unit, "aggregators a node")
              for value, unit in ((f.speed, "speed (GB/s)"), (f.hop_bytes, "hop-bytes (GB x hops)"))]
    plot(folder, "tatp-fig13", panels)
    return Section(
        "TATP, Figure 13: 1, 2 and 4 aggregators a node",
        "Speed (a) rises as hop-bytes (b) fall; 'properly setting the aggregator number is important'. No numbers in "
        "the text.",
        table(["pattern", "machine", "aggregators a node", "hop-bytes TATP", "hop-bytes fitted", "GB/s TATP",
               "GB/s fitted"], rows),
        "With more aggregators per node domains are smaller, each is accessed by fewer ranks and assembled in memory faster; "
        "hop-bytes fall by 2 % at most. BT-IO on Inspur is the exception to the paper's rule: with 2 aggregators per node "
        "there are fewer hop-bytes and less speed, because the busiest uplink, not the sum, decides. With fitted domains the "
        "cube's hop-bytes do not depend on the number of aggregators, since units do not; BT-IO's rise, since equal numbers of"
        " units for each of more aggregators leave less choice.", "tatp-fig13")


def others(folder, sizes, f):
    jobs = [job for machine in MACHINES for job in sizes.others(machine)]
    rows = [[job.kind, job.machine, p, *(f.hop_bytes(job, p, s) / GB for s in STRATEGIES),
             per_cent(less(f.hop_bytes(job, p, "fitted"), f.hop_bytes(job, p, "otp")))]
            for job in jobs for p in PLACEMENTS]
    plot(folder, "other-patterns", [hop_bytes_panel(f, job) for job in jobs])
    return Section(
        "Other patterns: a 4-D lattice and a particle dump", "Neither paper has them.",
        table(["pattern", "machine", "placement", *STRATEGIES.values(), "fitted under OTP"], rows),
        "GB x hops. A dump of seven variables is seven passes over the ranks: a contiguous domain is a sixth of such a pass on"
        " Inspur and is accessed by other ranks than the next one, while a fitted domain has the same ranks' particles of "
        "every variable.", "other-patterns")


# --- SetMatch ---

def crill_names(job):
    return {key.replace(":L", f":{job.limit()}"): label for key, label in CRILL.items()}


def tile_figure(folder, sizes, f, name, strategies, reorder):
    panels, rows = [], []
    for tile in TILES:
        for strategy, label in strategies.items():
            jobs = [sizes.tiles(tile, ranks, reorder) for ranks in (128, 256)]
            series = {what: [f.shuffle(j, list(crill_names(j))[i], strategy) for j in jobs]
                      for i, what in enumerate(CRILL.values())}
            panels.append(Panel(f"{tile} tiles, {label}", ["128", "256"], series, "communication time (s)", "ranks"))
            rows += [[tile, label, what, *values] for what, values in series.items()]
    plot(folder, name, panels)
    return table(["elements", "algorithm", "placement", "128 ranks (s)", "256 ranks (s)"], rows)


def setmatch_figures(folder, sizes, f):
    return [
        Section("SetMatch, Figure 1: Tile I/O, dynamic segmentation",
                "'significant reduction in communication times compared to the standard bynode and byslot mapping strategies', except "
                "MPIPP with 256 processes; no numbers in the text.",
                tile_figure(folder, sizes, f, "setmatch-fig01", {"segments": "dynamic segmentation"}, False),
                "Each group of consecutive ranks gathers its data on its first rank. Placed by slot with ranks/nodes on each "
                "node, or by SetMatch in whole rows of tiles, a group is a node and nothing crosses; by slot with 48 on a node"
                " (three nodes of four) groups are split. MPIPP is worse for the paper's reason: swaps of pairs from a random "
                "start end early.",
                "setmatch-fig01"),
        Section("SetMatch, Figure 3: Tile I/O, two-phase",
                "Trends as in Figure 1, but by slot is not better than by node, since it 'will fill up all the 48 cores on an "
                "individual node'; no numbers in the text.",
                tile_figure(folder, sizes, f, "setmatch-fig03", {"otp": "two-phase"}, False),
                "By slot with 48 on a node is indeed worse than by node, although the prediction does not include memory "
                "pressure: three nodes hold all data, and four aggregators no longer match the rows.", "setmatch-fig03"),
        figure4(folder, sizes, f),
        Section("SetMatch, Figure 5: modified Tile I/O, two-phase",
                "'only the SetMatch algorithm with the generalized application matrix is able to provide consistently low communication "
                "times'; the cartesian methods cannot know the order.",
                tile_figure(folder, sizes, f, "setmatch-fig05", {"otp": "two-phase", "tatp": "TATP"}, True),
                "Placement alone is not sufficient: SetMatch places the right ranks on a node, but two-phase I/O assigns "
                "domains to nodes in the order of their lowest ranks, which after reordering is not the order of the file, and"
                " most bytes still cross (the paper does not state how sets are assigned to nodes in the order of the file). "
                "With TATP's assignment the sets that dla makes get their own domains, and nothing crosses: placement and "
                "assignment need each other. The paper's own method, setmatchg, keeps as much weight within nodes and still "
                "cuts rows of tiles between them.", "setmatch-fig05"),
        table1(sizes, f)]


def figure4(folder, sizes, f):
    jobs = [sizes.tiles("1 KB", ranks, False) for ranks in (128, 256)]
    series = {"48 ranks a node": [f.shuffle(j, "byslot", "otp") for j in jobs],
              "32 ranks a node": [f.shuffle(j, f"byslot:{j.limit()}", "otp") for j in jobs],
              "by node": [f.shuffle(j, "bynode", "otp") for j in jobs]}
    plot(folder, "setmatch-fig04", [Panel("1 KB tiles, two-phase, by slot", ["128", "256"], series,
                                          "communication time (s)", "ranks")])
    return Section("SetMatch, Figure 4: by slot with 48 and 32 processes a node",
                   "'In this case, byslot clearly outperforms bynode'; no numbers in the text.",
                   table(["placement", "128 ranks (s)", "256 ranks (s)"], [[k, *v] for k, v in series.items()]),
                   "The same order, predicted from bytes on links only.", "setmatch-fig04")


# Total time and I/O time in seconds.
TABLE1 = {("bynode", 144): (838.91, 264.09), ("bynode", 256): (549.27, 193.58),
          ("byslot, 48 a node", 144): (1100.88, 407.3), ("byslot, 48 a node", 256): (1020.7, 637.75),
          ("mpipp", 144): (769.49, 223.46), ("mpipp", 256): (461.28, 134.38),
          ("mpippg", 144): (819.25, 228.01), ("mpippg", 256): (493.84, 151.96),
          ("setmatch", 144): (805.25, 243.67), ("setmatch", 256): (477.36, 135.13),
          ("setmatchg", 144): (792.25, 232.96), ("setmatchg", 256): (458.42, 134.98)}
DUMPS = 50  # of class D: 250 time steps, every fifth is written; 135 GB


def table1(sizes, f):
    rows = []
    for ranks in (144, 256):
        job = sizes.btio_run(ranks)
        for placement, label in crill_names(job).items():
            paper = TABLE1.get((label, ranks))
            rows.append([label, ranks, paper and paper[1]] +
                        [DUMPS * (f.shuffle(job, placement, s) + f.access(job)) for s in ("otp", "tatp", "fitted")] +
                        [DUMPS * f.get(job, placement, s, "link_s") for s in ("otp", "fitted")])
    return Section(
        "SetMatch, Table 1: BT-IO class D, I/O time of the run", "the column 'paper'; 'up to 30% reduction in I/O time' (256 processes, by node to setmatchg), 17 % of the total time.",
        table(["placement", "ranks", "paper (s)", "two-phase (s)", "TATP (s)", "fitted (s)", "two-phase, links (s)",
               "fitted, links (s)"], rows),
        "File access at the paper's 800 MB/s is 170 s of each. The paper's 135 GB are 50 arrays of 2.7 GB (its 'iterations' "
        "are 250 time steps, of which every fifth is written). It does not state the number of nodes: 4 and 8 are assumed, as "
        "for Tile I/O. With contiguous domains, placement hardly changes the bytes of a multipartition, since all ranks access"
        " every slab of the file alike; the paper's differences between placements (and its 638 s by slot) must come from the "
        "memory and the network ports of full nodes, as it states for Tile I/O. Placement has an effect with fitted domains "
        "only.")


HEAD = """
# The papers' figures at their own sizes

Generated by `make evaluation-paper`: access patterns are generated without data and planned with the code that also plans in
`fcoll/tatp` and `rmaps/dla`, on models of the papers' machines (`bench/machine.c`; a job has as many nodes as its
ranks need). All numbers are predictions, in `paper.csv`. Times: the busiest link at its rate, then the largest domain
assembled in memory at 3.5 GB/s, then file access. doc/evaluation.md describes the method.
"""


def evaluate(options):
    sizes = Sizes(options.quick)
    results = Table(os.path.join(options.output, "paper.csv"), options.fresh)
    run_jobs(sizes.jobs(), results)
    wrong = check_order(results)
    f = Forecasts(results)
    sections = [figure(options.output, sizes, f)
                for figure in (figure9, figure10, figure11, figure12, figure13)]
    sections += setmatch_figures(options.output, sizes, f)
    write_page(options.output, "paper.md", HEAD, sections + [others(options.output, sizes, f)])
    for text in wrong:
        print(f"evaluation: {text}", file=sys.stderr)
    return not wrong
