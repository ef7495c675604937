// The problem: text, pictures at their marks, choices, gold answer, rationale.

import { makeProse, makeShort } from "./web/prose.js";
import { makePart } from "./panel.js";
import { Pictures } from "./web/pictures.js";
import { showText } from "./web/unseen.js";
import { make } from "./web/dom.js";

const OUTER_SPACE = /^\s+|\s+$/g;

/**
 * The sections of a problem.
 * @param {Object} item The `item` of `/api/items/ID`.
 */
export function renderProblem(item) {
  const pictures = new Pictures([
    ...item.pictures.map((picture) => ({
      url: picture.src,
      label: picture.caption,
      part: "image",
    })),
    ...item.pages_drawn.map((page) => ({
      url: page.address,
      label: page.label,
      boxes: page.boxes,
      part: "page",
    })),
  ]);
  const question = makePart("Problem", makeProse(item.question, pictures), item.question);
  const choices = item.choices.length ? renderChoices(item, pictures) : null;
  const rest = pictures.placeRest();
  if (rest.length) question.querySelector(".part-body").append(makeRow(rest));
  const pages = pictures.placePages();
  return [
    question,
    choices ? makePart("Choices", choices) : null,
    makePart("Gold answer", renderGold(item, pictures), item.gold.join("\n"), "gold"),
    item.solution ? makeFold("Rationale", makeProse(item.solution, pictures)) : null,
    item.sketch ? makeFold("Sketch of the solution", makeProse(item.sketch, pictures)) : null,
    pages.length ? makeFold("Page of the paper", makeRow(pages), true) : null,
    makeFold("About this problem", renderFacts(item)),
  ].filter(Boolean);
}

function makeRow(figures) {
  return make("div", { class: "figures" }, ...figures);
}

/** An initially folded part. */
function makeFold(title, body, isOpen = false) {
  return make(
    "details",
    { class: "part fold", open: isOpen },
    make("summary", {}, title),
    make("div", { class: "part-body" }, body),
  );
}

function renderChoices(item, pictures) {
  const gold = new Set(item.gold.map((text) => normalise(text)));
  const rows = item.choices.map((choice) => {
    const isGold = gold.has(normalise(choice.label));
    const image = Number.isInteger(choice.image) ? pictures.place(choice.image) : null;
    return make(
      "li",
      { class: isGold ? "is-gold" : "" },
      make("span", { class: "choice-label" }, ...showText(choice.label)),
      make(
        "div",
        {},
        choice.text ? makeShort(choice.text, pictures) : null,
        image,
        isGold ? make("span", { class: "tag gold-tag" }, "gold") : null,
      ),
    );
  });
  return make("ul", { class: "choices" }, ...rows);
}

function normalise(label) {
  return label.replace(OUTER_SPACE, "").replace(/^\(|[).]$/g, "").toUpperCase();
}

function renderGold(item, pictures) {
  const rows = item.gold.map((text) => make("li", {}, makeShort(text, pictures)));
  return make("ul", { class: "answers" }, ...rows);
}

function renderFacts(item) {
  const facts = { ...item.facts, source: item.source, pages: (item.pages ?? []).join(", ") };
  const rows = Object.entries(facts)
    .filter(([, value]) => value)
    .flatMap(([name, value]) => [
      make("dt", {}, ...showText(name.replaceAll("_", " "))),
      make("dd", { dir: "auto" }, ...showText(String(value))),
    ]);
  return make("dl", { class: "facts" }, ...rows);
}
