// A decision that came too late: what was written is shown and kept, and nothing is overwritten.

import { showText } from "./web/unseen.js";
import { make } from "./web/dom.js";
import { isSet, showAnswer } from "./history.js";
import { asText } from "./parts.js";

const REASONS = {
  changed: [
    "The task has changed",
    "Its content is another one than you saw. Read it again; your answers are kept.",
  ],
  decided: [
    "Somebody decided while you worked",
    "Your decision was not sent, and nothing of theirs was overwritten.",
  ],
  claimed: [
    "Somebody else has this task open",
    "Only one person works on it at a time. Your answers are kept.",
  ],
};

/**
 * Show why a decision was not taken, and what it said.
 * @param {Object} answer The server's: reason, by, current.
 * @param {Object[]} fields Declarations.
 * @param {{fields: Object, comment: string}} mine What was not taken.
 * @param {{goOn: () => void, drop: () => void}} actions
 */
export function openConflict(answer, fields, mine, actions) {
  const [title, text] = REASONS[answer.reason] ?? [
    "Your decision was not taken",
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
      { class: "scroll" },
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
        "See the task as it is now, with my answers",
      ),
      make(
        "button",
        { type: "button", on: { click: () => actions.drop() } },
        "Throw my answers away",
      ),
    ),
  );
  dialog.addEventListener("cancel", (event) => event.preventDefault()); // nothing is lost by Esc
  document.body.append(dialog);
  dialog.showModal();
}

/** A text stays whole and can be copied; other answers are named. */
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
