// Texts of a dataset as elements.

import { make } from "./dom.js";
import { renderMarkdown } from "./markdown.js";
import { renderMath, startText } from "./math.js";

const LONGEST_ANSWER = 500;

/** A text with formulas and pictures, with its own writing direction. */
export function makeProse(text, pictures) {
  const prose = make("div", { class: "prose", dir: "auto" });
  prose.append(renderMarkdown(text, (index) => pictures.place(index)));
  return prose;
}

/** An answer or option: as text, or as one formula if it is LaTeX without delimiters. */
export function makeShort(text, pictures) {
  startText();
  const formula = isFormula(text) ? renderMath(text, false) : null;
  if (!formula?.matches(".math")) return makeProse(text, pictures);
  return make("div", { class: "prose" }, make("p", {}, formula));
}

function isFormula(text) {
  if (text.length > LONGEST_ANSWER) return false;
  const words = text.replace(/\\(text|mathrm|operatorname)\{[^{}]*\}|\\[a-zA-Z]+/g, "");
  return /\\[a-zA-Z]/.test(text) && !/\$|\\[([]|\[IMAGE/.test(text) && !/[a-zA-Z]{3,}/.test(words);
}
