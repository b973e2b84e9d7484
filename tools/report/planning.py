# SPDX-License-Identifier: BSD-3-Clause
"""What an assignment costs and loads on links, and where a view would place the ranks. All of it is
computed by the programs tatp and dla, with the code that decides in a job."""

import collections
import json
import os
import subprocess
from dataclasses import dataclass

# More costs than these would take memory, and nobody looks at them one by one.
MOST_COSTS = 10_000_000
MOST_ROWS = 64
MOST_COPIED = 1 << 30  # bytes of a pipe


class ToolError(Exception):
    """One of the programs refused; its message."""


@dataclass
class Plan:
    """The plan of a schedule, and the calls that it served."""

    call: dict
    calls: list

    @property
    def data(self):
        return self.call["plan"]

    @property
    def hosts(self):
        return self.data["hosts"]

    @property
    def nodes(self):
        return len(self.hosts)

    @property
    def domains(self):
        return self.call["aggregators"]

    @property
    def by_rank(self):
        return self.data["requests_by"] == "rank"

    @property
    def exact(self):
        """Whether every node and every domain is told apart."""
        return all(requests["requests_by"] != "none" and requests["nodes_in_row"] == requests["domains_in_column"] == 1
                   for requests in (self.data, self.contiguous()[0]))

    @property
    def knows_network(self):
        return not {"parent", "hops"}.isdisjoint(self.data["distances"])

    @property
    def fitted(self):
        """Whether its domains stand instead of even ones that are known by rank as well."""
        return "even" in self.data

    @property
    def mapping(self):
        """What launchers call the places of the ranks: "by slot" or "by node"; empty where they are neither, or one a node."""
        node = self.data["node_of_rank"]
        if self.nodes == 1 or len(node) <= self.nodes:
            return ""
        if sum(one != next_one for one, next_one in zip(node, node[1:])) == self.nodes - 1:
            return "by slot"
        return "by node" if all(one == later for one, later in zip(node, node[self.nodes:])) else ""

    def triples(self):
        return triples_of(self.data)

    def contiguous(self):
        """C and the number of domains that two-phase access usually has: those in whose place fitted ones are."""
        even = self.data.get("even")
        return (self.data, self.domains) if even is None else (even, even["count"])


def triples_of(requests):
    flat = requests["requests"]
    return zip(flat[0::3], flat[1::3], flat[2::3])


def most_important(run):
    """The plan by which most bytes went, or None."""
    served = {}
    for call in run.calls:
        served.setdefault((call.get("schedule"), call["file"]), []).append(call)
    planned = [Plan(next(call for call in calls if "plan" in call), calls)
               for calls in served.values() if any("plan" in call for call in calls)]
    return max(planned, key=lambda plan: sum(call["bytes"] for call in plan.calls), default=None)


def is_pipe(name):
    """Whether a file is standard input, a pipe or the like, which only this process can read, and once."""
    is_stored = os.path.isfile(name) or os.path.isdir(name)
    return name.startswith(("/dev/stdin", "/dev/fd/")) or (os.path.exists(name) and not is_stored)


class Tools:
    """The programs, and a folder for what they read."""

    def __init__(self, folder, scratch):
        self.folder, self.scratch, self.copies = folder, scratch, {}

    def copy_pipes(self, *names):
        """The programs read a file several times, and do not inherit what is open here: they get copies."""
        for name in filter(None, names):
            if is_pipe(name):
                with open(name, "rb") as stream:
                    content = stream.read(MOST_COPIED + 1)
                if len(content) > MOST_COPIED:
                    raise ToolError(f"{name}: more than {MOST_COPIED} bytes from a pipe: write them to a file, and name that")
                self.copies[name] = os.path.join(self.scratch, f"pipe{len(self.copies)}")
                with open(self.copies[name], "wb") as out:
                    out.write(content)

    def run(self, program, *arguments):
        path = os.path.join(self.folder, program)
        done = subprocess.run([path, *(self.copies.get(word, word) for word in arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", check=False)
        if done.returncode != 0:
            said = (done.stderr.strip() or f"{path}: status {done.returncode}").splitlines()[0]
            for name, copy in self.copies.items():
                said = said.replace(copy, name)
            raise ToolError(said)
        return done.stdout

    def write(self, name, lines):
        path = os.path.join(self.scratch, name)
        with open(path, "w", encoding="utf-8", errors="replace") as out:
            out.writelines(line + "\n" for line in lines)
        return path


def market(rows, columns, triples):
    triples = list(triples)
    yield "%%MatrixMarket matrix coordinate integer general"
    yield f"{rows} {columns} {len(triples)}"
    for row, column, value in triples:
        yield f"{row + 1} {column + 1} {value}"


def describe_tree(names, parent, cables):
    """A tree of links as ibnetdiscover prints it: every end of every cable."""
    nodes, ports = len(names), {v: [] for v in range(len(parent))}
    for v, up in enumerate(parent[:-1]):
        for _ in range(max(cables[v], 1)):
            mine, other = len(ports[v]) + 1, len(ports[up]) + 1
            ports[v].append((up, other))
            ports[up].append((v, mine))
    name = [f'"{"H" if v < nodes else "S"}-{v + 1:016x}"' for v in ports]
    comment = [f'"{names[v]} HCA-1"' if v < nodes else f'"switch{v}"' for v in ports]
    for v in sorted(ports, reverse=True):
        kind = "Ca" if v < nodes else "Switch"
        yield f"{kind}\t{max(len(ports[v]), 1)} {name[v]}\t\t# {comment[v]}"
        for port, (peer, peer_port) in enumerate(ports[v], 1):
            yield f"[{port}]\t{name[peer]}[{peer_port}]\t\t# {comment[peer]} lid 1 4xSDR"
        yield ""


def describe_hops(names, place, between):
    """Hops of the nodes' places. A node's place is numbered with the others from 0."""
    places = round(len(between) ** 0.5)
    yield "%%MatrixMarket matrix array integer general"
    yield "% hosts " + " ".join(names)
    yield f"{len(names)} {len(names)}"
    for node, column in enumerate(place):
        for other, row in enumerate(place):
            yield str(between[row * places + column] if other != node else 0)


def network_of(plan, names, tools):
    """The distances of the run, as a file; None where all nodes are equally far apart."""
    distances = plan.data["distances"]
    if "parent" in distances:
        return tools.write("network", describe_tree(names, distances["parent"], distances["cables"]))
    if "hops" in distances:
        return tools.write("network", describe_hops(names, distances["place_of_node"], distances["hops"]))
    return None


class Links:
    """What one assignment loads on the tree of links. host_of_node: its index among the plan's hosts."""

    def __init__(self, title, answer, entry, host_of_node):
        self.title, self.host_of_node = title, host_of_node
        self.parent, self.cables, self.is_tree = (answer[name] for name in ("parent", "cables", "is_tree"))
        self.up, self.down, self.hop_bytes, self.crossing_bytes, self.max_link_bytes = (
            entry[name] for name in ("up", "down", "hop_bytes", "crossing_bytes", "max_link_bytes"))

    def uplink_bytes(self):
        """Bytes through links between switches, both ways; of links to nodes where there are no others."""
        nodes = len(self.host_of_node)
        between = range(nodes, len(self.parent) - 1)
        return sum(self.up[v] + self.down[v] for v in between) if between else self.crossing_bytes

    @property
    def has_uplinks(self):
        return len(self.parent) - 1 > len(self.host_of_node)


@dataclass
class Placement:
    """Where a view would put the ranks."""

    node_of_rank: list
    inside: float  # weight of the view inside nodes
    inside_by_slot: float
    total: float
    why_not: str  # why there is nothing to place, or ""
    inside_now: float = 0  # where the ranks of the run were


def named(answer, name):
    return next((entry for entry in answer["strategies"] if entry["name"] == name), None)


def first_seen(values):
    return list(dict.fromkeys(values))


class Planner:
    """Asks the tools about one plan, and has what was computed for it."""

    def __init__(self, plan, tools, topology):
        self.plan, self.tools, self.topology = plan, tools, topology
        self.names = plan.hosts if topology is not None else [f"n{n}" for n in range(plan.nodes)]
        self.network = topology if topology is not None else network_of(plan, self.names, tools)
        self.costs = self.strategies = None  # costs: a row for each rank or node, as costs_by says
        # Links: of aggregators as two-phase access has them without knowing the network, and of the plan's; of the view's calls
        # where the ranks were, unless the view does not contain its calls, and of ranks placed by the view.
        self.usual = self.present = self.expected = self.placed = None
        if plan.by_rank:
            self.by_rank()
        elif plan.exact:
            self.by_node()

    def ask(self, node_of_rank, *options, known=True):
        """known: the network is."""
        hosts = self.tools.write("hosts", [self.names[node] for node in node_of_rank])
        topology = ["--topology", self.network] if known and self.network is not None else []
        return json.loads(self.tools.run("tatp", "plan", "--json", "--hosts", "@" + hosts, *topology, *options))

    def ask_for(self, strategy, node_of_rank, requests, known=True):
        return self.ask(node_of_rank, "--requests", requests, "--strategy", strategy, "--quiet",
                        "--per-node", str(self.plan.data["per_node"]), known=known)

    def by_rank(self):
        plan = self.plan
        ranks, places = plan.call["ranks"], plan.call["ranks"] * plan.domains
        self.costs_by = "rank" if ranks <= MOST_ROWS else "node"
        self.requests = self.tools.write("requests", market(ranks, plan.domains, plan.triples()))
        options = ["--workload", self.costs_by] if places <= MOST_COSTS else ["--quiet"]
        node_of_rank = plan.data["node_of_rank"]
        got = self.ask(node_of_rank, "--requests", self.requests, "--per-node", str(plan.data["per_node"]),
                       "--aggregators", ",".join(map(str, plan.data["rank_of_domain"])), *options)
        seen = first_seen(node_of_rank)
        self.costs = got.get("workload")
        self.strategies = got["strategies"] + [got["given"]]
        self.present = Links("this run", got, got["given"], seen)
        requests, domains = plan.contiguous()
        if plan.fitted and requests["requests_by"] == "rank":
            self.requests = self.tools.write("even", market(ranks, domains, triples_of(requests)))
            got = self.ask_for("otp", node_of_rank, self.requests)
        self.usual = Links("usual aggregators", got, named(got, "otp"), seen)

    def by_node(self):
        """Bytes that stay on a node are not told apart by rank: the loads of links do not need that."""
        plan = self.plan
        requests = self.tools.write("requests", market(plan.nodes, plan.domains, plan.triples()))
        before = self.tools.write("before", market(plan.nodes, plan.contiguous()[1], self.contiguous_by_node()))
        nobody = self.tools.write("nothing", market(plan.call["ranks"], plan.domains, []))
        node_of_rank, seen = plan.data["node_of_rank"], list(range(plan.nodes))
        usual = self.ask_for("otp", node_of_rank, nobody, known=False)

        def links_with(title, ranks, accesses):
            nodes = ",".join(str(node_of_rank[rank]) for rank in ranks)
            got = self.ask(seen, "--requests", accesses, "--strategy", "otp", "--quiet", "--aggregators", nodes)
            return Links(title, got, got["given"], seen)

        self.usual = links_with("usual aggregators", named(usual, "otp")["assignment"], before)
        self.present = links_with("this run", plan.data["rank_of_domain"], requests)

    def contiguous_by_node(self):
        requests, _ = self.plan.contiguous()
        node_of_rank = self.plan.data["node_of_rank"]
        for row, domain, size in triples_of(requests):
            yield node_of_rank[row] if requests["requests_by"] == "rank" else row, domain, size

    def place(self, view):
        """Where dla puts the ranks, on the nodes of the job."""
        ranks = collections.Counter(self.plan.data["node_of_rank"])
        nodes = ["--hostfile", self.tools.write("nodes", [f"{name} slots={ranks[n]}" for n, name in enumerate(self.names)])]
        if self.topology is not None:
            nodes += ["--topology", self.topology]
        placed, by_slot = (map_ranks(self.tools, view, nodes, self.plan.call["ranks"], method) for method in ("auto", "byslot"))
        node_of_name = {name: n for n, name in enumerate(self.names)}
        return Placement([node_of_name[name] for name in placed["node_of_rank"]], placed["weight_inside"],
                         by_slot["weight_inside"], placed["weight_total"], why_not(placed))

    def predict(self, title, view, node_of_rank):
        """A recorded call of the kind by which most bytes went, with the domains and aggregators that it would have.
        None: the view has no calls with aggregators."""
        got = self.ask(node_of_rank, "--view", view)
        most = max(got["patterns"], key=lambda entry: entry["bytes"], default=None)
        if most is None:
            return None
        a_call = {name: most[name] / most["calls"] for name in ("hop_bytes", "crossing_bytes", "max_link_bytes")}
        a_call.update({way: [load / most["calls"] for load in most[way]] for way in ("up", "down")})
        return Links(title, got, a_call, first_seen(node_of_rank))

    def loads_of(self, placement):
        """The same accesses with the ranks there, and their aggregators chosen anew; instead of even domains
        there may be fitted ones again if these cost less."""
        got = self.ask_for("tatp", placement.node_of_rank, self.requests)
        return Links("placed by the view", got, named(got, "tatp"), first_seen(placement.node_of_rank))


def map_ranks(tools, view, nodes, ranks, method="auto"):
    """What dla map says of a view on these nodes, which are options of it."""
    placed = json.loads(tools.run("dla", "map", "--file", view, *nodes, "--method", method, "--format", "json"))
    if placed["ranks"] != ranks:
        raise ToolError(f"{view}: a view of {placed['ranks']} ranks, but the job had {ranks}")
    return placed


def why_not(mapped):
    """What dla says of a record by which there is nothing to place, or ""."""
    return mapped.get("why", "") if mapped["weight_total"] == 0 else ""


def map_evenly(tools, view, ranks, nodes):
    """The same on so many nodes with equal numbers of slots: which they were is not known."""
    return map_ranks(tools, view, ["--nodes", f"n[0-{nodes - 1}]:{-(-ranks // max(nodes, 1))}"], ranks)


MANY_RANKS, MANY_BYTES = 4096, 1 << 28  # of a simulation, which has memory for what is accessed
MANY_LINK = 12.5  # GB/s


def simulate(tools, view, call):
    """What the accesses of the view do with more ranks: phases, and what was simulated. None: it has enough of them."""
    ranks, nodes = call["ranks"], call["nodes"]
    times, per_node = min(MANY_RANKS // ranks, MANY_BYTES // max(call["bytes"], 1)), -(-ranks // nodes)
    if times < 2:
        return None
    command = ["simulate", "--view", view, "--times", str(times), "--ranks-per-node", str(per_node), "--link", f"{MANY_LINK}GB/s"]
    answer = json.loads(tools.run("tatp", *command, "--json"))
    calls = [dict(phase, link_seconds=phase["busiest_link_bytes"] / (MANY_LINK * 1e9))
             for phase in answer["phases"] if phase["accesses"] > 0]
    return dict(answer, calls=calls, times=times, link=MANY_LINK, command="tatp " + " ".join(command))


def read_view(tools, path):
    """The entries of a view matrix: row, column, value."""
    lines = tools.run("dla", "convert", "--to", "mtx", "--", path).splitlines()
    triples = [tuple(map(int, line.split())) for line in lines if not line.startswith("%")]
    return [(row - 1, column - 1, value) for row, column, value in triples[1:]]


def weight_inside(cells, node_of_rank):
    """Of the pairs of ranks on one node, as dla counts: a symmetric view contains each weight twice."""
    values = {(row, column): value for row, column, value in cells if row != column}
    symmetric = all(values.get((column, row), 0) == value for (row, column), value in values.items())
    inside = sum(value for (row, column), value in values.items() if node_of_rank[row] == node_of_rank[column])
    return inside // 2 if symmetric else inside
