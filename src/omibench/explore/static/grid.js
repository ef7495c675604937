// The first page: all problems under all models and settings, filtered, searched and ordered.

import { joinQuery, linkItem, readAddress, replaceValues, toggleValue } from "./address.js";
import { fetchJson, whenWhole } from "./api.js";
import { Cursor } from "./cursor.js";
import { renderFacets } from "./facets.js";
import { listenToKeys } from "./shortcuts.js";
import { Grid, chooseCells, describeCell } from "./table.js";
import { renderChips, renderDownloads, renderTools } from "./tools.js";
import { watchView } from "./virtual.js";
import { showText } from "./web/unseen.js";
import { make } from "./web/dom.js";
import { makeLegend, markInvented } from "./web/verdicts.js";

const main = document.getElementById("main");
const status = document.getElementById("status");
const cursor = new Cursor();
const parts = {
  side: make("aside", { class: "side", id: "side", "aria-label": "Filters" }),
  tools: make("div", { class: "tools-place" }),
  chips: make("div", { class: "chips" }),
  count: make("p", { class: "count-line", role: "status" }),
  downloads: make("div"),
  scroll: make("div", { class: "grid-scroll" }),
  pager: make("nav", { class: "pager", "aria-label": "Pages of problems" }),
};
let study;
let labels = {};
let page;
let grid = null;
let running;

start();

async function start() {
  const asked = fetchPage(readAddress()); // at the same time
  asked.catch(() => {});
  try {
    study = await fetchJson("/api/study");
  } catch (error) {
    showProblem(error);
    return;
  }
  for (const entry of [...study.models, ...study.settings]) labels[entry.name] = entry.label;
  renderBar();
  const content = make(
    "div",
    { class: "grid-content" },
    ...study.unreadable.map((text) => make("p", { class: "notice" }, ...showText(text))),
    parts.tools,
    parts.chips,
    make("div", { class: "count-row" }, parts.count, study.cells.length ? makeLegend() : null, make("span", { class: "space" }), parts.downloads),
    parts.scroll,
    parts.pager,
  );
  main.replaceChildren(parts.side, content);
  parts.scroll.addEventListener("click", openCell);
  for (const event of ["mouseover", "focusin"]) parts.scroll.addEventListener(event, tellCell);
  watchView(parts.scroll, () => grid?.node.isConnected && grid.draw());
  addEventListener("popstate", () => load(true));
  listenToKeys(SHORTCUTS);
  await load(true, asked);
}

function renderBar() {
  const { dataset } = study;
  const facts = [`${dataset.name} ${dataset.version}`, plural(dataset.items, "problem")];
  if (study.cells.length)
    facts.push(
      `${plural(study.models.length, "model")} × ${plural(study.settings.length, "setting")}`,
      plural(study.responses ?? 0, "response"),
    );
  const filters = make(
    "button",
    { type: "button", class: "small side-button", "aria-expanded": "false", "aria-controls": "side" },
    "Filters",
  );
  filters.addEventListener("click", () => {
    const isOpen = document.body.classList.toggle("side-open");
    filters.setAttribute("aria-expanded", String(isOpen));
  });
  const nodes = [
    make("h1", { class: "bar-title" }, "Problems"),
    make("span", { class: "muted bar-facts" }, ...showText(facts.join(" · "))),
    make("span", { class: "space" }),
    ...markInvented(study),
    filters,
  ];
  document.getElementById("bar").append(...nodes);
}

/** Open an address on this page. */
function go(next, isStep) {
  const url = location.pathname + joinQuery(next);
  if (isStep) history.pushState(null, "", url);
  else history.replaceState(null, "", url);
  load(isStep);
}

/** Ask for the page of an address, and drop what was asked before. */
function fetchPage(address) {
  running?.abort();
  running = new AbortController();
  return fetchJson(`/api/items${joinQuery(address)}`, { signal: running.signal });
}

async function load(rendersTools, asked = null) {
  const address = readAddress();
  parts.scroll.setAttribute("aria-busy", "true");
  renderChoices(address, rendersTools);
  try {
    page = await (asked ?? fetchPage(address));
  } catch (error) {
    if (error.name !== "AbortError") showProblem(error);
    return;
  }
  await whenWhole;
  renderPage(address);
}

function renderChoices(address, rendersTools) {
  const focus = document.activeElement;
  const { tool, field } = focus?.dataset ?? {};
  const isSearch = focus?.classList.contains("search");
  const typed = isSearch ? [focus.value, focus.selectionStart] : null;
  renderSide(address);
  parts.tools.replaceChildren(renderTools(study, address, go));
  parts.downloads.replaceChildren(renderDownloads(address));
  parts.chips.replaceChildren(...renderChips(study, address, go));
  if (typed) {
    const input = parts.tools.querySelector(".search");
    if (!rendersTools || input.value === typed[0].trim()) input.value = typed[0];
    input.focus();
    input.setSelectionRange(typed[1], typed[1]);
  } else if (tool) parts.tools.querySelector(`[data-tool="${CSS.escape(tool)}"]`)?.focus();
  else if (field) parts.tools.querySelector(`[data-field="${CSS.escape(field)}"]`)?.focus();
}

/** The filters, whose counts are those of the last page. */
function renderSide(address) {
  const { facet, value } = document.activeElement?.dataset ?? {};
  const scrolled = parts.side.scrollTop;
  const toggle = (name, chosen) => go(toggleSide(readAddress(), name, chosen), true);
  parts.side.replaceChildren(...renderFacets(study, page?.counts ?? {}, address, toggle));
  parts.side.scrollTop = scrolled;
  if (facet)
    parts.side
      .querySelector(`[data-facet="${CSS.escape(facet)}"][data-value="${CSS.escape(value)}"]`)
      ?.focus();
}

/** Toggle a filter; what is right is not wrong as well. */
function toggleSide(address, name, value) {
  const other = { right: "wrong", wrong: "right" }[name];
  const isOther = other && address.getAll(other).includes(value);
  return toggleValue(isOther ? toggleValue(address, other, value) : address, name, value);
}

function renderPage(address) {
  const focused = parts.scroll.contains(document.activeElement) ? document.activeElement : null;
  const sorted = focused?.closest("thead") ? focused.dataset.sort : null;
  renderSide(address);
  const { total, offset, items } = page;
  const rest = study.dataset.items === total ? "" : ` of ${study.dataset.items.toLocaleString("en")}`;
  parts.count.replaceChildren(
    make("b", {}, total.toLocaleString("en")),
    `${rest} ${total === 1 && !rest ? "problem" : "problems"}`,
    items.length < total
      ? `, ${(offset + 1).toLocaleString("en")}–${(offset + items.length).toLocaleString("en")} shown`
      : "",
  );
  const sort = (order) => go(replaceValues(readAddress(), "order", order === "dataset" ? [] : [order]), true);
  grid = new Grid(page, labels, address, sort);
  const left = sorted ? parts.scroll.scrollLeft : 0;
  parts.scroll.replaceChildren(
    items.length ? grid.node : make("p", { class: "empty muted" }, `No matching problems. Remove a filter${address.get("search") ? ", or search in more fields" : ""}.`),
  );
  parts.scroll.removeAttribute("aria-busy");
  if (items.length) {
    parts.scroll.scrollTo(left, 0);
    grid.draw();
  }
  cursor.take(items.length ? grid : null);
  if (sorted) grid.table.tHead.querySelector(`[data-sort="${CSS.escape(sorted)}"]`)?.focus();
  else if (focused && items.length) cursor.focus();
  renderPager();
  document.documentElement.dataset.ready = location.search || "?";
}

function renderPager() {
  const { offset, limit, total, items, column, columns, cells } = page;
  const link = (title, label, isOff, act) =>
    make("button", { type: "button", "aria-label": label, disabled: isOff, on: { click: act } }, title);
  const say = (from, count, of) =>
    make("span", { class: "muted" }, `${(from + 1).toLocaleString("en")}–${(from + count).toLocaleString("en")} of ${of.toLocaleString("en")}`);
  const rows = [
    link("← Previous", "Previous problems", offset === 0, () => turnTo(Math.max(0, offset - limit))),
    say(offset, items.length, total),
    link("Next →", "Next problems", offset + items.length >= total, () => turnTo(offset + items.length)),
  ];
  const across = [
    make("span", { class: "space" }),
    link("←", "Previous columns", column === 0, () => turnColumns(-1)),
    make("span", { class: "muted" }, "Columns "),
    say(column, cells.length, columns),
    link("→", "Next columns", column + cells.length >= columns, () => turnColumns(1)),
  ];
  const isWhole = offset === 0 && items.length >= total;
  const isWide = cells.length < columns;
  parts.pager.hidden = isWhole && !isWide;
  parts.pager.replaceChildren(...(isWhole ? [] : rows), ...(isWide ? across : []));
}

function turnTo(offset) {
  if (offset < 0 || offset >= page.total || offset === page.offset) return false;
  go(replaceValues(readAddress(), "offset", offset ? [String(offset)] : []), true);
  return true;
}

/** Show the columns of the next or the previous page; returns false if there are none. */
function turnColumns(step) {
  const { column, columns, cells } = page;
  const next = step > 0 ? column + cells.length : Math.max(0, column - page.most_columns);
  if (next === column || next >= columns) return false;
  go(replaceValues(readAddress(), "column", next ? [String(next)] : []), true);
  return true;
}

function openCell(event) {
  const target = event.target.closest("tbody td, tbody th");
  if (!target || event.target.closest("a") || getSelection()?.toString()) return;
  openPlace(target, event.ctrlKey || event.metaKey);
}

function openPlace(target, isApart = false) {
  const item = page.items[Number(target.closest("tr").dataset.row)];
  const { column } = target.dataset;
  const isAsked = column !== undefined && item.verdicts[column] !== null;
  const cells = isAsked ? chooseCells(item, page.cells, Number(column)) : [];
  const url = linkItem(item.id, readAddress(), cells);
  if (isApart) open(url, "_blank", "noopener");
  else location.assign(url);
}

function tellCell(event) {
  const cell = event.target.closest("[data-column]");
  const row = cell?.closest("tr").dataset.row;
  const text = cell ? describeCell(page, labels, Number(row), Number(cell.dataset.column)) : "";
  status.textContent = text;
  parts.scroll.querySelector("th.lit")?.classList.remove("lit");
  if (cell) parts.scroll.querySelector(`[data-head="${cell.dataset.column}"]`)?.classList.add("lit");
}

function showProblem(error) {
  const node = make("p", { class: "problem", role: "alert" }, ...showText(error.message));
  if (parts.scroll.isConnected) {
    parts.scroll.replaceChildren(node);
    parts.scroll.removeAttribute("aria-busy");
  } else main.replaceChildren(node);
  document.documentElement.dataset.ready = "problem";
}

function plural(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

const SHORTCUTS = [
  { keys: ["/"], title: "Search", act: () => parts.tools.querySelector(".search").focus() },
  { keys: ["ArrowUp", "k"], title: "Row above", act: () => cursor.move(-1, 0) },
  { keys: ["ArrowDown", "j"], title: "Row below", act: () => cursor.move(1, 0) },
  { keys: ["ArrowLeft", "h"], title: "Column to the left", act: () => cursor.move(0, -1) },
  { keys: ["ArrowRight", "l"], title: "Column to the right", act: () => cursor.move(0, 1) },
  {
    keys: ["Enter"],
    title: "Open the problem, with the model and setting of the column",
    act: (event) => {
      const cell = event.target.closest?.(".grid tbody td, .grid tbody th");
      return cell && !event.target.closest("a") ? openPlace(cell) : false;
    },
  },
  { keys: ["n"], title: "Next page", act: () => turnTo(page.offset + page.items.length) },
  { keys: ["]"], title: "Next columns", act: () => turnColumns(1) },
  { keys: ["["], title: "Previous columns", act: () => turnColumns(-1) },
  { keys: ["p"], title: "Previous page", act: () => turnTo(Math.max(0, page.offset - page.limit)) },
];
