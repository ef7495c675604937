// The address of a page holds everything that a reader chose: a permalink.

const PLACES = ["offset", "column"]; // of a page of the grid; another filter begins at the first

/** What the address of this page says. */
export function readAddress() {
  return new URLSearchParams(location.search);
}

/** The address with other values of a name; an empty list takes the name out. */
export function replaceValues(address, name, values) {
  const next = new URLSearchParams(address);
  next.delete(name);
  for (const value of values) next.append(name, value);
  if (!PLACES.includes(name)) for (const place of PLACES) next.delete(place);
  return next;
}

/** The address with a value of a list put in, or taken out where it is there. */
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

/** A query with its question mark; nothing where it is empty. */
export function joinQuery(query) {
  const text = query.toString();
  return text ? `?${text}` : "";
}

/** A cell as addresses name it. */
export function nameCell(cell) {
  return `${cell.model}/${cell.setting}`;
}
