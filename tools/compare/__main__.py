# SPDX-License-Identifier: BSD-3-Clause
"""tatp compare: whether a program is faster with fcoll/tatp, and with its ranks placed by rmaps/dla, than with the stock
components of Open MPI. Started by tatp, which gives what is known of the build first."""

import argparse
import csv
import json
import math
import os
import re
import shlex
import shutil
import signal
import statistics
import sys
import tempfile

from measure import Crash, Failure, Program

ROUNDS, LIMIT = 5, 1e6
EQUAL, STEADY = 0.03, 1.1  # largest difference of equal times; longest by shortest of times that are steady
CHANCE = 0.05  # largest probability of as many won rounds if both ways take equally long
NOISE = "not distinguishable from noise"
COLUMNS = ("way", "seconds", "shortest", "longest", "launch", "sent_bytes", "files")


def printable(text):
    """What programs print must not reach the terminal as it is."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def fail(message):
    print(printable(f"tatp: {message}"), file=sys.stderr)
    sys.exit(1)


# ---- options ----

def regex_with_group(text):
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise ValueError from error
    if pattern.groups < 1:
        raise ValueError
    return pattern


def parse_arguments(words):
    end = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(
        prog="tatp compare", usage="%(prog)s [OPTION...] -- LAUNCHER [ARGUMENT...]", allow_abbrev=False,
        description="Runs an MPI program in turn with Open MPI's own component, with ROMIO, with fcoll/tatp, and with its "
        "ranks placed by a record; compares the files that it writes; and says which is faster.",
        epilog="tatp-cube, installed beside tatp, writes and reads an array: tatp compare -- mpirun -np 64 tatp-cube")
    add = parser.add_argument
    add("-r", "--rounds", type=int, default=ROUNDS, metavar="N",
        help=f"Rounds after the first, which does not count; at least {ROUNDS}, the default")
    add("-l", "--limit", type=float, default=LIMIT, metavar="SECONDS", help="Time after which a run is stopped")
    add("-f", "--file", action="append", default=[], metavar="PATTERN",
        help="Files that the program writes; default: those of its collective writes")
    add("-t", "--seconds", type=regex_with_group, metavar="REGEX",
        help="The seconds that the program prints, as the first group of the last match; default: those of the whole program")
    add("--remove", action="store_true", help="Remove the files of --file after each run")
    add("-s", "--save", metavar="FILE", help="Save the table as CSV in a new file")
    add("-j", "--json", action="store_true", help="Print JSON")
    options = parser.parse_args(words[:end])
    options.command = words[end + 1:]
    if not options.command:
        parser.error("the launcher is missing: tatp compare -- mpirun -np 64 ./program")
    for flag, name in zip(options.command, options.command[1:]):
        if flag.lstrip("-") == "mca" and name in ("io", "fcoll", "fcoll_tatp_record", "fcoll_tatp_stats"):
            parser.error(f"{flag} {name} would apply to all ways: leave it out")
    if options.rounds < ROUNDS or not 0 < options.limit <= LIMIT:
        parser.error(f"--rounds is at least {ROUNDS}, and --limit more than 0")
    if options.remove and not options.file:
        parser.error("--remove needs --file")
    if options.save and os.path.lexists(options.save):
        parser.error(f"--save {options.save}: this file exists")
    if not shutil.which(options.command[0]):
        fail(f"{options.command[0]}: there is no such program")
    return options


# ---- runs ----

def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def require_first(ways):
    """Nothing is compared if fcoll/tatp or Open MPI's own component fails in the first round: says which ways do."""
    failed, good = [way for way in ways if way.failure], [way.name for way in ways if way.runs and not way.failure]
    if ways[0] in failed or ways[1] in failed:
        progress("")
        fail("\n".join([*(f"{way.name}: {way.failure}" for way in failed),
                        f"Without failure: {', '.join(good)}" if good else "All ways fail, also without fcoll/tatp."]))


def run_all(program, rounds):
    """All ways in turn, each round beginning with another one. Also returns the shortest start of MPI; None: not known."""
    ways, starts = program.ways(), []
    print(f"{len(ways) * (rounds + 1)} runs, each of which overwrites the files that the program writes", file=sys.stderr, flush=True)
    for i in range(rounds + 1):
        turn = i % len(ways)
        for way in (way for way in ways[turn:] + ways[:turn] if not way.failure):
            if way.is_placed and ways[0].failure:
                continue  # there is no record
            progress(f"round {i} of {rounds}: {way.name}" if i else f"first runs: {way.name}")
            try:
                program.run(way, i == 0 and way is ways[0])
            except Failure as failure:
                way.failure = str(failure)
                if i == 0 and way is ways[0] and not isinstance(failure, Crash):
                    progress("")
                    fail(f"{way.name}: {failure}")
        if i == 0:
            require_first(ways)
        if ways[0].runs[-1].program is not None and program.seconds is None:
            starts.append(program.measure_start(ways[1]))
    progress("")
    start = None if not starts or None in starts else min(starts)
    return sorted(ways, key=lambda way: not way.is_stock), start


# ---- results ----

def compare_files(ways):
    """Text for each way. Those whose files differ from Open MPI's own fail, unless also these vary."""
    reference = ways[0].runs[0].files
    differing = {way.name: [run.files for run in way.runs if run.files != reference] for way in ways}
    if differing[ways[0].name]:
        return dict.fromkeys(differing, "vary")
    for way in ways:
        for files in differing[way.name]:
            wrong = min(path for path in {*reference, *files} if reference.get(path) != files.get(path))
            way.failure = way.failure or f"{wrong} differs from the file of {ways[0].name}"
    return {name: "differ" if files else "equal" if reference else "-" for name, files in differing.items()}


def times(way, alone):
    """alone: of the program, without the launch."""
    return [run.program if alone else run.command for run in way.runs[1:]]


def row(way, alone, files):
    """A line of the table: values by column, None where not known."""
    figures = {**dict.fromkeys(COLUMNS), "way": way.name, "files": "-" if way.failure and files == "equal" else files}
    if not way.failure:
        of_way, runs = times(way, alone), way.runs[1:]
        figures.update(seconds=statistics.median(of_way), shortest=min(of_way), longest=max(of_way))
        if alone:
            figures.update(launch=round(statistics.median(run.command - run.program for run in runs), 3))
        if all(run.sent is not None for run in runs):
            figures.update(sent_bytes=int(statistics.median(run.sent for run in runs)))
    return figures


def chance(won, rounds):
    return sum(math.comb(rounds, k) for k in range(won, rounds + 1)) / 2 ** rounds


def judge(way, stock, alone):
    """What the rounds say of a way against a stock one."""
    pairs = list(zip(times(way, alone), times(stock, alone)))
    ratios = sorted(a / b for a, b in pairs)
    ratio, faster, slower = statistics.median(ratios), sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
    verdict = NOISE
    if ratio < 1 - EQUAL and chance(faster, len(pairs)) <= CHANCE:
        verdict = "faster"
    elif ratio > 1 + EQUAL and chance(slower, len(pairs)) <= CHANCE:
        verdict = "slower"
    elif abs(ratio - 1) <= EQUAL and all(max(column) < STEADY * min(column) for column in zip(*pairs)):
        verdict = "equal"
    return {"way": way.name, "against": stock.name, "verdict": verdict, "ratio": round(ratio, 4),
            "lowest": round(ratios[0], 4), "highest": round(ratios[-1], 4), "rounds_faster": faster}


def judge_all(ways, alone):
    """Each way that is not stock against the stock one that takes the least time."""
    good = [way for way in ways if not way.failure]
    stock = min((way for way in good if way.is_stock), key=lambda way: statistics.median(times(way, alone)), default=None)
    return [judge(way, stock, alone) for way in good if stock is not None and not way.is_stock]


def leave_out(start, ways):
    for run in (run for way in ways for run in way.runs if start is not None):
        run.program = max(run.program - start, 0.01)


def result_of(program, ways, start, options):
    files = compare_files(ways)
    alone = all(run.program is not None for way in ways for run in way.runs)
    if alone:
        leave_out(start, ways)
    return {"command": options.command, "rounds": options.rounds, "with_launch": not alone, "printed": options.seconds is not None, "start": start,
            "ways": [row(way, alone, files[way.name]) for way in ways], "statements": judge_all(ways, alone),
            "placement": program.placed, "without": program.replaced, "failures": {way.name: way.failure for way in ways if way.failure},
            "files": ways[0].runs[0].files, "files_vary": "vary" in files.values()}


# ---- output ----

def figure(value, digits=2):
    return "-" if value is None else f"{value:.{digits}f}"


def lines(result):
    yield " ".join(map(shlex.quote, result["command"]))
    whose = "that the program prints" if result["printed"] else "with the launch" if result["with_launch"] else "without the launch"
    left_out = "" if result["start"] is None else f" and the {figure(result['start'])} s in which MPI starts and ends"
    yield f"Medians of {result['rounds']} rounds; seconds {whose}{left_out}."
    yield f"\n{'way':<14}{'seconds':>9}{'shortest':>10}{'longest':>9}{'launch':>8}{'sent by nodes (MB)':>20}  files"
    for line in result["ways"]:
        sent = None if line["sent_bytes"] is None else line["sent_bytes"] / 1e6
        yield (f"{line['way']:<14}{figure(line['seconds']):>9}{figure(line['shortest']):>10}{figure(line['longest']):>9}"
               f"{figure(line['launch']):>8}{figure(sent, 1):>20}  {line['files']}")
    yield ""
    for said in result["statements"]:
        yield (f"{said['way']}: {said['verdict']}: {said['ratio']:.2f} of the time of {said['against']} in the median round "
               f"({said['lowest']:.2f} to {said['highest']:.2f}), less in {said['rounds_faster']} of {result['rounds']} rounds")
    if any(said["verdict"] == NOISE for said in result["statements"]):
        yield "Noise: more rounds (--rounds), a machine that runs nothing else, or a larger problem tell more."
    if result["placement"]:
        yield result["placement"] + (f"; without {result['without']}" if result["without"] else "")
    for name, text in result["failures"].items():
        yield f"{name}: failed: {text}"
    if result["files_vary"]:
        yield "The files differ between runs of one way, too: they cannot be compared."
    elif not result["files"]:
        yield "No files were compared: the program leaves none that can be read here. --file names others."


def save(path, rows):
    with open(path, "x", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def compare(options, release, tools):
    with tempfile.TemporaryDirectory(prefix="tatp-compare-", dir=".") as folder:
        program = Program(options, release, tools, os.path.abspath(folder))
        if options.remove and program.files():
            fail(f"{program.files()[0]}: this file is older, and --remove would remove it: move it away")
        return result_of(program, *run_all(program, options.rounds), options)


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as in the other commands
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    tools, release, options = *sys.argv[1:3], parse_arguments(sys.argv[5:])
    try:
        result = compare(options, release, tools)
        if options.save:
            save(options.save, result["ways"])
        sys.stdout.reconfigure(errors="replace")
        print(json.dumps(result) if options.json else printable("\n".join(lines(result))))
        sys.stdout.flush()
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(1 if result["failures"] else 0)


if __name__ == "__main__":
    main()
