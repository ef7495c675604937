// Panels with a title, and a source view if they contain formulas.

import { showText } from "./web/unseen.js";
import { make, makeId } from "./web/dom.js";

/**
 * A panel.
 * @param {string} title
 * @param {Node} body
 * @param {string|null} source The source; a button toggles it.
 * @param {string} kind An additional class.
 */
export function makePart(title, body, source = null, kind = "") {
  const id = makeId("part");
  const head = make("div", { class: "part-head" }, make("h2", { id }, title));
  const place = make("div", { class: "part-body" }, body);
  const section = make("section", { class: `part ${kind}`, "aria-labelledby": id }, head, place);
  if (source && /[\\$*_`#|]/.test(source)) head.append(makeSourceButton(place, source));
  return section;
}

/** A button that toggles between source and rendered text. */
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

/** Details whose content is created on first opening. */
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
