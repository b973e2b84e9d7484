# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with libtatp-mpiio.so under the MPI that it was built for, from a program that is run as tatp run does."""

import os
import re
import shutil

import openmpi
from examine import Examined, in_one_line, typed


class Examination(Examined):
    """As that of Open MPI."""

    def __init__(self, build, options):
        super().__init__(build, options)
        name = os.path.basename(build.mpirun)
        self.launcher = shutil.which(name) or build.mpirun
        self.mpi = self.loaded = None
        self.is_served = False

    def is_usable(self):
        return self.is_served

    def examine(self):
        self.check_stripes()
        with self.choose_file() as file:
            probe = self.run_probe(os.path.abspath(file.name))
        if "one rank has opened it" in probe.result.output:
            self.blame(f"each rank is alone in its job: {self.launcher} is not of the MPI that the library was built for: put the "
                       "folder of its programs first in PATH")
            return
        if probe.ranks is None:
            self.blame_run(probe)
            return
        self.mpi, self.loaded = (next(iter(probe.all(key)), None) for key in ("library", "component"))
        self.is_served = probe.is_served_by_tatp()
        if not self.is_served:
            self.blame_ranks(probe)

    def run_probe(self, file):
        before = os.environ.get("LD_PRELOAD", "")
        command = [self.launcher, "-n", str(max(2, self.options.ranks)), *self.options.mpirun, self.build.probe, file]
        return openmpi.Probe(command, openmpi.run(command, self.options.limit, {
            "LD_PRELOAD": f"{self.build.components}:{before}", "TATP_STATS": "-", "TATP_RECORD": "", "TATP_VERBOSE": "1"}))

    def blame_ranks(self, probe):
        """Each came to its end, without the library."""
        said = [in_one_line(line) for line in re.findall(r"^tatp: (.*)", probe.result.output, re.MULTILINE)]
        if self.loaded is None:
            self.blame(f"ranks do not load {self.build.components}: run make install, on a file system of all nodes", probe.result.lines())
        else:
            self.blame("; ".join(said) or f"the MPI serves the file: run: {typed(probe.command)}")

    def lines(self):
        yield "launcher", self.launcher
        if self.mpi is not None:
            yield "MPI", in_one_line(self.mpi.splitlines()[0])
        yield "library", f"{'usable' if self.is_served else 'not usable'}: {self.loaded or self.build.components}"
        standard = self.build.components.replace("-mpiio.so", "-mpiio-abi.so")
        if os.path.exists(standard):
            yield "", f"for programs of the standard ABI: tatp run --library {standard}"
        yield from (("note", note) for note in self.notes)
        yield from self.problem_lines()

    def verdict(self):
        name = os.path.basename(self.launcher)
        return f"ready: tatp run {name} -n N ./program" if self.is_served else "not ready: see the problems"

    def summary(self):
        return {"mpirun": self.launcher, "library": self.mpi, "preloaded": self.loaded, "notes": self.notes}
