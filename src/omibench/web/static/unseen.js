// Invisible characters, shown by their code point so that they neither hide nor reorder text.

import { make } from "./dom.js";

const UNSEEN = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5" +
    "\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0" +
    "\\ufff0-\\ufffc\\ufffe\\uffff\\ud800-\\udfff\\u{e0000}-\\u{e0fff}]",
  "gu",
);
const NAMES = {
  0x200b: "zero-width space",
  0x200c: "zero-width non-joiner",
  0x200d: "zero-width joiner",
  0x200e: "left-to-right mark",
  0x200f: "right-to-left mark",
  0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding",
  0x202c: "end of embedding",
  0x202d: "left-to-right override",
  0x202e: "right-to-left override",
  0x2066: "left-to-right isolate",
  0x2067: "right-to-left isolate",
  0x2069: "end of isolate",
  0xfeff: "byte order mark",
  0x00ad: "soft hyphen",
};

/** Whether a text contains an invisible character. */
export function hasUnseen(text) {
  UNSEEN.lastIndex = 0;
  return UNSEEN.test(text);
}

/** The nodes of a text, with a mark in place of every invisible character. */
export function showText(text) {
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > from) nodes.push(document.createTextNode(text.slice(from, match.index)));
    const code = match[0].codePointAt(0);
    const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
    nodes.push(make("span", { class: "unseen", title: NAMES[code] ?? "invisible character" }, name));
    from = match.index + match[0].length;
  }
  if (from < text.length) nodes.push(document.createTextNode(text.slice(from)));
  return nodes;
}
