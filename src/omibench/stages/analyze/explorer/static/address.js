// The address of a page contains all choices of the user, as a permalink. On a page that opens from
// disk, they are behind the `#`.

import { pageData } from "./data.js";

const PLACES = ["offset", "column"]; // of a grid page; changing a filter resets them

/** The query of this page's address, or the response that its anchor MODEL@SETTING@SAMPLE names. */
export function readAddress() {
  if (!pageData) return new URLSearchParams(location.search);
  const text = location.hash.slice(1);
  const [model, setting] = text.split("@");
  return new URLSearchParams(setting ? `cells=${model}/${setting}` : text);
}

/** The sample that the anchor names. */
export function readSample() {
  return Number(location.hash.split("@")[2] ?? 0);
}

/** The address with other values of a name; an empty list removes the name. */
export function replaceValues(address, name, values) {
  const next = new URLSearchParams(address);
  next.delete(name);
  for (const value of values) next.append(name, value);
  if (!PLACES.includes(name)) for (const place of PLACES) next.delete(place);
  return next;
}

/** The address with a value of a list toggled. */
export function toggleValue(address, name, value) {
  const values = address.getAll(name);
  const next = values.includes(value) ? values.filter((v) => v !== value) : [...values, value];
  return replaceValues(address, name, next);
}

/** The page of a problem. */
export function linkItem(id, address, cells = []) {
  const query = new URLSearchParams(address);
  for (const name of ["cells", "limit", ...PLACES]) query.delete(name);
  for (const cell of cells) query.append("cells", nameCell(cell));
  if (pageData) return `${pageData.files[id] ?? ""}#${query}`;
  return `/items/${encodeURIComponent(id)}${joinQuery(query)}`;
}

/** The page of the grid, with the filter of an item page. */
export function linkGrid(address) {
  if (pageData) return "../index.html";
  const query = new URLSearchParams(address);
  query.delete("cells");
  return `/${joinQuery(query)}`;
}

/** A query with its question mark; empty without parameters. */
export function joinQuery(query) {
  const text = query.toString();
  return text ? `?${text}` : "";
}

/** A cell as written in addresses. */
export function nameCell(cell) {
  return `${cell.model}/${cell.setting}`;
}
