// The page of one problem: the problem on the left, models side by side on the right.

import { linkGrid, linkItem, nameCell, readAddress, readSample } from "./address.js";
import { fetchItem, fetchStudy, whenWhole } from "./api.js";
import { normaliseAnswer, renderColumn } from "./column.js";
import { pageData } from "./data.js";
import { markWords } from "./mark.js";
import { renderNotes } from "./notes.js";
import { Outcomes } from "./outcomes.js";
import { makePart } from "./panel.js";
import { renderProblem } from "./problem.js";
import { listenToKeys } from "./shortcuts.js";
import { renderTags } from "./tags.js";
import { showText } from "./web/unseen.js";
import { make, makeKey } from "./web/dom.js";
import { markInvented } from "./web/verdicts.js";

const MOST_COLUMNS = 4;
const main = document.getElementById("main");
const bar = document.getElementById("bar");
const status = document.getElementById("status");
const right = make("div", { class: "answers-side" });
const left = make("div", { class: "problem-side", tabindex: "0", role: "region", "aria-label": "Problem and answers" });
let study;
let place;
const labels = {};
let shownId = null;
let samples = new Map(); // displayed sample by cell
const list = new Outcomes(labels, toggleColumn);
const tagged = make("div");

start();

async function start() {
  const asked = fetchPlace(readId()); // at the same time
  asked.catch(() => {});
  try {
    study = await fetchStudy();
  } catch (error) {
    showProblem(error);
    return;
  }
  for (const entry of [...study.models, ...study.settings]) labels[entry.name] = entry.label;
  main.replaceChildren(left, right);
  addEventListener("popstate", load);
  listenToKeys(SHORTCUTS);
  await load(asked);
}

function readId() {
  return pageData?.place.item.id ?? decodeURIComponent(location.pathname.slice("/items/".length));
}

/** Show the problem of the address. */
async function load(asked = null) {
  const id = readId();
  try {
    place = await (asked instanceof Promise ? asked : fetchPlace(id));
  } catch (error) {
    showProblem(error);
    return;
  }
  await whenWhole;
  render(id);
}

/** The problem with the columns of the address, or with chosen ones, which become its address. */
async function fetchPlace(id) {
  const found = await fetchItem(id, readAddress());
  if (!readAddress().has("cells") && found.columns.length && readId() === id)
    history.replaceState(null, "", linkItem(id, readAddress(), found.columns));
  return found;
}

function render(id) {
  document.title = `${study.partial ? "PARTIAL RUN · " : ""}${id} · ${study.title}`;
  renderBar(id);
  if (shownId !== id) {
    left.replaceChildren(...renderProblem(place.item));
    if (study.tags) left.append(makePart("Tags", tagged));
    if (study.notes) left.append(renderNotes(place.item, listVerdicts));
    if (!study.tags && !pageData) left.append(make("div", { class: "muted small" }, "To tag problems and take notes, start the explorer with --review DIR."));
    markWords(left, readAddress().get("search") ?? "");
    if (shownId !== null) left.scrollTo(0, 0);
    samples = new Map(place.columns.map((column) => [nameCell(column), findSample(column)]));
    shownId = id;
  }
  if (study.tags) tagged.replaceChildren(renderTags(place, null, changeTags));
  renderAnswers();
  if (location.hash.includes("@")) right.querySelector(".columns-row")?.scrollIntoView();
  document.documentElement.dataset.ready = location.href;
}

function findSample(column) {
  return Math.max(0, column.samples.findIndex((sample) => sample.index === readSample()));
}

function renderBar(id) {
  const query = readAddress();
  const position =
    place.position === null
      ? "not in this filter"
      : `${(place.position + 1).toLocaleString("en")} of ${place.total.toLocaleString("en")}`;
  const move = (target, text, key, title) =>
    make(
      target ? "a" : "span",
      { class: "move", href: target ? linkTo(target) : null, "aria-label": title, title: `${title} (${key})`, "aria-disabled": target ? null : "true" },
      text,
    );
  const copy = make("button", { type: "button", class: "small", title: "Copy the address of this page" }, "Copy link");
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      tell("Link copied.");
    } catch {
      tell("Copy the link from the address bar.");
    }
  });
  bar.replaceChildren(
    make("a", { class: "brand", href: linkGrid(query), title: study.title }, "← Problems"),
    move(place.previous, "‹", "k", "Previous problem"),
    make("span", { class: "muted position" }, position),
    move(place.next, "›", "j", "Next problem"),
    make("h1", { class: "bar-title item-id", title: id }, ...showText(id)),
    make("span", { class: "space" }),
    ...markInvented(study),
    make("button", { type: "button", class: "small", on: { click: () => document.dispatchEvent(new KeyboardEvent("keydown", { key: "?" })) } }, "Keys ", makeKey("?")),
    copy,
  );
}

/** Show changed tags, with the focus in the form that changed them, unless another problem is shown. */
function changeTags(tags, cell, id) {
  if (id !== place.item.id) return;
  Object.assign(place, tags);
  tagged.replaceChildren(renderTags(place, null, changeTags));
  renderAnswers();
  document.querySelector(`[data-tags="${CSS.escape(cell)}"]`)?.focus();
}

/** The displayed verdicts, which notes can refer to. */
function listVerdicts() {
  return place.columns
    .filter((column) => column.samples.length)
    .map((column) => {
      const cell = nameCell(column);
      const { index } = column.samples[samples.get(cell) ?? 0];
      const title = column.samples.length > 1 ? `${cell}, sample ${index + 1}` : cell;
      return { cell, index, rules: place.rules, title };
    });
}

/** The page of another item, with the same columns and filter. */
function linkTo(id) {
  return linkItem(id, readAddress(), place.columns);
}

function renderAnswers() {
  if (!study.cells.length) {
    right.hidden = true;
    main.classList.add("alone");
    return;
  }
  const { columns, outcomes, rules } = place;
  const isOpen = right.querySelector(".outcomes-fold")?.open ?? true;
  const fold = make(
    "details",
    { class: "outcomes-fold part", open: isOpen },
    make(
      "summary",
      {},
      "All models and settings ",
      make("span", { class: "muted" }, `· ${describeOutcomes(outcomes)}`, rules ? ` · scorer ${nameRules(rules)}` : ""),
    ),
    list.node,
  );
  const answers = columns.map((c) => normaliseAnswer(c.samples[samples.get(nameCell(c)) ?? 0], rules));
  const nodes = columns.map((column, index) =>
    renderColumn(column, {
      labels,
      rules,
      index,
      answer: answers[index],
      first: answers[0],
      cells: study.cells,
      sample: samples.get(nameCell(column)) ?? 0,
      change: (cell) => setColumns(columns.map((c, i) => (i === index ? cell : c))),
      remove: () => setColumns(columns.filter((_, i) => i !== index)),
      tag: study.tags ? (index) => renderTags(place, { cell: nameCell(column), index }, changeTags) : null,
      turn: (sample) => {
        samples.set(nameCell(column), sample);
        renderAnswers();
      },
    }),
  );
  const hint = make("p", { class: "muted" }, `Choose up to ${MOST_COLUMNS} responses in the list above.`);
  const row = make("div", { class: `columns-row count-${columns.length}` }, ...nodes);
  const focus = list.node.contains(document.activeElement) ? document.activeElement : null;
  right.replaceChildren(fold, nodes.length ? row : hint);
  if (list.scrolled) list.node.scrollTop = list.scrolled;
  if (focus?.isConnected) focus.focus({ preventScroll: true });
  list.show(outcomes, columns);
  for (const node of nodes) markWords(node, readAddress().get("search") ?? "");
}

function describeOutcomes(outcomes) {
  const count = outcomes.filter((outcome) => outcome.verdict >= 0.5).length;
  return `${count} of ${outcomes.length} right`;
}

function nameRules(name) {
  return study.rules.find((rules) => rules.name === name)?.title ?? name;
}

function toggleColumn(outcome) {
  const cells = place.columns.map(({ model, setting }) => ({ model, setting }));
  const name = nameCell(outcome);
  if (cells.some((cell) => nameCell(cell) === name)) setColumns(cells.filter((cell) => nameCell(cell) !== name));
  else if (cells.length < MOST_COLUMNS) setColumns([...cells, outcome]);
  else tell(`At most ${MOST_COLUMNS} columns; close one first.`);
}

async function setColumns(cells) {
  const unique = cells.filter((cell, i) => cells.findIndex((c) => nameCell(c) === nameCell(cell)) === i);
  const focus = document.activeElement?.dataset ?? {};
  if (!unique.length) {
    place.columns = [];
    renderAnswers();
    return;
  }
  history.pushState(null, "", linkItem(readId(), readAddress(), unique));
  await load();
  if (focus.cell) right.querySelector(`[data-cell="${CSS.escape(focus.cell)}"]`)?.focus();
  else if (focus.column) right.querySelector(`[data-column="${focus.column}"]`)?.focus();
}

function tell(text) {
  status.textContent = text;
  setTimeout(() => status.textContent === text && status.replaceChildren(), 3000);
}

function moveTo(id) {
  if (!id) return false;
  if (pageData) location.assign(linkTo(id));
  else {
    history.pushState(null, "", linkTo(id));
    load();
  }
  return true;
}

function enlargePicture() {
  const button = left.querySelector(".picture");
  if (!button) return false;
  button.click();
  return true;
}

function removeLast() {
  if (!place.columns.length) return false;
  setColumns(place.columns.slice(0, -1));
  return true;
}

function showProblem(error) {
  main.replaceChildren(make("p", { class: "problem", role: "alert" }, ...showText(error.message)));
  document.documentElement.dataset.ready = "problem";
}

const SHORTCUTS = [
  { keys: ["j", "ArrowRight"], title: "Next problem of the filter", act: () => moveTo(place.next) },
  { keys: ["k", "ArrowLeft"], title: "Previous problem of the filter", act: () => moveTo(place.previous) },
  { keys: ["u"], title: "Back to the problems", act: () => location.assign(linkGrid(readAddress())) },
  { keys: ["+"], title: "Enlarge the first picture", act: enlargePicture },
  { keys: ["x"], title: "Close the last column", act: removeLast },
];
