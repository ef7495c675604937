// The tools above the grid: search, order, scorer, and active filters.

import { joinQuery, replaceValues, toggleValue } from "./address.js";
import { showText } from "./web/unseen.js";
import { make, makeId, makeKey } from "./web/dom.js";

const ORDERS = {
  dataset: "Dataset order",
  hardest: "Hardest first",
  easiest: "Easiest first",
  disputed: "Most disputed first",
  id: "Id, A to Z",
  "-id": "Id, Z to A",
  subject: "Subject, A to Z",
  "-subject": "Subject, Z to A",
  type: "Answer type, A to Z",
  "-type": "Answer type, Z to A",
  images: "Fewest images first",
  "-images": "Most images first",
  tokens: "Fewest tokens first",
  "-tokens": "Most tokens first",
  cost: "Lowest cost first",
  "-cost": "Highest cost first",
  time: "Fastest first",
  "-time": "Slowest first",
  length: "Shortest responses first",
  "-length": "Longest responses first",
};
const FIELDS = {
  question: "problem",
  response: "response",
  extracted: "extracted answer",
  rationale: "rationale",
};
const DELAY = 250; // milliseconds after the last key of a search

/**
 * The tools.
 * @param {Object} study
 * @param {URLSearchParams} address
 * @param {(next: URLSearchParams, isStep: boolean) => void} go Opens an address; a step is one that
 *   the back button can undo.
 */
export function renderTools(study, address, go) {
  const change = (name) => (value) => go(replaceValues(address, name, value ? [value] : []), true);
  const order = address.get("order") ?? "";
  const orders = study.orders.map(nameOrder);
  if (order.includes("/")) {
    const cell = order.replace(/^-/, "");
    orders.push({ value: order, label: `${cell}, ${order.startsWith("-") ? "right" : "wrong"} first` });
  }
  const selects = [
    address.getAll("ready").includes("only")
      ? makeSelect("Only this model right", "model", [{ value: "", label: "any" }, ...list(study.models)], address, change)
      : null,
    makeSelect("Order", "order", orders, address, change),
    study.rules.length > 1
      ? makeSelect("Scorer", "rules", study.rules.map((rules) => nameRules(rules, study)), address, change)
      : null,
  ];
  return make(
    "form",
    { class: "tools", role: "search", on: { submit: (event) => event.preventDefault() } },
    makeSearch(study, address, go),
    ...selects,
  );
}

function list(entries) {
  return entries.map(({ name, label }) => ({ value: name, label }));
}

function nameOrder(order) {
  return { value: order === "dataset" ? "" : order, label: ORDERS[order] ?? order };
}

function nameRules({ name, title }, study) {
  return { value: name === study.main_rules ? "" : name, label: title };
}

function makeSelect(title, name, options, address, change) {
  const id = makeId("tool");
  const select = make("select", {
    id,
    data: { tool: name },
    on: { change: (event) => change(name)(event.target.value) },
  });
  for (const { value, label, isOff } of options) {
    select.append(make("option", { value, disabled: isOff ?? false }, label));
  }
  select.value = address.get(name) ?? "";
  return make("div", { class: "tool" }, make("label", { for: id }, title), select);
}

function makeSearch(study, address, go) {
  const id = makeId("search");
  const input = make("input", {
    id,
    type: "search",
    class: "search",
    placeholder: "Search problems",
    autocomplete: "off",
    maxlength: "200",
    value: address.get("search") ?? "",
  });
  let timer = 0;
  const search = (isStep) => {
    clearTimeout(timer);
    const words = input.value.trim();
    if (words !== (address.get("search") ?? ""))
      go(replaceValues(address, "search", words ? [words] : []), isStep);
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => search(!address.get("search")), DELAY);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") search(true);
  });
  const chosen = address.getAll("in").length ? address.getAll("in") : ["question"];
  const fields = study.fields.map((field) => {
    const box = make("input", {
      type: "checkbox",
      checked: chosen.includes(field),
      data: { field },
      on: { change: () => go(replaceValues(address, "in", toggleField(chosen, field)), true) },
    });
    return make("label", { class: "field-choice" }, box, FIELDS[field] ?? field);
  });
  return make(
    "div",
    { class: "tool search-tool" },
    make("label", { for: id }, "Search ", makeKey("/")),
    input,
    make("fieldset", { class: "fields" }, make("legend", {}, "in"), ...fields),
  );
}

function toggleField(chosen, field) {
  const next = chosen.includes(field) ? chosen.filter((f) => f !== field) : [...chosen, field];
  return next.length ? next : ["question"];
}

/** Links that download the whole list, as it is filtered and ordered. */
export function renderDownloads(address) {
  const query = new URLSearchParams(address);
  for (const name of ["offset", "column", "limit"]) query.delete(name);
  const link = (form) =>
    make(
      "a",
      { class: "button small", href: `/list.${form}${joinQuery(query)}`, download: `problems.${form}`, title: "Download all problems listed, in this order" },
      form.toUpperCase(),
    );
  return make("span", { class: "downloads" }, make("span", { class: "muted" }, "Download list:"), link("csv"), link("jsonl"));
}

/** The active filters, each with a button to remove it. */
export function renderChips(study, address, go) {
  const chips = [];
  const add = (title, value, next) =>
    chips.push(
      make(
        "button",
        { type: "button", class: "chip", title: "Remove", on: { click: () => go(next, true) } },
        make("span", { class: "muted" }, `${title}: `),
        ...showText(value),
        make("span", { "aria-hidden": "true" }, " ×"),
      ),
    );
  const titles = Object.fromEntries(study.facets.map((f) => [`is.${f.name}`, f.title]));
  const labels = Object.fromEntries([...study.models, ...study.settings].map((e) => [e.name, e.label]));
  for (const [name, value] of address) {
    if (name.startsWith("is.")) add(titles[name] ?? name.slice(3), value, toggleValue(address, name, value));
    else if (name === "models" || name === "settings")
      add(name === "models" ? "Model" : "Setting", labels[value] ?? value, toggleValue(address, name, value));
    else if (name === "search") add("Search", value, replaceValues(address, name, []));
    else if (name === "tags") add("Tag", value, toggleValue(address, name, value));
    else if (name === "right" || name === "wrong")
      add(name === "right" ? "Right" : "Wrong", labels[value] ?? value, toggleValue(address, name, value));
    else if (name === "ready") {
      const ready = study.ready.find((entry) => entry.name === value);
      add("Filter", ready?.title ?? value, toggleValue(address, name, value));
    }
  }
  if (chips.length > 1)
    chips.push(
      make(
        "button",
        { type: "button", class: "quiet small", on: { click: () => go(new URLSearchParams(), true) } },
        "Clear all",
      ),
    );
  return chips;
}
