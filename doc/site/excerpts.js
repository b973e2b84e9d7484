/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows where a page that the search has found has the words. Sphinx's own excerpts need a server to fetch pages from; this
 * site is opened from files. `page_texts`, in front of this, has the text of each page. */
(function () {
    "use strict";
    const query = new URLSearchParams(window.location.search).get("q") || "";
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);

    // Around the first of the words, or the beginning: the index has stems of words.
    function excerpt(text) {
        const lower = text.toLowerCase();
        const found = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
        const near = found.length > 0 ? Math.max(Math.min(...found) - 100, 0) : 0;
        const start = near > 0 ? text.indexOf(" ", near) + 1 : 0;
        return (start > 0 ? "... " : "") + text.slice(start, start + 240) + " ...";
    }

    function add(item) {
        const link = item.querySelector("a");
        const page = link ? link.getAttribute("href").replace(/\.html.*/, "") : "";
        if (!(page in page_texts) || item.querySelector(".context"))
            return;
        const paragraph = document.createElement("p");
        paragraph.className = "context";
        paragraph.textContent = excerpt(page_texts[page]);
        item.appendChild(paragraph);
    }

    const results = document.getElementById("search-results");
    new MutationObserver(() => results.querySelectorAll("ul.search li").forEach(add))
        .observe(results, { childList: true, subtree: true });
})();
