// The left side of a task: earlier decisions, and the parts of the task.

import { showDifference } from "./web/diff.js";
import { make } from "./web/dom.js";
import { renderHistory } from "./history.js";
import { addView, renderParts } from "./parts.js";
import { makeShort } from "./web/prose.js";
import { makeVerdict, wordVerdict } from "./web/verdicts.js";

/**
 * The sections of a task.
 * @param {Object} page `task`, `kind`, `state`, `history`.
 * @param {import("./web/pictures.js").Pictures} pictures
 * @param {(fields: Object) => void} take Copies the answers of a decision into the form.
 */
export function renderContent(page, pictures, take) {
  const { task, kind } = page;
  const original = task.original ?? {};
  const history = renderHistory(page.history ?? [], kind, { ...page.state, original }, take);
  const optionParts = new Set(kind.fields.map((field) => field.options_from));
  const parts = kind.parts.filter((part) => part.style !== "facts" || !optionParts.has(part.name));
  const sections = renderParts(parts, task.content, pictures);
  const key = sections.findIndex((section) => section.dataset.part === "answer");
  if (page.own_answer) sections.splice(Math.max(0, key), 0, renderOwnAnswer(page.own_answer, pictures));
  for (const section of sections) {
    const name = section.dataset.part;
    if (typeof original[name] !== "string") continue;
    const render = () => showDifference(original[name], task.content[name]);
    addView(section, "Annotator's changes", render);
  }
  return [history, ...pairOriginals(sections)].filter(Boolean);
}

function renderOwnAnswer({ text, is_right: isRight }, pictures) {
  const head = make("div", { class: "part-head" }, make("h2", { id: "own-answer" }, "Your own answer"));
  if (text && isRight !== null)
    head.append(
      make("span", { class: "small" }, makeVerdict(Number(isRight), 0, false), ` ${wordVerdict(Number(isRight))} by the official answer`),
    );
  const body = text ? makeShort(text, pictures) : make("p", {}, "You could not answer it.");
  return make(
    "section",
    { class: "part", "aria-labelledby": "own-answer", data: { part: "own_answer" } },
    head,
    body,
  );
}

/** Places an original next to its translation. */
function pairOriginals(sections) {
  const byName = new Map(sections.map((section) => [section.dataset.part, section]));
  return sections.flatMap((section) => {
    const { part } = section.dataset;
    if (part.startsWith("original_") && byName.has(part.slice(9))) {
      return [make("div", { class: "pair" }, section, byName.get(part.slice(9)))];
    }
    return byName.has(`original_${part}`) ? [] : [section];
  });
}
