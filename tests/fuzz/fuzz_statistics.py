#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Feeds tatp report with damaged statistics: each must give a page, or one message. Prints the number of inputs and of pages; at
the first exception the input stays in FOLDER.

    fuzz_statistics.py SOURCE-FOLDER TOOLS-FOLDER FOLDER -runs=N|-max_total_time=SECONDS [SEED]"""

import argparse
import importlib.util
import json
import os
import random
import subprocess
import sys
import time
import traceback

HOSTILE = (None, True, 0, 1, -1, 1.5, 2 ** 31, 2 ** 62, 2 ** 63, 10 ** 30, 1e299, float("nan"), float("inf"), "", "\0", "\ud800", "a\nb",
           "\x1b[31m", "none", "rank", "node", [], [0], [[]], [1, 2, 3], [None], ["x"], {}, {"a": 1}, {"windows": []})


def generate(source, *options):
    program = os.path.join(source, "tests", "report", "generate.py")
    text = subprocess.run([sys.executable, program, *options], capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in text.splitlines()]


def places(value, found):
    """(container, key) of every part of a value."""
    for key in value if isinstance(value, dict) else range(len(value)):
        found.append((value, key))
        if isinstance(value[key], (dict, list)):
            places(value[key], found)
    return found


def damage(calls, draw):
    """Changes the calls in place, one to four parts of them."""
    for _ in range(draw.randint(1, 4)):
        container, key = draw.choice(places(calls, []))
        other = draw.choice(places(calls, []))
        way = draw.random()
        if way < 0.6:
            container[key] = draw.choice(HOSTILE)
        elif way < 0.75 and isinstance(container[key], int):
            container[key] += draw.choice((-1, 1, 1000, -(2 ** 40)))
        elif way < 0.9:
            container[key] = json.loads(json.dumps(other[0][other[1]]))
        else:
            del container[key]
        if not calls:
            return


def damage_text(text, draw):
    at = draw.randrange(len(text) + 1)
    return text[:at] + draw.choice(("\ufffd", "\\ud800", "\r", "\n", "{", "}", ",", '"', "\0", "9" * 5000, "[" * 3000)) + text[at + 1:]


def load_report(source):
    folder = os.path.join(source, "tools", "report")
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location("report", os.path.join(folder, "__main__.py"))
    report = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(report)
    return report


def feed(program, tools, path):
    """Whether there is a page."""
    options = argparse.Namespace(stats=[path], view=None, topology=None, output=path + ".html")
    try:
        report = program.Report(options, [])
        report.look(program.planning.Tools(tools, os.path.dirname(path)))
        program.write(options.output, program.render(report))
        program.advice.summary(report)
        program.jobs.lines([path], program.planning.Tools(tools, os.path.dirname(path)), True, [])
    except (program.planning.ToolError, program.statistics_file.StatisticsError):
        return False
    return True


def main():
    source, tools, folder, limit = sys.argv[1:5]
    program, path = load_report(source), os.path.join(folder, "statistics.jsonl")
    kind, most = limit.split("=")
    draw, begin = random.Random(int(sys.argv[5]) if len(sys.argv) > 5 else 1), time.monotonic()
    seeds = [generate(source, *options) for options in ([], ["--by", "node", "--ranks", "8"], ["--calls", "70", "--ranks", "8"],
                                                   ["--level", "files", "--ended", "1e9", "--job", '{"user": "a", "record": "/none"}'])]
    runs = pages = 0
    while runs < int(most) if kind == "-runs" else time.monotonic() < begin + int(most):
        calls = json.loads(json.dumps(draw.choice(seeds)))
        damage(calls, draw)
        text = "".join(json.dumps(call) + "\n" for call in calls)
        if draw.random() < 0.1:
            text = damage_text(text, draw)
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as out:
            out.write(text)
        try:
            pages += feed(program, tools, path)
        except Exception:
            traceback.print_exc()
            sys.exit(f"ERROR: an exception by {path}, input {runs + 1}")
        runs += 1
    print(f"{runs} inputs, {pages} pages")


if __name__ == "__main__":
    main()
