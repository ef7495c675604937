// Formulas as DOM nodes, made by KaTeX with mhchem. A formula that KaTeX rejects is shown as source.

import { hasUnseen, showText } from "./unseen.js";
import { make, watchOverflow } from "./dom.js";

const LONGEST = 10_000;
const MOST = 1_000; // of one text
// Chromium's tab dies of about 1,000 elements inside one another, which 150 nested fractions make.
const DEEPEST_BRACES = 100;
const DEEPEST_ELEMENTS = 300;
const OPTIONS = {
  throwOnError: true,
  strict: "ignore",
  maxSize: 20,
  maxExpand: 500,
};
const TOO_DEEP = "the formula is nested too deeply to be set";
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
  if (countBraces(source) > DEEPEST_BRACES) return showSource(text, TOO_DEEP);
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
  if (refused) return showSource(text, `${refused} is not allowed`);
  // Macros nest without braces; nothing is laid out before it is on the page.
  if (countLevels(node) > DEEPEST_ELEMENTS) return showSource(text, TOO_DEEP);
  return isDisplay ? watchOverflow(node) : node;
}

function countBraces(source) {
  let depth = 0;
  let deepest = 0;
  for (const sign of source) {
    if (sign === "{") depth += 1;
    else if (sign === "}") depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function countLevels(root) {
  let deepest = 0;
  for (const open = [[root, 1]]; open.length;) {
    const [node, level] = open.pop();
    deepest = Math.max(deepest, level);
    for (const child of node.children) open.push([child, level + 1]);
  }
  return deepest;
}

function showSource(text, reason) {
  return make(
    "span",
    { class: "math-refused", title: reason.slice(0, 300) },
    make("code", {}, ...showText(text)),
    make("span", { class: "tag" }, "formula not readable"),
  );
}
