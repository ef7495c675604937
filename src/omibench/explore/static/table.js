// The grid: one row per item, one column per cell.

import { linkItem } from "./address.js";
import { showText } from "./web/unseen.js";
import { make } from "./web/dom.js";
import { makeVerdict, wordVerdict } from "./web/verdicts.js";

const FIRST_MARKS = 3_000; // rendered immediately
const MORE_MARKS = 1_500;
const whenIdle = globalThis.requestIdleCallback ?? ((work) => setTimeout(work, 10));

/**
 * The table of a page of items.
 * @param {Object} page The response of `/api/items`.
 * @param {Object} labels Labels of models and settings by name.
 * @param {URLSearchParams} address
 */
export function renderTable(page, labels, address) {
  const { cells } = page;
  const body = make("tbody");
  const table = make(
    "table",
    {
      class: cells.length ? "grid" : "grid alone",
      role: "grid",
      "aria-label": "Verdicts of items (rows) under models and settings (columns)",
      "aria-rowcount": String(page.total + 2),
      "aria-colcount": String(page.columns + 2),
    },
    makeHead(cells, labels),
    body,
  );
  table.style.setProperty("--count", String(cells.length));
  addRows(body, page, address, FIRST_MARKS);
  return table;
}

/** Add rows with a number of marks; the others follow when idle. */
function addRows(body, page, address, marks) {
  const from = body.rows.length;
  const to = from + Math.max(1, Math.ceil(marks / Math.max(1, page.cells.length)));
  const items = page.items.slice(from, to);
  body.append(...items.map((item, i) => makeRow(item, from + i, page, address)));
  if (to < page.items.length) {
    whenIdle(() => (from === 0 || body.isConnected) && addRows(body, page, address, MORE_MARKS));
  }
}

function makeHead(cells, labels) {
  const groups = [];
  for (const cell of cells) {
    if (groups.at(-1)?.model === cell.model) groups.at(-1).count += 1;
    else groups.push({ model: cell.model, count: 1 });
  }
  const name = (key) => showText(labels[key] ?? key);
  const models = groups.map(({ model, count }) => {
    const span = make("span", { class: count > 2 ? "flat" : "steep" }, ...name(model));
    span.style.setProperty("--columns", String(count));
    const title = labels[model] ?? model;
    const colspan = String(count);
    return make("th", { colspan, scope: "colgroup", class: "model first", title }, span);
  });
  const settings = cells.map((cell, i) =>
    make(
      "th",
      { scope: "col", class: isFirst(cells, i) ? "setting first" : "setting", title: labels[cell.setting] ?? cell.setting },
      make("span", { class: "steep" }, ...name(cell.setting)),
    ),
  );
  const item = make("th", { rowspan: "2", scope: "col", class: "item-head" }, "Item");
  const right = cells.length
    ? make("th", { rowspan: "2", scope: "col", class: "right-head", title: "Cells with a verdict of at least one half, of those with a verdict" }, "Right")
    : null;
  const top = make("tr", { class: "models" }, item, right, ...models);
  return make("thead", {}, top, make("tr", { class: "settings" }, ...settings));
}

function isFirst(cells, index) {
  return cells[index - 1]?.model !== cells[index].model;
}

function makeRow(item, index, page, address) {
  const { cells } = page;
  const link = make(
    "a",
    { href: linkItem(item.id, address), class: "item-link", tabindex: "-1" },
    ...showText(item.id),
  );
  const facts = [item.subject, `${item.n_images} ${item.n_images === 1 ? "image" : "images"}`];
  const head = make(
    "th",
    { scope: "row", class: "item", role: "rowheader", tabindex: "-1" },
    link,
    make("span", { class: "snippet", dir: "auto" }, ...showText(item.snippet)),
    make(
      "span",
      { class: "row-facts" },
      ...showText(facts.join(" · ")),
      item.gold ? make("span", { class: "gold", title: "Gold" }, ...showText(item.gold)) : null,
    ),
  );
  const marks = cells.map((cell, i) =>
    make(
      "td",
      {
        class: isFirst(cells, i) ? "first" : "",
        tabindex: "-1",
        role: "gridcell",
        "aria-label": wordVerdict(item.verdicts[i], item.failed[i]),
        data: { column: String(i) },
      },
      makeVerdict(item.verdicts[i], item.failed[i], false),
    ),
  );
  const count = cells.length
    ? make("td", { class: "right-count", role: "gridcell" }, make("b", {}, String(item.right)), `/${item.asked}`)
    : null;
  return make(
    "tr",
    { "aria-rowindex": String(page.offset + index + 3), data: { row: String(index) } },
    head,
    count,
    ...marks,
  );
}

/**
 * The cells shown when a verdict is opened: its own, and one with the other verdict.
 */
export function chooseCells(item, cells, column) {
  const isRight = (i) => item.verdicts[i] >= 0.5;
  const has = (i) => item.verdicts[i] !== null;
  const others = cells.map((_, i) => i).filter((i) => i !== column && has(i));
  const opposite = others.filter((i) => isRight(i) !== isRight(column));
  const near = (list) => list.find((i) => cells[i].setting === cells[column].setting) ?? list[0];
  const other = near(opposite) ?? near(others);
  return [column, other].filter((i) => i !== undefined).map((i) => cells[i]);
}

/** Shows the cell under the pointer or focus. */
export function describeCell(page, labels, row, column) {
  const item = page.items[row];
  const cell = page.cells[column];
  if (!item || !cell) return "";
  const verdict = wordVerdict(item.verdicts[column], item.failed[column]);
  return `${labels[cell.model] ?? cell.model} · ${labels[cell.setting] ?? cell.setting} · ${item.id}: ${verdict}`;
}

