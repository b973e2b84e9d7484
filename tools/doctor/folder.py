# SPDX-License-Identifier: BSD-3-Clause
"""What a file system does between nodes, as tatp-probe has seen it in a folder, and what that means for programs."""

import contextlib
import os
import shutil
import statistics
import tempfile
import time

NEEDS_SETTING, NOT_SHARED = 4, 5  # exit statuses
FAULTS = {"stale": "old bytes are read", "appended": "appended bytes are not read", "size": "sizes are old",
          "lost": "bytes beside those of other nodes are lost", "older": "the earlier of two writes stays",
          "unlocked": "locks fail", "unseen": "locks are not seen"}
LOCKS = ("unlocked", "unseen")
LOSSES = ("lost", "older", *LOCKS)
WAYS = {"at_once": "at once", "fsync": "by fsync", "reopen": "by close and open", "lock": "by locks", "tatp": "as tatp does",
        "tatp_lock": "as tatp does with locks"}
NOTHING = "nothing to set"


@contextlib.contextmanager
def made_inside(folder):
    """A folder in this one, which goes away with all that is in it."""
    try:
        made = tempfile.mkdtemp(prefix=".tatp-doctor-", dir=folder)
    except OSError as error:
        raise OSError(error.errno, error.strerror, folder) from error
    try:
        yield made
    finally:
        for _ in range(50):  # clients keep a file as long as a program that is being ended has it open
            shutil.rmtree(made, ignore_errors=True)
            if not os.path.exists(made):
                break
            time.sleep(0.1)


class Findings:
    """`seen` is what tatp-probe says. algorithm: the parameter fs_ufs_lock_algorithm, or None where the MPI has none;
    locks_all: by default the MPI locks all files."""

    def __init__(self, folder, seen, algorithm, locks_all):
        self.folder, self.seen, self.way = folder, seen, seen["ways"]
        for way in self.way.values():
            way["microseconds"] = round(1e6 * statistics.median(way.pop("seconds")), 1)
        locks = algorithm in ("2", "3") or (locks_all and algorithm != "1")
        self.verdicts = self.judge_all(algorithm is not None, locks) if seen["nodes"] > 1 else {}

    def status(self):
        return self.verdicts["tatp"][0] if self.verdicts else 0

    def said(self, way, names=FAULTS):
        """The faults; empty: right. Locks have been tried at once, for the ways that take some."""
        of = {**self.way[way], **{name: self.way["at_once"][name] * way.endswith("lock") for name in LOCKS}}
        return ", ".join(FAULTS[name] for name in names if of[name])

    def judge(self, *choices):
        """The first choice whose first way is right, and whose other ways lose nothing."""
        for status, text, way, *others in choices:
            if not self.said(way) and not any(self.said(other, LOSSES) for other in others):
                return status, text
        losses = next(filter(None, (self.said(way, LOSSES) for way in choices[0][2:])), None)
        return NOT_SHARED, (f"not for files that several nodes write: {losses}" if losses else "not for files that some nodes read "
                            f"while others write them: {self.said(choices[0][2])}; turn off the client's caches")

    def judge_all(self, can_lock, locks):
        own, stock = ("tatp_lock", "lock") if locks else ("tatp", "at_once")
        is_coherent = not self.said("at_once")
        right = f"coherent: {NOTHING}" if is_coherent else f"right by {'locks' if locks else 'fsync at each call'}: {NOTHING}"
        lock, unlock = ((NEEDS_SETTING, f"needs --mca fs_ufs_lock_algorithm {value}") for value in "31")
        later = [(NEEDS_SETTING, f"only if what other nodes wrote is read after {call}", way, "at_once")
                 for call, way in (("MPI_File_sync", "fsync"), ("MPI_File_close and MPI_File_open", "reopen"))]
        locked = [(*lock, "tatp_lock"), (*unlock, "tatp")] if can_lock else []
        return {"tatp": self.judge((0, right, own), *locked),
                **({"OMPIO": self.judge((0, right, stock), (*lock, "lock"), *later)} if can_lock else {}),
                "ROMIO": self.judge((0, right, "at_once", "lock"), *((*choice, "lock") for choice in later))}

    def lines(self):
        costs = ", ".join(f"{WAYS[way]} {self.way[way]['microseconds']:g}" for way in ("at_once", "fsync", "reopen", "lock"))
        nodes = self.seen["nodes"]
        yield "folder", self.folder + (f", on {nodes} nodes" if nodes > 1 else ", on one node: what nodes see of each other needs two, "
                                       "in an allocation or by -- --hostfile FILE")
        yield "small write", f"{costs} microseconds"
        if self.verdicts:
            yield from (("nodes", f"{said}: {self.said(way) or 'right'}") for way, said in WAYS.items())
            yield from ((f"for {name}", said) for name, (_, said) in self.verdicts.items())

    def summary(self):
        return {"path": self.folder, **self.seen, "status": self.status(),
                "verdicts": {name: said for name, (_, said) in self.verdicts.items()}}
