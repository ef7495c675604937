// Numbers of responses, and columns that sort by them.

import { make } from "./web/dom.js";

/** Columns by name: title, what it says, and how a value is written. */
export const MEASURES = {
  tokens: ["Tokens", "output tokens", (value) => Math.round(value).toLocaleString("en")],
  cost: ["Cost", "dollars", (value) => (value ? `$${Number(value.toPrecision(2))}` : "$0")],
  time: ["Time", "seconds", (value) => `${value < 9.95 ? value.toFixed(1) : Math.round(value).toLocaleString("en")} s`],
  length: ["Length", "characters", (value) => Math.round(value).toLocaleString("en")],
};

/** A measure as text; empty if unknown. */
export function writeMeasure(name, value) {
  return typeof value === "number" ? MEASURES[name][2](value) : "";
}

/**
 * A heading that sorts its column.
 * @param {string} title
 * @param {string} what What it sorts by, for its label.
 * @param {"ascending"|"descending"|null} order The current order by this column.
 * @param {() => void} turn
 */
export function makeSort(title, what, order, turn) {
  const arrow = { ascending: " ↑", descending: " ↓" }[order] ?? "";
  const properties = { type: "button", class: "sort", title: `Sort by ${what}`, on: { click: turn } };
  const sign = make("span", { "aria-hidden": "true" }, arrow);
  return make("button", { ...properties, "aria-label": `${typeof title === "string" ? title : what}: sort`, data: { sort: what } }, title, sign);
}
