# SPDX-License-Identifier: BSD-3-Clause
"""Storage servers on the papers' machines: predicted, without data, with regard to them and without."""
import os
import sys
from dataclasses import dataclass

import evaluate_paper
from evaluate_paper import GB, MOST
from figures import Section, table
from resume import Table

PLACES = {"core:8": "8 at the core", "leaves": "1 on each leaf", "nodes": "on the nodes"}
STRATEGIES = {"tatp": "even", "stripe": "striped", "fitted": "fitted"}  # and their domains
CRILL_RANKS = 256


@dataclass(frozen=True)
class Job:
    """One run of `predict`."""
    base: evaluate_paper.Job
    servers: str
    weight: int

    def placements(self):
        limit = f":{self.base.limit()}" if self.base.machine == "crill" else ""
        return {"byslot" + limit: "byslot", "bynode": "bynode", "dla" + limit: "dla"}

    def arguments(self):
        return [*self.base.arguments(), "--servers", self.servers, "--striping-unit", str(self.base.stripe),
                "--storage-weight", str(self.weight), "--placements", " ".join(self.placements()),
                "--strategies", " ".join(["otp", *STRATEGIES, "direct"])]

    def name(self):
        return " ".join(self.arguments())

    def short(self):
        return f"{self.base.short()}, servers {PLACES[self.servers]}, weight {self.weight}"


def all_bases(sizes):
    arrays = [sizes.array(machine, kind, MOST[kind]) for machine in evaluate_paper.MACHINES for kind in MOST]
    return arrays + [sizes.tiles("1 KB", CRILL_RANKS, False), sizes.btio_run(CRILL_RANKS)]


def all_jobs(sizes):
    # Crill has but one switch, so that its leaves are its core.
    return [Job(base, servers, weight) for base in all_bases(sizes) for servers in PLACES
            if (base.machine, servers) != ("crill", "leaves") for weight in (0, 1)]


class Forecasts:
    """Rows found by base, servers, weight, placement and strategy."""

    def __init__(self, jobs, results):
        rows = {(r["job"], r["placement"], r["strategy"]): r for r in results.rows}
        self.at = {(job.base, job.servers, job.weight, placement, s): rows[job.name(), key, s]
                   for job in jobs for key, placement in job.placements().items()
                   for s in ("otp", *STRATEGIES, "direct")}
        self.groups = list(dict.fromkeys(key[:2] + (key[3],) for key in self.at))

    def get(self, group, weight, strategy, column):
        base, servers, placement = group
        return float(self.at[base, servers, weight, placement, strategy][column])

    def hop_bytes(self, group, weight, strategy):
        """Between ranks, and to servers."""
        return sum(self.get(group, weight, strategy, column) for column in ("hop_bytes", "storage_hop_bytes"))


def check_order(f):
    """What no plan may be above; what is is told."""
    wrong = []
    for group in f.groups:
        where = f"{group[0].short()}, servers {PLACES[group[1]]}, {group[2]}"
        whole = {s: f.hop_bytes(group, 1, s) for s in (*STRATEGIES, "direct")}
        wrong += [f"{where}: {s} has more hop-bytes with regard to servers than without" for s in ("tatp", "stripe")
                  if whole[s] > f.hop_bytes(group, 0, s)]
        if whole["fitted"] > whole["tatp"]:
            wrong.append(f"{where}: fitted is above tatp")
        wrong += [f"{where}: {s} is below the direct way" for s in STRATEGIES
                  if f.get(group, 1, s, "uplink_bytes") < f.get(group, 1, "direct", "uplink_bytes")
                  or whole[s] < whole["direct"]]
    return wrong


def compare(f, title, value, words):
    heads = [f"{domains}, {weight}" for domains in STRATEGIES.values() for weight in ("without", "targets")]
    rows = [[group[0].kind, group[0].machine, PLACES[group[1]], group[2], value(group, 0, "otp"),
             *(value(group, weight, s) for s in STRATEGIES for weight in (0, 1)), value(group, 1, "direct")]
            for group in f.groups]
    return Section(title, "Neither paper has regard to storage servers.",
                   table(["pattern", "machine", "servers", "placement", "OTP", *heads, "least"], rows), words)


def predict(options):
    """Whether the predictions are in order, and the sections."""
    sizes = evaluate_paper.Sizes(options.quick)
    jobs = all_jobs(sizes)
    results = Table(os.path.join(options.output, "storage-paper.csv"), options.fresh)
    evaluate_paper.run_jobs(jobs, results)
    f = Forecasts(jobs, results)
    wrong = check_order(f)
    for text in wrong:
        print(f"evaluation: {text}", file=sys.stderr)
    return not wrong, [
        compare(f, "Predicted on the papers' machines: hop-bytes", lambda *key: f.hop_bytes(*key) / GB,
                "GB x hops, between ranks and to servers together. Stripes of 1 MiB are on the servers in turn; domains are even, "
                "striped (those of a server have as few aggregators as possible) or fitted, one aggregator a node. Least: from ranks "
                "to servers without aggregators."),
        compare(f, "Predicted on the papers' machines: the busiest link", lambda *key: f.get(*key, "link_s"),
                "Seconds that the link which is busy longest takes for its bytes, of shuffle and storage.")]
