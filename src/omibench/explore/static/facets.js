// The filters next to the grid: models, settings, and item attributes with counts.

import { showText } from "./web/unseen.js";
import { make } from "./web/dom.js";

const MOST = 8;

/**
 * The groups of filters.
 * @param {Object} study
 * @param {URLSearchParams} address
 * @param {(name: string, value: string) => void} toggle
 */
export function renderFacets(study, address, toggle) {
  const columns = [
    ["models", "Models", study.models],
    ["settings", "Settings", study.settings],
  ].map(([name, title, entries]) => ({
    name,
    title,
    values: entries.map((entry) => ({ value: entry.name, label: entry.label })),
  }));
  const facets = study.facets.map((facet) => ({
    name: `is.${facet.name}`,
    title: facet.title,
    values: facet.values.map(({ value, count }) => ({ value, label: value, count })),
  }));
  return [...facets, ...columns]
    .filter((group) => group.values.length > 1)
    .map((group) => makeGroup(group, address.getAll(group.name), toggle));
}

function makeGroup(group, chosen, toggle) {
  const most = Math.max(...group.values.map(({ count }) => count ?? 0));
  const rows = group.values.map((entry, index) =>
    makeChoice(group, entry, chosen.includes(entry.value), index >= MOST, most, toggle),
  );
  const list = make("ul", {}, ...rows);
  const hidden = rows.filter((row) => row.hidden);
  const more = make(
    "button",
    { type: "button", class: "quiet small", on: { click: showAll } },
    `${hidden.length} more`,
  );
  function showAll() {
    for (const row of hidden) row.hidden = false;
    hidden[0].querySelector("input").focus();
    more.remove();
  }
  const details = make(
    "details",
    { class: "facet", open: true },
    make(
      "summary",
      {},
      group.title,
      chosen.length ? make("span", { class: "tag" }, String(chosen.length)) : null,
    ),
    list,
    hidden.length ? more : null,
  );
  return details;
}

function makeChoice(group, entry, isChosen, isLate, most, toggle) {
  const box = make("input", {
    type: "checkbox",
    checked: isChosen,
    data: { facet: group.name, value: entry.value },
    on: { change: () => toggle(group.name, entry.value) },
  });
  const count = entry.count === undefined ? null : String(entry.count);
  const row = make(
    "li",
    { hidden: isLate && !isChosen },
    make(
      "label",
      { title: entry.label },
      box,
      make("span", { class: "facet-label" }, ...showText(entry.label)),
      count ? make("span", { class: "facet-count" }, count) : null,
    ),
  );
  if (count) {
    const bar = make("span", { class: "facet-bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * entry.count) / most}%`;
    row.append(bar);
  }
  return row;
}
