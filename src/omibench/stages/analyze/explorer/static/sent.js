// The request of a response as sent, the reply, and the previous steps.

import { fetchSent } from "./api.js";
import { makeLazyFold } from "./panel.js";
import { makeProse } from "./web/prose.js";
import { Pictures } from "./web/pictures.js";
import { showText } from "./web/unseen.js";
import { make } from "./web/dom.js";

/** The messages of a request and the previous steps, as nodes. */
export async function loadSent(key) {
  const { sent, steps } = await fetchSent(key);
  const notice = make(
    "p",
    { class: "muted" },
    "The request is not in the store of this run.",
  );
  const messages = sent ? sent.messages.map(renderMessage) : [notice];
  const tools = sent?.tools?.length ? make("p", { class: "small muted" }, "Tools: ", describe(sent.tools)) : null;
  return [...steps.map(renderStep), tools, ...messages];
}

/** The reply of a judge, as nodes. */
export async function loadSaid(key) {
  const { said, sent } = await fetchSent(key);
  const words = said?.text ?? "";
  return [
    words
      ? makeProse(words, new Pictures([]))
      : make("p", { class: "muted" }, "The judgement is not in the store of this run."),
    sent ? make("details", {}, make("summary", {}, "Request to the judge"), ...sent.messages.map(renderMessage)) : null,
  ];
}

function describe(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function renderMessage(message) {
  const parts = message.parts.map((part) =>
    part.picture
      ? renderPicture(part.picture, part.note)
      : make("pre", { dir: "auto" }, ...showText(part.text ?? "")),
  );
  const calls = message.calls.map((call) => make("pre", { class: "call" }, ...showText(describe(call))));
  return make(
    "div",
    { class: "message" },
    make("h4", {}, message.role, message.answers ? ` (answers ${describe(message.answers)})` : ""),
    ...parts,
    ...calls,
  );
}

function renderPicture(picture, note) {
  const url = picture.src;
  if (!url)
    return make("p", { class: "muted" }, `Picture ${picture.sha256.slice(0, 12)}: file not found`);
  const figures = new Pictures([{ url, label: note ?? "", part: "image" }]);
  // A request has no marks of its own: its pictures stand where they were sent.
  const [image] = figures.images;
  return make("div", { class: "figures" }, figures.makeFigure(image, figures.images, "Picture"));
}

/** The text of a response as nodes of `write`, with the pictures that its model drew in their places. */
export function placeDrawn({ text, drawn }, write) {
  const nodes = [];
  let start = 0;
  const writeTo = (end) => {
    const run = (text ?? "").slice(start, end);
    if (run.trim()) nodes.push(write(run));
    start = end;
  };
  for (const picture of drawn ?? []) {
    writeTo(picture.at);
    nodes.push(renderPicture(picture, "Drawn by the model"));
  }
  writeTo(undefined);
  return nodes;
}

function renderStep(step, index) {
  const pictures = step.pictures.map((picture) => renderPicture(picture, ""));
  const write = (words) => make("pre", { dir: "auto" }, ...showText(describe(words)));
  const seen = step.of.length ? `, shown ${step.of.join(", ")}` : "";
  return make(
    "details",
    { class: "step" },
    make("summary", {}, `Step ${index + 1}: `, ...showText(`${step.who}${seen}, ${step.outcome}`)),
    ...step.told.filter(Boolean).map(write),
    ...placeDrawn(step, write),
    ...step.calls.map(write),
    ...pictures,
    makeLazyFold("Request", () => loadSent(step.key)),
  );
}
