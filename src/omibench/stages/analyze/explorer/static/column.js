// One model under one setting: answer, reasoning, verdicts with reasons, request, costs.

import { loadSaid, loadSent, placeDrawn } from "./sent.js";
import { makeLazyFold, makeSourceButton } from "./panel.js";
import { makeProse } from "./web/prose.js";
import { makeVerdict, markSimulated, wordVerdict } from "./web/verdicts.js";
import { markAnswer } from "./mark.js";
import { renderJudgements, renderSaliency } from "./measured.js";
import { writeMeasure } from "./numbers.js";
import { Pictures } from "./web/pictures.js";
import { showText } from "./web/unseen.js";
import { make } from "./web/dom.js";

/**
 * A column.
 * @param {Object} column `model`, `setting` and `samples`.
 * @param {Object} view `labels`, `rules` (name of the main scorer), `cells` to change to,
 *   `answer` and `first` (normalised answers of this column and the first one), `sample` (which one
 *   is shown),
 *   `change(cell)`, `remove()`, `turn(sample)`, `tag(index)` (tags of a sample, or null).
 */
export function renderColumn(column, view) {
  const sample = column.samples[view.sample] ?? column.samples[0];
  const node = make(
    "article",
    { class: "column", data: { cell: `${column.model}/${column.setting}` } },
    makeHead(column, view),
  );
  if (!sample) {
    node.append(make("p", { class: "muted column-part" }, "No response to this problem."));
    return node;
  }
  if (column.samples.length > 1) node.append(makeSamples(column, view));
  const main = sample.verdicts.find((verdict) => verdict.rules === view.rules) ?? sample.verdicts[0];
  const parts = [
    makeResult(sample, main, view),
    makeAnswer(sample, main),
    ...makeReasoning(sample),
    sample.verdicts.length ? makeVerdicts(sample) : null,
    ...makeJudgements(sample),
    ...renderJudgements(sample.judgements),
    ...renderSaliency(column.saliency),
    sample.key ? makeLazyFold("Request", () => loadSent(sample.key)) : null,
    makeFacts(sample),
    view.tag ? make("div", { class: "column-part" }, view.tag(sample.index)) : null,
  ];
  node.append(...parts.filter(Boolean));
  return node;
}

/** Model and setting to choose, apart from each other: together they can be many. */
function makeHead(column, view) {
  const { labels, cells } = view;
  const settings = cells.filter((cell) => cell.model === column.model).map((cell) => cell.setting);
  const models = [...new Set(cells.map((cell) => cell.model))];
  const change = (model, setting) => {
    const own = cells.filter((cell) => cell.model === model);
    view.change(own.find((cell) => cell.setting === setting) ?? own[0]);
  };
  const choose = (what, values, value, act) => {
    const options = values.map((key) => make("option", { value: key }, labels[key] ?? key));
    const select = make("select", { "aria-label": `${what} of this column`, data: { column: `${what} ${view.index}` } }, ...options);
    select.value = value;
    select.addEventListener("change", () => act(select.value));
    return select;
  };
  return make(
    "header",
    { class: "column-head" },
    choose("Model", models, column.model, (model) => change(model, column.setting)),
    choose("Setting", settings, column.setting, (setting) => change(column.model, setting)),
    make(
      "button",
      { type: "button", class: "quiet", "aria-label": "Close this column", title: "Close this column", on: { click: view.remove } },
      "×",
    ),
  );
}

function makeSamples(column, view) {
  const buttons = column.samples.map((sample, i) => {
    const verdict = sample.verdicts.find((v) => v.rules === view.rules) ?? sample.verdicts[0];
    return make(
      "button",
      {
        type: "button",
        class: "sample",
        "aria-pressed": String(i === view.sample),
        "aria-label": `Sample ${i + 1}: ${verdict?.word ?? "no verdict"}`,
        title: `Sample ${i + 1}: ${verdict?.extracted || verdict?.word || "no verdict"}`,
        on: { click: () => view.turn(i) },
      },
      verdict ? markVerdict(verdict, false) : String(i + 1),
    );
  });
  return make("div", { class: "samples column-part", role: "group", "aria-label": "Samples" }, ...buttons);
}

function markVerdict(verdict, hasName = true) {
  return makeVerdict(verdict.verdict ?? 0, verdict.scored ? 0 : 1, hasName);
}

function makeResult(sample, verdict, view) {
  const extracted = verdict?.extracted ?? "";
  const differs = view.answer !== view.first;
  return make(
    "div",
    { class: "result column-part" },
    verdict ? markVerdict(verdict) : null,
    make(
      "span",
      { class: extracted ? "extracted-answer" : "extracted-answer muted", dir: "auto" },
      ...showText(extracted || (verdict ? verdict.word : "no verdict yet")),
    ),
    differs ? make("span", { class: "tag differs", title: "Differs from the answer of the first column" }, "differs") : null,
    sample.left_out ? make("span", { class: "tag", title: "The setting chose another sample of this problem" }, "not chosen") : null,
    sample.simulated ? markSimulated() : null,
  );
}

function makeAnswer(sample, verdict) {
  const place = make("div", { class: "column-body" });
  const extracted = verdict?.extracted ?? "";
  if (sample.text) {
    place.append(...placeDrawn(sample, (run) => makeProse(run, new Pictures([]))));
    markAnswer(place, extracted);
  } else {
    const words = sample.error || `No text: ${sample.outcome}`;
    place.append(make("p", { class: "muted" }, ...showText(words)), ...placeDrawn(sample));
  }
  const head = make("div", { class: "part-head" }, make("h3", {}, "Response"));
  if (sample.text) head.append(makeSourceButton(place, sample.text));
  return make("section", { class: "column-part" }, head, place);
}

function makeReasoning(sample) {
  if (!sample.reasoning) return [];
  const words = sample.reasoning;
  return [
    makeLazyFold(`Reasoning (${words.length.toLocaleString("en")} characters)`, async () => [
      makeProse(words, new Pictures([])),
    ]),
  ];
}

function makeVerdicts(sample) {
  const rows = sample.verdicts.map((verdict) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, ...showText(verdict.title), make("span", { class: "muted" }, ` v${verdict.version}`), verdict.judge_simulated ? markSimulated() : null),
      make("td", {}, markVerdict(verdict, false), ` ${wordOf(verdict)}${verdict.parts ? ` (${verdict.parts})` : ""}`),
      make("td", { dir: "auto" }, ...showText(verdict.extracted ?? "")),
      make("td", { class: "muted" }, ...showText(describeReason(verdict))),
    ),
  );
  const head = ["Scorer", "Verdict", "Extracted", "Why"].map((title) => make("th", { scope: "col" }, title));
  return make(
    "section",
    { class: "column-part" },
    make("div", { class: "scroll" }, make("table", { class: "verdicts" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows))),
  );
}

function wordOf({ verdict, word, scored }) {
  return scored ? wordVerdict(verdict) : word;
}

function describeReason({ method, judge, calibration }) {
  const note = calibration ? ` (${calibration})` : "";
  return [method, judge ? `judge: ${judge}${note}` : ""].filter(Boolean).join("; ");
}

function makeJudgements(sample) {
  return sample.verdicts
    .filter((verdict) => verdict.judge_key)
    .map((verdict) => makeLazyFold(`Judge's reply (${verdict.title})`, () => loadSaid(verdict.judge_key)));
}

function makeFacts(sample) {
  const facts = {
    "tokens in": writeMeasure("tokens", sample.input_tokens),
    "tokens out": writeMeasure("tokens", sample.output_tokens),
    "of them reasoning": writeMeasure("tokens", sample.reasoning_tokens),
    cost: writeMeasure("cost", sample.cost_usd),
    time: writeMeasure("time", sample.latency_s),
    ended: sample.finish_reason,
    outcome: sample.outcome,
    "served by": sample.served_model,
    "store key": sample.key?.slice(0, 16),
  };
  const rows = Object.entries(facts)
    .filter(([, value]) => value)
    .map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, ...showText(String(value)))));
  return make("dl", { class: "response-facts column-part" }, ...rows);
}

/** An answer in the form for comparison with other columns. */
export function normaliseAnswer(sample, rules) {
  const verdict = sample?.verdicts.find((v) => v.rules === rules) ?? sample?.verdicts[0];
  return (verdict?.extracted ?? "").normalize("NFKC").toLowerCase().replace(/[\s$]+/g, "");
}
