// Decisions of others: side by side for seniors, with their differences.

import { showText } from "./web/unseen.js";
import { make } from "./web/dom.js";
import { showDifference } from "./web/diff.js";
import { asText } from "./parts.js";
import { formatSeconds } from "./timer.js";

const KEPT = 80; // characters around a change

/**
 * The history of a task; null without visible decisions.
 * @param {Object[]} decisions
 * @param {Object} kind
 * @param {Object} state `differences` are names of fields, `original` texts before any edit by part.
 * @param {(fields: Object) => void} take Copies the answers of a decision into the form.
 */
export function renderHistory(decisions, kind, state, take) {
  if (!decisions.length) return null;
  const differing = new Set(state.differences ?? []);
  const heads = decisions.map((decision) =>
    make(
      "th",
      { scope: "col" },
      make("bdi", {}, ...showText(decision.person ?? decision.reader ?? "reader")),
      make("span", { class: "tag" }, decision.role),
      decision.stale
        ? make(
            "span",
            { class: "tag differs", title: "The content has changed since this decision" },
            "stale",
          )
        : null,
      decision.is_replaced
        ? make(
            "span",
            { class: "tag", title: "The same person decided again; the log keeps both" },
            "replaced",
          )
        : null,
      decision.simulated ? make("span", { class: "mark-simulated" }, "SIMULATED") : null,
      make(
        "span",
        { class: "muted small block" },
        formatTime(decision.time),
        decision.seconds ? ` · ${formatSeconds(decision.seconds)}` : "",
      ),
    ),
  );
  const rows = kind.fields
    .filter((field) => decisions.some((decision) => isSet(decision.fields[field.name])))
    .map((field) =>
      make(
        "tr",
        { class: differing.has(field.name) ? "differing" : null },
        make(
          "th",
          { scope: "row" },
          field.title,
          differing.has(field.name)
            ? make("span", { class: "tag differs" }, "people differ")
            : null,
        ),
        ...decisions.map((decision) =>
          make(
            "td",
            {},
            showAnswer(
              field,
              decision.fields[field.name],
              state.original?.[field.edits] ?? field.start,
            ),
          ),
        ),
      ),
    );
  if (decisions.some((decision) => typeof decision.own_answer === "string")) {
    const answers = decisions.map(({ own_answer: answer }) =>
      make("td", { dir: "auto" }, ...showText(answer === "" ? "could not answer" : (answer ?? "–"))),
    );
    rows.unshift(make("tr", {}, make("th", { scope: "row" }, "Own answer"), ...answers));
  }
  if (decisions.some((decision) => decision.comment)) {
    const comments = decisions.map((decision) =>
      make("td", { dir: "auto" }, ...showText(decision.comment ?? "")),
    );
    rows.push(make("tr", {}, make("th", { scope: "row" }, "Comment"), ...comments));
  }
  const buttons = decisions.map((decision) =>
    make(
      "td",
      {},
      make(
        "button",
        { type: "button", class: "small", on: { click: () => take(decision.fields) } },
        "Take these answers",
      ),
    ),
  );
  const table = make(
    "table",
    { class: "history" },
    make("thead", {}, make("tr", {}, make("td", {}), ...heads)),
    make("tbody", {}, ...rows, make("tr", {}, make("td", {}), ...buttons)),
  );
  const title =
    state.status === "escalated"
      ? `Escalated${state.rounds > 1 ? `, round ${state.rounds}` : ""}: your decision is binding`
      : "Earlier decisions";
  return make(
    "section",
    { class: "part part-history", "aria-labelledby": "history-title" },
    make("div", { class: "part-head" }, make("h2", { id: "history-title" }, title)),
    make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Decisions side by side" },
      table,
    ),
  );
}

/** What a second decision does: what is kept, what it replaces, and who decides in the end. */
export function explainSecond(own, role) {
  const start = `You decided this task on ${formatTime(own.time)}. If you send again, the new decision counts instead.`;
  const kept = "The log keeps both";
  return role === "senior"
    ? `${start} ${kept}. Yours is binding; if a reader sends a new decision that differs from it, the task comes back to you.`
    : `${start} ${kept}, and agreement is measured on your first. Where readers differ, a senior decides, and that decision is binding: do not change yours only to agree.`;
}

/** An answer by its option's title; an edited text as a diff. */
export function showAnswer(field, value, before = field.start) {
  if (!isSet(value)) return make("span", { class: "muted" }, field.edits ? "unchanged" : "–");
  if (field.type === "text" && field.edits && typeof before === "string")
    return showDifference(before, asText(value), KEPT);
  const name = (text) =>
    field.options?.find((option) => option.value === text)?.title ?? asText(text);
  const text =
    field.type === "steps"
      ? value.map((step, i) => `${i + 1} ${name(step)}`).join(", ")
      : [value].flat().map(name).join(", ");
  return make("span", { class: "answer-text", dir: "auto" }, ...showText(text));
}

/** Whether a field was answered. */
export function isSet(value) {
  return (
    value !== null &&
    value !== undefined &&
    value !== "" &&
    !(Array.isArray(value) && !value.length)
  );
}

function formatTime(time) {
  const date = new Date(time);
  return Number.isNaN(date.valueOf())
    ? ""
    : date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
