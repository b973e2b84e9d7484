#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Looks at a page of tatp report in a real browser, and compares what is on it with the statistics. Prints a line
of TAP without a number for each result. What is expected is computed here, by other code than the page's.

    browse.py PAGE [STATS]"""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

STAGES = ("st1", "st2", "st3", "st4", "st5")


def say(right, name, told=""):
    print(("ok - " if right else "not ok - ") + name + (f" # {told}" if told and not right else ""))


def start(scratch):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", f"--user-data-dir={scratch}/data"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    os.environ["HOME"] = scratch
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


# ---- behaviour ----

def check_quiet(driver, page):
    """No message on the console and no request but for the page."""
    told = [entry["message"] for entry in driver.get_log("browser")]
    say(not told, "the console is silent", str(told))
    asked = set()
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        # A fresh browser loads pages of its own, such as that of a new tab.
        if message["method"] == "Network.requestWillBeSent" and \
                not message["params"]["documentURL"].startswith(("chrome:", "chrome-untrusted:")):
            asked.add(message["params"]["request"]["url"])
    others = {url for url in asked if not url.startswith("file://" + page) and not url.startswith("data:")}
    say(asked and not others, "nothing but the page is asked for", str(others))


def check_inert(driver):
    live = driver.execute_script("return document.querySelectorAll('script, img, iframe, object, link, [onerror], "
                                 "[onload], [src]').length")
    say(live == 0, "nothing on the page runs or loads", str(live))


def check_structure(driver):
    levels = [int(element.tag_name[1]) for element in driver.find_elements(By.CSS_SELECTOR, "h1, h2, h3, h4")]
    say(levels.count(1) == 1 and levels[0] == 1 and all(b - a <= 1 for a, b in zip(levels, levels[1:])),
        "headings go down level by level from one h1", str(levels))
    say(driver.execute_script("return document.documentElement.lang") == "en", "the language is told")
    driver.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    nameless = [e.get_attribute("outerHTML")[:80] for e in driver.find_elements(By.CSS_SELECTOR, "svg[role=img], [role=region], nav, aside")
                if not e.accessible_name]
    say(not nameless, "each picture and region has a name", str(nameless))
    silent = driver.execute_script(
        "return [...document.querySelectorAll('svg')].filter(s => s.getAttribute('role') != 'img' && s.getAttribute('aria-hidden') != 'true').length")
    say(silent == 0, "no other picture is read out", str(silent))
    bare = driver.execute_script(
        "return [...document.querySelectorAll('table')].filter(t => !t.caption || [...t.querySelectorAll('th')].some(h => !h.scope)).length")
    say(bare == 0, "each table has a caption, and each head says of what", str(bare))
    broken = driver.execute_script(
        "return [...document.querySelectorAll('a[href^=\"#\"]')].filter(a => !document.getElementById(a.hash.slice(1))).length")
    say(broken == 0, "each link has its end", str(broken))
    twice = driver.execute_script("const ids = [...document.querySelectorAll('[id]')].map(e => e.id); return ids.length - new Set(ids).size")
    say(twice == 0, "no name is given twice", str(twice))


def check_keyboard(driver):
    driver.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    say(driver.switch_to.active_element.text.startswith("Skip"), "the first key leads to a link past the head")
    seen = set()
    for _ in range(40):
        active = driver.switch_to.active_element
        seen.add(active.tag_name)
        if active.tag_name == "summary":
            active.send_keys(Keys.ENTER)
            say(driver.execute_script("return arguments[0].parentElement.open", active), "a key opens the table behind a picture")
            outline = driver.execute_script("return getComputedStyle(arguments[0]).outlineStyle", active)
            say(outline == "solid", "the focus can be seen", outline)
            return
        active.send_keys(Keys.TAB)
    say(not driver.find_elements(By.TAG_NAME, "summary"), "keys lead to the tables", str(seen))


def luminance(color):
    parts = [float(part) / 255 for part in color[color.index("(") + 1 : -1].split(",")[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def check_colours(driver, scheme):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    paper = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    say((luminance(paper) > 0.5) == (scheme == "light"), f"{scheme}: the paper is {scheme}", paper)
    weak = []
    for selector, key in (("body", "color"), (".facts", "color"), ("a", "color"), ("summary", "color"), ("svg text.tick", "fill"),
                          ("caption", "color"), (".legend", "color")):
        for element in driver.find_elements(By.CSS_SELECTOR, selector)[:1]:
            color = driver.execute_script("return getComputedStyle(arguments[0])[arguments[1]]", element, key)
            if contrast(color, paper) < 4.5:
                weak.append((selector, color, paper))
    for element in driver.find_elements(By.CSS_SELECTOR, "svg text[class*=on]")[:60]:
        level = element.get_attribute("class").split("on")[1][0]
        ink, ground = driver.execute_script(
            "const p = arguments[0].ownerSVGElement.querySelector('path.l' + arguments[1]);"
            "return [getComputedStyle(arguments[0]).fill, getComputedStyle(p).fill]", element, level)
        if contrast(ink, ground) < 4.5:
            weak.append((level, ink, ground))
    say(not weak, f"{scheme}: all text stands out", str(weak))


def check_paper(driver):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    hidden = driver.execute_script("return [...document.querySelectorAll('nav')].every(n => getComputedStyle(n).display == 'none')")
    say(hidden, "print: links within the page are left out")
    sheet = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})["data"])
    say(sheet.startswith(b"%PDF") and len(sheet) > 5000, "print: there is something on it", str(len(sheet)))
    if shutil.which("pdftotext"):
        said = subprocess.run(["pdftotext", "-layout", "-", "-"], input=sheet, capture_output=True, check=True).stdout.decode()
        headings = {e.get_attribute("textContent").strip() for e in driver.find_elements(By.CSS_SELECTOR, "h1, h2, h3")}
        ends = [page.strip().splitlines()[-1].strip() for page in said.split("\f") if page.strip()]
        say(not headings & set(ends[:-1]), "print: no heading is the end of a page", str(headings & set(ends)))
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def check_windows(driver):
    for opened in (True, False):
        driver.execute_script("document.querySelectorAll('details').forEach(d => d.open = arguments[0])", opened)
        for width in (380, 500, 1280):
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                   {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
            wide = driver.execute_script("return document.documentElement.scrollWidth")
            say(wide <= width, f"a window of {width} pixels need not be scrolled sideways, tables {'un' * opened}folded", str(wide))
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


# ---- numbers ----

def table(driver, name):
    """Rows of texts, also where the table is folded away; [] where there is none."""
    return driver.execute_script(
        "const t = document.getElementById(arguments[0]);"
        "return t ? [...t.tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent.trim())) : []", name)


def number(cell):
    return float(cell.replace("\u202f", "").replace("*", "").strip() or 0)


def rows_of(driver, selector):
    return driver.execute_script("return [...document.querySelectorAll(arguments[0])].map(r => [...r.cells].map(c => c.textContent.trim()))",
                                 selector)


def call_numbers(calls):
    return [sum(call[key] for call in calls) for key in ("bytes", "seconds", *STAGES, "hop_bytes", "hop_bytes_otp", "crossing_bytes", "waited")]


def near(one, other):
    return len(one) == len(other) and all(abs(g - w) <= 2e-6 + 1e-9 * abs(w) for g, w in zip(one, other))


def check_calls(driver, calls):
    """A row for each file and operation, and the calls below it, of many calls their sums."""
    files = {}
    for call in calls:
        files.setdefault((call["file"], call["op"]), []).append(call)
    rows = rows_of(driver, "#files-table > tbody > tr.file")
    if len(files) > 60:
        say(len(rows) <= 60, "many files: what is alike is one row", str(len(rows)))
        say(sum(number(row[2]) for row in rows) == sum(call.get("calls", 1) for call in calls), "many files: all calls are there")
        return
    wanted = [(file, op, sum(call.get("calls", 1) for call in some)) for (file, op), some in files.items()]
    say([(row[0], row[1], number(row[2])) for row in rows] == wanted, "each file has a row with its calls", str(rows[:2]))
    say(all(near([number(row[4])], [sum(call["seconds"] for call in some)]) for row, some in zip(rows, files.values())),
        "each file has its seconds")
    tables = driver.execute_script("return document.querySelectorAll('tr.calls table').length")
    below = rows_of(driver, "tr.calls table tbody tr")
    got = [[number(cell) for cell in row[1:3] + row[4:9] + row[10:]] for row in below]
    if len(below) == len(calls):
        right = all(near(one, call_numbers([call])) for one, call in zip(got, sum(files.values(), [])))
        say(right and tables == len(files), "each call has the numbers of the statistics", str(got[:2]))
    else:
        say(near([sum(column) for column in zip(*got)], call_numbers(calls)), "many calls: the sums are those of the statistics", str(got[:2]))


def way(parent, a, b):
    up, down = [], []
    while a != b:
        if a < b:
            up.append(a)
            a = parent[a]
        else:
            down.append(b)
            b = parent[b]
    return up, down


def check_requests(driver, call, plan):
    rows = table(driver, "requests-table")
    got = sum(number(cell) for row in rows for cell in row[1:])
    say(got == sum(plan["requests"][2::3]), "C has all bytes of the plan", str(got))
    if plan["requests_by"] == "rank" and call["ranks"] <= 48 and call["aggregators"] <= 48:
        wanted = [[0] * call["aggregators"] for _ in range(call["ranks"])]
        for i, j, size in zip(*(plan["requests"][k::3] for k in range(3))):
            wanted[i][j] = size
        say([[number(cell) for cell in row[1:]] for row in rows] == wanted, "C is that of the plan, place by place")
        marked = sorted((i, j) for i, row in enumerate(rows) for j, cell in enumerate(row[1:]) if "*" in cell)
        say(marked == sorted((rank, j) for j, rank in enumerate(plan["rank_of_domain"])), "each domain's aggregator is marked", str(marked))


def check_costs(driver, call, plan):
    """W by its definition, for small jobs."""
    rows = table(driver, "costs-table")
    if plan["requests_by"] != "rank" or "parent" not in plan["distances"] or call["ranks"] > 48:
        return
    node, parent = plan["node_of_rank"], plan["distances"]["parent"]
    wanted = [[0] * call["aggregators"] for _ in node]
    for k, j, size in zip(*(plan["requests"][k::3] for k in range(3))):
        for i, here in enumerate(node):
            far = 0 if i == k else 1 if here == node[k] else sum(map(len, way(parent, here, node[k])))
            wanted[i][j] += far * size
    say([[number(cell) for cell in row[1:]] for row in rows] == wanted, "W is D times C")
    own = sum(wanted[rank][j] for j, rank in enumerate(plan["rank_of_domain"]))
    say(own == call["hop_bytes"], "and its marked places add up to the hop-bytes of the call", f"{own} {call['hop_bytes']}")


def check_links(driver, call, plan):
    rows = table(driver, "links-table")
    if "parent" not in plan["distances"] or plan.get("nodes_in_row", 1) > 1:
        return
    node, parent = plan["node_of_rank"], plan["distances"]["parent"]
    up, down = [0] * len(parent), [0] * len(parent)
    for i, j, size in zip(*(plan["requests"][k::3] for k in range(3))):
        here = node[i] if plan["requests_by"] == "rank" else i
        for loads, links in zip((up, down), way(parent, here, node[plan["rank_of_domain"][j]])):
            for v in links:
                loads[v] += size
    hosts = plan["hosts"]
    got = {row[0]: (number(row[5]), number(row[6])) for row in rows}
    wanted = {host: (up[v], down[v]) for v, host in enumerate(hosts) if host in got}
    uplinks = sorted((up[v], down[v]) for v in range(len(hosts), len(parent) - 1))
    told = sorted(load for name, load in got.items() if name.startswith("switch"))
    say(all(got[host] == loads for host, loads in wanted.items()), "links of nodes carry what was counted")
    say(len(rows) < len(parent) - 1 or told == uplinks, "uplinks carry what was counted", f"{told} {uplinks}")
    say(len(rows) == min(24, len(parent) - 1), "the table has the links, or the busiest of them", str(len(rows)))


def check_time(driver, calls):
    lanes = [call for call in calls if call.get("timeline")]
    if not lanes:
        return
    slowest = max(lanes, key=lambda call: call["seconds"])
    rows = {int(number(row[0])): row for row in table(driver, "time-table")}
    say(set(rows) == {entry["rank"] for entry in slowest["timeline"]}, "the time line has the aggregators")
    wrong = []
    for entry in slowest["timeline"]:
        shuffled, accessed = set(), set()
        for _, begin, end, first, last in entry["windows"]:
            shuffled.update(range(begin, end))
            accessed.update(range(first, last))
        wanted = [len(entry["windows"]), len(shuffled), len(accessed), len(shuffled & accessed)]
        if [number(cell) for cell in rows[entry["rank"]][2:6]] != wanted:
            wrong.append((rows[entry["rank"]], wanted))
    say(not wrong, "and their microseconds of shuffle, access and both", str(wrong[:2]))


def check_numbers(driver, stats):
    calls = []
    with open(stats, encoding="utf-8") as stream:
        for text in stream:
            try:
                calls.append(json.loads(text))
            except ValueError:
                pass
    check_calls(driver, calls)
    check_time(driver, calls)
    planned = next((call for call in calls if "plan" in call), None)
    if planned is not None:
        check_requests(driver, planned, planned["plan"])
        check_costs(driver, planned, planned["plan"])
        check_links(driver, planned, planned["plan"])


def main():
    page = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        driver = start(scratch)
        try:
            driver.get("file://" + page)
            check_inert(driver)
            check_keyboard(driver)
            check_structure(driver)
            check_colours(driver, "light")
            check_colours(driver, "dark")
            check_paper(driver)
            check_windows(driver)
            if len(sys.argv) > 2:
                check_numbers(driver, sys.argv[2])
            check_quiet(driver, page)
        finally:
            driver.quit()


main()
