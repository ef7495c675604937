// A decision that came too late: its answers are shown and kept, and nothing is overwritten.

import { showText } from "./web/unseen.js";
import { make } from "./web/dom.js";
import { isSet, showAnswer } from "./history.js";
import { asText } from "./parts.js";

const REASONS = {
  changed: [
    "The task has changed",
    "Its content has changed since you opened it. Read it again; your answers are kept.",
  ],
  decided: [
    "Another person decided while you were working",
    "Your decision was not sent, and their decision was not overwritten.",
  ],
  claimed: [
    "Another person has this task open",
    "Only one person works on it at a time. Your answers are kept.",
  ],
};

/**
 * Show why a decision was rejected, and its answers.
 * @param {Object} answer The server's response: reason, by, current.
 * @param {Object[]} fields Declarations.
 * @param {{fields: Object, comment: string}} mine The rejected answers.
 * @param {{goOn: () => void, drop: () => void}} actions
 */
export function openConflict(answer, fields, mine, actions) {
  const [title, text] = REASONS[answer.reason] ?? [
    "Your decision was not accepted",
    "Your answers are kept.",
  ];
  const newest = answer.current?.history?.at?.(-1)?.fields;
  const rows = fields
    .filter((field) => isSet(mine.fields[field.name]) || isSet(newest?.[field.name]))
    .map((field) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, field.title),
        make("td", {}, showMine(field, mine.fields[field.name])),
        newest ? make("td", {}, showAnswer(field, newest[field.name])) : null,
      ),
    );
  if (mine.comment)
    rows.push(
      make(
        "tr",
        {},
        make("th", { scope: "row" }, "Comment"),
        make("td", {}, ...showText(mine.comment)),
      ),
    );
  const dialog = make(
    "dialog",
    { class: "conflict", "aria-labelledby": "conflict-title" },
    make("h2", { id: "conflict-title" }, title),
    make("p", {}, text, answer.by ? ` (${asText(answer.by)})` : ""),
    make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Your answers" },
      make(
        "table",
        { class: "history" },
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            make("td", {}),
            make("th", { scope: "col" }, "Your answers"),
            newest ? make("th", { scope: "col" }, "The decision") : null,
          ),
        ),
        make("tbody", {}, ...rows),
      ),
    ),
    make(
      "div",
      { class: "buttons" },
      make(
        "button",
        { type: "button", class: "primary", on: { click: () => actions.goOn() } },
        "Show the current task with my answers",
      ),
      make(
        "button",
        { type: "button", on: { click: () => actions.drop() } },
        "Discard my answers",
      ),
    ),
  );
  dialog.addEventListener("cancel", (event) => event.preventDefault()); // Esc must not discard answers
  document.body.append(dialog);
  dialog.showModal();
}

/** A text is shown in full for copying, other answers by title. */
function showMine(field, value) {
  if (field.type !== "text" || typeof value !== "string") return showAnswer(field, value);
  const area = make("textarea", {
    readonly: true,
    rows: 4,
    dir: "auto",
    "aria-label": `Your text: ${field.title}`,
  });
  area.value = value;
  return area;
}
