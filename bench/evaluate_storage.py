# SPDX-License-Identifier: BSD-3-Clause
"""Storage servers: measured on CephFS of the test cluster, beside the predictions; and predicted on the papers'
machines (evaluate_servers.py)."""
import csv
import fnmatch
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import evaluate_measured
import evaluate_servers
from contests import Links, geometric_mean, parse_links, run_contest
from evaluate_measured import COUNTABLE, NEAR, PLACEMENTS, place_by_dla
from figures import Section, table, write_page
from resume import Progress, Table

NODES, SLOTS, LEAF = 4, 4, 2
ROUNDS = 3
ORDERS = 10         # of the four servers; tiles: one
FURTHER = ("n4", "n5")
MOST_BATCHES = 100  # of files
LIMIT = 120         # seconds for one run
SKIPPED = 77        # exit status of `cluster` where something is not installed
STOCK = ("vulcan", "romio")
# Of fcoll/tatp, by the name in the tables.
OURS = {"without": "tatp+num_aggregators=16,storage_weight=0", "targets": "tatp+num_aggregators=16"}
COLUMNS = ("operation", "bytes", "rounds", "min_s", "median_s", "verified", "hop_bytes", "crossing_bytes", "uplink_bytes",
           "busiest_uplink_bytes", "busiest_node_bytes")
PREDICTED = ("uplink_bytes", "storage_uplink_bytes", "hop_bytes", "storage_hop_bytes", "link_s")


@dataclass(frozen=True)
class Case(evaluate_measured.Case):
    """Ranks on the first four nodes of a cluster with two on a leaf."""
    def leaf(self):
        return LEAF


@dataclass(frozen=True)
class Job:
    """One run of `contest` on a file whose stripes are on servers in one order."""
    case: Case
    placement: str
    order: str

    def name(self):
        return f"{self.case.name} {self.placement} {self.order} " + " ".join(self.case.shape)

    def contestants(self):
        ours = {contestant: way for way, contestant in OURS.items()}
        return ours if self.placement == "dla" else {**ours, **{name: name for name in STOCK}}


def all_jobs(options):
    cube, points, tile = ("48", "24", "16x12") if options.quick else ("128", "80", "64x16")
    shapes = {"cube": ("--size", cube, "--grid", "4x2x2"), "btio": ("--size", points, "--element", "40"),
              "tile": ("--size", tile, "--element", "1024")}
    runs = [(NODES, f"order-{k}", kind) for k in range(1 if options.quick else ORDERS) for kind in shapes
            if k == 0 or kind != "tile"]
    runs += [(NODES + len(FURTHER), "further", kind) for kind in shapes]
    jobs = [Job(Case(f"{kind}-16", kind, NODES * SLOTS, nodes, SLOTS, shapes[kind]), p, order)
            for nodes, order, kind in runs for p in PLACEMENTS]
    return [job for job in jobs if fnmatch.fnmatch(job.case.name, options.only)]


# --- files in given orders of servers ---

MAKE_FILES = r"""
"$PYTHON3" -c 'import os, sys; os.setxattr(os.environ["CEPH_FILES"], "ceph.dir.layout", sys.argv[1].encode())' \
    "pool=$1 stripe_unit=$2 stripe_count=4 object_size=67108864" || exit
for ((k = 0; k < 20; k++)); do
    : >"$CEPH_FILES/$3-$k" && "$TOOLS_DIR/tatp" layout --json "$CEPH_FILES/$3-$k" || exit
done
"""
# A pool on these servers alone. Not by marking the others out: two of Ceph 16's in-memory servers then hung for good.
MAKE_POOL = r"""
ceph osd crush rm-device-class "$@" &&
    ceph osd crush set-device-class further "$@" &&
    ceph osd crush rule create-replicated further default host further &&
    ceph osd pool create further 64 64 replicated further &&
    ceph fs add_data_pool files further
"""


def servers_of(line):
    layout = json.loads(line)
    hosts = {target["target"]: target["host"] for target in layout["targets"]}
    return tuple(hosts[target] for target in layout["extents"][0]["targets"])


class Files:
    """Empty files on CephFS. A hash says which server gets a stripe: files are made until their servers are all of those
    that are wanted, in an order that no other file has."""

    def __init__(self, cluster, wanted, pool, unit):
        self.command = [cluster.program, "exec", "--name", cluster.name]
        self.wanted = sorted(wanted)
        self.pool = pool
        self.unit = unit
        self.folder = self.inside("printenv", "CEPH_FILES").strip()
        self.batches = 0
        self.found = {}

    def inside(self, *words):
        return subprocess.run([*self.command, *words], stdout=subprocess.PIPE, text=True, check=True).stdout

    def make_some(self):
        if self.batches == MOST_BATCHES:
            sys.exit(f"evaluation: CephFS makes no files on {' '.join(self.wanted)}")
        self.batches += 1
        name = f"data-{self.batches}"
        lines = self.inside("bash", "-c", MAKE_FILES, "files", self.pool, str(self.unit), name).splitlines()
        for k, servers in enumerate(map(servers_of, lines)):
            if sorted(servers) == self.wanted and servers not in self.found.values():
                self.found[f"{self.folder}/{name}-{k}"] = servers

    def get(self, k):
        """The path of the k-th file, and its servers."""
        while len(self.found) <= k:
            self.make_some()
        return list(self.found.items())[k]


# --- running ---

class Runner(evaluate_measured.Runner):
    """Runs jobs on a cluster with CephFS."""

    def __init__(self, folder, unit):
        links = parse_links(evaluate_measured.LINKS)
        super().__init__(folder, Links(links.name, (*links.words, "--leaf", str(LEAF), "--storage", "ceph"),
                                       links.node_rate, links.uplink_rate))
        self.unit = unit
        self.files = None

    def prepare(self, case):
        shape = self.cluster.shape
        super().prepare(case)
        if self.cluster.shape == shape:
            return
        if case.nodes == NODES:
            self.files = Files(self.cluster, [f"n{n}" for n in range(NODES)], "data", self.unit)
        else:
            self.files = Files(self.cluster, 2 * FURTHER, "further", self.unit)
            self.files.inside("bash", "-c", MAKE_POOL, "pool", *(f"osd.{node[1:]}" for node in FURTHER))

    def run(self, job):
        self.prepare(job.case)
        path, servers = self.files.get(int(job.order.rpartition("-")[2]) if "-" in job.order else 0)
        hosts = ",".join(f"n{n}:{SLOTS}" for n in range(NODES))
        command = self.command(job.case, self.mapping(job), ("--host", hosts),
                               ["--file", path, "--keep", "--rounds", str(ROUNDS), "--no-warm-up", "--ask", "--planned",
                                "--contestants", " ".join(job.contestants())])
        status, lines, counted = run_contest(command, self.cluster, LIMIT)
        rows = list(csv.DictReader(lines))
        if status != 0 or not rows:
            print(f"evaluation: {job.name()}: ended with status {status}", file=sys.stderr)
            return []
        for row in rows:
            row.update(counted.get((row["contestant"], row["operation"]), {}))
        return [self.describe_row(job, servers, row) for row in rows]

    @staticmethod
    def describe_row(job, servers, row):
        return {"case": job.case.name, "placement": job.placement, "order": job.order, "servers": " ".join(servers),
                "way": job.contestants()[row["contestant"]], **{column: row[column] for column in COLUMNS}}


def forecast(job, servers, weight, placement, unit):
    """What `predict` says, by strategy."""
    case = job.case
    command = [os.path.join(os.environ["BENCH_DIR"], "predict"),
               "--machine", f"{case.nodes},{LEAF},{case.slots},800,400", "--kind", case.kind, *case.shape,
               "--ranks", str(case.ranks), "--nodes", str(NODES), "--per-node", str(SLOTS), "--placements", *placement,
               "--servers", servers.replace("n", "").replace(" ", ","), "--striping-unit", str(unit),
               "--storage-weight", str(weight), "--strategies", "auto direct"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return {row["strategy"]: row for row in csv.DictReader(done.stdout.splitlines())}


def add_forecasts(job, rows, view, unit):
    four = Case(job.case.name, job.case.kind, job.case.ranks, NODES, SLOTS, job.case.shape)
    placement = [job.placement] if job.placement != "dla" else ["given", "--node-of-rank", place_by_dla(four, view)]
    told = {way: forecast(job, rows[0]["servers"], weight, placement, unit)
            for weight, way in enumerate(("without", "targets"))}
    for row in rows:
        row["least_uplink_bytes"] = told["targets"]["direct"]["uplink_bytes"]
        row["least_link_s"] = told["targets"]["direct"]["link_s"]
        if row["way"] in told:
            row.update({f"predicted_{column}": told[row["way"]]["auto"][column] for column in PREDICTED})
    return rows


def run_jobs(options, jobs, results):
    left = [job for job in jobs if job.name() not in results.done]
    progress = Progress("measuring", len(jobs), len(jobs) - len(left))
    unit = 1 << (16 if options.quick else 20)
    well = True
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(folder, unit)
        try:
            for job in left:
                rows = runner.run(job)
                if rows:
                    results.add(job.name(), add_forecasts(job, rows, runner.view(job.case), unit))
                well = well and bool(rows)
                progress.step(f"{job.case.name}, {job.placement}, {job.order}")
        except subprocess.CalledProcessError as error:
            if error.returncode != SKIPPED:
                raise
            print("evaluation: the measurements on CephFS are left out", file=sys.stderr)
        finally:
            runner.cluster.take_down()
    return well


# --- tables ---

class Measurements:
    """Numbers by case, placement, order, way and operation."""

    def __init__(self, rows):
        self.rows = rows
        self.at = {(r["case"], r["placement"], r["order"], r["way"], r["operation"]): r for r in rows}
        self.groups = {}
        for r in rows:
            group = (r["case"], r["placement"], "servers further away" if r["order"] == "further" else "servers on nodes")
            self.groups.setdefault(group, [])
            if r["order"] not in self.groups[group]:
                self.groups[group].append(r["order"])

    def get(self, group, order, way, column, operation):
        value = self.at.get((group[0], group[1], order, way, operation), {}).get(column)
        return float(value) if value else None

    def all(self, group, way, column, operation="write"):
        values = [self.get(group, order, way, column, operation) for order in self.groups[group]]
        return [value for value in values if value is not None]

    def median(self, group, way, column, operation="write"):
        values = self.all(group, way, column, operation)
        return statistics.median(values) if values else None

    def ratios(self, where, way, column, other, of):
        """Of one way to another in each run, writes and reads."""
        pairs = [(self.get(group, order, way, column, op), self.get(group, order, other, of, op))
                 for group, orders in self.groups.items() if where(group) for order in orders for op in ("write", "read")]
        return [a / b for a, b in pairs if a is not None and b]


def mega(value):
    return None if value is None else value / 1e6


def bytes_section(m):
    rows = [[*group, len(orders), mega(m.median(group, "targets", "least_uplink_bytes"))] +
            [mega(m.median(group, way, "uplink_bytes")) for way in (*STOCK, *OURS)] +
            [mega(m.median(group, way, f"predicted_{column}")) for way in OURS
             for column in ("uplink_bytes", "storage_uplink_bytes")]
            for group, orders in m.groups.items()]
    return Section("Bytes on the uplinks", "Not measured in either paper.",
                   table(["case", "placement", "servers", "orders", "least", *STOCK, *OURS, "without, predicted",
                          "of it storage", "targets, predicted", "of it storage"], rows),
                   "MB of one write, counted on all uplinks towards the spine, shuffle and storage together: the median over the "
                   "orders of servers. Least: each byte from its rank to its server by no aggregator, which no "
                   "assignment can be below.")


def times_section(m):
    rows = [[*group, *(1e3 * v if (v := m.median(group, way, "median_s", op)) else None
                       for op in ("write", "read") for way in (*STOCK, *OURS)),
             1e3 * (m.median(group, "targets", "least_link_s") or 0)] for group in m.groups]
    return Section("Times", "Neither paper has regard to storage servers.",
                   table(["case", "placement", "servers", *(f"{way}, {op}" for op in ("write", "read")
                                                            for way in (*STOCK, *OURS)), "links"], rows),
                   "Milliseconds, the median over the orders of the medians of the rounds in turn. Links: how long the busiest "
                   "link takes for the least bytes.")


def on_nodes(kinds):
    return lambda group: group[2] == "servers on nodes" and group[0].startswith(kinds)


def further(group):
    return group[2] == "servers further away"


# What is compared, where, and what it should be: the geometric mean at most, the greatest at most.
BARS = (("uplink bytes of targets to the least", on_nodes(("cube", "btio")), "targets", "uplink_bytes", "targets",
         "least_uplink_bytes", None, 1.05),
        ("time with targets to without", on_nodes(("cube", "btio")), "targets", "median_s", "without", "median_s", .75, 1.05),
        ("time with targets to ROMIO's", on_nodes(("cube", "btio")), "targets", "median_s", "romio", "median_s", .6, None),
        ("time with targets to vulcan's", on_nodes(("cube", "btio")), "targets", "median_s", "vulcan", "median_s", .3, None),
        ("servers further away: bytes with targets to without", further, "targets", "uplink_bytes", "without", "uplink_bytes",
         None, 1.05),
        ("servers further away: time with targets to without", further, "targets", "median_s", "without", "median_s", 1, None))


def bars_section(m):
    rows = []
    for name, where, way, column, other, of, mean, most in BARS:
        ratios = m.ratios(where, way, column, other, of)
        if ratios:
            rows.append([name, len(ratios), geometric_mean(ratios), mean, max(ratios), most])
    return Section("In short", "No corresponding figure.",
                   table(["ratio", "writes and reads", "geometric mean", "wanted", "greatest", "wanted"], rows),
                   "Cubes and BT-IO, ranks by slot, by node and placed by dla; the stock components by slot and by node only.")


def is_near(row):
    """None: too little to tell."""
    if not row["predicted_uplink_bytes"] or not row["uplink_bytes"] or float(row["predicted_uplink_bytes"]) < COUNTABLE:
        return None
    return abs(float(row["uplink_bytes"]) / float(row["predicted_uplink_bytes"]) - 1) <= NEAR


def agreement_section(m):
    near = [is_near(row) for row in m.rows]
    compared = [row for row, told in zip(m.rows, near) if told is not None]
    ratios = [float(r["uplink_bytes"]) / float(r["predicted_uplink_bytes"]) for r in compared]
    hops = [r for r in m.rows if r["way"] in OURS and float(r["hop_bytes"]) != float(r["predicted_hop_bytes"])]
    words = f"{len(ratios)} writes and reads of fcoll/tatp have more than {COUNTABLE >> 20} MiB predicted on uplinks; of {near.count(False)} " \
            f"the count differs by more than {NEAR:.0%}. Hop-bytes between ranks differ in {len(hops)} of " \
            f"{sum(r['way'] in OURS for r in m.rows)}. Counted are whole Ethernet frames, with what CephFS itself says."
    rows = [[min(ratios), statistics.median(ratios), max(ratios)]] if ratios else []
    return Section("Predicted and measured uplink bytes", "No paper has such a comparison.",
                   table(["least ratio of counted to predicted", "median", "greatest"], rows), words)


HEAD = """
# Storage servers

Generated by `make evaluation-storage`. First, measured: CephFS on the test cluster (doc/cluster.md), 16 ranks on 4 nodes, two on a leaf switch, links of
800 and uplinks of 400 Mbit/s; files of four stripes of 1 MiB, whose servers are in ten random orders on the nodes of the ranks, or on two further
nodes under a third leaf switch. Every byte was checked. `without` is fcoll/tatp with `fcoll_tatp_storage_weight` 0, `targets` with its default, 1. All
numbers are in `storage.csv`. Times are those of a shared machine; bytes are exact. Then, predicted at the papers' sizes: `storage-paper.csv`. doc/evaluation.md describes the method.
"""


def measure(options):
    """Whether all went well, and the sections."""
    results = Table(os.path.join(options.output, "storage.csv"), options.fresh)
    jobs = all_jobs(options)
    well = not evaluate_measured.possible() or run_jobs(options, jobs, results)
    results.keep([job.name() for job in jobs])
    if not results.rows:
        return well, []
    m = Measurements(results.rows)
    wrong = [row for row in results.rows if row["verified"] != "yes" and row["way"] in OURS]
    far = [row for row in results.rows if is_near(row) is False]
    for row in wrong + far:
        print(f"evaluation: {'wrong bytes' if row in wrong else 'uplink bytes are not as predicted'}: {row['way']}, "
              f"{row['operation']}: {row['job']}", file=sys.stderr)
    return well and not wrong and not far, [section(m) for section in
                                            (bars_section, bytes_section, times_section, agreement_section)]


def evaluate(options):
    os.environ["OMPI_MCA_mca_base_component_path"] = os.environ["TATP_COMPONENT_PATH"]
    right, sections = evaluate_servers.predict(options)
    well, measured = measure(options)
    write_page(options.output, "storage.md", HEAD, measured + sections)
    return right and well
