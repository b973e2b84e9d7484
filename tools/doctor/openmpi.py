# SPDX-License-Identifier: BSD-3-Clause
"""The Open MPI that the user's PATH finds: its release, its settings, and programs that are run with it."""

import json
import os
import re
import shutil
import signal
import subprocess

KILL_SECONDS = 5
# Shown of a program that failed.
MOST_LINES = 12
# Without them mpirun of Open MPI 4.1 does not even know --version.
OPENS_COMPONENTS = {"OMPI_MCA_mca_base_component_disable_dlopen": "0"}
NOISE = re.compile(r"^\[[^]]*\] *(\[[^]]*\] )?(mca:|fcoll:base|select:)")


class Result:
    """How a program ended: `status` is None where it was stopped after the time limit."""

    def __init__(self, status, output):
        self.status, self.output = status, output

    def lines(self):
        """The first lines that say something, without what Open MPI says of each component."""
        said = [line.rstrip() for line in self.output.splitlines() if line.strip(" -\t") and not NOISE.search(line)]
        return said[:MOST_LINES]


def stop(process):
    """mpirun ends its ranks when it is asked to end."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            return process.communicate(timeout=KILL_SECONDS)
        except subprocess.TimeoutExpired:
            continue
    return ()  # what it started has left its process group, and keeps the pipe open


def run(words, limit, environment=None):
    """In a process group of its own, without input; `environment` is set besides that of this program. Errors come after
    the output: mpirun may forward them in the middle of a line."""
    try:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, **(environment or {})}, start_new_session=True)
    except OSError as error:
        return Result(127, f"{words[0]}: {error.strerror}")
    status = None
    try:
        output = process.communicate(timeout=limit)
        status = process.returncode
    except subprocess.TimeoutExpired:
        output = stop(process)
    except BaseException:
        stop(process)
        raise
    return Result(status, b"".join(output).decode(errors="replace").replace("\0", ""))


def series(release):
    """4.1 of 4.1.4: components are built for one of these."""
    return ".".join(release.split(".")[:2])


class Setting:
    """An MCA parameter, and where its value comes from."""

    def __init__(self, value, source):
        self.value, self.source = value, source

    def is_default(self):
        return self.source == "default"


class OpenMPI:
    """What its own programs say of it. `mpirun` is None where PATH has none."""

    def __init__(self, limit):
        self.limit = limit
        self.mpirun = shutil.which("mpirun")
        self.info = self.release = self.prefix = self.pkglibdir = None
        self.opens_components = True
        self.settings = {}
        if self.mpirun is None:
            return
        found = re.search(r"\((?:Open MPI|OpenRTE)\) v?(\d\S*)", run(["mpirun", "--version"], limit, OPENS_COMPONENTS).output)
        self.release = found and found.group(1)
        beside = os.path.join(os.path.dirname(self.mpirun), "ompi_info")
        self.info = beside if os.access(beside, os.X_OK) else shutil.which("ompi_info")
        if self.release is not None and self.info is not None:
            self.ask_info()

    def ask_info(self):
        said = run([self.info, "--parsable", "--all", "--level", "9"], self.limit).output
        path = dict(re.findall(r'^path:(prefix|pkglibdir):"?(.*?)"?$', said, re.MULTILINE))
        self.prefix, self.pkglibdir = path.get("prefix"), path.get("pkglibdir")
        self.opens_components = "option:dlopen:no" not in said.splitlines()
        value = {}
        for name, key, text in re.findall(r"^mca:[^:]*:[^:]*:param:([^:]+):(value|source):(.*)$", said, re.MULTILINE):
            value.setdefault(name, {})[key] = text.strip('"')
        self.settings = {name: Setting(has.get("value", ""), has.get("source", "default")) for name, has in value.items()}

    def has_orte(self):
        return self.release is not None and self.release.startswith("4.")

    def setting(self, name):
        return self.settings.get(name, Setting("", "default"))


class Probe:
    """A run of tatp-probe: what each rank has found, or None where the program did not come to its end."""

    def __init__(self, command, result):
        self.command, self.result = command, result
        self.ranks = read_ranks(result.output)

    def all(self, key):
        """Distinct values over all ranks that have one, in order of rank."""
        return list(dict.fromkeys(rank[key] for rank in self.ranks or [] if rank[key] is not None))

    @staticmethod
    def settings(rank):
        """Names and values."""
        return [tuple(line.split("=", 1)) for line in (rank["settings"] or "").splitlines()]

    def differences(self):
        """Settings that ranks do not have in common: name, and the first host of each value."""
        hosts = {}
        for rank in self.ranks or []:
            for name, value in [("fcoll/tatp", "installed" if rank["component"] else "missing"), *self.settings(rank)]:
                hosts.setdefault(name, {}).setdefault(value or "not set", rank["host"])
        return sorted((name, values) for name, values in hosts.items() if len(values) > 1)

    def is_served_by_tatp(self):
        """Only fcoll/tatp writes statistics."""
        return self.ranks is not None and '{"op": "read"' in self.result.output

    def is_served_by_romio(self):
        """By what Open MPI says at --mca io_base_verbose 10."""
        return "Selected io module romio" in self.result.output


def read_ranks(output):
    for line in output.splitlines():
        start = line.find('{"probe":')
        if start >= 0:
            try:
                return json.JSONDecoder().raw_decode(line[start:])[0]["probe"]
            except ValueError:
                continue  # mixed with what others print
    return None
