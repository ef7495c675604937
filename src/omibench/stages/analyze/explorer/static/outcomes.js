// The outcomes of an item for all models and settings: a small table to select columns.

import { showText } from "./web/unseen.js";
import { make } from "./web/dom.js";
import { makeVerdict, wordVerdict } from "./web/verdicts.js";
import { nameCell } from "./address.js";

/**
 * The table of outcomes.
 * @param {Object[]} outcomes
 * @param {Object} labels
 * @param {Object[]} chosen The cells shown below.
 * @param {(cell: Object) => void} toggle
 */
export function renderOutcomes(outcomes, labels, chosen, toggle) {
  const settings = [...new Set(outcomes.map((outcome) => outcome.setting))];
  const models = [...new Set(outcomes.map((outcome) => outcome.model))];
  const byCell = new Map(outcomes.map((outcome) => [nameCell(outcome), outcome]));
  const names = new Set(chosen.map(nameCell));
  const head = make(
    "tr",
    {},
    make("th", { scope: "col" }, "Model"),
    ...settings.map((setting) => make("th", { scope: "col" }, ...showText(labels[setting] ?? setting))),
  );
  const rows = models.map((model) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, ...showText(labels[model] ?? model)),
      ...settings.map((setting) => {
        const outcome = byCell.get(`${model}/${setting}`);
        return make("td", {}, outcome ? makeOutcome(outcome, names, labels, toggle) : null);
      }),
    ),
  );
  const table = make("table", { class: "outcomes" }, make("thead", {}, head), make("tbody", {}, ...rows));
  return make("div", { class: "scroll" }, table);
}

function makeOutcome(outcome, names, labels, toggle) {
  const name = nameCell(outcome);
  const failed = shareFailed(outcome);
  const answers = summarise(outcome.extracted);
  const label = `${labels[outcome.model] ?? outcome.model}, ${labels[outcome.setting] ?? outcome.setting}`;
  return make(
    "button",
    {
      type: "button",
      class: "outcome",
      "aria-pressed": String(names.has(name)),
      "aria-label": `${label}: ${wordVerdict(outcome.verdict, failed)}${answers ? `, ${answers}` : ""}`,
      title: answers || outcome.outcomes.join(", "),
      data: { cell: name },
      on: { click: () => toggle(outcome) },
    },
    makeVerdict(outcome.verdict, failed, false),
    make("span", { class: "answer" }, ...showText(answers.slice(0, 40))),
  );
}

/** The share of samples without an answer to score. */
export function shareFailed(outcome) {
  const failed = outcome.outcomes.filter((word) => word !== "scored").length;
  return failed / outcome.outcomes.length;
}

/** The answers of samples, the most frequent first. */
function summarise(answers) {
  const counts = new Map();
  for (const answer of answers) if (answer) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  return sorted.map(([answer, count]) => (count > 1 ? `${answer} ×${count}` : answer)).join(", ");
}
