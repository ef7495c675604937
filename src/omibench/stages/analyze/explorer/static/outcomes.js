// The outcomes of a problem for all models and settings: a list to sort, and to select columns from.

import { nameCell } from "./address.js";
import { MEASURES, makeSort, writeMeasure } from "./numbers.js";
import { findRange, sortBy, watchView } from "./virtual.js";
import { showText } from "./web/unseen.js";
import { make } from "./web/dom.js";
import { makeVerdict, wordVerdict } from "./web/verdicts.js";

const WHOLE = 60; // rows up to which all are drawn
const ROW = 29; // heights in pixels, as in the style sheet: reading them would lay out the page
const HEAD = 28;
const VIEW = 334;

/** The list; it keeps its order and place while columns change. */
export class Outcomes {
  /**
   * @param {Object} labels Of models and settings.
   * @param {(outcome: Object) => void} toggle
   */
  constructor(labels, toggle) {
    Object.assign(this, { labels, toggle, order: null, isFalling: false, chosen: new Set(), outcomes: [] });
    this.table = make("table", { class: "outcomes" }, make("thead"), make("tbody"));
    this.node = make("div", { class: "scroll" }, make("div", { class: "outcomes-plane" }, this.table));
    this.scrolled = 0;
    watchView(this.node, () => {
      this.scrolled = this.node.scrollTop;
      this.draw();
    });
  }

  /**
   * @param {Object[]} outcomes
   * @param {Object[]} chosen The cells shown below.
   */
  show(outcomes, chosen) {
    this.chosen = new Set(chosen.map(nameCell));
    if (this.outcomes !== outcomes) {
      this.outcomes = outcomes;
      const isKnown = (name) => outcomes.some((outcome) => typeof outcome[name] === "number");
      this.measures = Object.keys(MEASURES).filter(isKnown);
      this.arrange();
    }
    this.draw(true);
  }

  arrange() {
    const name = (key) => this.labels[key] ?? key;
    const reads = {
      model: (outcome) => name(outcome.model),
      setting: (outcome) => name(outcome.setting),
      verdict: (outcome) => outcome.verdict - shareFailed(outcome) / 1000,
      answer: (outcome) => summarise(outcome.extracted) || null,
    };
    const read = reads[this.order] ?? ((outcome) => outcome[this.order]);
    this.rows = this.order ? sortBy(this.outcomes, read, this.isFalling) : this.outcomes;
    this.range = null;
    this.table.tHead.replaceChildren(this.makeHead());
  }

  makeHead() {
    const columns = [
      ["verdict", "Verdict", "verdict"],
      ["model", "Model", "model"],
      ["setting", "Setting", "setting"],
      ["answer", "Answer", "answer"],
      ...this.measures.map((key) => [key, ...MEASURES[key].slice(0, 2)]),
    ];
    const heads = columns.map(([key, title, what]) => {
      const order = key !== this.order ? null : this.isFalling ? "descending" : "ascending";
      const head = make("th", { scope: "col", class: MEASURES[key] ? "number" : "", "aria-sort": order });
      head.append(makeSort(title, what, order, () => this.turn(key)));
      return head;
    });
    return make("tr", {}, ...heads);
  }

  /** Turn to the first order of a column, the second one, and none. */
  turn(key) {
    const startsFalling = key === "verdict" || key in MEASURES;
    if (this.order !== key) [this.order, this.isFalling] = [key, startsFalling];
    else if (this.isFalling === startsFalling) this.isFalling = !startsFalling;
    else this.order = null;
    this.arrange();
    this.node.scrollTop = this.scrolled = 0;
    this.draw();
    const what = MEASURES[key]?.[1] ?? key;
    this.table.tHead.querySelector(`[data-sort="${what}"]`).focus();
  }

  draw(isNew = false) {
    const { rows } = this;
    if (!rows || !this.node.isConnected) return;
    const isWhole = rows.length <= WHOLE;
    const range = isWhole ? [0, rows.length] : findRange(this.scrolled, VIEW, ROW, rows.length);
    if (!isNew && String(range) === String(this.range)) return;
    this.range = range;
    const focus = this.table.tBodies[0].contains(document.activeElement) ? document.activeElement.dataset.cell : null;
    this.table.tBodies[0].replaceChildren(...rows.slice(...range).map((outcome) => this.makeRow(outcome)));
    if (!isWhole) {
      this.table.style.marginTop = `${range[0] * ROW}px`;
      this.table.parentElement.style.height = `${HEAD + rows.length * ROW}px`;
    }
    if (focus) this.table.querySelector(`[data-cell="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  }

  makeRow(outcome) {
    const name = nameCell(outcome);
    const failed = shareFailed(outcome);
    const answers = summarise(outcome.extracted);
    const [model, setting] = [outcome.model, outcome.setting].map((key) => this.labels[key] ?? key);
    const button = make(
      "button",
      {
        type: "button",
        class: "outcome",
        "aria-pressed": String(this.chosen.has(name)),
        "aria-label": `${model}, ${setting}: ${wordVerdict(outcome.verdict, failed)}${answers ? `, ${answers}` : ""}`,
        title: this.chosen.has(name) ? "Close the column of these responses" : "Show the responses in a column",
        data: { cell: name },
        on: { click: () => this.toggle(outcome) },
      },
      makeVerdict(outcome.verdict, failed, false),
      wordVerdict(outcome.verdict, failed),
    );
    return make(
      "tr",
      {},
      make("td", {}, button),
      make("th", { scope: "row", title: model }, ...showText(model)),
      make("td", { title: setting }, ...showText(setting)),
      make("td", { class: "answer", title: answers || outcome.outcomes.join(", "), dir: "auto" }, ...showText(answers.slice(0, 60))),
      ...this.measures.map((key) => make("td", { class: "number" }, writeMeasure(key, outcome[key]))),
    );
  }
}

/** The share of samples without an answer to score. */
function shareFailed(outcome) {
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
