// Content of a paragraph: formulas, picture marks, emphasis, code, text.

import { showText } from "./unseen.js";
import { make } from "./dom.js";
import { renderMath } from "./math.js";

const DELIMITERS = [
  ["$$", "$$", true],
  ["\\[", "\\]", true],
  ["\\(", "\\)", false],
];
const BOX = "\\boxed{"; // models also write it without delimiters
const LONGEST_BOX = 2_000;
const ENVIRONMENT = /\\begin\{([a-zA-Z]{1,20}\*?)\}/y;
const PICTURE = /\[IMAGE(\d{1,4})\]/y;
const SPECIAL = /[\\$[`*]/g;

/**
 * The nodes of one paragraph.
 * @param {string} text
 * @param {(index: number) => Node} placePicture Creates the picture of a mark.
 */
export function renderInline(text, placePicture, depth = 0) {
  const nodes = [];
  const missing = new Set(); // closing delimiters not found in the rest
  let plain = "";
  const flush = () => {
    if (plain) nodes.push(...showText(plain));
    plain = "";
  };
  let position = 0;
  while (position < text.length) {
    SPECIAL.lastIndex = position;
    const match = SPECIAL.exec(text);
    const start = match ? match.index : text.length;
    plain += text.slice(position, start);
    if (!match) break;
    const token = readToken(text, start, missing, placePicture, depth);
    if (token) {
      if (token.plain !== undefined) plain += token.plain;
      else {
        flush();
        nodes.push(token.node);
      }
      position = token.end;
    } else {
      plain += text[start];
      position = start + 1;
    }
  }
  flush();
  return nodes;
}

/**
 * The nodes of a text with its pictures below it: each mark remains in the text, and the pictures
 * form a row after it. A text that contains only marks becomes the row.
 */
export function renderWithPictures(text, placePicture) {
  const nodes = renderInline(text, placePicture);
  const figures = nodes.filter(isFigure);
  if (!figures.length) return { nodes, row: null };
  const hasText = nodes.some((node) => !isFigure(node) && node.textContent.trim());
  const words = nodes.map((node) => (isFigure(node) ? makeMark(node.dataset.mark) : node));
  return { nodes: hasText ? words : [], row: make("span", { class: "figures" }, ...figures) };
}

function isFigure(node) {
  return node.nodeType === Node.ELEMENT_NODE && node.classList.contains("figure");
}

function makeMark(mark) {
  return make("span", { class: "picture-mark" }, mark);
}

function readToken(text, start, missing, placePicture, depth) {
  const sign = text[start];
  if (sign === "[") return readPicture(text, start, placePicture);
  if (sign === "`") return readCode(text, start, missing);
  if (sign === "*") return readEmphasis(text, start, missing, placePicture, depth);
  if (text.startsWith("\\$", start)) return { plain: "$", end: start + 2 };
  for (const [open, close, isDisplay] of DELIMITERS) {
    if (text.startsWith(open, start)) {
      const end = findUnescaped(text, close, start + open.length, missing);
      if (end < 0) return open === "$$" ? { plain: "$$", end: start + 2 } : null;
      const source = text.slice(start + open.length, end);
      const whole = text.slice(start, end + close.length);
      return { node: renderMath(source, isDisplay, whole), end: end + close.length };
    }
  }
  if (sign === "$") return readDollars(text, start, missing);
  return text.startsWith(BOX, start) ? readBox(text, start) : readEnvironment(text, start, missing);
}

/**
 * `$x$`, and `$ x $` if it looks like a formula. No digit follows it, so that prices stay text.
 */
function readDollars(text, start, missing) {
  const end = findUnescaped(text, "$", start + 1, missing);
  if (end < 0 || /\d/.test(text[end + 1] ?? "")) return null;
  const source = text.slice(start + 1, end);
  const isLoose = /^\s|\s$/.test(source);
  if (isLoose && !/[\\^_={}]/.test(source)) return null;
  return { node: renderMath(source, false, `$${source}$`), end: end + 1 };
}

function readBox(text, start) {
  const limit = Math.min(text.length, start + LONGEST_BOX);
  let depth = 0;
  for (let end = start + BOX.length - 1; end < limit; end += 1) {
    if (text[end] === "\\") end += 1;
    else if (text[end] === "{") depth += 1;
    else if (text[end] === "}") depth -= 1;
    if (depth === 0) {
      const whole = text.slice(start, end + 1);
      return { node: renderMath(whole, false, whole), end: end + 1 };
    }
  }
  return null;
}

function readEnvironment(text, start, missing) {
  ENVIRONMENT.lastIndex = start;
  const match = ENVIRONMENT.exec(text);
  if (!match) return null;
  const close = `\\end{${match[1]}}`;
  const end = find(text, close, ENVIRONMENT.lastIndex, missing);
  if (end < 0) return null;
  const whole = text.slice(start, end + close.length);
  return { node: renderMath(whole, true, whole), end: end + close.length };
}

function readPicture(text, start, placePicture) {
  PICTURE.lastIndex = start;
  const match = PICTURE.exec(text);
  return match && { node: placePicture(Number(match[1])), end: PICTURE.lastIndex };
}

function readCode(text, start, missing) {
  const end = find(text, "`", start + 1, missing);
  if (end < 0) return null;
  return { node: make("code", {}, ...showText(text.slice(start + 1, end))), end: end + 1 };
}

function readEmphasis(text, start, missing, placePicture, depth) {
  const mark = text.startsWith("**", start) ? "**" : "*";
  const from = start + mark.length;
  if (depth > 2 || /[\s*]/.test(text[from] ?? " ")) return null;
  if (mark === "*" && /[\p{L}\p{N})]/u.test(text[start - 1] ?? " ")) return null;
  const end = find(text, mark, from, missing);
  if (end < 0 || /\s/.test(text[end - 1])) return null;
  const children = renderInline(text.slice(from, end), placePicture, depth + 1);
  return { node: make(mark === "*" ? "em" : "strong", {}, ...children), end: end + mark.length };
}

function find(text, close, from, missing) {
  if (missing.has(close)) return -1;
  const end = text.indexOf(close, from);
  if (end < 0) missing.add(close);
  return end;
}

function findUnescaped(text, close, from, missing) {
  let end = find(text, close, from, missing);
  while (close[0] === "$" && end > 0 && text[end - 1] === "\\") {
    end = find(text, close, end + 1, missing);
  }
  return end;
}
