#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_links.py SITE: prints each link in the HTML files of a folder that leads nowhere, and all that a page would load
from elsewhere. Links to other sites are not followed."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Elements whose reference a browser follows without being asked.
LOADING = {"audio", "embed", "iframe", "img", "input", "link", "object", "script", "source", "video"}


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.names, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.names.add(value)
            elif name in ("href", "src", "data") and value:
                loads = tag in LOADING and not (tag == "link" and dict(attributes).get("rel") in ("canonical", "next", "prev"))
                self.links.append((value, loads))


def check(site):
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for link, loads in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if loads and parts.scheme != "data":
                    yield f"{path.relative_to(site)}: loads {link}"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{path.relative_to(site)}: {link}: no such file"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
                yield f"{path.relative_to(site)}: {link}: no such place"
    for path in sorted(site.rglob("*.css")):
        if "url(http" in path.read_text(encoding="utf-8").replace('"', "").replace("'", ""):
            yield f"{path.relative_to(site)}: loads from another site"


if __name__ == "__main__":
    found = list(check(Path(sys.argv[1]).resolve()))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))
