# SPDX-License-Identifier: BSD-3-Clause
"""The geometry of the pictures; page.html draws it. A picture never has more than some thousand parts,
however large the job was, and the table behind it has the numbers that are drawn."""

from dataclasses import dataclass, field

import text
from statistics_file import depths

LEVELS = 7
MOST_CELLS = 48       # rows or columns of a heat map
MOST_WRITTEN = 150    # cells with their value in them
MOST_DRAWN_NODES = 32
MOST_DRAWN_SWITCHES = 32
MOST_LINK_ROWS = 24


# ---- heat maps ----

@dataclass
class HeatMap:
    name: str
    title: str
    row_noun: str
    rows: list           # labels
    columns: list
    values: list         # values[row][column], None: nothing known
    marks: dict = field(default_factory=dict)  # (row, column) -> what it means
    unit: object = text.size
    least: float = 0     # where the colours begin
    squares: list = field(default_factory=list)  # (first, last + 1) of rows and columns that belong together
    cell: float = 0      # width and height; 0: as there is room, with the values where they fit
    left: float = 92
    top: float = 34

    def __post_init__(self):
        known = [v for row in self.values for v in row if v is not None]
        self.most = max(known, default=0)
        self.cell_width = self.cell or min(56, max(7, 430 / max(len(self.columns), 1)))
        self.cell_height = self.cell or min(26, max(7, 400 / max(len(self.rows), 1)))
        self.width = self.left + self.cell_width * len(self.columns) + 12
        self.height = self.top + self.cell_height * len(self.rows) + 12
        self.written = not self.cell and len(self.rows) * len(self.columns) <= MOST_WRITTEN and self.cell_width >= 40

    def x(self, column):
        return self.left + self.cell_width * column

    def y(self, row):
        return self.top + self.cell_height * row

    def level(self, value):
        """0 for nothing, then 1 to LEVELS."""
        if value is None or (value <= 0 and self.least <= 0):
            return 0
        if self.most <= self.least:
            return 1
        return 1 + min(LEVELS - 1, int(LEVELS * (value - self.least) / (self.most - self.least)))

    def paths(self):
        """For each level all of its cells as one path."""
        parts = [[] for _ in range(LEVELS + 1)]
        for i, row in enumerate(self.values):
            for j, value in enumerate(row):
                parts[self.level(value)].append(
                    f"M{self.x(j):.4g} {self.y(i):.4g}h{self.cell_width:.4g}v{self.cell_height:.4g}"
                    f"h-{self.cell_width:.4g}z")
        return [(level, "".join(part)) for level, part in enumerate(parts) if part and level > 0]

    def labels(self):
        if not self.written:
            return []
        return [(self.x(j) + self.cell_width / 2, self.y(i) + self.cell_height / 2, self.unit(value).split("\u00b7")[0],
                 self.level(value))
                for i, row in enumerate(self.values) for j, value in enumerate(row) if value]

    def row_ticks(self):
        step = -(-len(self.rows) // max(1, int(self.cell_height * len(self.rows) / 14)))
        return [(self.y(i) + self.cell_height / 2, text.shorten(label, 14)) for i, label in enumerate(self.rows)
                if i % step == 0]

    def column_ticks(self):
        longest = max((len(label) for label in self.columns), default=1)
        step = -(-len(self.columns) // max(1, int(self.cell_width * len(self.columns) / (12 + 6.5 * min(longest, 10)))))
        return [(self.x(j) + self.cell_width / 2, text.shorten(label, 10)) for j, label in enumerate(self.columns)
                if j % step == 0]

    def frames(self):
        """Whether a mark is a frame around its cell; in a small one it is a dot."""
        return min(self.cell_width, self.cell_height) >= 14

    def bounds(self):
        """(level, the most that it stands for)."""
        width = (self.most - self.least) / LEVELS
        return [(level, self.unit(self.least + width * level)) for level in range(1, LEVELS + 1)]


class Grouping:
    """Neighbours together, so that at most `most` are left. names: of each, else numbers of `of_one` each label them."""

    def __init__(self, count, noun, most=MOST_CELLS, of_one=1, names=None):
        self.step = max(1, -(-count // most))
        self.groups = -(-count // self.step)
        firsts = range(0, count, self.step)
        if names is not None and self.step == 1:
            self.labels = list(names)
        elif names is not None:
            self.labels = [f"{text.shorten(names[i], 10)} +{min(self.step, count - i) - 1}" for i in firsts]
        else:
            ends = [(i * of_one, min(i + self.step, count) * of_one - 1) for i in firsts]
            self.labels = [f"{noun} {first}" if first == last else f"{first}–{last}" for first, last in ends]

    def of(self, index):
        return index // self.step


def group_rows(plan, by, most, count, per=1):
    """A row for each rank, or for each node, or for neighbouring nodes, and which rank is in which."""
    node_of_rank = plan.data["node_of_rank"]
    if by == "rank":
        names = [f"{rank} {text.shorten(plan.hosts[node], 9)}" for rank, node in enumerate(node_of_rank)]
        return Grouping(count, by, most, names=names), lambda rank: rank
    return Grouping(count, by, of_one=per, names=plan.hosts if per == 1 else None), lambda rank: node_of_rank[rank] // per


def add_up(rows, columns, cells):
    values = [[0] * columns.groups for _ in range(rows.groups)]
    for row, column, value in cells:
        values[rows.of(row)][columns.of(column)] += value
    return values


def requests_map(plan, most_ranks=64):
    by_rank = plan.by_rank and plan.call["ranks"] <= most_ranks
    noun, per_row = ("rank", 1) if by_rank else ("node", plan.data["nodes_in_row"])
    rows, row_of = group_rows(plan, noun, most_ranks, plan.call["ranks"] if by_rank else -(-plan.nodes // per_row), per_row)
    per = plan.data["domains_in_column"]
    columns = Grouping(-(-plan.domains // per), "FD", of_one=per)
    cells = [((row_of(i) if plan.by_rank else i), j, value) for i, j, value in plan.triples()]
    chart = HeatMap("requests", "C: bytes of each file domain that each " + noun + " accesses", noun,
                    rows.labels, columns.labels, add_up(rows, columns, cells))
    chart.marks = marks(plan, rows, columns, row_of, per)
    return chart


def marks(plan, rows, columns, row_of, per=1):
    found = {}
    for domain, rank in enumerate(plan.data["rank_of_domain"]):
        place = rows.of(row_of(rank)), columns.of(domain // per)
        found.setdefault(place, []).append(f"{domain} by rank {rank}")
    return {place: "served here: file domain " + ", ".join(which[:4]) + (" and others" if len(which) > 4 else "")
            for place, which in found.items()}


def costs_map(plan, answer):
    """Of a group the least cost is drawn: what its best place would cost."""
    rows, row_of = group_rows(plan, answer.costs_by, 64, len(answer.costs))
    columns = Grouping(plan.domains, "FD")
    found = {}
    for i, row in enumerate(answer.costs):
        for j, value in enumerate(row):
            place = rows.of(i), columns.of(j)
            found[place] = min(value, found.get(place, value))
    least = [[found.get((i, j)) for j in range(columns.groups)] for i in range(rows.groups)]
    chart = HeatMap("costs", "W: hop-bytes if this " + answer.costs_by + " serves the file domain", answer.costs_by,
                    rows.labels, columns.labels, least, unit=text.hops, least=min(found.values(), default=0))
    chart.marks = marks(plan, rows, columns, row_of)
    return chart


def view_map(name, title, cells, order, squares):
    """order[i] is the rank at place i."""
    place_of = {rank: place for place, rank in enumerate(order)}
    groups = Grouping(len(order), "rank", most=64, names=map(str, order) if len(order) <= 64 else None)
    values = add_up(groups, groups, [(place_of[i], place_of[j], v) for i, j, v in cells])
    chart = HeatMap(name, title, "rank", groups.labels, groups.labels, values, unit=lambda value: text.whole(round(value)),
                    cell=min(20, 340 / groups.groups), left=84, top=30)
    if len(squares) <= MOST_CELLS:
        chart.squares = [(a / groups.step, b / groups.step) for a, b in squares]
    return chart


def node_squares(order, node_of_rank):
    """Where ranks of one node are next to each other."""
    squares, first = [], 0
    for i in range(1, len(order) + 1):
        if i == len(order) or node_of_rank[order[i]] != node_of_rank[order[first]]:
            squares.append((first, i))
            first = i
    return squares


# ---- the network ----

@dataclass
class Vertex:
    label: str
    level: int
    is_switch: bool = True
    x: float = 0
    parent: int = -1     # index among the drawn
    up: float = 0        # most bytes of a cable among the links that this one stands for
    down: float = 0
    links: int = 1


@dataclass
class Network:
    """One drawing of the tree, from a Links."""

    links: object
    vertices: list
    most: float          # the scale, common to all drawings
    width: float = 0
    height: float = 0
    thickest: float = 9

    def stands_for_many(self):
        return any(vertex.links > 1 for vertex in self.vertices)

    def y(self, vertex):
        return 30 + 76 * vertex.level

    def is_labelled(self):
        return len(self.vertices) <= 24

    def bars(self):
        """Switches, each as wide as what hangs on it: (vertex, left end, width)."""
        below = {}
        for vertex in self.vertices:
            if vertex.parent >= 0:
                below.setdefault(vertex.parent, []).append(vertex.x)
        return [(self.vertices[index], min(xs) - 9, max(xs) - min(xs) + 18) for index, xs in below.items()]

    def stroke(self, vertex):
        load = max(vertex.up, vertex.down)
        return 1 + self.thickest * load / self.most if load > 0 else 1

    def level(self, vertex):
        load = max(vertex.up, vertex.down)
        return 0 if load == 0 else 1 + min(LEVELS - 1, int(LEVELS * load / self.most))


def loads_of_link(links, v):
    cables = max(links.cables[v], 1)
    return links.up[v] / cables, links.down[v] / cables


def vertex_names(links, hosts):
    """Switches are numbered by the first node below them, in every drawing alike."""
    nodes, keys = len(links.host_of_node), keys_of(links)
    names = [hosts[host] for host in links.host_of_node] + ["top switch"] * (len(links.parent) - nodes)
    for number, v in enumerate(sorted(range(nodes, len(links.parent) - 1), key=keys.__getitem__), 1):
        names[v] = f"switch {number}"
    return names


def drawn_vertices(links, hosts):
    """One for each set of vertices that one line stands for. Nodes of a switch become one where there are many, and so do
    switches of a switch."""
    nodes, names, keys, depth = len(links.host_of_node), vertex_names(links, hosts), keys_of(links), depths(links.parent)
    children = [[] for _ in links.parent]
    for v, up in enumerate(links.parent[:-1]):
        children[up].append(v)
    root = len(links.parent) - 1
    drawn, queue = [Vertex("top switch", 0, root >= nodes, links=0)], [(0, [root])]
    while queue:
        parent, members = queue.pop(0)
        below = [c for v in members for c in children[v]]
        leaves = sorted((v for v in below if v < nodes), key=lambda v: links.host_of_node[v])
        switches = sorted((v for v in below if v >= nodes), key=keys.__getitem__)
        for some, noun, many in ((leaves, "nodes", nodes > MOST_DRAWN_NODES),
                                 (switches, "switches", len(switches) > MOST_DRAWN_SWITCHES)):
            for part in ([some] if some and (many or len(members) > 1) else [[v] for v in some]):
                label = names[part[0]] if len(part) == 1 else f"{len(part)} {noun}"
                up, down = (max(loads) for loads in zip(*(loads_of_link(links, v) for v in part)))
                if part[0] >= nodes:
                    queue.append((len(drawn), part))
                drawn.append(Vertex(label, depth[part[0]], part[0] >= nodes, 0, parent, up, down, len(part)))
    return drawn


def place_vertices(vertices):
    """Leaves side by side, each vertex above the middle of its children."""
    children = [[] for _ in vertices]
    for index, vertex in enumerate(vertices):
        if vertex.parent >= 0:
            children[vertex.parent].append(index)
    taken = 0

    def settle(index):
        nonlocal taken
        for child in children[index]:
            settle(child)
        if children[index]:
            vertices[index].x = (vertices[children[index][0]].x + vertices[children[index][-1]].x) / 2
        else:
            vertices[index].x = taken
            taken += 1

    settle(0)
    return taken


def network(links, hosts, most):
    vertices = drawn_vertices(links, hosts)
    leaves = place_vertices(vertices)
    step = min(110, max(76 if len(vertices) <= 24 else 20, 560 / max(leaves, 1)))
    for vertex in vertices:
        vertex.x = 80 + step * vertex.x
    drawing = Network(links, vertices, most, thickest=min(9, step / 2))
    drawing.width = 160 + step * (leaves - 1)
    drawing.height = 30 + 76 * max(vertex.level for vertex in vertices) + 56
    return drawing


def networks(all_links, hosts):
    most = max((load for links in all_links for v in range(len(links.parent) - 1) for load in loads_of_link(links, v)),
               default=0)
    return [network(links, hosts, most) for links in all_links]


def busiest_links(all_links, hosts):
    """Rows (lower end, upper end, cables, up and down of each). Where placements number nodes differently, a node is
    known by its host; switches by what is below them."""
    named = [{key: v for v, key in enumerate(keys_of(links)[:-1])} for links in all_links]
    first, names = all_links[0], vertex_names(all_links[0], hosts)
    keys = list(named[0])
    keys.sort(key=lambda key: -max(max(loads_of_link(links, index[key])) if key in index else 0
                                   for links, index in zip(all_links, named)))
    rows = []
    for key in keys[:MOST_LINK_ROWS]:
        v = named[0][key]
        loads = [(links.up[index[key]], links.down[index[key]]) if key in index else (None, None)
                 for links, index in zip(all_links, named)]
        rows.append((names[v], names[first.parent[v]], first.cables[v], loads))
    return rows, len(keys)


def keys_of(links):
    """What is below each vertex, in terms that do not depend on how nodes are numbered."""
    nodes = len(links.host_of_node)
    lowest = [links.host_of_node[v] if v < nodes else None for v in range(len(links.parent))]
    size = [1 if v < nodes else 0 for v in range(len(links.parent))]
    height = [0] * len(links.parent)
    for v, up in enumerate(links.parent[:-1]):
        lowest[up] = lowest[v] if lowest[up] is None else min(lowest[up], lowest[v])
        size[up] += size[v]
        height[up] = max(height[up], height[v] + 1)
    return list(zip(lowest, size, height))


# ---- time lines ----

def merge(spans):
    """Their union, ascending."""
    merged = []
    for begin, end in sorted(span for span in spans if span[1] > span[0]):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def intersect(some, others):
    both = [(max(a, c), min(b, d)) for a, b in some for c, d in others]
    return [(begin, end) for begin, end in both if begin < end]


def length(spans):
    return sum(end - begin for begin, end in spans)


@dataclass
class TimeLine:
    call: dict
    lanes: list
    end: float
    left: float = 110
    chart: float = 560
    row: float = 24

    @property
    def width(self):
        return self.left + self.chart + 40

    @property
    def height(self):
        return 40 + self.row * len(self.lanes)

    def x(self, moment):
        return self.left + self.chart * (moment / self.end if self.end else 0)

    def ticks(self):
        return [(self.x(self.end * i / 4), text.seconds(self.end * i / 4 / 1e6)) for i in range(5)]


def lane(entry, plan):
    """Of one aggregator; microseconds."""
    shuffle = merge([(w[1], w[2]) for w in entry["windows"]])
    access = merge([(w[3], w[4]) for w in entry["windows"]])
    return {"rank": entry["rank"], "host": plan.hosts[plan.data["node_of_rank"][entry["rank"]]] if plan is not None else "",
            "windows": len(entry["windows"]), "shuffle": shuffle, "access": access, "both": merge(intersect(shuffle, access)),
            "end": max(max(w[2], w[4]) for w in entry["windows"])}


def time_line(call, plan):
    told = sorted(call["timeline"], key=lambda entry: entry["rank"])
    lanes = [lane(entry, plan) for entry in told if entry["windows"]]
    return TimeLine(call, lanes, max(each["end"] for each in lanes))
