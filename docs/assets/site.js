// Names and focus for what the theme's own script adds to a page: buttons of code, scrolled tables.
"use strict";
(() => {
  const name = () => {
    document.querySelectorAll(".md-code__nav:not([aria-label])").forEach((nav, place) => {
      nav.setAttribute("aria-label", `Code ${place + 1}`);
    });
    document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((wrap) => {
      wrap.tabIndex = 0;
    });
  };
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
  name();
})();
