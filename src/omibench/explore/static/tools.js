// The tools above the grid: search, ready filters, order, scorer, and active filters.

import { replaceValues, toggleValue } from "./address.js";
import { showText } from "./web/unseen.js";
import { make, makeId, makeKey } from "./web/dom.js";

const ORDERS = {
  dataset: "Dataset order",
  hardest: "Hardest first",
  easiest: "Easiest first",
  disputed: "Most disputed first",
};
const FIELDS = {
  question: "question",
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
  const ready = study.ready.map(({ name, title, needs }) => ({
    value: name,
    label: needs ? `${title} (needs ${needs})` : title,
    isOff: Boolean(needs),
  }));
  const selects = [
    makeSelect("Filter", "ready", [{ value: "", label: "All items" }, ...ready], address, change),
    address.get("ready") === "only"
      ? makeSelect("Model", "model", [{ value: "", label: "any" }, ...list(study.models)], address, change)
      : null,
    makeSelect("Order", "order", study.orders.map(nameOrder), address, change),
    study.rules.length > 1
      ? makeSelect("Scorer", "rules", study.rules.map((rules) => nameRules(rules, study)), address, change)
      : null,
  ].filter((node, i) => node && (i === 1 || i === 3 || node.querySelectorAll("option").length > 1));
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
    placeholder: "Search items",
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
    else if (name === "ready") {
      const ready = study.ready.find((entry) => entry.name === value);
      add("Filter", ready?.title ?? value, replaceValues(address, name, []));
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
