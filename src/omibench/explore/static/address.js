// The address of a page contains all choices of the user, as a permalink.

const PLACES = ["offset", "column"]; // of a grid page; changing a filter resets them

/** The query of this page's address. */
export function readAddress() {
  return new URLSearchParams(location.search);
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

/** The page of an item. */
export function linkItem(id, address, cells = []) {
  const query = new URLSearchParams(address);
  for (const name of ["cells", "limit", ...PLACES]) query.delete(name);
  for (const cell of cells) query.append("cells", nameCell(cell));
  return `/items/${encodeURIComponent(id)}${joinQuery(query)}`;
}

/** The page of the grid, with the filter of an item page. */
export function linkGrid(address) {
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
