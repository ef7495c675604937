// The name, colour and shape of each kind of verdict.

import { make } from "./dom.js";
import { VERDICTS } from "./words.js";

const NEARLY = 0.0005;
/**
 * The kind of a cell's verdict.
 * @param {number|null} value The mean verdict in [0, 1].
 * @param {number|null} failed The share of samples without an answer to score.
 */
export function nameKind(value, failed = 0) {
  if (value === null || value === undefined) return "none";
  if (failed >= 1 - NEARLY) return "failed";
  if (value >= 1 - NEARLY) return "right";
  return value <= NEARLY ? "wrong" : "partly";
}

/** A verdict in words. */
export function wordVerdict(value, failed = 0) {
  const kind = nameKind(value, failed);
  if (kind === "partly") return `${formatShare(value)} right`;
  return VERDICTS[kind].word;
}

/** The mark of a verdict. */
export function makeVerdict(value, failed = 0, hasName = true) {
  const kind = nameKind(value, failed);
  const mark = make("span", { class: `verdict ${kind}` });
  if (hasName) {
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", wordVerdict(value, failed));
  }
  if (kind === "partly") mark.style.setProperty("--share", String(value));
  return mark;
}

/** The legend of the marks. */
export function makeLegend() {
  const entries = Object.entries(VERDICTS).map(([kind, { word, meaning }]) => {
    const mark = make("span", { class: `verdict ${kind}`, "aria-hidden": "true" });
    if (kind === "partly") mark.style.setProperty("--share", "0.6");
    return make("li", { title: meaning }, mark, word);
  });
  return make("ul", { class: "legend", "aria-label": "Marks" }, ...entries);
}

/** A share as a percentage. */
export function formatShare(share) {
  return `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)}%`;
}

/** The mark of what a simulated model made. */
export function markSimulated() {
  return make("strong", { class: "mark-simulated" }, "SIMULATED");
}

/** Marks of a study with simulated responses or synthetic items. */
export function markInvented(study) {
  const marks = [];
  if (study.synthetic)
    marks.push(make("strong", { class: "mark-simulated", title: "The problems are synthetic and not part of any benchmark" }, "MADE-UP PROBLEMS"));
  if (study.simulated)
    marks.push(make("strong", { class: "mark-simulated", title: "Responses come from simulated models" }, "SIMULATED"));
  return marks;
}
