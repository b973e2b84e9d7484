# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx's configuration of the site that `make html` makes of the pages (build)."""

project = "tatp-dla"
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["README.md"]  # index.md includes it
myst_heading_anchors = 4
highlight_language = "none"
smartquotes = False

html_theme = "sphinx_rtd_theme"
html_theme_options = {"navigation_depth": 3, "prev_next_buttons_location": None}
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_search_summary = False  # a browser fetches no other pages of a site that is opened from files
