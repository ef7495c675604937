// Additional measurements: judges' marks of the reasoning, and log-probabilities of
// options with their heat maps.

import { loadSaid } from "./sent.js";
import { makeLazyFold } from "./panel.js";
import { markSimulated } from "./web/verdicts.js";
import { Pictures } from "./web/pictures.js";
import { showText } from "./web/unseen.js";
import { make } from "./web/dom.js";

const DIGITS = 3;

/** Judgements of a response: one line each, with the reply folded. */
export function renderJudgements(judgements) {
  if (!judgements?.length) return [];
  const lines = judgements.map((judgement) =>
    make(
      "li",
      { class: judgement.failed ? "muted" : "" },
      make("b", {}, ...showText(judgement.instrument)),
      ": ",
      ...showText(judgement.words),
      judgement.judge ? make("span", { class: "muted" }, " by ", ...showText(judgement.judge), judgement.calibration ? ` (${judgement.calibration})` : "") : null,
      judgement.left_out ? make("span", { class: "muted" }, " (one of several judges; only their vote counts)") : null,
      judgement.simulated ? markSimulated() : null,
      judgement.key ? makeLazyFold("Judge's reply", () => loadSaid(judgement.key)) : null,
    ),
  );
  return [
    make(
      "section",
      { class: "column-part" },
      make("div", { class: "part-head" }, make("h3", {}, "Judges on the reasoning")),
      make("ul", { class: "judgements" }, ...lines),
    ),
  ];
}

/** Log-probabilities of the options, and their heat maps over the pictures. */
export function renderSaliency(saliency) {
  if (!saliency) return [];
  const rows = saliency.options.map((option) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, ...showText(option.option)),
      make("td", { class: "number" }, option.logprob === null ? "" : option.logprob.toFixed(DIGITS)),
      make("td", {}, [option.chosen ? "chosen" : "", option.right ? "gold" : ""].filter(Boolean).join(", ")),
    ),
  );
  const head = ["Option", "log P", ""].map((title) => make("th", { scope: "col" }, title));
  const table = make("table", { class: "verdicts" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  const maps = saliency.maps.map((map) => ({
    url: map.address,
    label: `Option ${map.option}, picture ${map.image}`,
    part: "image",
  }));
  return [
    make(
      "details",
      { class: "fold" },
      make("summary", {}, "Log-probabilities and heat maps"),
      make(
        "div",
        { class: "fold-body" },
        saliency.simulated ? markSimulated() : null,
        saliency.outcome === "scored" ? null : make("p", { class: "muted" }, ...showText(`${saliency.outcome} ${saliency.reason}`)),
        rows.length ? table : null,
        maps.length ? make("div", { class: "figures" }, ...new Pictures(maps).placeRest()) : null,
      ),
    ),
  ];
}
