// The grid: one row per problem, one column per cell. Large ones draw only what is in view.

import { linkItem } from "./address.js";
import { markWords } from "./mark.js";
import { MEASURES, makeSort, writeMeasure } from "./numbers.js";
import { findRange } from "./virtual.js";
import { renderInline } from "./web/inline.js";
import { startText } from "./web/math.js";
import { showText } from "./web/unseen.js";
import { make } from "./web/dom.js";
import { makeVerdict, wordVerdict } from "./web/verdicts.js";

const WHOLE = 3_000; // cells up to which everything is drawn
const MARK_WIDTH = 26; // as in the style sheet
const FIELDS = { rationale: "Rationale", extracted: "Extracted answer", response: "Response" };
const HEADS = [
  ["Problem", "id", "id"],
  ["Subject", "subject", "-subject"],
  ["Images", "-images", "images"],
];

/** The table of a page of problems. */
export class Grid {
  /**
   * @param {Object} page The response of `/api/items`.
   * @param {Object} labels Labels of models and settings by name.
   * @param {URLSearchParams} address
   * @param {(order: string) => void} sort Shows the problems in another order.
   */
  constructor(page, labels, address, sort) {
    Object.assign(this, { page, labels, address, sort });
    this.measures = Object.keys(MEASURES).filter((name) => page.items.some((item) => typeof item[name] === "number"));
    this.isWhole = page.items.length * (page.cells.length + 6) <= WHOLE;
    this.words = address.get("search") ?? "";
    this.rows = new Map();
    const { cells } = page;
    const cols = make(
      "colgroup",
      {},
      make("col", { class: "col-item" }),
      ...(cells.length ? [make("col", { class: "col-right" })] : []),
      ...this.measures.map(() => make("col", { class: "col-measure" })),
      cells.length ? make("col", { class: "col-mark", span: String(cells.length) }) : null,
    );
    this.table = make(
      "table",
      {
        class: cells.length ? "grid" : "grid alone",
        role: "grid",
        "aria-label": "Verdicts of problems (rows) under models and settings (columns)",
        "aria-rowcount": String(page.total + 2),
        "aria-colcount": String(page.columns + 2 + this.measures.length),
      },
      cols,
      make("thead"),
      make("tbody"),
    );
    this.node = make("div", { class: "plane" }, this.table);
    this.node.style.setProperty("--count", String(cells.length));
    this.node.style.setProperty("--measures", String(this.measures.length));
  }

  /** Draw what is in view; again after it was scrolled. */
  draw() {
    this.view ??= this.node.parentElement;
    const { items, cells } = this.page;
    let rows = [0, items.length];
    let columns = [0, cells.length];
    if (!this.isWhole) {
      const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.view;
      this.rowHeight ??= parseFloat(getComputedStyle(this.node).getPropertyValue("--row"));
      rows = findRange(scrollTop, clientHeight, this.rowHeight, items.length);
      if (!this.columns) this.drawHead([0, Math.min(1, cells.length)]); // for the widths below
      columns = findRange(scrollLeft - this.fixed, clientWidth - this.itemWidth, MARK_WIDTH, cells.length);
    }
    const hasFocus = this.table.contains(document.activeElement);
    if (String(columns) !== String(this.columns)) this.drawHead(columns);
    else if (String(rows) === String(this.range)) return;
    this.range = rows;
    const shown = new Map();
    for (let i = rows[0]; i < rows[1]; i += 1) shown.set(i, this.rows.get(i) ?? this.makeRow(items[i], i));
    this.rows = shown;
    this.table.tBodies[0].replaceChildren(...shown.values());
    if (!this.isWhole) {
      this.table.style.marginTop = `${rows[0] * this.rowHeight}px`;
      this.node.style.height = `${this.table.tHead.offsetHeight + items.length * this.rowHeight}px`;
    }
    this.afterDraw?.(hasFocus);
  }

  /** Draw the heads of a range of columns, and measure those that are always there. */
  drawHead(columns) {
    const { table } = this;
    const count = columns[1] - columns[0];
    this.columns = columns;
    this.rows.clear();
    table.querySelector(".col-mark")?.setAttribute("span", String(Math.max(1, count)));
    table.style.setProperty("--shown", String(count));
    table.style.marginLeft = `${columns[0] * MARK_WIDTH}px`;
    table.tHead.replaceChildren(...this.makeHead());
    const [first, ...others] = table.tHead.rows[0].querySelectorAll(":scope > [rowspan]");
    this.itemWidth = first.offsetWidth;
    this.fixed = others.reduce((sum, head) => sum + head.offsetWidth, 0);
    const models = table.tHead.rows[0].getBoundingClientRect();
    table.style.setProperty("--models-height", `${models.height}px`); // where the second row sticks
  }

  /** Scroll so that a cell is drawn; column -1 is the problem itself. */
  reveal(row, column) {
    if (this.isWhole) return;
    const { view, rowHeight } = this;
    const head = this.table.tHead.offsetHeight;
    const top = row * rowHeight;
    if (top < view.scrollTop) view.scrollTop = top;
    else if (top + rowHeight + head > view.scrollTop + view.clientHeight) view.scrollTop = top + rowHeight + head - view.clientHeight;
    if (column >= 0) {
      const left = this.fixed + column * MARK_WIDTH;
      const width = view.clientWidth - this.itemWidth - MARK_WIDTH;
      if (left < view.scrollLeft) view.scrollLeft = left;
      else if (left > view.scrollLeft + width) view.scrollLeft = left - width;
    }
    this.draw();
  }

  findCell(row, column) {
    const node = this.table.tBodies[0].querySelector(`tr[data-row="${row}"]`);
    return column < 0 ? node?.querySelector("th") : node?.querySelector(`[data-column="${column}"]`);
  }

  makeHead() {
    const { cells } = this.page;
    const [from, to] = this.columns;
    const name = (key) => showText(this.labels[key] ?? key);
    const groups = [];
    for (const { model } of cells.slice(from, to)) {
      if (groups.at(-1)?.model === model) groups.at(-1).count += 1;
      else groups.push({ model, count: 1 });
    }
    const models = groups.map(({ model, count }) => {
      const span = make("span", { class: count > 2 ? "flat" : "steep" }, ...name(model));
      span.style.setProperty("--columns", String(count));
      return make("th", { colspan: String(count), scope: "colgroup", class: "model first", title: this.labels[model] ?? model }, span);
    });
    const settings = cells.slice(from, to).map((cell, i) => {
      const label = this.labels[cell.setting] ?? cell.setting;
      const what = `${this.labels[cell.model] ?? cell.model} · ${label}`;
      const text = make("span", { class: "steep" }, ...showText(label));
      const order = `${cell.model}/${cell.setting}`;
      const head = this.makeSorted(isFirst(cells, from + i) ? "setting first" : "setting", [[text, order, `-${order}`, what]]);
      head.dataset.head = String(from + i);
      return head;
    });
    const item = this.makeSorted("item-head", HEADS.map(([title, ...orders]) => [title, ...orders, title === "Problem" ? "id" : title.toLowerCase()]), 2);
    const right = cells.length
      ? this.makeSorted("right-head", [["Right", "hardest", "easiest", "cells with a verdict of at least one half, of those with a verdict"]], 2)
      : null;
    const measures = this.measures.map((measure) => {
      const [title, what] = MEASURES[measure];
      return this.makeSorted("measure-head", [[title, `-${measure}`, measure, `${what} of a response, on average over the columns`]], 2);
    });
    return [
      make("tr", { class: "models" }, item, right, ...measures, ...models),
      make("tr", { class: "settings" }, ...settings),
    ];
  }

  /** A heading with buttons; each turns to its first order, its second one, and that of the dataset. */
  makeSorted(name, buttons, rowspan = 1) {
    const current = this.address.get("order") ?? "dataset";
    let state = null;
    const nodes = buttons.map(([title, first, second, what]) => {
      const isFalling = (order) => order.startsWith("-") !== ["easiest"].includes(order);
      const order = current === first || current === second ? (isFalling(current) ? "descending" : "ascending") : null;
      state ??= order;
      const next = { [first]: second, [second]: "dataset" }[current] ?? first;
      return makeSort(title, what, order, () => this.sort(next));
    });
    return make("th", { scope: "col", class: name, rowspan: rowspan > 1 ? String(rowspan) : null, "aria-sort": state }, ...nodes);
  }

  makeRow(item, index) {
    const { cells } = this.page;
    const [from, to] = this.columns;
    const place = 2 + (cells.length ? 1 : 0) + this.measures.length;
    const marks = cells.slice(from, to).map((_, i) => {
      const column = from + i;
      const [verdict, failed] = [item.verdicts[column], item.failed[column]];
      return make(
        "td",
        {
          class: isFirst(cells, column) ? "first" : "",
          tabindex: "-1",
          role: "gridcell",
          "aria-colindex": String(place + column),
          "aria-label": wordVerdict(verdict, failed),
          data: { column: String(column) },
        },
        makeVerdict(verdict, failed, false),
      );
    });
    return make(
      "tr",
      { "aria-rowindex": String(this.page.offset + index + 3), data: { row: String(index) } },
      make("th", { scope: "row", class: "item", role: "rowheader", tabindex: "-1", "aria-colindex": "1" }, this.makeItem(item)),
      cells.length ? make("td", { class: "right-count", role: "gridcell", "aria-colindex": "2" }, make("b", {}, String(item.right)), `/${item.asked}`) : null,
      ...this.measures.map((name, i) =>
        make("td", { class: "measure", role: "gridcell", "aria-colindex": String(3 + i) }, writeMeasure(name, item[name])),
      ),
      ...marks,
    );
  }

  makeItem(item) {
    const link = make("a", { href: linkItem(item.id, this.address), class: "item-link", tabindex: "-1" }, ...showText(item.id));
    const facts = [item.subject, `${item.n_images} ${item.n_images === 1 ? "image" : "images"}`];
    const snippet = makeExcerpt(item.hit?.text ?? item.snippet, "snippet");
    if (item.hit) markWords(snippet, this.words);
    const words = make(
      "div",
      { class: "item-words" },
      make("div", { class: "item-title" }, link, item.hit ? this.linkHit(item) : null),
      snippet,
      make(
        "span",
        { class: "row-facts" },
        ...showText(facts.join(" · ")),
        ...item.tags.map((tag) => make("span", { class: "tag user-tag" }, ...showText(tag))),
        item.gold ? make("span", { class: "gold", title: "Gold answer" }, makeExcerpt(item.gold)) : null,
      ),
    );
    const pictures = item.thumbnails.map((src) => make("img", { src, alt: "", loading: "lazy", class: "thumbnail" }));
    return make("div", { class: "item-box" }, words, pictures.length ? make("div", { class: "thumbnails" }, ...pictures) : null);
  }

  /** A link to the response with the searched words, which says where they are. */
  linkHit({ id, hit }) {
    if (hit.field === "question") return null;
    const cell = hit.model ? [{ model: hit.model, setting: hit.setting }] : [];
    const where = [FIELDS[hit.field], ...cell.flatMap(({ model, setting }) => [this.labels[model] ?? model, this.labels[setting] ?? setting])];
    return make("a", { class: "hit", href: linkItem(id, this.address, cell), tabindex: "-1" }, ...showText(where.join(" · ")));
  }
}

/** A text in one line, with its formulas set. */
function makeExcerpt(text, name = "") {
  startText();
  const mark = (index) => make("span", { class: "picture-mark" }, `[IMAGE${index}]`);
  return make("span", { class: `excerpt ${name}`, dir: "auto" }, ...renderInline(text, mark));
}

function isFirst(cells, index) {
  return cells[index - 1]?.model !== cells[index].model;
}

/** The cells shown when a verdict is opened: its own, and one with the other verdict. */
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
