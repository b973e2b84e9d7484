/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows where a page that the search has found has the words. Sphinx's own excerpts need a server to fetch pages from; this
 * site is opened from files. `page_texts`, in front of this, has the text of each page. */
(function () {
    "use strict";
    const query = new URLSearchParams(window.location.search).get("q") || "";
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);

    function excerpt(text) {
        const lower = text.toLowerCase();
        const found = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
        const start = Math.max(Math.min(...found, text.length) - 100, 0);
        return found.length > 0 ? (start > 0 ? "..." : "") + text.slice(start, start + 240) + "..." : "";
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
