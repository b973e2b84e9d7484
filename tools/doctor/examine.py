# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with an installation, from programs that are run with the user's mpirun."""

import contextlib
import errno
import os
import re
import shlex
import shutil
import struct

import folder
import openmpi

FCOLL, MAPPER = "fcoll/tatp", "rmaps/dla"
# So that a component that cannot be used says why.
SHOW_ERRORS = ["--mca", "mca_base_component_show_load_errors", "1"]
OBSERVE = ["--mca", "io_base_verbose", "10", "--mca", "fcoll_base_verbose", "10", "--mca", "fcoll_tatp_stats", "-"]
# A record would replace one of the user's. tatp-probe itself keeps automatic ones out of the user's cache.
NO_RECORD = ["--mca", "fcoll_tatp_record", ""]
# What cannot be used is an error here.
DEMAND = ["--mca", "fcoll", "tatp", "--mca", "fcoll_tatp_strict", "true", *OBSERVE, *NO_RECORD]
# Another component serves where this one is missing: Open MPI 4.1 crashes where none does.
PREFER = ["--mca", "fcoll", "^none", "--mca", "fcoll_tatp_priority", "1000", *OBSERVE, *NO_RECORD]
ONE_ON_EACH, NO_FILE = "ppr:1:node", "-"  # a rank on each node; nothing is opened
# The same for PRRTE, which takes it from the environment.
SHOW_LAUNCHER_ERRORS = {"PMIX_MCA_mca_base_component_show_load_errors": "1"}

# Tools that say the number of stripes of new files in a folder, how they say it, and the command that changes it.
STRIPES = (
    (["lfs", "getstripe", "-d", "-c"], r"^(-?\d+)$", "lfs setstripe -c N -S 1M"),
    (["beegfs-ctl", "--getentryinfo"], r"^\+ Number of storage targets: desired: (\d+)", "beegfs-ctl --setpattern --numtargets=N --chunksize=1m"),
)


def named(file):
    version = version_of(file)
    return f"{file} (version {version})" if version else file


def typed(command):
    return " ".join(shlex.quote(word) for word in command)


def version_of(file):
    """The version of this project in a file of a component, or None."""
    try:
        with open(file, "rb") as stream:
            found = re.search(rb"tatp-dla (\d+(?:\.\d+)+\w*)", stream.read())
    except OSError:
        return None
    return found and found.group(1).decode()


def is_whole(file):
    """Whether it is a shared library of 64 bits up to its table of sections, which is at the end."""
    with open(file, "rb") as stream:
        head, size = stream.read(64), os.fstat(stream.fileno()).st_size
    if len(head) < 64 or not head.startswith(b"\x7fELF\x02"):
        return False
    sections, (length, count) = struct.unpack_from("=Q", head, 40)[0], struct.unpack_from("=HH", head, 58)
    return sections + length * count <= size


class Component:
    """One of the two: whether it is usable (None: not known), whether it is inside Open MPI's libraries, else the files that
    are used, and all files of this name."""

    def __init__(self, name):
        self.name, self.usable, self.inside = name, None, False
        self.used, self.copies = [], []

    def place(self):
        """Of what is used, or None."""
        return "inside Open MPI's libraries" if self.inside else ", ".join(self.used) or None

    def version(self):
        """Of what is used, or None."""
        return version_of(self.used[0]) if self.used else None


def distinct(folders):
    """In order, each folder once, whatever its name."""
    found = {}
    for folder in folders:
        if folder and os.path.isdir(folder):
            found.setdefault(os.path.realpath(folder), folder)
    return list(found.values())


def in_one_line(text):
    return " ".join(text.split())


def folders_of(path):
    """PMIx's paths may name one framework's folder only: ;prte@/folder."""
    return [part.split("@")[-1] for part in re.split("[:;]", path or "")]


class Examined:
    """`build` is the installation that this program belongs to, `options` what the user gave."""

    def __init__(self, build, options):
        self.build, self.options = build, options
        self.problems, self.notes = [], []
        self.findings, self.folder_status = None, 0  # status: of the exit if all else is usable

    def blame_parts(self, files):
        """Of these files, by the name of what they hold: what cannot be loaded. Programs that try end by SIGBUS."""
        parts = [(name, file) for name, file in files if os.path.exists(file) and not is_whole(file)]
        for name, file in parts:
            self.blame(f"{name} in {file} is no whole library: install it again")
        return bool(parts)

    def blame_version(self, name, file):
        """Whether it was not installed together with these programs."""
        found, own = (version_of(path) for path in (file, os.path.join(os.path.dirname(self.build.dla), "tatp")))
        if None in (found, own) or found == own:
            return False
        self.blame(f"{name} in {file} is version {found}, and these programs are {own}: install both of one version")
        return True

    @contextlib.contextmanager
    def choose_file(self):
        """The file that is read: the given one, one in the given folder, or the program itself, which all nodes have."""
        given = self.options.file
        if given is None or not os.path.isdir(given):
            with open(given if given is not None else self.build.probe, "rb") as file:
                yield file
            return
        with folder.made_inside(given) as made, open(os.path.join(made, "file"), "wb") as file:  # OMPIO may leave others beside it
            yield file

    def check_stripes(self):
        """Of new files in the given folder, if a tool of its file system says them."""
        folder = self.options.file
        if folder is None or not os.path.isdir(folder):
            return
        for command, pattern, remedy in STRIPES:
            counts = re.findall(pattern, openmpi.run([*command, folder], self.options.limit).output, re.MULTILINE)
            if counts and all(int(count) in (0, 1) for count in counts):  # one for each component of a layout
                self.notes.append(f"new files of {folder} have one stripe, so that one server limits all nodes: run {remedy} "
                                  f"{shlex.quote(folder)}, with N about the number of nodes, at most that of the servers")

    def check_folder(self, run, algorithm=None, locks_all=False):
        """What nodes see of each other's files in the given folder. run: of tatp-probe, with a rank on each node."""
        given = self.options.file
        if given is None or not os.path.isdir(given):
            return
        self.folder_status = 1
        with folder.made_inside(given) as made:
            probe = run(os.path.join(os.path.abspath(made), ""))
        error = re.search(r"^tatp-probe: (.*)", probe.result.output, re.MULTILINE)
        if error:
            missing = f": nodes do not have {given} in common" if os.strerror(errno.ENOENT) in error.group(1) else ""
            self.blame(error.group(1) + missing)
        elif probe.ranks is None:
            self.blame_run(probe)
        else:
            self.findings = folder.Findings(given, probe.ranks, algorithm, locks_all)
            self.folder_status = self.findings.status()

    def folder_lines(self):
        return self.findings.lines() if self.findings else ()

    def blame_run(self, probe):
        """The program did not come to its end."""
        command, launcher = typed(probe.command), os.path.basename(probe.command[0])
        if probe.result.status is None:
            self.blame(f"{launcher} did not end within {self.options.limit:g} s: repeat with --limit, or run: {command}",
                       probe.result.lines())
        else:
            self.blame(f"{launcher} failed with exit status {probe.result.status}: run: {command}", probe.result.lines())

    def blame(self, problem, output=()):
        """A problem in one line; the output of what failed goes with it. For callers that are at their end, None."""
        self.problems.append((problem, list(output)))

    def problem_lines(self):
        for problem, output in self.problems:
            yield "problem", problem
            for line in output:
                yield "", f"| {line}"


class Examination(Examined):
    """Of the components."""

    def __init__(self, build, options):
        super().__init__(build, options)
        self.recommended = []
        self.mpi = openmpi.OpenMPI(options.limit)
        self.fcoll = Component(FCOLL)
        self.mapper = Component(MAPPER)
        self.algorithm = "0"  # of locks
        self.library = self.topology = self.locality = self.accelerator = self.default = None

    def is_usable(self):
        return bool(self.fcoll.usable and self.mapper.usable)

    def examine(self):
        self.find_copies([])
        if self.blame_parts([(component.name, file) for component in (self.fcoll, self.mapper) for file in component.copies]):
            return
        with self.choose_file() as self.file:
            if self.check_open_mpi() and not self.blame_nodes():
                self.check_components()
                self.check_opening()
                self.check_folder(lambda made: self.run_probe([], policy=ONE_ON_EACH, file=made), self.algorithm,
                                  not self.mpi.has_orte())
        self.check_stripes()
        self.check_copies(self.fcoll)
        self.check_copies(self.mapper)

    def check_components(self):
        self.check_fcoll()
        if self.fcoll.usable:
            self.check_default()
        if self.library is not None:  # programs can be started
            self.check_mapper()

    # ---- Open MPI ----

    def check_open_mpi(self):
        """Whether programs can be run."""
        mpi, build = self.mpi, self.build
        if mpi.mpirun is None:
            return self.blame("mpirun is not in PATH: add the folder of Open MPI's programs to PATH; that of Open MPI "
                              f"{build.release}, for which the components were built, is {os.path.dirname(build.mpirun)}")
        if mpi.release is None:
            return self.blame(f"{mpi.mpirun} is not Open MPI's, or does not run: put the folder of Open MPI's programs first in "
                              f"PATH, as {os.path.dirname(build.mpirun)}")
        if not self.is_built_for():
            self.blame(f"mpirun is {mpi.mpirun} of Open MPI {mpi.release}, but these programs were built for Open MPI "
                       f"{build.release}: build for {mpi.prefix} (configure --with-openmpi), or put "
                       f"{os.path.dirname(build.mpirun)} first in PATH")
        return True

    def is_built_for(self):
        return openmpi.series(self.mpi.release) == openmpi.series(self.build.release)

    def check_opening(self):
        """Why a component is not usable where Open MPI opens none. One inside its libraries needs not be opened."""
        missing = " and ".join(component.name for component in (self.fcoll, self.mapper) if not component.usable)
        if not missing:
            return
        if not self.mpi.opens_components:
            self.blame(f"Open MPI in {self.mpi.prefix} was built with --disable-dlopen, so that it opens no further components, "
                       f"and {missing} is not inside its libraries: use one that was built without this option, or build the "
                       "components in its source tree (./autogen.pl --graft)")
        disabled = self.mpi.setting("mca_base_component_disable_dlopen")
        if disabled.value in ("true", "1"):
            self.blame(f"mca_base_component_disable_dlopen is set ({disabled.source}), so that Open MPI opens no further "
                       "components: unset it")

    # ---- running ----

    def run_probe(self, words, environment=None, policy="node", file=None):
        """policy: of --map-by. The user's own one has precedence, except over the mapper that is examined."""
        ranks = [] if policy == ONE_ON_EACH else ["-np", str(self.options.ranks)]
        has_own = "--map-by" in self.options.mpirun and not policy.startswith("dla:")
        mapping = [] if has_own else ["--map-by", policy]
        probe = [self.build.probe, file or os.path.abspath(self.file.name)]
        command = ["mpirun", *ranks, *mapping, *SHOW_ERRORS, *words, *self.options.mpirun, *probe]
        result = openmpi.run(command, self.options.limit, environment)
        if "enough slots" in result.output and "--oversubscribe" not in words:
            return self.run_probe(["--oversubscribe", *words], environment, policy, file)
        return openmpi.Probe(command, result)

    # ---- nodes ----

    def blame_nodes(self):
        """Whether nodes choose components by other settings than others. Nothing is opened: then programs hang."""
        probe = self.run_probe([], policy=ONE_ON_EACH, file=NO_FILE)
        if probe.ranks is None and probe.result.status is None:
            self.blame_run(probe)
            return True
        if probe.ranks is None:
            self.notes.append(f"the nodes could not be compared: run: {typed(probe.command)}")
        elif probe.ranks:
            self.algorithm = dict(probe.settings(probe.ranks[0])).get("fs_ufs_lock_algorithm", self.algorithm)
        said = [f"{name} is {' and '.join(f'{value} on {host}' for value, host in values.items())}"
                for name, values in probe.differences()]
        if said:
            self.blame(f"nodes differ, so that jobs may hang: {'; '.join(said)}: install the same on all nodes, and set the same "
                       "parameters in the files of all nodes")
        return bool(said)

    # ---- fcoll/tatp ----

    def check_fcoll(self):
        component = self.fcoll
        component.usable = False
        probe = self.run_probe(DEMAND)
        by_romio = probe.is_served_by_romio()
        if by_romio:
            self.blame_romio()
            probe = self.run_probe(["--mca", "io", "ompio", *DEMAND])
        self.learn(probe)
        if probe.ranks is not None and len(probe.ranks) != self.options.ranks:
            self.blame(f"{self.options.ranks} ranks were started, but find {len(probe.ranks)} in their job: mpirun is "
                       f"{self.mpi.mpirun} of Open MPI {self.mpi.release}, the library {probe.all('library')[0].split(',')[0]}: "
                       "let PATH and LD_LIBRARY_PATH name the same installation")
        elif probe.is_served_by_tatp():
            component.usable = not by_romio and not self.blame_versions(component)
            component.inside = not component.used
            self.notes += self.messages(probe)
        elif probe.result.status is None:
            self.blame_run(probe)
        else:
            self.diagnose_fcoll(probe)

    def diagnose_fcoll(self, probe):
        preferred = probe
        if probe.ranks is None:
            preferred = self.run_probe(["--mca", "io", "ompio", *PREFER])
            self.learn(preferred)
        if self.blame_component(self.fcoll, preferred, r"fcoll:tatp: (built for .*)", "mca_fcoll_tatp") or not self.can_open():
            return
        if preferred.ranks is None or preferred.is_served_by_tatp():
            self.blame_run(probe)
        elif self.fcoll.used:
            self.blame(f"{FCOLL} in {self.fcoll.used[0]} is loaded but does not serve a file: run: {typed(probe.command)}",
                       preferred.all("error") + probe.result.lines())
        else:
            self.blame_missing_fcoll(preferred)

    def learn(self, probe):
        """What a run says of the ranks, whether or not they use the component."""
        if probe.ranks is None:
            return
        self.library = re.sub(r"^Open MPI v?([^, ]*).*", r"\1", probe.all("library")[0], flags=re.DOTALL)
        self.fcoll.used = probe.all("component")
        for path in probe.all("path"):
            self.find_copies(folders_of(path))
        hops = re.search(r"fcoll:tatp: hops between \d+ nodes from (.*) \((.*)\)", probe.result.output)
        if hops:
            self.topology = f"{hops.group(1)} ({hops.group(2)})"
        elif len(probe.all("host")) > 1:
            self.notes.append("the hops between nodes are not known: the MCA parameter fcoll_tatp_topology names a file of them")
        locality = re.search(r"fcoll:tatp: localities of the ranks of a node: (.*)", probe.result.output)
        self.locality = locality and locality.group(1).strip()
        device = re.search(r"fcoll:tatp: device memory is accessed by (\S+)", probe.result.output)
        self.accelerator = device and device.group(1)

    def blame_romio(self):
        io = self.mpi.setting("io")
        if io.value and not io.is_default():
            self.blame(f"collective I/O is done by ROMIO, because the MCA parameter io is {io.value} ({io.source}), "
                       "so that fcoll_tatp_record and fcoll_tatp_stats have no effect: unset it, or give --mca io ompio")
        else:
            self.blame(f"collective I/O on {self.file.name} is done by ROMIO, which Open MPI chooses for its file system: "
                       "give --mca io ompio")
        self.recommend("--mca io ompio")

    def messages(self, probe):
        """The messages of the components, each in a line, without what DEMAND causes."""
        output = re.sub(r"The MCA parameter fcoll_tatp_strict.*\n.*\n", "", probe.result.output)
        blocks = re.findall(r"-{60,}\n(.*?)-{60,}", output, re.DOTALL)
        lines = re.findall(r"(?:fcoll:tatp|rmaps:dla): (there is no MCA parameter .*)", output)
        return [in_one_line(block) for block in blocks if "fcoll_tatp_" in block] + lines

    def blame_component(self, component, probe, refusal, name):
        """What a component that was found says, or what keeps it from being loaded. Whether it was that."""
        refused = re.search(refusal, probe.result.output)
        unloadable = re.search(rf"unable to open \S*{name}\S*: (.*?)(?: \(ignored\))?$", probe.result.output, re.MULTILINE)
        said = self.messages(probe) if component is self.fcoll else []
        where = ", ".join(component.used or component.copies[:1])
        if refused:
            self.blame(f"{component.name} in {where}: {in_one_line(refused.group(1))}")
        elif unloadable:
            self.blame(f"{component.name} in {where} cannot be loaded: {in_one_line(unloadable.group(1))}: install what is "
                       "missing, or build the component on this machine")
        for line in said:
            self.blame(line)
        return bool(refused or unloadable or said)

    def blame_missing_fcoll(self, probe):
        searched = ", ".join(dict.fromkeys(filter(None, folders_of(probe.all("path")[0] if probe.all("path") else ""))))
        for copy in self.fcoll.copies:
            setting = self.path_to(copy)
            if self.run_probe(DEMAND, setting).is_served_by_tatp():
                self.blame_setting(f"ranks do not find {FCOLL} in {copy} (they look into {searched})", setting)
                return
        self.blame(f"{FCOLL} is not installed where ranks look for it ({searched}): run make install with the component "
                   "folder in one of these")

    def can_open(self):
        """If not, that has been reported."""
        return self.mpi.opens_components and self.mpi.setting("mca_base_component_disable_dlopen").value not in ("true", "1")

    def path_to(self, copy):
        """The setting by which Open MPI finds this file, and its own components."""
        return {"OMPI_MCA_mca_base_component_path": ":".join(filter(None, (os.path.dirname(copy), self.mpi.pkglibdir)))}

    def blame_setting(self, what, setting):
        export = "; ".join(f"export {key}={shlex.quote(value)}" for key, value in setting.items())
        self.blame(f"{what}: {export}")
        self.recommend(export)

    # ---- settings ----

    def check_default(self):
        """Who serves a file if no component is asked for. Where all is recorded fcoll/tatp has a higher priority."""
        automatic = self.mpi.setting("fcoll_tatp_record").value == "auto"
        probe = self.run_probe([*OBSERVE, *([] if automatic else NO_RECORD)])
        if probe.is_served_by_tatp():
            self.default = FCOLL
            return
        fcoll = self.mpi.setting("fcoll")
        self.default = "ROMIO" if probe.is_served_by_romio() else "another component of fcoll"
        if fcoll.value and not fcoll.is_default():
            self.notes.append(f"the MCA parameter fcoll is {fcoll.value} ({fcoll.source}): without --mca fcoll tatp "
                              f"{FCOLL} is not used, and fcoll_tatp_record and fcoll_tatp_stats have no effect")
        self.recommend("--mca fcoll tatp")

    # ---- rmaps/dla ----

    def run_mapper(self, environment):
        """Nothing is opened, so that nothing is recorded."""
        return self.run_probe([], environment, f"dla:cart={self.options.ranks}:OVERSUBSCRIBE", NO_FILE)

    def check_mapper(self):
        component = self.mapper
        component.usable = False
        probe = self.run_mapper(SHOW_LAUNCHER_ERRORS)
        if probe.ranks is not None:
            component.used = probe.all("mapper")
            component.usable = not self.blame_versions(component)
            component.inside = not component.used and not self.mpi.opens_components
            return
        if self.blame_component(component, probe, r"rmaps:dla: (.*not used.*)", "mca_(?:rmaps|schizo)_dla"):
            return
        if self.can_open():
            self.blame_missing_mapper(probe)

    def setup(self):
        """The setting of dla setup, or why there is none."""
        said = openmpi.run([self.build.dla, "setup"], self.options.limit)
        found = re.search(r"^export (\w+)='(.*)'$", said.output, re.MULTILINE)
        return ({found.group(1): found.group(2)} if found else {}), in_one_line(said.output)

    def blame_missing_mapper(self, probe):
        if probe.result.status is None:
            self.blame_run(probe)
            return
        setting, said = ({}, "") if self.mpi.has_orte() else self.setup()
        if not setting and not self.mpi.has_orte():
            self.blame(f"{MAPPER} is not built for the PRRTE of {self.mpi.mpirun}" + (f": {said}" if self.is_built_for() else ""))
            return
        for tried in [setting] if setting else map(self.path_to, self.mapper.copies):
            if self.run_mapper({**SHOW_LAUNCHER_ERRORS, **tried}).ranks is not None:
                self.blame_setting(f"mpirun does not find {MAPPER}", tried)
                return
        if self.mapper.copies:
            self.blame_run(probe)
        else:
            self.blame(f"{MAPPER} is not installed where mpirun looks for it: run make install")

    # ---- copies ----

    def blame_versions(self, component):
        return any([self.blame_version(component.name, file) for file in component.used])

    def find_copies(self, searched):
        """Files of the components in the folders that ranks search, then in those where one may be."""
        home = os.path.expanduser("~/.openmpi/components")
        path = self.mpi.setting("mca_base_component_path").value or os.environ.get("OMPI_MCA_mca_base_component_path")
        folders = distinct([*searched, *folders_of(path), home, self.build.components, self.mpi.pkglibdir])
        prrte = [os.path.join(folder, "prrte") for folder in folders]
        for name in ("PRTE_PKGLIBDIR", "PRTE_MCA_mca_base_component_path", "PMIX_MCA_mca_base_component_path"):
            prrte += folders_of(os.environ.get(name))
        mapper = ("mca_rmaps_dla.so", folders) if self.mpi.has_orte() else ("prte_mca_rmaps_dla.so", distinct(prrte))
        for component, (name, places) in ((self.fcoll, ("mca_fcoll_tatp.so", folders)), (self.mapper, mapper)):
            files = (os.path.join(folder, name) for folder in places)
            component.copies = list(dict.fromkeys([*component.copies, *filter(os.path.exists, files)]))

    def check_copies(self, component):
        used = {os.path.realpath(file) for file in component.used}
        others = [file for file in component.copies if os.path.realpath(file) not in used]
        if others and component.inside:
            self.notes.append(f"{component.name} inside Open MPI's libraries is used, not other copies: remove {', '.join(others)}")
        elif others and used:
            self.notes.append(f"there are other copies of {component.name}, which are not used: "
                              f"{', '.join(map(named, others))}: remove them, or the one that is used, "
                              f"{', '.join(map(named, component.used))}")

    # ---- results ----

    def recommend(self, setting):
        if setting not in self.recommended:
            self.recommended.append(setting)


class OtherExamination(Examined):
    """Of libtatp-mpiio.so under the MPI that it was built for, from a program that is run as tatp run does."""

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
        if self.blame_parts([("the library", self.build.components)]):
            return
        with self.choose_file() as file:
            probe = self.run_probe(os.path.abspath(file.name))
        if "one rank has opened it" in probe.result.output:
            self.blame(f"each rank is alone in its job: {self.launcher} is not of the MPI that the library was built for: put the "
                       "folder of its programs first in PATH")
            return
        if probe.ranks is None:
            self.blame_run(probe)
            return
        self.mpi = next((in_one_line(text.splitlines()[0]) for text in probe.all("library")), None)
        self.loaded = next(iter(probe.all("component")), None)
        self.is_served = probe.is_served_by_tatp()
        if not self.is_served:
            self.blame_ranks(probe)
        elif self.loaded and self.blame_version("the library", self.loaded):
            self.is_served = False
        self.check_folder(self.run_probe)

    def run_probe(self, file):
        preloaded = [*filter(None, [os.environ.get("LD_PRELOAD")]), self.build.components]
        command = [self.launcher, "-n", str(max(2, self.options.ranks)), *self.options.mpirun, self.build.probe, file]
        return openmpi.Probe(command, openmpi.run(command, self.options.limit, {
            "LD_PRELOAD": ":".join(preloaded), "TATP_STATS": "-", "TATP_RECORD": "", "TATP_VERBOSE": "1"}))

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
            yield "MPI", self.mpi
        yield "library", f"{'usable' if self.is_served else 'not usable'}: {self.loaded or self.build.components}"
        standard = self.build.components.replace("-mpiio.so", "-mpiio-abi.so")
        if os.path.exists(standard):
            yield "", f"for programs of the standard ABI: tatp run --library {standard}"
        yield from (("note", note) for note in self.notes)
        yield from self.folder_lines()
        yield from self.problem_lines()

    def verdict(self):
        name = os.path.basename(self.launcher)
        return f"ready: tatp run {name} -n N ./program" if self.is_served else "not ready: see the problems"

    def summary(self):
        return {"mpirun": self.launcher, "library": self.mpi, "preloaded": self.loaded, "notes": self.notes,
                "folder": self.findings and self.findings.summary()}
