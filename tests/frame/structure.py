#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks which file uses which, from #include lines and from the symbols of the object files. Prints a line for each
break of a rule, "RULE: ...".

    structure.py SOURCE-FOLDER BUILD-FOLDER

A file uses a file that it includes, and one that defines a symbol to which its object file refers."""

import os
import re
import subprocess
import sys

# Which folders of src/ a folder may use. Each row says the least that holds; every folder may use base.
FOLDERS = {
    "base": (),
    "access": ("matrix",),
    "cache": (),
    "collective": ("access", "cache", "exchange", "json", "matrix", "plan", "record", "storage", "topo"),
    "dla": ("cache", "matrix", "predict", "setmatch", "topo"),
    "exchange": ("access",),
    "json": (),
    "lap": (),
    "matrix": (),
    "plan": ("access", "lap", "matrix", "topo"),
    "predict": ("access", "matrix", "plan"),
    "record": ("access", "matrix"),
    "reorder": ("dla", "matrix", "topo"),
    "setmatch": ("matrix", "plan", "topo"),
    "simulate": ("access", "collective", "exchange", "topo"),
    "storage": (),
    "topo": ("matrix",),
}

MOST_HEADER_LINES = 150

# What src/ must not include, and the names to which it must not refer.
OPEN_MPI_HEADER = re.compile(r"^(ompi|orte|opal|oshmem|openmpi|prte)/|^(ompi|orte|opal|prte)_config\.h$|^mpi(-ext|io)?\.h$|^pmix")
OPEN_MPI_SYMBOL = re.compile(r"^(P?MPI_|PMIx_|(ompi|orte|opal|mca|oshmem|pmix|prte)_)")

TATP = "ompi/mca/fcoll/tatp"
DLA = ("orte/mca/rmaps/dla", "prte/mca/rmaps/dla")

# The modules of fcoll/tatp: what follows fcoll_tatp_ in the names of their source files.
TATP_MODULES = {
    **{name: name for name in ("call", "device", "error", "file", "fit", "help", "hints", "params", "process", "pvars")},
    "comm": "comm|comm_.*|request",
    "io": "io|view|datarep",
    "top": "component|module",
}
# Modules that a module must not use.
TATP_NEVER = {
    "comm": ("call", "file", "hints", "io", "params", "pvars"),
    "device": ("call", "comm", "file", "hints", "io", "params", "pvars"),
    "file": ("call",),
    "hints": ("call", "comm", "file", "io", "params", "pvars"),
    "io": ("call", "comm", "file", "hints", "params", "pvars"),
    "params": ("call", "comm", "file", "hints", "io", "pvars"),
    "process": ("call", "comm", "file", "hints", "io", "params", "pvars"),
}
TATP_STRUCT = "mca_fcoll_tatp_component"
TATP_STRUCT_USERS = ("params", "component", "module")

def code_of(path):
    """The file's text without comments and strings."""
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
    return re.sub(pattern, lambda match: " " if match.group().startswith("/") else '""', text, flags=re.S)


class Tree:
    """All C files of the product, by their names relative to the source folder."""

    def __init__(self, source, build):
        self.source, self.build = source, build
        self.files = sorted(self.find("src") + self.find("mpi") + self.find("ompi") + self.find("orte") + self.find("prte") + self.find("opal") + self.find("tools"))
        known = set(self.files)
        self.includes = {}  # file -> files of the tree
        self.foreign = {}  # file -> names of other included headers
        for name in self.files:
            self.includes[name], self.foreign[name] = set(), set()
            with open(os.path.join(source, name), encoding="utf-8") as stream:
                words = re.findall(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', stream.read(), flags=re.M)
            for kind, word in words:
                places = [os.path.dirname(name), "src", "."] if kind == '"' else ["src", "."]
                found = [path for path in (os.path.normpath(os.path.join(place, word)) for place in places) if path in known]
                if found:
                    self.includes[name].add(found[0])
                else:
                    self.foreign[name].add(os.path.normpath(word))
        self.read_symbols()

    def find(self, folder):
        return [os.path.relpath(os.path.join(path, name), self.source)
                for path, _, names in os.walk(os.path.join(self.source, folder)) for name in names if name.endswith((".c", ".h"))]

    def objects(self, name):
        """The object files of a source file, with the programs or libraries that they belong to."""
        folder, stem = os.path.dirname(name), os.path.basename(name)[:-2]
        for place in (os.path.join(folder, ".libs"), folder):
            path = os.path.join(self.build, place)
            for entry in sorted(os.listdir(path) if os.path.isdir(path) else ()):
                owner, dash, rest = entry.rpartition("-")
                if rest == stem + ".o" and not re.search("sanitized|tsan", owner):
                    yield os.path.join(path, entry), owner if dash else ""

    @staticmethod
    def list_symbols(objects):
        """object file -> pairs of a symbol and its kind"""
        symbols = {path: [] for path in objects}
        if objects:
            listed = subprocess.run(["nm", "-A", "-P", *objects], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
            for path, _, rest in (line.partition(": ") for line in listed.splitlines()):
                symbols[path].append(rest.split()[:2])
        return symbols

    def read_symbols(self):
        self.defines = {}  # file -> symbols
        self.uses = {name: set(self.includes[name]) for name in self.files}  # file -> files
        self.refers = {}  # file -> symbols that it does not define
        defined, wanted = {}, []
        objects = {name: list(self.objects(name)) for name in self.files if name.endswith(".c")}
        symbols = self.list_symbols([path for places in objects.values() for path, _ in places])
        for name, places in objects.items():
            self.defines[name], self.refers[name] = set(), set()
            for path, owner in places:
                for symbol, kind in symbols[path]:
                    if kind in "Uw":
                        self.refers[name].add(symbol)
                        wanted.append((name, owner, symbol))
                    elif kind.isupper() and symbol != "main":
                        self.defines[name].add(symbol)
                        defined.setdefault(symbol, set()).add((name, owner))
        # A component of another release's launcher is not built at all.
        built = {os.path.dirname(name) for name, places in objects.items() if places}
        self.without_object = [name for name, places in objects.items() if not places and os.path.dirname(name) in built]
        self.definers = {symbol: {name for name, _ in places} for symbol, places in defined.items()}
        for name, owner, symbol in wanted:
            places = defined.get(symbol, set())
            # Programs of one folder may define a symbol each.
            near = {place for place, other in places if other == owner} or {place for place, _ in places}
            self.uses[name] |= near - {name}


def circles_of(edges):
    """The strongly connected parts of more than one node, each sorted."""
    reach = {}
    for start in edges:
        seen, ahead = set(), [start]
        while ahead:
            for other in edges.get(ahead.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    ahead.append(other)
        reach[start] = seen
    circles = {tuple(sorted({node} | {other for other in reach[node] if node in reach.get(other, ())}))
               for node in edges if node in reach[node]}
    return sorted(circle for circle in circles if len(circle) > 1)


def file_circles(tree, folder, aside=()):
    names = [name for name in tree.files if os.path.dirname(name) == folder and os.path.basename(name) not in aside]
    edges = {name: {other for other in tree.uses[name] if other in names and other != name} for name in names}
    for circle in circles_of(edges):
        places = [f"{os.path.basename(node)} -> {', '.join(sorted(os.path.basename(o) for o in edges[node] if o in circle))}"
                  for node in circle]
        yield f"{folder}: {'; '.join(places)}"


def folder_of(name):
    """The folder of src/ that a file is in."""
    parts = name.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def check_open_mpi(tree):
    for name in tree.files:
        if not name.startswith("src/"):
            continue
        for header in sorted(tree.foreign[name]):
            if OPEN_MPI_HEADER.search(header):
                yield f"{name} includes {header}"
        for other in sorted(tree.uses[name]):
            if not other.startswith("src/"):
                yield f"{name} uses {other}"
        for symbol in sorted(tree.refers.get(name, ())):
            if OPEN_MPI_SYMBOL.search(symbol):
                yield f"{name} refers to {symbol}"


def check_folders(tree):
    edges = {}
    for name in tree.files:
        here = folder_of(name)
        if here is None:
            continue
        if here not in FOLDERS:
            yield f"{name}: src/{here} has no row in the table of structure.py"
        for other in sorted(tree.uses[name]):
            there = folder_of(other)
            if there is None or there == here:
                continue
            edges.setdefault(here, set()).add(there)
            edges.setdefault(there, set())
            if there != "base" and there not in FOLDERS.get(here, ()):
                yield f"{name} uses {other}"
    for circle in circles_of(edges):
        yield f"folders of src/ in a circle: {', '.join(circle)}"
    for here, row in FOLDERS.items():
        for there in row:
            if here in edges and there not in edges[here]:
                yield f"src/{here} does not use src/{there}: out of date in the table of structure.py"


def check_front_ends(tree):
    """mpi/ stands beside the components: neither uses the other."""
    for name in tree.files:
        for other in sorted(tree.includes[name]):
            if name.startswith("mpi/") != other.startswith("mpi/") and not other.startswith("src/"):
                yield f"{name} includes {other}"


def check_circles(tree):
    for folder in sorted({os.path.dirname(name) for name in tree.files if name.startswith("src/")}) + ["mpi", "tools"]:
        yield from file_circles(tree, folder)
    for folder in DLA:
        yield from file_circles(tree, folder, ("rmaps_dla.h", "rmaps_dla_component.c", "rmaps_dla_module.c"))
    yield from file_circles(tree, TATP, ("fcoll_tatp.h", "fcoll_tatp_component.c", "fcoll_tatp_module.c"))


def check_headers(tree):
    for name in (name for name in tree.files if name.endswith(".h")):
        with open(os.path.join(tree.source, name), encoding="utf-8") as stream:
            lines = sum(1 for _ in stream)
        if lines > MOST_HEADER_LINES:
            yield f"{name} has {lines} lines; at most {MOST_HEADER_LINES}"


# --- modules of fcoll/tatp ---


def module_of(name):
    """The module of a file of the component; "" for its main header, None for a file of no module."""
    stem = os.path.basename(name)[:-2]
    if stem == "fcoll_tatp" and name.endswith(".h"):
        return ""
    for module, pattern in TATP_MODULES.items():
        if re.fullmatch(f"fcoll_tatp_({pattern})", stem):
            return module
    return None


def check_modules(tree):
    names = [name for name in tree.files if os.path.dirname(name) == TATP]
    headers = {module: f"{TATP}/fcoll_tatp_{module}.h" for module in TATP_MODULES if module not in ("top", "call")}
    for name in names:
        module = module_of(name)
        if module is None:
            yield f"{name} belongs to no module"
            continue
        internal = f"{TATP}/fcoll_tatp_{module}_internal.h"
        if name.endswith(".h") and module not in ("", "call") and name not in (headers.get(module), internal):
            yield f"{name}: a module has one header, fcoll_tatp_MODULE.h, and fcoll_tatp_MODULE_internal.h for its own files"
        if name.endswith(".c") and module in headers and headers[module] not in names:
            yield f"{name}: its module's header, {os.path.basename(headers[module])}, is missing"
        for other in sorted(tree.uses[name]):
            if os.path.dirname(other) != TATP:
                continue
            if module_of(other) in TATP_NEVER.get(module, ()):
                yield f"{name} uses {other}"
            if other.endswith("_internal.h") and module_of(other) != module:
                yield f"{name} includes {other} of another module"
        everything = {header for header in headers.values() if header in names}
        if module != "call" and len(everything) > 3 and everything <= tree.includes[name]:
            yield f"{name} includes the headers of all modules"
        stem = os.path.basename(name)[len("fcoll_tatp_"):-2]
        if module and stem not in TATP_STRUCT_USERS and TATP_STRUCT in re.findall(r"\w+", code_of(os.path.join(tree.source, name))):
            yield f"{name} uses the struct {TATP_STRUCT}"


RULES = (
    ("open-mpi", check_open_mpi),
    ("folders", check_folders),
    ("front-ends", check_front_ends),
    ("circles", check_circles),
    ("headers", check_headers),
    ("modules", check_modules),
)


def main():
    tree = Tree(sys.argv[1], sys.argv[2])
    for name in tree.without_object:
        print(f"objects: {name} has no object file in {tree.build}")
    for rule, check in RULES:
        for text in check(tree):
            print(f"{rule}: {text}")


main()
