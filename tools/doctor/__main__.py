# SPDX-License-Identifier: BSD-3-Clause
"""tatp doctor: whether the components, or libtatp-mpiio.so, are usable with the user's mpirun, and what to do if not. Started
by tatp, which gives what is known of the build first."""

import argparse
import json
import os
import signal
import sys

import examine

LIMIT = 60
ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class Build:
    """What this program was built for, and the programs beside it. Without an Open MPI, `release` is empty, and `components`
    is libtatp-mpiio.so."""

    def __init__(self, tools, release, mpirun, components):
        self.release, self.mpirun, self.components = release, mpirun, components
        self.dla, self.probe = (os.path.join(tools, name) for name in ("dla", "tatp-probe"))


def printable(line):
    """What programs print must not reach the terminal as it is."""
    return "".join(c if c.isprintable() else "?" for c in line)


def fail(message):
    print(printable(f"tatp: {message}"), file=sys.stderr)
    sys.exit(1)


def whole_number(text):
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def seconds(text):
    number = float(text)
    if not 0 < number < 1e6:
        raise ValueError(text)
    return number


def parse_arguments(words):
    end = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(
        prog="tatp doctor", usage="%(prog)s [OPTION...] [PATH] [-- MPIRUN-OPTION...]", allow_abbrev=False,
        description="Runs small programs with the mpirun that PATH finds, and reports which Open MPI is used, which "
        "copies of the components are found, whether they can be used, and what to do if not. The exit status is 0 only "
        "if both components are usable, and files in a folder PATH can be shared between nodes as it is.",
        epilog="Options after -- are passed to mpirun, as --hostfile FILE.")
    parser.add_argument("file", nargs="?", metavar="PATH", help="a file, or a folder of the file system that programs use")
    parser.add_argument("-n", "--ranks", type=whole_number, default=3, metavar="N", help="ranks to start (default: 3)")
    parser.add_argument("-l", "--limit", type=seconds, default=LIMIT, metavar="SECONDS",
                        help=f"time after which a program is stopped (default: {LIMIT})")
    parser.add_argument("-j", "--json", action="store_true", help="print JSON")
    options = parser.parse_args(words[:end])
    options.mpirun = words[end + 1:]
    return options


def shown_settings(examination):
    """Parameters that concern the components and differ from their defaults: name, value, source."""
    names = ("io", "fcoll", "mca_base_component_path", "mca_base_component_disable_dlopen")
    prefixes = ("fcoll_tatp_", "rmaps_dla_", "topo_dla_")
    shown = [(name, setting.value, setting.source) for name, setting in sorted(examination.mpi.settings.items())
             if (name in names or name.startswith(prefixes)) and not setting.is_default()]
    known = {name for name, _, _ in shown}
    for variable in sorted(os.environ):
        launcher, mca, name = variable.partition("_MCA_")
        if mca and launcher in ("PRTE", "PMIX") and name.startswith(("rmaps_dla_", "mca_base_component_path")):
            shown.append((variable, os.environ[variable], "environment"))
        elif mca and launcher == "OMPI" and name.startswith(prefixes) and name not in known:
            shown.append((name, os.environ[variable], "environment"))
    return shown


def described(component):
    said = {True: "usable", False: "not usable", None: "not known"}[component.usable]
    place = component.place()
    version = component.version()
    return said + (f": {place}" if place else "") + (f", version {version}" if version else "")


def lines(found, build):
    mpi = found.mpi
    if mpi.release is not None:
        yield "Open MPI", f"{mpi.release} in {mpi.prefix or '?'}, {mpi.mpirun}"
    yield "built for", f"Open MPI {build.release}"
    if found.library is not None:
        yield "library", f"Open MPI {found.library}"
    yield examine.FCOLL, described(found.fcoll)
    yield examine.MAPPER, described(found.mapper)
    if found.fcoll.used:
        file = os.path.join(os.path.dirname(found.fcoll.used[0]), "mca_topo_dla.so")
        yield "topo/dla", f"{file}: --mca topo dla,basic" if os.path.exists(file) else "not beside fcoll/tatp"
    if found.default is not None:
        yield "by default", f"{found.default} serves collective I/O"
    if found.fcoll.usable:
        yield "topology", found.topology or "no file and no addresses in the environment: all nodes equally far apart"
        yield "locality", found.locality or "not known"
        yield "devices", f"by accelerator/{found.accelerator}" if found.accelerator else "no memory of devices known to Open MPI"
    for name, value, source in shown_settings(found):
        yield "setting", f"{name} = {value} ({source})"
    for setting in found.recommended:
        yield "recommended", setting
    for note in found.notes:
        yield "note", note
    yield from found.folder_lines()
    yield from found.problem_lines()


def verdict(found):
    """What to do next, in one line."""
    if found.is_usable():
        but = f", but for files in {found.options.file} (see \"for tatp\")" if found.folder_status else ""
        return " ".join([f"ready{but}: mpirun", *found.recommended, "./program"])
    if found.fcoll.usable:
        return " ".join(["ready, but for placement (see the problems): mpirun", *found.recommended, "./program"])
    return "not ready: see the problems"


def print_text(rows, said):
    for name, text in rows:
        print(printable(f"{name:<12}{text}"))
    print(printable(said))


def summary(found, build):
    component = {c.name: {"usable": c.usable, "inside": c.inside, "used": c.used, "copies": c.copies}
                 for c in (found.fcoll, found.mapper)}
    return {
        "mpirun": found.mpi.mpirun, "release": found.mpi.release, "prefix": found.mpi.prefix, "built_for": build.release,
        "library": found.library, "components": component, "default": found.default, "topology": found.topology,
        "locality": found.locality, "accelerator": found.accelerator, "recommended": found.recommended, "notes": found.notes,
        "settings": [dict(zip(("name", "value", "source"), setting)) for setting in shown_settings(found)],
        "folder": found.findings and found.findings.summary()}


def print_json(summary, said, problems):
    print(json.dumps({**summary, "verdict": said,
                      "problems": [{"problem": problem, "output": output} for problem, output in problems]}))


def end(number, _frame):
    """By a signal: what was made is removed on the way, whatever comes next."""
    for other in ENDING:
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as in the other commands
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)
    build, options = Build(*sys.argv[1:5]), parse_arguments(sys.argv[5:])
    try:
        found = (examine.Examination if build.release else examine.OtherExamination)(build, options)
        found.examine()
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    try:
        if sys.stdout is None:
            raise OSError("Bad file descriptor")
        sys.stdout.reconfigure(errors="replace")
        said = verdict(found) if build.release else found.verdict()
        if options.json:
            print_json(summary(found, build) if build.release else found.summary(), said, found.problems)
        else:
            print_text(lines(found, build) if build.release else found.lines(), said)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for the flush at exit
        fail(f"standard output: {error.strerror or error}")
    sys.exit(found.folder_status if found.is_usable() else 1)


if __name__ == "__main__":
    main()
