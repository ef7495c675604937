// Sets the formulas of a standalone page: texts of elements with the class `tex`.
// Without this script the texts show their LaTeX source.

import { make } from "./dom.js";
import { renderInline } from "./inline.js";
import { startText } from "./math.js";

const SIGNS = /[$\\]/;

/** Set every formula below a node. */
export function setFormulas(root) {
  for (const element of root.querySelectorAll(".tex")) {
    startText();
    for (const text of listTexts(element)) {
      if (SIGNS.test(text.data)) text.replaceWith(...renderInline(text.data, showMark));
    }
    element.classList.add("set");
  }
}

function listTexts(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  return texts;
}

function showMark(index) {
  return make("span", { class: "mark" }, `[IMAGE${index}]`);
}

setFormulas(document);
