// The parts of a task's content, each in the style that its kind declares.

import { showText } from "./web/unseen.js";
import { make, watchOverflow } from "./web/dom.js";
import { makeProse, makeShort } from "./web/prose.js";

const RENDERERS = {
  markdown: (value, pictures) => makeProse(asText(value), pictures),
  text: (value) => make("p", { class: "prose", dir: "auto" }, ...showText(asText(value))),
  choices: showChoices,
  answer: (value, pictures) =>
    make(
      "ul",
      { class: "answers" },
      ...asList(value).map((text) => make("li", {}, makeShort(asText(text), pictures))),
    ),
  candidates: showCandidates,
  steps: showSteps,
  facts: showFacts,
  images: (value, pictures) => showRow(pictures.placeRest()),
  pages: (value, pictures) => showRow(pictures.placePages()),
};
const SOURCE_STYLES = new Set(["markdown", "answer", "choices"]);

/**
 * The non-empty parts.
 * @param {Object[]} parts Declarations: name, title, style.
 * @param {Object} content Values by name.
 * @param {import("./web/pictures.js").Pictures} pictures
 */
export function renderParts(parts, content, pictures) {
  return parts.flatMap((part) => {
    const value = content[part.name];
    const isPicture = part.style === "images" || part.style === "pages";
    if (!isPicture && isEmpty(value)) return [];
    const body = RENDERERS[part.style](value, pictures);
    return body ? [makePart(part, body, value)] : [];
  });
}

function makePart(part, body, value) {
  const id = `part-${part.name}`;
  const head = make("div", { class: "part-head" }, make("h2", { id }, part.title));
  const section = make(
    "section",
    {
      class: `part part-${part.style}${part.is_beside ? " beside" : ""}`,
      "aria-labelledby": id,
      tabindex: part.is_beside ? "0" : null,
      data: { part: part.name },
    },
    head,
  );
  section.append(watchOverflow(make("div", { class: "part-body" }, body)));
  if (SOURCE_STYLES.has(part.style)) {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    addView(section, "Source", () => make("pre", { dir: "auto" }, ...showText(text)));
  }
  return section;
}

/**
 * Add another view of a part: a button in its head that shows it and, again, the part itself.
 * @param {HTMLElement} section The part.
 * @param {string} title The text of the button.
 * @param {() => Node} render Makes the view.
 */
export function addView(section, title, render) {
  const head = section.querySelector(".part-head");
  const [body, ...views] = section.querySelectorAll(".part-body");
  const view = make("div", { class: "part-body", hidden: true });
  const button = make(
    "button",
    { type: "button", class: "quiet small", "aria-pressed": "false" },
    title,
  );
  button.addEventListener("click", () => {
    const isShown = button.getAttribute("aria-pressed") === "true";
    for (const other of head.querySelectorAll("button"))
      other.setAttribute("aria-pressed", "false");
    for (const other of section.querySelectorAll(".part-body")) other.hidden = true;
    button.setAttribute("aria-pressed", String(!isShown));
    if (!isShown && !view.hasChildNodes()) {
      view.append(render());
      watchOverflow(view);
    }
    (isShown ? body : view).hidden = false;
  });
  head.append(button);
  (views.at(-1) ?? body).after(view);
}

function showChoices(value, pictures) {
  const items = asList(value).map((choice) => {
    if (typeof choice !== "object" || choice === null)
      return make("li", {}, makeShort(asText(choice), pictures));
    const image = Number.isInteger(choice.image) ? pictures.place(choice.image) : null;
    return make(
      "li",
      {},
      make("span", { class: "choice-label" }, ...showText(asText(choice.label))),
      make("div", {}, choice.text ? makeShort(asText(choice.text), pictures) : null, image),
    );
  });
  return make("ul", { class: "choices" }, ...items);
}

function showCandidates(value, pictures) {
  const cards = asList(value).map((candidate, index) => {
    const entry =
      typeof candidate === "object" && candidate !== null ? candidate : { text: candidate };
    const { text, steps, value: name, id, title, label, ...facts } = entry;
    return make(
      "article",
      { class: "candidate", data: { value: asText(name ?? id ?? label ?? "") } },
      make(
        "h3",
        {},
        make("span", { class: "number" }, String(index + 1)),
        ...showText(asText(title ?? name ?? id ?? label ?? "")),
      ),
      Object.keys(facts).length ? showFacts(facts) : null,
      makeProse(asText(text ?? asList(steps).join("\n\n")), pictures),
    );
  });
  return make("div", { class: "candidates" }, ...cards);
}

function showSteps(value, pictures) {
  const items = asList(value).map((step, index) =>
    make(
      "li",
      { id: `step-${index}` },
      make("span", { class: "number" }, String(index + 1)),
      makeProse(asText(typeof step === "object" && step !== null ? step.text : step), pictures),
    ),
  );
  return make("ol", { class: "steps" }, ...items);
}

function showFacts(value) {
  const entries = Array.isArray(value)
    ? value.map((entry) =>
        typeof entry === "object" && entry !== null
          ? [entry.title ?? entry.value ?? entry.id ?? entry.label, entry.help ?? ""]
          : [entry, ""],
      )
    : Object.entries(value).filter(([, fact]) => !isEmpty(fact));
  const rows = entries.flatMap(([name, fact]) => [
    make("dt", {}, ...showText(asText(name).replaceAll("_", " "))),
    make("dd", { dir: "auto" }, ...showText(asText(fact))),
  ]);
  return rows.length ? make("dl", { class: "facts" }, ...rows) : null;
}

function showRow(figures) {
  return figures.length ? make("div", { class: "figures" }, ...figures) : null;
}

function isEmpty(value) {
  return (
    value === null ||
    value === undefined ||
    value === "" ||
    (typeof value === "object" && !Object.keys(value).length)
  );
}

function asList(value) {
  return Array.isArray(value) ? value : [value];
}

/** Any value as readable text. */
export function asText(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map(asText).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
