# SPDX-License-Identifier: BSD-3-Clause
"""The sentences on top of the page: what was gained, and what to try next."""

import text
from statistics_file import STAGES

STAGE_NAMES = {"st1": "view and range", "st2": "file domains and their aggregators", "st3": "who accesses what",
               "st4": "shuffle", "st5": "file access"}
WORTH_IT = 0.9  # less than this of what there was is worth a try


def rate(run, op):
    seconds = run.sum("seconds", op)
    return run.sum("bytes", op) / seconds if seconds > 0 else 0


def of_call(run, name, op=None):
    calls = run.count(op)
    return run.sum(name, op) / calls if calls else 0


def gained(run):
    """What choosing the aggregators by the network has brought."""
    hops, usual = run.sum("hop_bytes"), run.sum("hop_bytes_otp")
    total, crossing = run.sum("bytes"), run.sum("crossing_bytes")
    stayed = f"{text.size(crossing)} of {text.size(total)} ({text.share(crossing, total)}) left their node."
    if usual == 0:
        return "No byte had to travel between ranks. " + stayed
    if hops >= usual:
        return (f"These aggregators cost {text.hops(hops)}, no less than the usual ones would have: "
                f"here the choice of aggregators alone gains nothing. {stayed}")
    chosen = "File domains fitted to the accesses" if any(call.get("domains") == "fitted" for call in run.calls) \
        else "Aggregators chosen by the network"
    return (f"{chosen} cost {text.hops(hops)} in place of {text.hops(usual)} "
            f"with the usual ones: {text.share(usual - hops, usual)} less. {stayed}")


def ratio(run, first, name):
    """Of a run to the first one, for the same number of bytes; None if the first has nothing of it."""
    old, new = first.sum(name) * run.sum("bytes"), run.sum(name) * first.sum("bytes")
    return new / old if old > 0 else None


def compared(before, after):
    """The last run against the first one of the same program and size, or None."""
    if before.ranks != after.ranks or before.program != after.program:
        return None
    parts = []
    for op, verb in (("write", "written"), ("read", "read")):
        old, new = rate(before, op), rate(after, op)
        if old > 0 and new > 0:
            parts.append(f"{verb} {new / old:.2f} times as fast" if new >= old else f"{verb} at {new / old:.2f} of the rate")
    old, new = of_call(before, "hop_bytes"), of_call(after, "hop_bytes")
    parts.append(f"at {text.hops(new)} a call in place of {text.hops(old)}")
    return "Compared with the first run: " + ", ".join(parts) + "."


def advise_placement(plan, answer, file_name):
    """By a view: from the same accesses with the ranks placed by it. None without an answer."""
    if answer is None or answer.placed is None:
        return None
    present = answer.expected or answer.present
    old, new = present.uplink_bytes(), answer.placed.uplink_bytes()
    even = plan.fitted and answer.expected is None  # only even domains are known where the ranks would be
    noun = "uplink bytes" if present.has_uplinks else "bytes between nodes"
    least = " or less" if even else ""
    option = f"mpirun --map-by dla:file={file_name}"
    inside = " Ranks that are bound are then near each other inside nodes, too (numa=off: not)."
    if old > 0 and new < WORTH_IT * old:
        return (f"Place by this view ({option}): {noun} would fall from {text.size(old)} to {text.size(new)} a call, "
                f"and hop-bytes from {text.hops(present.hop_bytes)} to {text.hops(answer.placed.hop_bytes)}{least}.{inside}")
    if answer.placed.hop_bytes < WORTH_IT * present.hop_bytes:
        return (f"Place by this view ({option}): hop-bytes would fall from {text.hops(present.hop_bytes)} "
                f"to {text.hops(answer.placed.hop_bytes)}{least} a call; {noun} would be {text.size(new)} in place of {text.size(old)}.{inside}")
    if old == 0:
        return f"No {noun} are left to save: the ranks are placed well for these accesses."
    if even:
        return (f"The file domains fit the accesses where the ranks are now. Placed by this view, with even domains, {noun} "
                f"would be {text.size(new)} a call in place of {text.size(old)}; with fitted ones that may be less.")
    return (f"The ranks are placed well already: by this view {noun} would be {text.size(new)} a call "
            f"in place of {text.size(old)}.")


def advise_weight(view):
    """By a view alone, where the statistics have too little for more."""
    return (f"Placed by this view, {text.share(view.inside, view.total)} of what ranks share in the file would stay inside "
            f"nodes; in this run it is {text.share(view.inside_now, view.total)}, and by slot it would be "
            f"{text.share(view.inside_by_slot, view.total)}.")


def advise_time(run):
    """Where the time goes, if one thing stands out."""
    total = run.sum("seconds")
    if total <= 0:
        return []
    spent = {stage: run.sum(stage) for stage in STAGES}
    said = []
    preparing = spent["st1"] + spent["st2"] + spent["st3"]
    if preparing > 0.3 * total:
        said.append(f"{text.share(preparing, total)} of the time went before any data moved. A call that accesses what the "
                    "call before did, at another place of the file, takes over its decision: keep file, view and sizes where "
                    "you can.")
    if spent["st5"] > 0.6 * total:
        said.append(f"{text.share(spent['st5'], total)} of the time is file access: a better placement cannot help much there. "
                    "More aggregators (--mca fcoll_tatp_num_aggregators) or a wider stripe count may.")
    waited = run.sum("waited")
    if waited > 0.3 * total:
        said.append(f"The first rank to make a call waited {text.seconds(waited)} in all for the last, and the calls themselves "
                    f"took {text.seconds(total)}: the program is out of step before them.")
    return said


def advise(run, plan, answer, view, view_name):
    said = []
    crossing, total = run.sum("crossing_bytes"), run.sum("bytes")
    placement = advise_placement(plan, answer, view_name)
    if placement is not None:
        said.append(placement)
    elif view is not None:
        said.append(advise_weight(view))
    elif crossing > 0.1 * total and run.nodes > 1:
        said.append("Record who shares what (--mca fcoll_tatp_record view.crs in a run), and give that file here with "
                    "--view: the page then shows what placing the ranks by it would gain.")
    if plan is not None and plan.nodes > 2 and not {"parent", "hops"} & plan.data["distances"].keys():
        said.append("Nothing is known of the network: all nodes count as equally far apart. Where they are not, "
                    "--mca fcoll_tatp_topology FILE says so.")
    if run.calls and all(call["aggregators"] == 0 for call in run.calls):
        said.append("Each rank accesses the file itself in these calls, without aggregators: nothing moves between nodes, "
                    "wherever the ranks are.")
    said += advise_time(run)
    return said or ["Nothing stands out: the bytes stay where they are needed, and most of the time moves data."]
