// A correction of the reading: saved in corrections.yaml by `omibench look --serve`, or its YAML to copy.

import { BoxEditor } from "./box.js";
import { make } from "./dom.js";
import { startText } from "./math.js";
import { renderInline } from "./inline.js";

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 6; // points around a box
const LONGEST_MS = 20_000;
const ORDER = ["paper", "page", "box", "problem"];
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Cn}\p{Co}]/u;

/** Inputs of each kind of correction: name, label, and whether it is multi-line. */
const INPUTS = {
  formula: [["formula", "LaTeX, without dollar signs", true]],
  text: [["text", "Text, formulas between dollar signs", true]],
  choice: [["text", "Text of the choice", true]],
  choices: [["choices", "All choices, each on its own line after its letter: (A) text", true]],
  answer: [["answer", "Answer; separate several letters or parts with ;", false]],
  solution: [["solution", "Worked solution", true]],
  figure: [
    ["page", "Page", false],
    ["box", "Box: left, top, right, bottom in points", false],
  ],
  split: [
    ["at", "First words of the second problem", false],
    ["number", "Its number", false],
  ],
  merge: [["merge", "Number of the problem to append to this one", false]],
  drop: [],
};

/** A text as YAML: in single quotes if printable and on one line, else escaped. */
export function quoteText(text) {
  if (!UNPRINTABLE.test(text)) return `'${text.replaceAll("'", "''")}'`;
  return JSON.stringify(text).replace(new RegExp(UNPRINTABLE, "gu"), escapeSign);
}

function escapeSign(sign) {
  const code = sign.codePointAt(0);
  return code > 0xffff
    ? `\\U${code.toString(16).padStart(8, "0")}`
    : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** A value as YAML on one line. */
export function writeValue(value) {
  if (typeof value === "string") return quoteText(value);
  if (Array.isArray(value)) return `[${value.map(writeValue).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    const pairs = Object.entries(value).map(([key, inner]) => `${key}: ${writeValue(inner)}`);
    return `{${pairs.join(", ")}}`;
  }
  return String(value);
}

/** An entry of corrections.yaml as keys with values, in order. */
function listPairs(draft, value, by, note) {
  const pairs = ORDER.filter((key) => key in draft).map((key) => [key, draft[key]]);
  pairs.push([draft.kind, value]);
  if (draft.was !== undefined) pairs.push(["was", draft.was]);
  pairs.push(["by", by]);
  if (note) pairs.push(["note", note]);
  return pairs;
}

/** An entry of corrections.yaml as text. */
export function writeEntry(draft, value, by, note) {
  const pairs = listPairs(draft, value, by, note);
  const lines = pairs.map(([key, inner]) => `${key}: ${writeValue(inner)}`);
  return `- ${lines.join("\n  ")}\n`;
}

const dialog = document.querySelector("#correction");
const parts = Object.fromEntries(
  ["title", "crop", "inputs", "preview", "by", "note", "yaml", "copied"].map((name) => [
    name,
    dialog.querySelector(`#correction-${name}`),
  ]),
);
const kept = document.querySelector("#kept");
const keptText = document.querySelector("#kept-yaml");
let draft = null;
let opener = null;
let server = null; // token, file and version, while a server saves entries
let replaced = []; // lines of the entries that the next one replaces, until the form changes
const boxes = new BoxEditor(dialog.querySelector("#correction-page"), (page, box) => {
  setText("page", page);
  setText("box", box.join(", "));
  showAll();
});

function openDialog(element) {
  draft = JSON.parse(element.dataset.correct);
  opener = element;
  parts.title.textContent = draft.title;
  say("");
  parts.note.value = "";
  parts.inputs.replaceChildren(...INPUTS[draft.kind].map(makeInput));
  const isFigure = draft.kind === "figure";
  dialog.classList.toggle("with-page", isFigure);
  dialog.showModal();
  if (isFigure) boxes.show(draft.value.page, draft.value.box);
  showAll();
  const first = parts.inputs.querySelector("input, textarea") ?? parts.by;
  (isFigure ? boxes.sheet : first).focus();
}

function setText(name, value) {
  parts.inputs.querySelector(`[name="${name}"]`).value = String(value);
}

function say(text, isProblem = false) {
  parts.copied.textContent = text;
  parts.copied.classList.toggle("wrong", isProblem);
}

function makeInput([name, label, isLong]) {
  const input = make(isLong ? "textarea" : "input", {
    name,
    spellcheck: "false",
    autocomplete: "off",
    rows: isLong ? "4" : null,
  });
  input.value = getText(name);
  return make("label", {}, label, input);
}

/** Choices, one per line as `(A) text`; further lines continue the choice above them. */
export function writeChoices(choices) {
  return choices.map(({ label, text }) => `(${label}) ${text}`).join("\n");
}

/** The choices in such a text. Lines before the first letter are left out. */
export function readChoices(text) {
  const choices = [];
  for (const line of text.split("\n")) {
    const start = /^\s*[(（]([^()（）\s]+)[)）]\s*(.*?)\s*$/u.exec(line);
    if (start) choices.push({ label: start[1], text: start[2] });
    else if (choices.length && line.trim()) choices.at(-1).text += `\n${line.trim()}`;
  }
  return choices;
}

function getText(name) {
  const value = draft.value;
  if (name === "choices") return writeChoices(value);
  const inner = typeof value === "object" && !Array.isArray(value) ? value[name] : value;
  if (Array.isArray(inner)) return inner.join(name === "box" ? ", " : "; ");
  return inner === undefined || inner === null || inner === true ? "" : String(inner);
}

function readText(name) {
  return parts.inputs.querySelector(`[name="${name}"]`).value.trim();
}

function readNumbers(text) {
  return text
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map(Number);
}

function readValue() {
  switch (draft.kind) {
    case "drop":
      return true;
    case "choice":
      return { label: draft.value.label, text: readText("text") };
    case "choices":
      return readChoices(readText("choices"));
    case "answer":
      return readText("answer")
        .split(";")
        .map((part) => part.trim())
        .filter(Boolean);
    case "figure": {
      const page = Number(readText("page"));
      return { image: draft.value.image, page, box: readNumbers(readText("box")) };
    }
    case "split":
      return { at: readText("at"), number: readText("number") };
    default:
      return readText(draft.kind);
  }
}

function showAll() {
  replaced = [];
  const value = readValue();
  if (draft.kind === "figure") boxes.show(value.page, value.box);
  parts.yaml.value = writeEntry(draft, value, parts.by.value.trim() || "YOUR NAME", parts.note.value.trim());
  parts.yaml.rows = parts.yaml.value.split("\n").length;
  startText();
  const text = getPreview(value);
  parts.preview.replaceChildren(...renderInline(text, (index) => document.createTextNode(`[IMAGE${index}]`)));
  const isFigure = draft.kind === "figure";
  const box = isFigure ? value.box : draft.shown?.box;
  showCrop(isFigure ? value.page : draft.shown?.page, box, isFigure ? 0 : MARGIN);
}

function getPreview(value) {
  if (draft.kind === "formula") return `$${value}$`;
  if (draft.kind === "choices") return writeChoices(value);
  return value.text ?? (typeof value === "string" ? value : "");
}

function showCrop(page, box, margin) {
  parts.crop.replaceChildren();
  const isWhole = box?.length === 4 && box.every(Number.isFinite) && box[0] < box[2] && box[1] < box[3];
  if (!isWhole || !document.querySelector(`#sheet${Number(page)}`)) return;
  const svg = document.createElementNS(SVG, "svg");
  const width = box[2] - box[0] + 2 * margin;
  const height = box[3] - box[1] + 2 * margin;
  svg.setAttribute("viewBox", `${box[0] - margin} ${box[1] - margin} ${width} ${height}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `page ${page}, the place in print`);
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#sheet${Number(page)}`);
  svg.append(use);
  parts.crop.append(svg);
}

async function copyText(area) {
  try {
    await navigator.clipboard.writeText(area.value);
  } catch {
    area.select();
    document.execCommand("copy");
  }
}

async function ask(method, body) {
  try {
    const response = await fetch("/api/corrections", {
      method,
      headers: body ? { "Content-Type": "application/json", "X-CSRF-Token": server.token } : {},
      body: body ? JSON.stringify(body) : undefined,
      signal: AbortSignal.timeout(LONGEST_MS),
    });
    const data = await response.json().catch(() => ({})); // another server's page
    return { status: response.status, data };
  } catch {
    const unsure = body ? " to see whether your entry was saved" : "";
    return { status: 0, data: { message: `The server did not answer: reload the page${unsure}.` } };
  }
}

/** Ask for the file that entries are saved in; pages opened from disk have none. */
async function connect() {
  if (!location.protocol.startsWith("http")) return;
  const { status, data } = await ask("GET");
  if (status !== 200) {
    if (data.message)
      document.querySelector("main").prepend(make("p", { class: "wrong", role: "alert" }, data.message));
    return;
  }
  server = data;
  document.body.classList.add("served");
}

async function saveEntry() {
  const by = parts.by.value.trim();
  if (!by) {
    say("Give your name.", true);
    parts.by.focus();
    return;
  }
  const pairs = listPairs(draft, readValue(), by, parts.note.value.trim());
  const body = { entry: Object.fromEntries(pairs), version: server.version, replaced };
  const { status, data } = await ask("POST", body);
  if (status === 201) {
    server.version = data.version;
    opener.classList.add("kept");
    kept.hidden = false;
    const text = `${draft.title}: line ${data.line} of ${server.file}`;
    kept.querySelector("ul").append(make("li", {}, text));
    dialog.close();
    return;
  }
  if (data.reason === "changed") {
    replaced = [];
    await connect();
    say(`${data.message}. Save again to add your entry to the changed file.`, true);
  } else if (data.reason === "place") {
    replaced = data.lines;
    const entries = replaced.length > 1 ? `Lines ${replaced.join(", ")}` : `Line ${replaced[0]}`;
    const words = replaced.length > 1 ? ["correct", "them"] : ["corrects", "it"];
    say(`${entries} of ${server.file} ${words[0]} the same place. Save again to replace ${words[1]}.`, true);
  } else say(data.message ?? `The server did not accept it (status ${status}).`, true);
}

function keepEntry() {
  keptText.value = (keptText.value || "corrections:\n") + parts.yaml.value;
  keptText.rows = Math.min(20, keptText.value.split("\n").length);
  kept.hidden = false;
  opener?.classList.add("kept");
  dialog.close();
}

function rememberName() {
  try {
    localStorage.setItem("omibench-corrector", parts.by.value);
  } catch {
    // Some browsers have no storage for pages on disk.
  }
}

function recallName() {
  try {
    return localStorage.getItem("omibench-corrector") ?? "";
  } catch {
    return "";
  }
}

/** Go to the next or previous place of a kind: a doubt, or the figure of a problem. */
function goTo(selector, step) {
  const places = [...document.querySelectorAll(selector)];
  if (!places.length) return;
  const current = places.indexOf(document.activeElement?.closest(selector));
  const place = current < 0 && step < 0 ? -1 : current + step;
  const next = places[(place + places.length) % places.length];
  next.scrollIntoView({ block: "center" });
  next.querySelector("button").focus({ preventScroll: true });
}

connect();
parts.by.value = recallName();
dialog.addEventListener("input", showAll);
parts.by.addEventListener("change", rememberName);
dialog.addEventListener("close", () => opener?.focus());
document.addEventListener("click", async (event) => {
  const element = event.target.closest("[data-correct], [data-do]");
  if (!element) return;
  if (element.dataset.correct) openDialog(element);
  else if (element.dataset.do === "close") dialog.close();
  else if (element.dataset.do === "save") await saveEntry();
  else if (element.dataset.do === "keep") keepEntry();
  else {
    await copyText(element.dataset.do === "copy" ? parts.yaml : keptText);
    if (element.dataset.do === "copy") say("copied");
  }
});
dialog.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && server) saveEntry();
});
document.addEventListener("keydown", (event) => {
  const element = event.target.closest("[data-correct]");
  const isPressed = event.key === "Enter" || event.key === " ";
  if (isPressed && element && element.tagName !== "BUTTON") {
    event.preventDefault();
    openDialog(element);
  }
  const isTyping = event.target.closest("input:not([type=checkbox]), textarea, dialog");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "n") goTo(".doubtful", 1);
  if (event.key === "p") goTo(".doubtful", -1);
  if (event.key === "f") goTo("figure.crop", 1);
  if (event.key === "F") goTo("figure.crop", -1);
});
