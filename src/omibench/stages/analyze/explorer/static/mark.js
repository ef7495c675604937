// Highlights the extracted answer, and searched words, in a text.

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
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${escape(wanted)}(?![\\p{L}\\p{N}])`, "giu");
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

/**
 * Mark every occurrence of a searched text, ignoring case; a formula that has it is marked whole.
 * @param {HTMLElement} node The text, as nodes.
 * @param {string} words
 */
export function markWords(node, words) {
  const wanted = words.trim();
  if (!wanted) return;
  const pattern = new RegExp(escape(wanted), "giu");
  for (const { text, formula, matches } of [...listMatches(node, pattern)]) {
    formula?.classList.add("found");
    for (const match of matches.reverse()) {
      const rest = text.splitText(match.index);
      rest.splitText(match[0].length);
      const mark = make("mark", { class: "found" });
      rest.replaceWith(mark);
      mark.append(rest);
    }
  }
}

/** A text as a pattern; no other sign may be escaped in one with the flag `u`. */
function escape(text) {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

function findLast(node, pattern) {
  let place = null;
  for (const { text, formula, matches } of listMatches(node, pattern)) {
    const match = matches.at(-1);
    place = formula ? { formula } : { text, index: match.index, length: match[0].length };
  }
  return place;
}

/** The texts and formulas in which a pattern matches, in order. */
function* listMatches(node, pattern) {
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, {
    acceptNode: (child) =>
      child.parentElement?.closest(".math, .picture-mark, .caption")
        ? NodeFilter.FILTER_REJECT
        : NodeFilter.FILTER_ACCEPT,
  });
  for (let child = walker.nextNode(); child; child = walker.nextNode()) {
    if (child.nodeType === Node.TEXT_NODE) {
      const matches = [...child.data.matchAll(pattern)];
      if (matches.length) yield { text: child, matches };
    } else if (child.classList.contains("math")) {
      const source = child.querySelector("annotation")?.textContent ?? "";
      if (source.search(pattern) >= 0) yield { formula: child, matches: [] };
    }
  }
}
