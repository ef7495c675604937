// Panels with a title, and with their source where they hold formulas.

import { showText } from "./web/unseen.js";
import { make, makeId } from "./web/dom.js";

/**
 * A panel.
 * @param {string} title
 * @param {Node} body
 * @param {string|null} source What was written; a button shows it in place of the panel.
 * @param {string} kind A class more.
 */
export function makePart(title, body, source = null, kind = "") {
  const id = makeId("part");
  const head = make("div", { class: "part-head" }, make("h2", { id }, title));
  const place = make("div", { class: "part-body" }, body);
  const section = make("section", { class: `part ${kind}`, "aria-labelledby": id }, head, place);
  if (source && /[\\$*_`#|]/.test(source)) head.append(makeSourceButton(place, source));
  return section;
}

/** A button that shows a text as it was written, and again as it is read. */
export function makeSourceButton(place, source) {
  let kept = null;
  const button = make("button", { type: "button", class: "quiet small", "aria-pressed": "false" }, "Source");
  button.addEventListener("click", () => {
    const isSource = kept !== null;
    if (isSource) {
      place.replaceChildren(...kept);
      kept = null;
    } else {
      kept = [...place.childNodes];
      place.replaceChildren(make("pre", { dir: "auto" }, ...showText(source)));
    }
    button.setAttribute("aria-pressed", String(!isSource));
  });
  return button;
}

/** Details whose content is made when they are opened for the first time. */
export function makeLazyFold(title, load) {
  const place = make("div", { class: "fold-body" });
  const fold = make("details", { class: "fold" }, make("summary", {}, title), place);
  fold.addEventListener("toggle", async () => {
    if (!fold.open || fold.dataset.loaded) return;
    fold.dataset.loaded = "yes";
    place.replaceChildren(make("p", { class: "muted" }, "Loading …"));
    try {
      place.replaceChildren(...(await load()).filter(Boolean));
    } catch (error) {
      delete fold.dataset.loaded;
      place.replaceChildren(make("p", { class: "problem" }, ...showText(error.message)));
    }
  });
  return fold;
}
