// Elements from plain values. Text becomes text nodes and is never parsed as markup.

/**
 * Make an element.
 * @param {string} tag
 * @param {Object} properties `class`, `on` (listeners by event), `data` (dataset) or attributes;
 *   null and false omit an attribute, true sets it empty.
 * @param {...(Node|string|null)} children
 */
export function make(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "data") {
      Object.assign(node.dataset, value);
    } else if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name === "class" ? "class" : name, value === true ? "" : String(value));
    }
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** Let keys scroll a box sideways, but only while it is wider than its place. */
export function watchOverflow(box) {
  const observer = new ResizeObserver(() => {
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
  for (const node of [box, ...box.children]) observer.observe(node);
  return box;
}

let count = 0;

/** An id that is unique on the page. */
export function makeId(prefix) {
  count += 1;
  return `${prefix}-${count}`;
}

/** The label of a keyboard shortcut. */
export function makeKey(key) {
  return make("kbd", { "aria-hidden": "true" }, key === " " ? "Space" : key);
}
