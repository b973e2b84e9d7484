# SPDX-License-Identifier: BSD-3-Clause
"""The same figures at this machine's size: run on the test cluster with limited links, beside the predictions."""
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from contests import CONTEST, STAGES, Cluster, add_statistics, parse_links, predict, run_contest, write_csv
from figures import Panel, plot

LINKS = "800mbit/400mbit"
STOCK = ("vulcan", "two_phase", "dynamic_gen2", "romio")
FEW_STOCK = ("vulcan", "romio")  # of more than 16 ranks: on two cores the others take half a minute each
PLACEMENTS = ("byslot", "bynode", "dla")
# Of fcoll/tatp: the strategy's name here, and the parameters that make it.
STRATEGIES = {"otp": "strategy=otp,domains=even",
              "latp_volume": "strategy=latp_volume,domains=even",
              "latp_count": "strategy=latp_count,domains=even",
              "tatp": "strategy=tatp,domains=even",
              "fitted": "strategy=tatp,domains=fitted"}
SEVERAL = ("tatp", "fitted")  # also with 2 and 4 aggregators a node
NEAR = 0.05         # of the prediction
COUNTABLE = 2 << 20  # bytes predicted, below which what mpirun itself says would be too large a part
LIMIT = 900         # seconds for one run


@dataclass(frozen=True)
class Case:
    """What is accessed by how many ranks, on nodes of so many slots."""
    name: str
    kind: str
    ranks: int
    nodes: int
    slots: int
    shape: tuple
    recorded: str = "tatp"  # contestant of the run that is recorded

    def leaf(self):
        return max(1, self.nodes // 2)


def all_cases(quick):
    cube, points, tile = ("48", "24", "16x12") if quick else ("128", "112", "64x16")
    shapes = {"cube": ("--size", cube), "btio": ("--size", points, "--element", "40"),
              "tile": ("--size", tile, "--element", "1024" if not quick else "64")}
    layouts = {16: (4, 4), 64: (8, 8), 125: (5, 25)}
    # By slot, the ranks of a node have no whole planes of the smallest cube.
    more = {("cube", 16): ("--grid", "2x2x4")}
    cases = [Case(f"{kind}-{ranks}", kind, ranks, *layouts[ranks], shapes[kind] + more.get((kind, ranks), ()))
             for ranks in layouts for kind in ("cube", "btio") if (kind, ranks) != ("btio", 125)]
    cases.append(Case("btio-121", "btio", 121, 5, 25, shapes["btio"]))
    # By default, fcoll/tatp moves nothing of the tiles: they are recorded with aggregators, to be placed by something.
    cases += [Case(name, "tile", 16, 4, 4, shapes["tile"] + order, "tatp+num_aggregators=4")
              for name, order in (("tile-16", ()), ("modified-tile-16", ("--reorder",)))]
    return cases


@dataclass(frozen=True)
class Job:
    """One run of `contest`: all strategies of fcoll/tatp and the stock components, inside one set of processes."""
    case: Case
    placement: str

    def name(self):
        return f"{self.case.name} {self.placement} " + " ".join(self.case.shape)

    def contestants(self):
        """By the name that `contest` knows: strategy (or stock component) and aggregators a node."""
        ours = {f"tatp+{settings},num_aggregators={min(n * self.case.nodes, self.case.ranks)}": (strategy, n)
                for strategy, settings in STRATEGIES.items() for n in ((1, 2, 4) if strategy in SEVERAL else (1,))}
        stock = STOCK if self.case.ranks <= 16 else FEW_STOCK
        return {**ours, **{name: (name, "") for name in stock}}


def all_jobs(options):
    cases = [c for c in all_cases(options.quick) if fnmatch.fnmatch(c.name, options.only)]
    if not cases:
        sys.exit(f"evaluation: --only: no case matches '{options.only}'")
    return [Job(c, p) for c in cases for p in PLACEMENTS]


# --- running ---

class Runner:
    """Runs jobs on a cluster that is made anew only where its shape changes."""

    def __init__(self, folder, links):
        self.folder = folder
        self.links = links
        self.cluster = Cluster()
        self.hops = os.path.join(folder, "hops.mtx")

    def prepare(self, case):
        self.cluster.bring_up(case, self.links)
        leaves = [n // case.leaf() for n in range(case.nodes)]
        with open(self.hops, "w", encoding="utf-8") as file:
            file.write("%%MatrixMarket matrix array integer general\n% hosts " +
                       " ".join(f"n{n}" for n in range(case.nodes)) + f"\n{case.nodes} {case.nodes}\n")
            for n, a in enumerate(leaves):
                file.write(" ".join("0" if n == m else "2" if a == b else "4" for m, b in enumerate(leaves)) + "\n")

    def view(self, case):
        return os.path.join(self.folder, f"{case.name}.crs")

    def command(self, case, mapping, parameters, contest):
        return [*self.cluster.command(), "-np", str(case.ranks), "--map-by", mapping,
                "--mca", "fcoll_tatp_topology", self.hops, *parameters,
                CONTEST, "--csv", "--kind", case.kind, *case.shape, *contest]

    def mapping(self, job):
        """By dla from the view, as the first run of a program leaves it."""
        view = self.view(job.case)
        if job.placement == "dla" and not os.path.exists(view):
            command = self.command(job.case, "node", ["--mca", "fcoll_tatp_record", view],
                                   ["--rounds", "0", "--no-verify", "--contestants", job.case.recorded])
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True, timeout=LIMIT)
        return {"byslot": "slot", "bynode": "node", "dla": f"dla:file={view}"}[job.placement]

    def run(self, job):
        self.prepare(job.case)
        names, statistics = job.contestants(), os.path.join(self.folder, f"{job.case.name}-{job.placement}")
        contest = ["--rounds", "1", "--no-warm-up", "--contestants", " ".join(names), "--stats", statistics]
        contest += ["--ask", "--planned"] if self.cluster.counted else []
        command = self.command(job.case, self.mapping(job), (), contest)
        status, rows, counted = run_contest(command, self.cluster, LIMIT)
        if status != 0 or not rows:
            print(f"evaluation: {job.name()}: ended with status {status}", file=sys.stderr)
            return []
        described = []
        for row in rows:
            add_statistics(row, statistics)
            del row["case"], row["steps"], row["samples"]
            strategy, per_node = names[row["contestant"]]
            described.append({"job": job.name(), "case": job.case.name, "placement": job.placement,
                              "strategy": strategy, "per_node": str(per_node), **row,
                              **counted.get((row["contestant"], row["operation"]), {})})
        return described


def place_by_dla(case, view):
    """The node of each rank as rmaps/dla gives it."""
    nodes = ",".join(f"n{n}:{case.slots}" for n in range(case.nodes))
    done = subprocess.run([os.path.join(os.environ["TOOLS_DIR"], "dla"), "map", "--file", view, "--nodes", nodes,
                           "--format", "json"], stdout=subprocess.PIPE, text=True, check=True)
    return ",".join(name.removeprefix("n") for name in json.loads(done.stdout)["node_of_rank"])


def forecast(job, per_node, placement):
    """What `predict` says with so many aggregators a node, by strategy."""
    case = job.case
    rows = predict(["--machine", f"{case.nodes},{case.leaf()},{case.slots},800,400", "--kind", case.kind, *case.shape,
                    "--ranks", str(case.ranks), "--nodes", str(case.nodes), "--per-node", str(per_node),
                    "--placements", *placement, "--strategies", " ".join(STRATEGIES)])
    return {row["strategy"]: row for row in rows}


def add_forecasts(job, rows, view):
    placement = [job.placement] if job.placement != "dla" else ["given", "--node-of-rank", place_by_dla(job.case, view)]
    told = {n: forecast(job, n, placement) for n in {row["per_node"] for row in rows} - {""}}
    for row in rows:
        if row["per_node"] != "":
            expected = told[row["per_node"]][row["strategy"]]
            row.update({f"predicted_{column}": expected[column]
                        for column in ("uplink_bytes", "crossing_bytes", "hop_bytes", "link_s")})
    return rows


def run_jobs(jobs):
    """The rows of all jobs, and whether all of them ran."""
    rows, well = [], True
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(folder, parse_links(LINKS))
        try:
            for i, job in enumerate(jobs):
                print(f"measuring [{i + 1}/{len(jobs)}] {job.case.name}, {job.placement}", file=sys.stderr, flush=True)
                new = runner.run(job)
                rows += add_forecasts(job, new, runner.view(job.case)) if new else []
                well = well and bool(new)
        finally:
            runner.cluster.take_down()
    return rows, well


# --- figures ---

class Measurements:
    """Rows found by case, placement, strategy (or stock component), aggregators a node and operation."""

    def __init__(self, rows):
        self.cases = list(dict.fromkeys(row["case"] for row in rows))
        self.at = {(row["case"], row["placement"], row["strategy"], row["per_node"] or "1", row["operation"]): row
                   for row in rows}

    def get(self, case, placement, strategy, column, per_node=1, operation="write"):
        row = self.at.get((case, placement, strategy, str(per_node), operation), {})
        return float(row[column]) if row.get(column) else None

    def strategies(self, stock=True):
        there = {key[2] for key in self.at}
        return [s for s in [*STRATEGIES, *(STOCK if stock else ())] if s in there]


def is_near(row):
    """None: too little to tell."""
    if not row.get("predicted_uplink_bytes") or not row.get("uplink_bytes"):
        return None
    told, counted = float(row["predicted_uplink_bytes"]), float(row["uplink_bytes"])
    return None if told < COUNTABLE else abs(counted / told - 1) <= NEAR


def placement_figure(folder, m, name, column, factor, unit, stock=True):
    """A panel for each case: all strategies by placement."""
    panels = [Panel(case, list(PLACEMENTS), {s: [factor * (m.get(case, p, s, column) or 0) for p in PLACEMENTS]
                                             for s in m.strategies(stock)}, unit, "placement") for case in m.cases]
    plot(folder, name, panels)


def stages_figure(folder, m):
    names = m.strategies(stock=False)
    panels = [Panel(f"{case}, by slot", names,
                    {stage: [1e3 * (m.get(case, "byslot", s, f"{stage}_s") or 0) for s in names] for stage in STAGES},
                    "time of a write (ms)") for case in m.cases]
    plot(folder, "measured-stages", panels, "stacks")


def aggregators_figure(folder, m):
    panels = [Panel("TATP, by node", ["1", "2", "4"],
                    {case: [factor * (m.get(case, "bynode", "tatp", column, n) or 0) for n in (1, 2, 4)]
                     for case in m.cases}, unit, "aggregators a node")
              for column, factor, unit in (("median_s", 1e3, "time of a write (ms)"),
                                           ("hop_bytes", 1e-6, "hop-bytes (MB x hops)"))]
    plot(folder, "measured-aggregators", panels)


def draw(folder, m):
    placement_figure(folder, m, "measured-hop-bytes", "hop_bytes", 1e-6, "hop-bytes (MB x hops)", stock=False)
    stages_figure(folder, m)
    placement_figure(folder, m, "measured-times", "median_s", 1e3, "time of a write (ms)")
    aggregators_figure(folder, m)
    placement_figure(folder, m, "measured-uplinks", "uplink_bytes", 1e-6, "uplink bytes of a write (MB)")


def possible():
    told = subprocess.run([os.environ["CLUSTER"], "check"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if told.returncode != 0:
        print(f"evaluation: the measured part is left out: {told.stdout.strip()}", file=sys.stderr)
    return told.returncode == 0


def evaluate(options):
    os.environ["OMPI_MCA_mca_base_component_path"] = os.environ["TATP_COMPONENT_PATH"]
    if not possible():
        return True
    rows, well = run_jobs(all_jobs(options))
    write_csv(os.path.join(options.output, "measured.csv"), rows)
    draw(options.output, Measurements(rows))
    wrong = [r for r in rows if r["verified"] != "yes"]
    for row in wrong:
        print(f"evaluation: wrong bytes: {row['contestant']} in {row['job']}", file=sys.stderr)
    far = [r for r in rows if is_near(r) is False]
    for row in far:
        print(f"evaluation: predicted and counted uplink bytes differ: {row['contestant']}, {row['operation']}, in "
              f"{row['job']}", file=sys.stderr)
    return well and not far and not [r for r in wrong if r["strategy"] not in STOCK]
