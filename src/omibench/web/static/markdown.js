// The Markdown used in dataset texts: paragraphs, headings, lists, tables, code, formulas.
// List marks and single line breaks are kept: reviewers judge the text as written.

import { showText } from "./unseen.js";
import { make } from "./dom.js";
import { startText } from "./math.js";
import { renderInline, renderWithPictures } from "./inline.js";

const LONGEST = 100_000;
const MOST_CELLS = 50;
const ITEM = /^(\s{0,8})([-*+•]|\(?[0-9a-zA-Z]{1,3}[.)])\s+(\S.*)$/;
const FENCE = /^\s{0,3}```\s*([\w+-]{0,20})\s*$/; // a line with anything else is text
const OPENERS = [
  ["$$", "$$"],
  ["\\[", "\\]"],
];

/**
 * A text as nodes.
 * @param {string} text
 * @param {(index: number) => Node} placePicture Creates the picture of a mark `[IMAGEi]`.
 */
export function renderMarkdown(text, placePicture) {
  startText();
  const fragment = document.createDocumentFragment();
  const lines = text.slice(0, LONGEST).replace(/\r\n?/g, "\n").split("\n");
  const unclosed = new Set();
  let paragraph = [];
  const flush = () => {
    if (paragraph.length) fragment.append(...makeParagraph(paragraph.join("\n"), placePicture));
    paragraph = [];
  };
  for (let number = 0; number < lines.length;) {
    const line = lines[number];
    const end = findBlockEnd(lines, number, unclosed);
    if (end > number) {
      paragraph.push(...lines.slice(number, end));
      number = end;
      continue;
    }
    const block = readBlock(lines, number, placePicture);
    if (block || !line.trim()) flush();
    if (block) fragment.append(block.node);
    else if (line.trim()) paragraph.push(line);
    number = block ? block.end : number + 1;
  }
  flush();
  if (text.length > LONGEST) fragment.append(showRest(text.slice(LONGEST)));
  return fragment;
}

function makeParagraph(text, placePicture) {
  const { nodes, row } = renderWithPictures(text, placePicture);
  return [nodes.length ? make("p", {}, ...nodes) : null, row].filter(Boolean);
}

function showRest(rest) {
  const button = make(
    "button",
    { type: "button" },
    `Show ${rest.length.toLocaleString("en")} more characters as plain text`,
  );
  button.addEventListener("click", () => button.replaceWith(make("pre", {}, ...showText(rest))));
  return button;
}

/** The line after a formula that starts a line and ends on a later one; otherwise the same line. */
function findBlockEnd(lines, number, unclosed) {
  const line = lines[number].trimStart();
  const environment = /^\\begin\{([a-zA-Z]{1,20}\*?)\}/.exec(line);
  const pair = environment
    ? [environment[0], `\\end{${environment[1]}}`]
    : OPENERS.find(([open]) => line.startsWith(open));
  if (!pair || line.includes(pair[1], pair[0].length) || unclosed.has(pair[1])) return number;
  for (let next = number + 1; next < lines.length; next += 1) {
    if (lines[next].includes(pair[1])) return next + 1;
  }
  unclosed.add(pair[1]);
  return number;
}

function readBlock(lines, number, placePicture) {
  const line = lines[number];
  if (FENCE.test(line)) return readFence(lines, number);
  const heading = /^(#{1,6})\s+(\S.*)$/.exec(line);
  if (heading) {
    const node = make("p", { class: "heading" }, ...renderInline(heading[2], placePicture));
    return { node, end: number + 1 };
  }
  if (line.includes("|") && isRule(lines[number + 1]))
    return readTable(lines, number, placePicture);
  const item = ITEM.exec(line);
  if (!item) return null;
  let end = number + 1;
  const body = [item[3]];
  while (end < lines.length && /^\s{2,}\S/.test(lines[end]) && !ITEM.test(lines[end])) {
    body.push(lines[end].trim());
    end += 1;
  }
  const { nodes, row } = renderWithPictures(body.join("\n"), placePicture);
  const node = make(
    "div",
    { class: item[1].length > 1 ? "item nested" : "item" },
    make("span", { class: "marker" }, item[2]),
    make("div", {}, ...nodes, row),
  );
  return { node, end };
}

function readFence(lines, number) {
  let end = number + 1;
  while (end < lines.length && !/^\s{0,3}```\s*$/.test(lines[end])) end += 1;
  const [, language] = FENCE.exec(lines[number]);
  const head = language ? make("span", { class: "tag block" }, language) : null;
  const node = make("pre", {}, head, ...showText(lines.slice(number + 1, end).join("\n")));
  return { node, end: end + 1 };
}

function splitRow(line) {
  const cells = line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|");
  return cells.length > MOST_CELLS
    ? [...cells.slice(0, MOST_CELLS - 1), cells.slice(MOST_CELLS - 1).join("|")]
    : cells;
}

function isRule(line) {
  return (
    line !== undefined &&
    line.includes("-") &&
    splitRow(line).every((cell) => /^\s*:?-+:?\s*$/.test(cell))
  );
}

function readTable(lines, number, placePicture) {
  const readRow = (line, tag) =>
    make(
      "tr",
      {},
      ...splitRow(line).map((cell) => make(tag, {}, ...renderInline(cell.trim(), placePicture))),
    );
  let end = number + 2;
  const rows = [];
  while (end < lines.length && lines[end].includes("|")) rows.push(readRow(lines[end++], "td"));
  const head = make("thead", {}, readRow(lines[number], "th"));
  const table = make("table", {}, head, make("tbody", {}, ...rows));
  return { node: make("div", { class: "scroll" }, table), end };
}
