// Notes on a problem: what is wrong, written as a decision of the review.

import { postJson } from "./api.js";
import { showText } from "./web/unseen.js";
import { make, makeId } from "./web/dom.js";

const KINDS = {
  gold_is_wrong: "The gold answer is wrong",
  unreadable_picture: "A picture cannot be read",
  verdict_is_wrong: "A verdict is wrong",
};
const STORED = "explore-name";
const LONGEST = 2_000;

/**
 * The form of notes.
 * @param {Object} item
 * @param {() => Object[]} listVerdicts The displayed verdicts, of which one may be wrong: `cell`,
 *   `index` of the sample, `rules`, `title`.
 */
export function renderNotes(item, listVerdicts) {
  const ids = { kind: makeId("note"), cell: makeId("note"), name: makeId("note"), words: makeId("note") };
  const kind = make("select", { id: ids.kind }, ...Object.entries(KINDS).map(([value, text]) => make("option", { value }, text)));
  const cell = make("select", { id: ids.cell });
  const cellRow = make("div", { hidden: true }, make("label", { for: ids.cell }, "Of"), cell);
  const name = make("input", { id: ids.name, maxlength: "120", required: true, autocomplete: "name", value: localStorage.getItem(STORED) ?? "" });
  const words = make("textarea", { id: ids.words, rows: "2", maxlength: String(LONGEST) });
  const answer = make("p", { role: "status" });
  const form = make(
    "form",
    { class: "notes" },
    make("div", {}, make("label", { for: ids.kind }, "Note"), kind),
    cellRow,
    make("div", {}, make("label", { for: ids.words }, "Why"), words),
    make("div", {}, make("label", { for: ids.name }, "Your name"), name),
    make("button", { class: "primary" }, "Save note"),
    answer,
  );
  const listCells = () => {
    cellRow.hidden = kind.value !== "verdict_is_wrong";
    const before = cell.value;
    cell.replaceChildren(
      ...listVerdicts().map((verdict) =>
        make("option", { value: JSON.stringify(verdict) }, verdict.title),
      ),
    );
    if ([...cell.options].some((option) => option.value === before)) cell.value = before;
  };
  kind.addEventListener("change", listCells);
  cell.addEventListener("focus", listCells); // the columns may have changed
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    localStorage.setItem(STORED, name.value);
    const note = { id: item.id, kind: kind.value, comment: words.value, person: name.value };
    if (!cellRow.hidden) {
      const { cell: place, index, rules } = JSON.parse(cell.value || "{}");
      Object.assign(note, { cell: place, index, rules });
    }
    answer.className = "";
    try {
      const saved = await postJson("/api/notes", note);
      words.value = "";
      answer.replaceChildren(...showText(`Note saved as a decision on ${saved.task}.`));
    } catch (error) {
      answer.className = "problem";
      answer.replaceChildren(...showText(error.message));
    }
  });
  return make("details", { class: "part fold" }, make("summary", {}, "Report a mistake"), form);
}
