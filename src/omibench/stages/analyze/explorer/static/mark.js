// Highlights the extracted answer in a text.

import { make } from "./web/dom.js";

const LONGEST = 200;

/**
 * Mark the last occurrence of an extracted answer, since extraction reads from the end.
 * @param {HTMLElement} node The text, as nodes.
 * @param {string} answer
 * @returns {boolean} Whether it was found.
 */
export function markAnswer(node, answer) {
  const wanted = answer.trim();
  if (!wanted || wanted.length > LONGEST) return false;
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}])${wanted.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&")}(?![\\p{L}\\p{N}])`,
    "giu",
  );
  const place = findLast(node, pattern);
  if (!place) return false;
  if (place.formula) place.formula.classList.add("extracted");
  else {
    const rest = place.text.splitText(place.index);
    rest.splitText(place.length);
    const mark = make("mark", { title: "Extracted answer" });
    rest.replaceWith(mark);
    mark.append(rest);
  }
  return true;
}

function findLast(node, pattern) {
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, {
    acceptNode: (child) =>
      child.parentElement?.closest(".math, .picture-mark, .caption")
        ? NodeFilter.FILTER_REJECT
        : NodeFilter.FILTER_ACCEPT,
  });
  let place = null;
  for (let child = walker.nextNode(); child; child = walker.nextNode()) {
    if (child.nodeType === Node.TEXT_NODE) {
      const match = [...child.data.matchAll(pattern)].at(-1);
      if (match) place = { text: child, index: match.index, length: match[0].length };
    } else if (child.classList.contains("math")) {
      const source = child.querySelector("annotation")?.textContent ?? "";
      if (source.search(pattern) >= 0) place = { formula: child };
    }
  }
  return place;
}
