// The filters next to the grid, with counts under the other filters.

import { showText } from "./web/unseen.js";
import { make } from "./web/dom.js";

const MOST = 8;
const SIDES = [
  ["right", "✓", "right"],
  ["wrong", "✗", "wrong"],
];
const closed = new Set(); // titles of groups
const whole = new Set();

/**
 * The groups of filters.
 * @param {Object} study
 * @param {Object} counts By name of the address and value; empty before the first page.
 * @param {URLSearchParams} address
 * @param {(name: string, value: string) => void} toggle
 */
export function renderFacets(study, counts, address, toggle) {
  const ready = study.ready.map(({ name, title, needs }) => ({ value: name, label: title, needs }));
  const columns = [
    ["models", "Models", study.models],
    ["settings", "Settings", study.settings],
  ].map(([name, title, entries]) => ({
    name,
    title,
    sides: study.rules.length > 0,
    values: entries.map((entry) => ({ value: entry.name, label: entry.label })),
  }));
  const tags = [...new Set([...Object.keys(counts.tags ?? {}), ...address.getAll("tags")])].sort();
  const facets = study.facets.map((facet) => ({
    name: `is.${facet.name}`,
    title: facet.title,
    values: facet.values.map(({ value, count }) => ({ value, label: value, count })),
  }));
  const groups = [
    { name: "ready", title: "Ready-made filters", values: ready, all: true },
    ...columns,
    { name: "tags", title: "Tags", values: tags.map((value) => ({ value, label: value })), one: true },
    ...facets,
  ];
  return groups
    .filter((group) => group.values.length > (group.one ? 0 : 1))
    .map((group) => makeGroup(group, counts[group.name], address, toggle));
}

function makeGroup(group, counts, address, toggle) {
  const chosen = address.getAll(group.name);
  const values = group.values.map((entry) => ({ ...entry, count: counts ? (counts[entry.value] ?? 0) : entry.count }));
  const most = Math.max(1, ...values.map(({ count }) => count ?? 0));
  const isOpen = group.all || whole.has(group.title) || values.length <= MOST + 1;
  const sides = (value) => SIDES.some(([name]) => address.getAll(name).includes(value));
  const rows = values.map((entry, index) => {
    const isChosen = chosen.includes(entry.value) || sides(entry.value);
    const row = makeChoice(group, { ...entry, isChosen: chosen.includes(entry.value) }, most, address, toggle);
    row.hidden = !isOpen && index >= MOST && !isChosen;
    return row;
  });
  const hidden = rows.filter((row) => row.hidden);
  const more = make("button", { type: "button", class: "quiet small", on: { click: showAll } }, `${hidden.length} more`);
  function showAll() {
    whole.add(group.title);
    for (const row of hidden) row.hidden = false;
    hidden[0].querySelector("input").focus();
    more.remove();
  }
  const hint = group.sides ? make("p", { class: "facet-hint" }, "Check to show. ✓ ✗: problems that it got right, wrong.") : null;
  const details = make(
    "details",
    { class: "facet", open: !closed.has(group.title) },
    make("summary", {}, group.title, chosen.length ? make("span", { class: "tag" }, String(chosen.length)) : null),
    hint,
    make("ul", {}, ...rows),
    hidden.length ? more : null,
  );
  details.addEventListener("toggle", () => (details.open ? closed.delete(group.title) : closed.add(group.title)));
  return details;
}

function makeChoice(group, entry, most, address, toggle) {
  const box = make("input", {
    type: "checkbox",
    checked: entry.isChosen,
    disabled: Boolean(entry.needs),
    data: { facet: group.name, value: entry.value },
    on: { change: () => toggle(group.name, entry.value) },
  });
  const hasCount = entry.count !== undefined && !entry.needs;
  const label = make(
    "label",
    { title: entry.needs ? `${entry.label}: needs ${entry.needs}` : entry.label },
    box,
    make("span", { class: "facet-label" }, ...showText(entry.label), entry.needs ? ` (needs ${entry.needs})` : ""),
    hasCount ? make("span", { class: "facet-count" }, entry.count.toLocaleString("en")) : null,
  );
  const sides = group.sides ? SIDES.map((side) => makeSide(side, entry, address, toggle)) : [];
  const isEmpty = (hasCount && !entry.count && !entry.isChosen) || entry.needs;
  const row = make("li", { class: isEmpty ? "is-empty" : "" }, label, ...sides);
  if (hasCount) {
    const bar = make("span", { class: "facet-bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * entry.count) / most}%`;
    row.append(bar);
  }
  return row;
}

/** A button for the problems that a model or setting got right, or wrong. */
function makeSide([name, sign, word], entry, address, toggle) {
  const title = `Only problems that ${entry.label} got ${word}`;
  return make(
    "button",
    {
      type: "button",
      class: `side-choice ${name}`,
      title,
      "aria-label": title,
      "aria-pressed": String(address.getAll(name).includes(entry.value)),
      data: { facet: name, value: entry.value },
      on: { click: () => toggle(name, entry.value) },
    },
    sign,
  );
}
