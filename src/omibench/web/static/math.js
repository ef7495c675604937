// Formulas as DOM nodes, made by KaTeX with mhchem. A formula that KaTeX rejects is shown as source.

import { hasUnseen, showText } from "./unseen.js";
import { make } from "./dom.js";

const LONGEST = 10_000;
const MOST = 1_000; // of one text
const OPTIONS = {
  throwOnError: true,
  strict: "ignore",
  maxSize: 20,
  maxExpand: 500,
};
let count = 0;

/** Reset the count of formulas for the next text. */
export function startText() {
  count = 0;
}

/**
 * A formula.
 * @param {string} source Source between the delimiters.
 * @param {boolean} isDisplay Whether it is a displayed formula.
 * @param {string} text The formula with its delimiters, shown if it cannot be set.
 */
export function renderMath(source, isDisplay, text = source) {
  count += 1;
  if (!source.trim()) return showSource(text, "the formula is empty");
  if (source.length > LONGEST) return showSource(text, "the formula is too long to be set");
  if (count > MOST) return showSource(text, "the text has too many formulas");
  if (hasUnseen(source)) return showSource(text, "the formula contains invisible characters");
  const node = make("span", { class: isDisplay ? "math display" : "math" });
  let refused = "";
  const trust = ({ command }) => {
    refused = command; // \href, \url, \includegraphics, \htmlStyle and similar
    return false;
  };
  try {
    globalThis.katex.render(source, node, {
      ...OPTIONS,
      trust,
      displayMode: isDisplay,
      macros: {},
    });
  } catch (error) {
    return showSource(text, String(error.message).replace(/^KaTeX parse error: /, ""));
  }
  return refused ? showSource(text, `${refused} is not allowed`) : node;
}

function showSource(text, reason) {
  return make(
    "span",
    { class: "math-refused", title: reason.slice(0, 300) },
    make("code", {}, ...showText(text)),
    make("span", { class: "tag" }, "formula not readable"),
  );
}
