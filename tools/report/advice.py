# SPDX-License-Identifier: BSD-3-Clause
"""The sentences on top of the page: what was gained, and what to try next; and the summary on the terminal."""

import re
import shlex
from typing import NamedTuple

import planning
import text
from statistics_file import STAGES

STAGE_NAMES = {"st1": "view and range", "st2": "file domains and their aggregators", "st3": "who accesses what",
               "st4": "shuffle", "st5": "file access"}
WORTH_IT = 0.9  # less than this of what there was is worth a try


class Advice(NamedTuple):
    text: str
    command: str = ""  # to copy


def has_mpirun(run):
    """Whether its MPI is Open MPI, as far as known. Another one has the library that 'tatp run' preloads."""
    return run.job.get("mpi", "Open MPI").startswith("Open MPI")


def quoted(name):
    """A file, as it is to be typed: a pipe is gone."""
    return shlex.quote("FILE" if planning.is_pipe(str(name)) else str(name))


def command_of(run, mapping="", **parameters):
    """What to type for another run of the program, with these parameters of fcoll/tatp."""
    program, ranks = run.job.get("command", "./program"), run.ranks
    if has_mpirun(run):
        settings = [f"--mca fcoll_tatp_{name} {quoted(value)}" for name, value in parameters.items()]
        return " ".join([f"mpirun -np {ranks}", *filter(None, [mapping]), "--mca fcoll tatp", *settings, program])
    settings = [f"--set {name}={quoted(value)}" for name, value in parameters.items()]
    return " ".join(["tatp run", *settings, f"mpiexec -n {ranks}", program])


def placing(run, options):
    """What to type to place the ranks by the view, and in the network if it is given."""
    named = {"file": options.view, "topology": options.topology}
    named = {item: "FILE" if planning.is_pipe(str(name)) else str(name) for item, name in named.items() if name is not None}
    if has_mpirun(run):
        escaped = [f"{item}=" + re.sub(r"([,:\\])", r"\\\1", name) for item, name in named.items()]
        return command_of(run, "--map-by " + shlex.quote("dla:" + ",".join(escaped)))
    return (" ".join(["dla map", *(f"--{item} {shlex.quote(name)}" for item, name in named.items()), "--hostfile hosts --format hostfile"])
            + " > placed && " + command_of(run).replace("mpiexec", "mpiexec -f placed", 1))


def gained(run):
    """What choosing the aggregators by the network has brought."""
    hops, usual = run.sum("hop_bytes"), run.sum("hop_bytes_otp")
    total, crossing = run.sum("bytes"), run.sum("crossing_bytes")
    stayed = (f"{text.size(crossing)} of {text.size(total)} ({text.share(crossing, total)}) left their node. The calls took "
              f"{text.seconds(run.sum('seconds'))}, {text.seconds(run.sum('st4'))} of it to move data between ranks.")
    if usual == 0:
        return "No byte had to travel between ranks. " + stayed
    if hops >= usual:
        return (f"These aggregators cost {text.hops(hops)}, no less than the usual ones would have: "
                f"here the choice of aggregators alone gains nothing. {stayed}")
    chosen = "File domains fitted to the accesses" if any(call.get("domains") == "fitted" for call in run.calls) \
        else "Aggregators chosen by the network"
    return (f"{chosen} cost {text.hops(hops)} instead of {text.hops(usual)} "
            f"with the usual ones: {text.share(usual - hops, usual)} less. {stayed}")


def ratio(run, first, name):
    """Of a run to the first one, for the same number of bytes; None if the first has nothing of it."""
    old, new = first.sum(name) * run.sum("bytes"), run.sum(name) * first.sum("bytes")
    return new / old if old > 0 else None


def compared(runs):
    """The last run and the first one of the same program, size and bytes, or why not; None of a single run."""
    first, last = runs[0], runs[-1]
    if len(runs) == 1:
        return None
    for what in (lambda run: run.program or "a program", lambda run: text.count(run.ranks, "rank"),
                 lambda run: f"{text.whole(run.sum('bytes'))} bytes in collective calls"):
        if what(first) != what(last):
            return f"no, the first run was of {what(first)}, this one of {what(last)}"
    parts = []
    for name, unit in (("seconds", text.seconds), ("crossing_bytes", text.size), ("hop_bytes", text.hops)):
        times = ratio(last, first, name)
        parts.append(f"{unit(last.sum(name))}{' between nodes' if name == 'crossing_bytes' else ''} instead of "
                     f"{unit(first.sum(name))}" + (f" ({times:.2f})" if times is not None else ""))
    return ", ".join(parts)


def advise_placement(run, plan, answer, options):
    """By a view: from the same accesses with the ranks placed by it. None without an answer."""
    if answer is None or answer.placed is None:
        return None
    present = answer.expected or answer.present
    old, new = present.uplink_bytes(), answer.placed.uplink_bytes()
    even = plan.fitted and answer.expected is None  # only even domains are known where the ranks would be
    noun = "uplink bytes" if present.has_uplinks else "bytes between nodes"
    least = " or less" if even else ""
    inside = " Ranks that are bound are then near each other inside nodes, too (numa=off: not)."
    if old > 0 and new < WORTH_IT * old:
        return Advice(f"Place the ranks by this view: {noun} would fall from {text.size(old)} to {text.size(new)} a call, and "
                      f"hop-bytes from {text.hops(present.hop_bytes)} to {text.hops(answer.placed.hop_bytes)}{least}.{inside}",
                      placing(run, options))
    if answer.placed.hop_bytes < WORTH_IT * present.hop_bytes:
        return Advice(f"Place the ranks by this view: hop-bytes would fall from {text.hops(present.hop_bytes)} to "
                      f"{text.hops(answer.placed.hop_bytes)}{least} a call; {noun} would be {text.size(new)} instead of "
                      f"{text.size(old)}.{inside}", placing(run, options))
    if old == 0:
        return Advice(f"No {noun} are left to save: the ranks are placed well for these accesses.")
    if even:
        return Advice(f"The file domains fit the accesses where the ranks are now. Placed by this view, with even domains, {noun} "
                      f"would be {text.size(new)} a call instead of {text.size(old)}; with fitted ones that may be less.")
    return Advice(f"The ranks are placed well already: by this view {noun} would be {text.size(new)} a call "
                  f"instead of {text.size(old)}.")


def advise_weight(run, placement, options):
    """By a view alone, where the statistics have too little for more."""
    return Advice(f"Placed by this view, {text.share(placement.inside, placement.total)} of what ranks share in the file would "
                  f"stay inside nodes; in this run it is {text.share(placement.inside_now, placement.total)}, and by slot it "
                  f"would be {text.share(placement.inside_by_slot, placement.total)}.",
                  placing(run, options) if placement.inside_now < WORTH_IT * placement.inside else "")


def advise_evenly(run, mapped, options):
    """By a view, of a run without plans: where its ranks were is not known."""
    where = f"Placed by this view on {text.count(run.nodes, 'node')} with equal slots"
    if "crossing_bytes" not in mapped:
        return Advice(f"{where}, {text.share(mapped['weight_inside'], mapped['weight_total'])} of what ranks share in the file would "
                      "stay inside nodes.", placing(run, options))
    crossing, total, now = mapped["crossing_bytes"], mapped["total_bytes"], run.sum("crossing_bytes")
    return Advice(f"{where}, {text.size(crossing)} of {text.size(total)} ({text.share(crossing, total)}) would leave their node; in "
                  f"this run {text.size(now)} of {text.size(run.sum('bytes'))} did.",
                  placing(run, options) if crossing < WORTH_IT * now else "")


def advise_slots(run):
    """Of ranks by node: what puts consecutive ones on a node."""
    each = -(-run.ranks // run.nodes)
    return Advice("The ranks are mapped by node, so consecutive ones are on different nodes. If these access neighbouring regions, "
                  "a mapping by slot keeps their bytes on a node.",
                  command_of(run, "--map-by slot") if has_mpirun(run) else command_of(run).replace("mpiexec", f"mpiexec -ppn {each}", 1))


def advise_record(run):
    if "record" in run.job:
        return Advice("This run was recorded. Give the record here with --view: the page then shows what placing the ranks by it "
                      "would gain.", f"tatp report {quoted(run.path)} --view {quoted(run.job['record'])}")
    return Advice("Record who shares what, and give the record here with --view: the page then shows what placing the ranks by it "
                  "would gain.", command_of(run, record="view.crs"))


def advise_network(run, topology):
    if topology is None:
        return Advice("The run did not know the network. If some nodes are nearer than others, name it: "
                      "--mca fcoll_tatp_topology FILE.", command_of(run, topology="FILE"))
    return Advice(f"The run did not know the network; this page used that of {topology}. Name it to the run, too.",
                  command_of(run, topology=topology))


def advise_stripes(run):
    """Of files whose stripes are fewer than the nodes that access them."""
    calls = [call for call in run.calls if 0 < call["stripe_count"] < call["nodes"]]
    if not calls:
        return []
    fewest = min(calls, key=lambda call: call["stripe_count"])
    stripes, nodes = text.count(fewest["stripe_count"], "stripe"), fewest["nodes"]
    return [Advice(f"The file {quoted(fewest['file'])} has {stripes}, and {nodes} nodes access it: as many servers as stripes "
                   "serve them, whatever else is set. Set stripes for new files of its folder; on BeeGFS by beegfs-ctl "
                   f"--setpattern --numtargets={nodes} FOLDER, on Lustre by this:",
                   f"lfs setstripe -c {nodes} -S {fewest['stripe_size']} FOLDER")]


def advise_time(run):
    """Where the time goes, if one thing stands out."""
    total = run.sum("seconds")
    if total <= 0:
        return []
    spent = {stage: run.sum(stage) for stage in STAGES}
    said = []
    preparing = spent["st1"] + spent["st2"] + spent["st3"]
    if preparing > 0.3 * total:
        said.append(Advice(f"{text.share(preparing, total)} of the time went before any data moved. A call that accesses what the "
                           "call before did, at another place of the file, takes over its decision: keep file, view and sizes "
                           "where you can."))
    if spent["st5"] > 0.6 * total:
        most = max(call["aggregators"] for call in run.calls)
        said.append(Advice(f"{text.share(spent['st5'], total)} of the time is file access: a better placement cannot help much "
                           "there. More aggregators or a wider stripe count may.",
                           command_of(run, num_aggregators=min(2 * most, run.ranks)) if 0 < most < run.ranks else ""))
    waited = run.sum("waited")
    if waited > 0.3 * total:
        said.append(Advice(f"The first rank to make a call waited {text.seconds(waited)} in all for the last, and the calls "
                           f"themselves took {text.seconds(total)}: the program is out of step before them."))
    return said


def advise(report):
    """What to try, the most important first."""
    run, plan, view, said = report.run, report.plan, report.options.view, []
    crossing, total, others = run.sum("crossing_bytes"), run.sum("bytes"), run.sum("noncollective_bytes")
    if others > total and run.ranks > 1:
        said.append(Advice(f"Calls that are not collective accessed {text.size(others)}, and collective ones {text.size(total)}: "
                           "fcoll/tatp serves collective ones only. Make these calls collective, or ask a library as HDF5 "
                           "to do so: fcoll_tatp(7), CALLS THAT ARE NOT COLLECTIVE."))
    if run.count() > 0 and all(call["aggregators"] == 0 for call in run.calls):
        said.append(Advice("Each rank accesses the file itself in these calls, without aggregators: nothing moves between nodes, "
                           "wherever the ranks are."))
    said += advise_stripes(run)
    placement = advise_placement(run, plan, report.answer, report.options)
    why_not = report.placement.why_not if report.placement else report.mapped and planning.why_not(report.mapped)
    if why_not:
        said.append(Advice(f"{why_not[0].upper()}{why_not[1:]}."))
    elif placement is not None:
        said.append(placement)
    elif report.placement is not None:
        said.append(advise_weight(run, report.placement, report.options))
    elif report.mapped is not None and run.nodes > 1:
        said.append(advise_evenly(run, report.mapped, report.options))
    elif view is None and crossing > 0.1 * total and run.nodes > 1:
        said += [advise_slots(run)] * (plan is not None and plan.mapping == "by node")
        said.append(advise_record(run))
    if plan is not None and plan.nodes > 2 and not plan.knows_network:
        said.append(advise_network(run, report.options.topology))
    said += advise_time(run)
    return said or [Advice("Nothing stands out: the bytes stay where they are needed, and most of the time moves data.")]


# ---- the summary: five lines, and the first recommendation of the page ----

def measured(run, plan, others):
    calls = [text.count(run.count(op), op) for op in ("write", "read") if run.count(op) > 0]
    more = f"; the last of {others + 1} runs" if others > 0 else ""
    noncollective = run.sum("noncollective_bytes")
    if noncollective > 0:
        more = f"; {text.size(noncollective)} more by calls that are not collective" + more
    mapped = f", mapped {plan.mapping}" if plan is not None and plan.mapping else ""
    moved = f"{' and '.join(calls)} of {text.size(run.sum('bytes'))} in all" if calls else "no collective call"
    return (f"{run.program or 'a program'}: {moved}, in "
            f"{text.count(len(run.files), 'file')}, by {text.count(run.ranks, 'rank')} on {text.count(run.nodes, 'node')}{mapped}{more}")


def opening(run):
    """Of the process that has opened most files, as its last line has it."""
    last = max(run.calls, key=lambda call: (call["opens"], call["closes"]))
    counts = ((last["opens"], "opening", last["open_seconds"]), (last["closes"], "closing", last["close_seconds"]))
    told = [f"{text.count(count, noun)} {text.seconds(took)}" for count, noun, took in counts if count > 0]
    return "; " + ", ".join(told) if told else ""


def time_spent(run):
    total, spent = run.sum("seconds"), {stage: run.sum(stage) for stage in STAGES}
    stages = [f"{STAGE_NAMES[stage]} {text.share(spent[stage], total)}"
              for stage in sorted(STAGES, key=spent.get, reverse=True) if spent[stage] > 0]
    return (f"{text.seconds(total)} in calls{': ' if stages else ''}{', '.join(stages)}; "
            f"waited before them {text.seconds(run.sum('waited'))}{opening(run)}")


def between_nodes(run):
    crossing, total = run.sum("crossing_bytes"), run.sum("bytes")
    return f"{text.size(crossing)} of {text.size(total)} that were moved ({text.share(crossing, total)})"


def hop_bytes(run):
    hops, usual = run.sum("hop_bytes"), run.sum("hop_bytes_otp")
    if usual == 0:
        return text.hops(hops)
    change = text.share(abs(usual - hops), usual)
    compared = "as much as" if hops == usual else f"{change} {'less' if hops < usual else 'more'} than"
    return f"{text.hops(hops)}, {compared} with the usual aggregators ({text.hops(usual)})"


def plans(run):
    alone = sum(call["calls"] for call in run.calls if call["aggregators"] == 0)
    without = f", {text.count(alone, 'call')} without a plan" if alone > 0 else ""
    metadata, total = run.sum("metadata_bytes"), run.sum("bytes")
    return (f"{text.count(run.sum('plans'), 'plan')} for {text.count(run.count() - alone, 'call')}{without}; "
            f"metadata {text.size(metadata)} ({text.share(metadata, total)} of the data)")


def summary(report):
    """Of the last run."""
    run, last, advised = report.run, compared(report.runs), advise(report)
    table = [("measured", measured(run, report.plan, len(report.runs) - 1)), ("time", time_spent(run)), ("between nodes", between_nodes(run)),
             ("hop-bytes", hop_bytes(run)), ("plans", plans(run))]
    if last is not None:
        table.append(("compared", last))
    table.append(("advice", advised[0].text))
    said = [f"{name + ':':<15}{line.replace(chr(0x202f), ' ')}" for name, line in table]
    return said + [f"{'':<15}{advised[0].command}"] * bool(advised[0].command)
