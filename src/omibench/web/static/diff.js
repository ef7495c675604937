// Differences between two texts, word by word.

import { showText } from "./unseen.js";
import { make } from "./dom.js";

const MOST_CELLS = 4_000_000;

/**
 * Show the second text with deletions and insertions.
 * @param {number} kept Characters of unchanged text shown next to a change.
 */
export function showDifference(before, after, kept = Infinity) {
  const node = make("div", { class: "difference", dir: "auto" });
  for (const [kind, words] of compareWords(before, after)) {
    const nodes = showText(kind === "same" ? shorten(words.join(""), kept) : words.join(""));
    node.append(...(kind === "same" ? nodes : [make(kind, {}, ...nodes)]));
  }
  return node;
}

function shorten(text, kept) {
  return text.length > 2 * kept + 20 ? `${text.slice(0, kept)} … ${text.slice(-kept)}` : text;
}

/** Runs of `same`, `del` and `ins`, by the longest common subsequence of words. */
function compareWords(before, after) {
  const [first, second] = [splitWords(before), splitWords(after)];
  let start = 0;
  while (start < first.length && start < second.length && first[start] === second[start])
    start += 1;
  let [i, j] = [first.length, second.length];
  while (i > start && j > start && first[i - 1] === second[j - 1]) [i, j] = [i - 1, j - 1];
  const middle = align(first.slice(start, i), second.slice(start, j));
  const runs = [["same", first.slice(0, start)], ...middle, ["same", first.slice(i)]];
  return runs.filter(([, words]) => words.length);
}

function align(first, second) {
  if (first.length * second.length > MOST_CELLS)
    return [
      ["del", first],
      ["ins", second],
    ];
  const width = second.length + 1;
  const lengths = new Uint32Array((first.length + 1) * width);
  for (let i = first.length - 1; i >= 0; i -= 1) {
    for (let j = second.length - 1; j >= 0; j -= 1) {
      const isSame = first[i] === second[j];
      lengths[i * width + j] = isSame
        ? lengths[(i + 1) * width + j + 1] + 1
        : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const runs = [];
  const add = (kind, word) => {
    if (runs.at(-1)?.[0] === kind) runs.at(-1)[1].push(word);
    else runs.push([kind, [word]]);
  };
  let [i, j] = [0, 0];
  while (i < first.length || j < second.length) {
    if (i < first.length && j < second.length && first[i] === second[j]) {
      add("same", first[i]);
      [i, j] = [i + 1, j + 1];
    } else if (
      j >= second.length ||
      (i < first.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])
    ) {
      add("del", first[i]);
      i += 1;
    } else {
      add("ins", second[j]);
      j += 1;
    }
  }
  return runs;
}

function splitWords(text) {
  return text.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [];
}
