# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and lists as people read them."""

import datetime

# In the head of each page: what has it may be overwritten without being asked for by name.
PAGE_MARK = '<meta name="generator" content="tatp report">'
UNITS = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def amount(value, unit):
    """About three digits: 12.6 MB."""
    for size, prefix in UNITS:
        if value >= size:
            return f"{digits(value / size)} {prefix[:-1]}{unit}"
    return f"{digits(value)} {unit}"


def digits(value):
    if value >= 100 or value == int(value):
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def size(value):
    return amount(value, "B")


def hops(value):
    return amount(value, "B·hops")


def seconds(value):
    if value >= 100:
        return f"{value:.0f} s"
    if value >= 1:
        return f"{value:.2f} s"
    return f"{value * 1e3:.1f} ms" if value >= 1e-3 else f"{value * 1e6:.0f} µs"


def mega(value):
    """In units of a million."""
    if value >= 1e8:
        return whole(round(value / 1e6))
    return f"{value / 1e6:.3g}" if value >= 100 or value == 0 else f"{value / 1e6:.6f}"


def date(moment):
    """The local time at so many seconds since 1970, or None."""
    try:
        return datetime.datetime.fromtimestamp(moment).astimezone()
    except (OSError, OverflowError, TypeError, ValueError):
        return None


def whole(value):
    """All digits, in groups of three."""
    return f"{int(value):,}".replace(",", "\u202f") if value == int(value) else f"{value:.6g}"


def share(part, total):
    """Per cent; '0 %' only for nothing and '100 %' only for all."""
    if total == 0:
        return "0 %"
    percent = 100 * part / total
    if 0 < percent < 1:
        return "under 1 %"
    if 99 < percent < 100:
        return "over 99 %"
    return f"{percent:.0f} %"


def count(number, noun, plural=None):
    return f"{whole(number)} {noun if number == 1 else plural or noun + 's'}"


def shorten(text, most=60):
    return text if len(text) <= most else text[: most // 2 - 1] + "…" + text[-most // 2 :]


def printable(line):
    """Names come from files and arguments: no control characters on the terminal."""
    return "".join(c if c.isprintable() else "?" for c in line)
