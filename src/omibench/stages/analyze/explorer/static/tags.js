// Tags on a problem or a response, shared by the users of a server.

import { postJson } from "./api.js";
import { showText } from "./web/unseen.js";
import { make, makeId } from "./web/dom.js";

const STORED = "explore-name"; // as of notes
const LONGEST = 60;

/**
 * The tags of a problem or of one response, and a form that adds one.
 * @param {Object} place The problem with `item`, `tags` and `known`.
 * @param {Object|null} response `cell` and `index` of a response; null for the problem.
 * @param {(tags: Object, cell: string, id: string) => void} change Gets the new `tags` and `known`
 *   of the problem `id`.
 */
export function renderTags(place, response, change) {
  const cell = response?.cell ?? "";
  const own = place.tags.filter((tag) => tag.cell === cell && (!cell || tag.index === response.index));
  const ids = { tag: makeId("tag"), list: makeId("tags"), name: makeId("name") };
  const what = cell ? `response of ${cell}` : "problem";
  const answer = make("span", { role: "status", class: "small" });
  const input = make("input", { id: ids.tag, list: ids.list, maxlength: String(LONGEST), required: true, autocomplete: "off", placeholder: "Add a tag", "aria-label": `New tag on the ${what}`, data: { tags: cell } });
  const name = make("input", { id: ids.name, maxlength: "120", required: true, autocomplete: "name", placeholder: "Your name", "aria-label": "Your name, for the tag", value: readName() });
  name.hidden = true;
  input.addEventListener("focus", () => (name.hidden = Boolean(name.value)));
  const send = async (tag, removed) => {
    name.hidden = Boolean(name.value);
    if (!name.reportValidity()) return;
    localStorage.setItem(STORED, name.value);
    const values = { id: place.item.id, tag, person: name.value, cell, removed };
    try {
      change(await postJson("/api/tags", response ? { ...values, index: response.index } : values), cell, place.item.id);
    } catch (error) {
      name.hidden = false;
      answer.className = "problem small";
      answer.replaceChildren(...showText(error.message));
    }
  };
  const form = make(
    "form",
    { class: "tag-form" },
    input,
    make("datalist", { id: ids.list }, ...place.known.map((tag) => make("option", { value: tag }))),
    name,
    make("button", { class: "small" }, "Add"),
    answer,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(input.value, false);
  });
  const chips = own.map(({ tag, person }) =>
    make(
      "button",
      { type: "button", class: "chip", title: `Added by ${person}; remove`, "aria-label": `Remove the tag ${tag}`, on: { click: () => send(tag, true) } },
      ...showText(tag),
      make("span", { "aria-hidden": "true" }, " ×"),
    ),
  );
  return make("div", { class: "tags", role: "group", "aria-label": `Tags of the ${what}` }, ...chips, form);
}

function readName() {
  return localStorage.getItem(STORED) ?? "";
}
