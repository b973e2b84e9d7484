# SPDX-License-Identifier: BSD-3-Clause
"""tatp report: the statistics of a run as a summary and one page. Started by tatp, which gives what is known
of the build first."""

import sys

if sys.version_info < (3, 7):
    sys.exit("tatp: the report needs Python 3.7 or later, but {} is {}.{}: configure with PYTHON3=PATH of a later one"
             .format(sys.executable, *sys.version_info))

import argparse
import errno
import functools
import os
import re
import signal
import tempfile

import advice
import figures
import jobs
import planning
import statistics_file
import text

MOST_ROWS = 60  # of a table of files or calls
HEAD_BYTES = 4096


def say(message):
    print(text.printable(f"tatp: {message}"), file=sys.stderr)


def fail(message):
    say(message)
    sys.exit(1)


def import_jinja():
    try:
        import jinja2
        import markupsafe
    except ImportError:
        fail("the report needs Jinja for Python 3 (package python3-jinja2)")
    return jinja2, markupsafe.Markup


def input_file(name):
    return "/dev/stdin" if name == "-" else name


def parse_arguments(words):
    parser = argparse.ArgumentParser(
        prog="tatp report", description="Summarizes the statistics of a run (--mca fcoll_tatp_stats FILE), and "
        "draws them as one HTML page that needs neither network nor script.", allow_abbrev=False)
    parser.add_argument("stats", nargs="+", type=input_file, metavar="STATS", help="statistics; the last run is drawn, the others are "
                        "compared with it")
    parser.add_argument("-v", "--view", type=input_file, metavar="FILE", help="record, as --mca fcoll_tatp_record writes it, or "
                        "view matrix: what placing ranks by it would gain")
    parser.add_argument("-t", "--topology", type=input_file, metavar="FILE", help="the network, as any file that 'tatp topology' reads: "
                        "also for placing ranks by the view (default: what the statistics say, not for placing)")
    parser.add_argument("-o", "--output", metavar="FILE", help="the page (default: beside the last "
                        "STATS, with the suffix .html)")
    parser.add_argument("--table", action="store_true", help="A line for each job whose statistics are in the folders STATS: date, "
                        "user, program, ranks, bytes, seconds in collective I/O, bytes between nodes now and placed by its record")
    parser.add_argument("--csv", action="store_true", help="With --table: comma-separated, all digits, no totals")
    options = parser.parse_args(words)
    if [*options.stats, options.view, options.topology].count(input_file("-")) > 1:
        parser.error("'-', standard input, can be one of the files only")
    if options.csv and not options.table:
        parser.error("--csv needs --table")
    if options.table and (options.view or options.topology or options.output):
        parser.error("--table takes neither --view, --topology nor --output")
    return options


def is_page(path):
    with open(path, "rb") as page:
        return text.PAGE_MARK.encode() in page.read(HEAD_BYTES)


def choose_output(options):
    """The name that was asked for, even if there is such a file; else one beside the statistics that is free, or that of a
    page."""
    stats = options.stats[-1]
    if options.output is not None:
        if any(os.path.exists(name) and os.path.isfile(options.output) and os.path.samefile(name, options.output)
               for name in options.stats):
            fail(f"{options.output}: the page would overwrite these statistics")
        return options.output
    path = "report.html" if planning.is_pipe(stats) else os.path.splitext(stats)[0] + ".html"
    if os.path.exists(path) and not (os.path.isfile(path) and is_page(path)):
        fail(f"{path}: exists and is no page of tatp report; --output names another file")
    return path


def grouped(calls, *keys):
    """The calls by the first key that makes no more groups than a table has rows, or else by the last one."""
    for key in keys:
        groups = {}
        for call in calls:
            groups.setdefault(key(call), []).append(call)
        if len(groups) <= MOST_ROWS:
            break
    return groups


def call_rows(calls):
    """Each call, or where there are many those with the same plan together."""
    groups = grouped(calls, id, lambda call: call.get("schedule"), lambda call: None)
    rows = map(statistics_file.Calls, groups.values())
    return [(str(row.calls[0].get("call", number)) if row.count() == 1 else text.count(row.count(), "call"), row)
            for number, row in enumerate(rows, 1)]


def file_rows(run):
    """(name, operation, sums, rows of its calls) of each file; of many files, of those whose names differ in digits only."""
    groups = grouped(run.calls, lambda call: (call["file"], call["op"]),
                     lambda call: (re.sub("[0-9]+", "#", call["file"]), call["op"]), lambda call: ("files", call["op"]))
    rows = []
    for (name, op), calls in groups.items():
        row = statistics_file.Calls(calls)
        several = f" ({len(row.files)} files)" if len(row.files) > 1 else ""
        rows.append((name + several, op, row, call_rows([call for call in calls if call["calls"] > 0])))
    return rows


class Report:
    """What the page shows."""

    def __init__(self, options, notes):
        self.options, self.notes = options, notes
        self.runs = statistics_file.read(options.stats, notes)
        self.run = self.runs[-1]
        self.plan = planning.most_important(self.run)
        self.answer = self.placement = self.mapped = None
        self.maps, self.views, self.networks, self.links = [], [], [], ([], 0)
        self.line = self.many = None

    def look(self, tools):
        if self.plan is None:
            if any(call["aggregators"] > 0 for call in self.run.calls):
                self.notes.append("No line of this run has a plan, so that neither matrices nor links can be drawn: plans are in "
                                  "statistics that are written to a file, call by call.")
            if self.options.view is not None:
                self.mapped = planning.map_evenly(tools, self.options.view, self.run.ranks, self.run.nodes)
        else:
            self.look_at_plan(tools)
        self.look_at_time()

    def look_at_plan(self, tools):
        self.answer = planning.Planner(self.plan, tools, self.options.topology)
        if self.options.view is not None:
            self.look_at_view(self.answer)
        if self.plan.data["requests_by"] != "none":
            self.maps.append(figures.requests_map(self.plan))
        if self.answer.costs is not None:
            self.maps.append(figures.costs_map(self.plan, self.answer))
        shown = [links for links in (self.answer.usual, self.answer.present, self.answer.placed) if links]
        if shown:
            self.networks = figures.networks(shown, self.plan.hosts)
            self.links = figures.busiest_links(shown, self.plan.hosts)

    def look_at_view(self, planner):
        self.placement = planner.place(self.options.view)
        if self.placement.why_not:
            return
        planner.expected = planner.predict("this run", self.options.view, self.plan.data["node_of_rank"])
        if planner.expected is not None:
            planner.placed = planner.predict("placed by the view", self.options.view, self.placement.node_of_rank)
            self.simulate(planner.tools)
        elif self.plan.by_rank and self.plan.contiguous()[0]["requests_by"] == "rank":
            planner.placed = planner.loads_of(self.placement)
        cells = planning.read_view(planner.tools, self.options.view)
        by_rank = list(range(self.plan.call["ranks"]))
        placed = sorted(by_rank, key=lambda rank: self.placement.node_of_rank[rank])
        present = self.plan.data["node_of_rank"]
        self.placement.inside_now = planning.weight_inside(cells, present)
        self.views = [
            figures.view_map("view-rank", "View matrix in order of rank", cells, by_rank,
                             figures.node_squares(by_rank, present)),
            figures.view_map("view-placed", "View matrix, ranks placed by it", cells, placed,
                             figures.node_squares(placed, self.placement.node_of_rank)),
        ]

    def simulate(self, tools):
        try:
            self.many = planning.simulate(tools, self.options.view, self.plan.call)
        except planning.ToolError as error:
            self.notes.append(f"More ranks were not simulated: {error}.")

    def look_at_time(self):
        told = [call for call in self.run.calls if any(entry["windows"] for entry in call.get("timeline", []))]
        if told:
            slowest = max(told, key=lambda call: call["seconds"])
            fits = self.plan is not None and all(e["rank"] < self.plan.call["ranks"] for e in slowest["timeline"])
            self.line = figures.time_line(slowest, self.plan if fits else None)

    def facts(self):
        """What the head of the page says of the run, as far as known."""
        run, date = self.run, text.date(self.run.started)
        job = run.job.get("id") if run.job.get("id") != run.identity else None  # else it is the MPI's, which says nothing
        facts = {"Program": run.program, "Command": run.job.get("command"), "Date": date and f"{date:%Y-%m-%d %H:%M:%S}",
                 "Host": run.job.get("host"), "User": run.job.get("user"), "Job": job,
                 "Version": run.version and f"fcoll/tatp {run.version}", "MPI": run.job.get("mpi"),
                 "Ranks": f"{text.count(run.ranks, 'rank')} on {text.count(run.nodes, 'node')}"}
        return [(name, value) for name, value in facts.items() if value]

    def network_source(self):
        """Where the distances on the page come from."""
        own = f"the run went by {self.plan.data['distances']['source']}" if self.plan.knows_network \
            else "the run did not know the network"
        if self.options.topology is not None:
            return f"Distances are those of {self.options.topology}; {own}."
        return f"Distances: {self.plan.data['distances']['source']}." if self.plan.knows_network \
            else "The run did not know the network: any two nodes count as equally far apart."


@functools.lru_cache(maxsize=None)
def load_template():
    """Compiled once for all pages of a process."""
    jinja2, markup = import_jinja()
    folder = os.path.dirname(os.path.abspath(__file__))
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters.update(size=text.size, hops=text.hops, seconds=text.seconds, whole=text.whole, mega=text.mega,
                               shorten=text.shorten)
    with open(os.path.join(folder, "page.css"), encoding="utf-8") as style:
        css = markup(style.read())
    common = {"mark": markup(text.PAGE_MARK), "css": css, "stages": advice.STAGE_NAMES, "text": text,
              "length": figures.length}
    return environment.get_template("page.html", globals=common)


def render(report):
    return load_template().render(report=report, run=report.run, plan=report.plan, answer=report.answer,
                                  advised=advice.advise(report), file_rows=file_rows(report.run), advice=advice)


def write(path, page):
    """As a whole or not at all. What is not a file, as /dev/stdout, is written to."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8", errors="replace") as out:
            out.write(page)
        return
    draft, is_own = f"{path}.{os.getpid()}", False
    try:
        with open(draft, "x", encoding="utf-8", errors="replace") as out:
            is_own = True
            out.write(page)
        os.replace(draft, path)
    except OSError as error:
        if is_own:
            os.unlink(draft)
        raise OSError(error.errno, error.strerror, path) from error


def print_lines(lines):
    """What was written before has been written: only the terminal may be full or gone."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        sys.stdout.reconfigure(errors="replace")
        print("\n".join(map(text.printable, lines)), flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for the flush at exit
        fail(f"standard output: {error.strerror}")


def make_page(options, tools, notes):
    """Writes the page; the summary, unless the page itself goes to the terminal or a pipe."""
    report = Report(options, notes)
    path = choose_output(options)
    tools.copy_pipes(options.view, options.topology)
    report.look(tools)
    write(path, render(report))
    return [*advice.summary(report), path] if os.path.isfile(path) else None


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as in the other commands
    tools_folder, options, notes = sys.argv[1], parse_arguments(sys.argv[5:]), []
    wrong = lines = None
    try:
        if not options.table:
            import_jinja()
        with tempfile.TemporaryDirectory(prefix="tatp-report-") as scratch:
            tools = planning.Tools(tools_folder, scratch)
            lines = jobs.lines(options.stats, tools, options.csv, notes) if options.table else make_page(options, tools, notes)
    except planning.ToolError as error:
        wrong = re.sub("^(tatp|dla): ", "", str(error))  # its program's name says nothing to the user
    except statistics_file.StatisticsError as error:
        wrong = str(error)
    except OSError as error:
        wrong = f"{error.filename or options.output or options.stats[-1]}: {error.strerror}"
    except MemoryError:
        wrong = "out of memory"
    for note in notes:
        say(note)
    if wrong is not None:
        fail(wrong)
    if lines is not None:
        print_lines(lines)


if __name__ == "__main__":
    main()
