#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# make html: without a warning, all links between its pages lead somewhere, and nothing is loaded from elsewhere.
. "$top_srcdir/tests/lib/tap.sh" || exit 1
tap_tempdir

[[ -n $PYTHON3 ]] || tap_skip_all "there is no Python 3"
for package in sphinx:python3-sphinx myst_parser:python3-myst-parser sphinx_rtd_theme:python3-sphinx-rtd-theme; do
    "$PYTHON3" -c "import ${package%:*}" 2>/dev/null ||
        tap_skip_all "Sphinx or a part of it is not installed (apt-get install --no-install-recommends ${package#*:})"
done
command -v mandoc >/dev/null || tap_skip_all "mandoc is not installed (apt-get install mandoc)"

site=$tap_dir/html
check_links() { "$PYTHON3" "$top_srcdir/tests/frame/check_links.py" "$1" 2>&1; }

# A make of its own: not part of the one that runs this test.
said=$(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" --silent -C "$top_builddir" html site_folder="$site" 2>&1)
tap_is "$?: $(grep -v '^make' <<<"$said")" "0: " "make html, without a warning"
tap_is "$(check_links "$site")" "" "links inside the site"

pages=$(cd "$top_srcdir/doc" && ls ./*.md man/*.[17])
for page in $pages; do
    page=${page#./}
    [[ -e $site/doc/${page%.md}.html ]] || missing="${missing-} $page"
done
tap_is "${missing-}" "" "each text and each manual page has a page"

for page in $(cd "$site" && find . -name '*.html' ! -name genindex.html ! -name search.html ! -name index.html); do
    grep -q "href=\"[^\"]*$(basename "$page")" "$site/index.html" || unlinked="${unlinked-} $page"
done
tap_is "${unlinked-}" "" "the first page leads to all others"
tap_contains "$(cat "$site/doc/parameters.html")" fcoll_tatp_cycle_buffer_size "parameters are listed"
tap_contains "$(cat "$site/doc/man/fcoll_tatp.7.html")" 'href="rmaps_dla.7.html"' "manual pages lead to each other"
tap_is "$(grep -c 'hop_byt' "$site/searchindex.js")" 1 "words of the manual pages are found"
tap_check "the search has the texts of pages" grep -q '"doc/placing": "Placing ranks ' "$site/_static/excerpts.js"
tap_check "the page of the search shows them" grep -q 'src="_static/excerpts.js"' "$site/search.html"

# The check itself.
mkdir "$tap_dir/broken"
cat >"$tap_dir/broken/a.html" <<'END_OF_PAGE'
<script src="https://cdn.example.org/a.js"></script><h1 id="here">A</h1>
<a href="#here">a</a> <a href="#there">b</a> <a href="b.html">c</a> <a href="https://example.org">d</a>
END_OF_PAGE
tap_is "$(check_links "$tap_dir/broken")" "a.html: loads https://cdn.example.org/a.js
a.html: #there: no such place
a.html: b.html: no such file" "what is wrong with a site is found"
tap_plan
