# SPDX-License-Identifier: BSD-3-Clause
"""Reads host files by `dla map -H` and by mpirun, and prints those that they read differently.

hostfiles.py DLA MPIRUN; without MPIRUN prints all files, and what `dla map -H` reads. Each part of the grammar occurs once, with common parts around it that are drawn at random.
No host is given without a number of slots, except again: mpirun gives it one for each core.
"""
import os
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# Parts of a file, by what is asked: the common ones, those where all releases of Open MPI agree ("="), those that dla refuses
# where some read something else than what is meant ("-"), and those that dla reads as some do ("+").
NAMES = {
    "common": ["n1", "u@n1", "198.51.100.17", "n1.invalid"],
    "=": ["+n0", "+e", "+e:1", '"n1"', "'n1'", '"u"@n1', "u_v@198.51.100.18", "u@v@n1", "u@^n1", "1n.invalid", "n1.", "n-1", "7",
          "fe80::1", "fe80::1%eth0", "n[1-3]", "n1/2", "n1;", "n1%", "n1=", "=", "(n1)", "\\n1", "n\xe9", "Slots", "@", "n1,2;"],
    "-": ["n1:4", "n1,n2", "n*", "1:2", "198.51.100", "198.51.100.300", "198.51.0100.1", "007", "4294967297", "rank", "rank 0=n1",
          "N0", "n0.invalid", "n1@", "^u@n1", "u.v@n1", ".n1", "^", "n1 n2"],
    "+": ["@n1", "slots", "count", "^n1"]}
WORDS = {
    "common": ["slots=2", "slots = 1", "count=3 port=22", "max_slots=2 username=u", "slots\t=02"],
    "=": ["cpu=2", "slots=0", "max-slots=3", "cpu_max=3", "max_slots=2 slots=3", "slots=2 max_slots=3", "slots=3 max_slots=2",
          "max_slots=3 max_slots=2", "max_slots=0", "slots=2 slots=2", "slots=2 count=3", "slots=", "slots", "slots 2", "=2",
          "slots==2", "slots=2=", "slots=-1", "max_slots=-3", "slots=0x2", "slots=2.5", "slots=2x", "slots=2,", "slots=n1",
          "slots='2'", 'slots="2"', "slots=2147483648", "slots=99999999999999999999", "SLOTS=2", "MAX_SLOTS=2", "cpus=2",
          "slot=2", "cores=2", "foo=1 slots=2", "slots=2 port=x", "slots=2 port=", "slots=2 user=u", "\v\fslots=2",
          "slots=2 \\", "slots=2\0"],
    "-": ["slots=+2", "slots=4294967298", "slots=1 2", "2", "foo slots=2", "slots:2", "username= slots=2"],
    "+": ["slots=2\r", "/* c */ slots=2", "slots=2 username=a;b"]}
LAST = {
    "common": ["", "\n", " # c\n", "// c\n", "/* c */\n", "\n\n \t\nn2 slots=1\n"],
    "=": ["\nn0\n", "\nn0\nu@n0 port=22\n", "\nn0 slots=3\n", "\nn0 slots=2\n", "\nn0 max_slots=3\n", "\nn0 max_slots=4",
          "/* c\nc */ n2 slots=1", "\n+n0\n", '\n"n2" slots=1\n', "\nslots=1;\n"],
    "-": ["\n/* c", "\nN0\n", "\nn0.invalid", "/* c */ n2 slots=2\n"],
    "+": ["\n# c", "\r\n^n2"]}
PARTS = [NAMES, WORDS, LAST]


def make_files():
    """Pairs of an expectation and a file's text."""
    drawn = random.Random(int(os.environ.get("TEST_SEED") or 1))
    for part in PARTS:
        for expected, items in part.items():
            for item in items:
                name, words, last = [item if p is part else drawn.choice(p["common"]) for p in PARTS]
                yield expected, f"n0 slots=3\n{name} {words}{last}"


def run(*command):
    environment = dict(os.environ, LC_ALL="C")
    return subprocess.run(["timeout", "--kill-after=5", "60", *command], stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="latin-1", env=environment, check=False)


def ask_dla(dla, file):
    """The hosts and their slots, "" if the file is refused."""
    refused = run(dla, "map", "--cart", "100000", "-H", file).stderr
    slots = re.search(r"100000 ranks, but (\d+) slots", refused)
    if not slots:
        return ""
    hosts = run(dla, "map", "--cart", slots[1], "-H", file, "--method", "byslot", "--format", "slurm").stdout.split()
    return " ".join(f"{host}:{hosts.count(host)}" for host in dict.fromkeys(hosts))


def ask_mpirun(mpirun, file):
    """The same of Open MPI, which starts nothing."""
    if os.environ["OMPI_VERSION"].startswith("4."):
        told = run(mpirun, "--hostfile", file, "--do-not-launch", "--display-map", "--map-by", "ppr:1:node", "--oversubscribe", "true")
        hosts = re.findall(r"Data for node: (.*)\tNum slots: ([1-9]\d*)", told.stdout)
    else:
        told = run(mpirun, "--hostfile", file, "--do-not-launch", "--display", "allocation", "--map-by", "ppr:1:node:oversubscribe", "true")
        first = (told.stdout.split("ALLOCATED NODES") + [""])[1]
        hosts = re.findall(r"^    (.*): slots=([1-9]\d*) ", first, re.MULTILINE)
    # After some errors they continue with the hosts so far.
    wrong = re.search("detected a|provided that|ERROR", told.stderr)
    return "" if wrong else " ".join(":".join(host) for host in hosts)


def differs(expected, dla, mpirun):
    if expected == "-":
        return dla != ""
    if expected == "+":
        return dla == "" or mpirun not in ("", dla)
    return dla != mpirun


def main():
    dla, mpirun = (sys.argv[1:] + [None])[:2]
    files = list(make_files())
    names = [f"hosts.{i}" for i in range(len(files))]
    for name, (_, text) in zip(names, files):
        with open(name, "w", encoding="latin-1", newline="") as out:
            out.write(text)
    if mpirun is None:
        for name, (expected, text) in zip(names, files):
            print(f"{expected} {text!a}: {ask_dla(dla, name)}")
        return
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(zip(files, pool.map(lambda n: ask_dla(dla, n), names), pool.map(lambda n: ask_mpirun(mpirun, n), names)))
    for name, ((expected, text), by_dla, by_mpirun) in zip(names, answers):
        # Several at a time may disturb each other.
        if differs(expected, by_dla, by_mpirun) and differs(expected, by_dla, by_mpirun := ask_mpirun(mpirun, name)):
            print(f"{expected} {text!r}: dla '{by_dla}', mpirun '{by_mpirun}'")
    print(f"{len(files)} files, of which mpirun reads {sum(m != '' for _, _, m in answers)}")


main()
