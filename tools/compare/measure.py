# SPDX-License-Identifier: BSD-3-Clause
"""Runs of one program with several components of MPI-IO: their times, the bytes that nodes send, and the files that they write."""

import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun", "mpirun.openmpi", "mpiexec.openmpi")
ALLOCATIONS = ("SLURM_JOB_NODELIST", "PBS_NODEFILE", "LSB_DJOB_HOSTFILE")
OUTPUT_BYTES, OUTPUT_LINES = 1 << 20, 10  # of the end of what a run prints: read, shown
# What mpirun adds to the errors of programs.
FRAME = re.compile(r"^-{60,}\n(?:Primary job|mpirun\S* detected that|MPI_ABORT was invoked)(?:(?!-{60}).*\n)*-{60,}\n?", re.MULTILINE)
PATIENCE = 10  # seconds between the signals that end a run


class Failure(Exception):
    """Why a way has no result."""


class Crash(Failure):
    """The program has failed, or did not end."""


@dataclass
class Run:
    command: float  # seconds
    program: float  # seconds without the launch and the start of MPI, or those that it prints; None: not known
    sent: int  # bytes, by all nodes; None: not known
    files: dict  # what digest returns of each


@dataclass
class Way:
    """A choice of components; its first run does not count."""

    name: str
    parameters: dict  # of Open MPI
    is_placed: bool = False
    runs: list = field(default_factory=list)
    failure: str = ""

    @property
    def is_stock(self):
        return self.parameters["fcoll"] != "tatp"


def end(process):
    """Ends it, if it has not ended, with what it has started here."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, number)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                continue


def execute(command, environment, limit):
    """Returns seconds, the end of what it printed, and why it failed or ""."""
    with tempfile.TemporaryFile() as output:
        begun = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                   env=environment, start_new_session=True)
        try:
            status = process.wait(limit)
            cause = f"exit status {status}" if status > 0 else f"signal {-status}" if status < 0 else ""
        except subprocess.TimeoutExpired:
            cause = f"no end within {limit:g} s"
        finally:
            end(process)
        seconds = time.monotonic() - begun
        output.seek(max(0, output.seek(0, os.SEEK_END) - OUTPUT_BYTES))
        return seconds, output.read().decode(errors="replace"), cause


def digest(path):
    """Length and SHA-256."""
    sha = hashlib.sha256()
    with open(path, "rb") as file:
        for piece in iter(lambda: file.read(1 << 22), b""):
            sha.update(piece)
        return f"{file.tell()} {sha.hexdigest()}"


def state(path):
    found = os.stat(path)
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns


class Program:
    """The command of the user. folder: absolute; nodes read and write there."""

    def __init__(self, options, release, tools, folder):
        self.command, self.limit, self.named, self.removes = options.command, options.limit, options.file, options.remove
        self.patterns, self.seconds = self.named, options.seconds
        self.view, self.statistics = os.path.join(folder, "view.crs"), os.path.join(folder, "stats.json")
        is_orte = release.startswith("4.")
        self.agent = shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "agent"), folder)
        self.probe = shutil.copy(os.path.join(tools, "tatp-probe"), folder) if release else ""
        self.mapper = "OMPI_MCA_rmaps" if is_orte else "PRTE_MCA_rmaps"
        self.agent_variable = "OMPI_MCA_orte_fork_agent" if is_orte else "PRTE_MCA_odls_base_exec_agent"
        self.is_other, self.tatp_run = not release, [os.path.join(tools, "tatp"), "run"]
        self.launcher = next((i for i, word in enumerate(self.command) if os.path.basename(word) in LAUNCHERS and release), None)
        self.placed, self.replaced = "", ""  # what the mapper prints, and the user's mapping that gives way to it
        self.mark = f"tatp-compare-{os.getpid()}"  # of the agents' lines

    def ways(self):
        """The first makes the record. ROMIO: if this Open MPI has one. Placement: by Open MPI's launcher, or tatp run."""
        placed = Way("placed", {"io": "ompio", "fcoll": "tatp"}, True)
        may_place = self.launcher is not None or any(name in os.environ for name in ALLOCATIONS)
        if not may_place:
            self.placed = "placed: not tried: this needs mpirun, or an allocation of Slurm, PBS or LSF"
        return self.unplaced_ways() + [placed] * may_place

    def unplaced_ways(self):
        if self.is_other:
            return [Way("tatp", {"fcoll": "tatp"}), Way("the MPI", {"fcoll": "^tatp"})]
        info = os.path.join(os.path.dirname(shutil.which(self.command[self.launcher or 0]) or ""), "ompi_info")
        said = subprocess.run([info if os.path.exists(info) else "ompi_info", "--parsable"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False).stdout
        romio = re.search(r"^mca:io:(romio\d*):", said, re.MULTILINE)
        ways = [Way("tatp", {"io": "ompio", "fcoll": "tatp"}), Way("ompio", {"io": "ompio", "fcoll": "^tatp"})]
        if romio:
            ways.append(Way(romio[1], {"io": romio[1], "fcoll": "^tatp"}))
        return ways

    def command_of(self, way, records):
        if self.launcher is None and way.is_placed:
            return [*self.tatp_run, "--place", os.path.relpath(self.view), *self.command]
        if self.is_other and not way.is_stock:
            return [*self.tatp_run, *(["--record", self.view, "--stats", self.statistics] if records else ()), *self.command]
        return self.placed_command() if way.is_placed else self.command

    def placed_command(self):
        words, policy = self.command, f"dla:file={os.path.relpath(self.view)}"
        for i, word in enumerate(words):
            if word in ("--map-by", "-map-by"):
                self.replaced = " ".join(words[i:i + 2])
                return [*words[:i + 1], policy, *words[i + 2:]]
        return [*words[:self.launcher + 1], "--map-by", policy, *words[self.launcher + 1:]]

    def environment(self, way, mark, records, other="-"):
        own = ("OMPI_MCA_fcoll_tatp_record", "OMPI_MCA_fcoll_tatp_stats", "OMPI_MCA_rmaps_dla_file", "PRTE_MCA_rmaps_dla_file")
        variables = {name: value for name, value in os.environ.items() if name not in own}
        variables.update((f"OMPI_MCA_{name}", value) for name, value in way.parameters.items())
        if not way.is_placed:
            variables[self.mapper] = "^dla"
        if records:
            variables.update(OMPI_MCA_fcoll_tatp_record=self.view, OMPI_MCA_fcoll_tatp_stats=self.statistics)
        if " " not in self.agent:  # launchers split the variable there
            variables[self.agent_variable] = f"/bin/sh {self.agent} {mark} {other} {os.environ.get(self.agent_variable, '')}".strip()
        return variables

    def run(self, way, records=False):
        """Raises Failure. records: also makes the record, and finds the files that are written if none are named."""
        try:
            way.runs.append(self.measure(way, records))
        finally:
            for path in self.files() if self.removes else ():
                os.remove(path)

    def measure_start(self, way):
        """Seconds of a program that only starts and ends MPI, without the launch; None: not known."""
        _, said, cause = execute(self.command, self.environment(way, self.mark, False, self.probe), self.limit)
        return None if cause else max(self.by_node(said).values(), default=(None,))[0]

    def by_node(self, said):
        """What the agents have printed: seconds and bytes of each node."""
        return {node: (max(int(hundredths), 1) / 100, int(sent))
                for node, hundredths, sent in re.findall(rf"{self.mark} (\S+) (\d+) (\d+)", said)}

    def measure(self, way, records):
        before = {path: state(path) for path in self.files()}
        seconds, said, cause = execute(self.command_of(way, records), self.environment(way, self.mark, records), self.limit)
        if cause:
            raise Crash("\n  ".join([cause, *self.own_lines(said)[-OUTPUT_LINES:]]))
        if way.is_placed:
            self.placed = next(iter(re.findall(r"(?:dla|tatp): (?:not )?placed .*", said)), "").replace(os.path.relpath(self.view), "this record")
        if records:
            self.find_files()
        nodes = self.by_node(said)
        alone, sent = zip(*nodes.values()) if nodes else ((None,), None)
        own = max(alone) if self.seconds is None else self.printed(said)
        return Run(seconds, own, sent and sum(sent), self.digests(before))

    def own_lines(self, said):
        """What the program has printed, or else the launcher."""
        lines = [line for line in said.splitlines(True) if self.mark not in line]
        return (FRAME.sub("", "".join(lines)) or "".join(lines)).splitlines()

    def printed(self, said):
        """Seconds that a run has printed. Raises Failure."""
        try:
            return float([*self.seconds.finditer(said)][-1][1])
        except (IndexError, ValueError):
            raise Failure(f"it has printed no seconds that match --seconds {self.seconds.pattern}") from None

    def files(self):
        found = {path for pattern in self.patterns for path in glob.glob(pattern)}
        return sorted(path for path in found if os.path.isfile(path))

    def find_files(self):
        """Raises Failure if fcoll/tatp has not been used."""
        try:
            with open(self.statistics, encoding="utf-8", errors="surrogateescape") as lines:
                written = {line["file"] for line in map(json.loads, lines) if line["op"] == "write"}
        except FileNotFoundError:
            raise Failure("no collective call of this program was served by fcoll/tatp: run tatp doctor, "
                          "and see fcoll_tatp(7), CALLS THAT ARE NOT COLLECTIVE") from None
        self.patterns = self.named or sorted(glob.escape(path) for path in written)

    def digests(self, before):
        """Raises Failure if there is no file that was named, or one is as it was before the run."""
        found = {path: digest(path) for path in self.files()}
        if self.named and not found:
            raise Failure(f"{self.named[0]}: the run has left no such file")
        for path in found:
            if before.get(path) == state(path):
                raise Failure(f"{path}: the run has not written this file")
        return found
