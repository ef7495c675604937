// Keyboard shortcuts of a page, and the overlay that lists them.

import { make, makeKey } from "./web/dom.js";

const TYPING = "textarea, select, input:not([type=radio]):not([type=checkbox])";

/**
 * Listen to keys, except during typing or in dialogs.
 * @param {Object[]} shortcuts `keys`, `title`, `act(event)`; an `act` that returns false leaves the
 *   key to the browser.
 */
export function listenToKeys(shortcuts) {
  const all = [
    ...shortcuts,
    { keys: ["?"], title: "Show keyboard shortcuts", act: () => openOverlay(all) },
  ];
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]"))
      return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches?.(TYPING)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const shortcut = all.find(({ keys }) => keys.includes(event.key));
    if (shortcut && shortcut.act(event) !== false) event.preventDefault();
  });
}

function openOverlay(shortcuts) {
  const rows = shortcuts.map(({ keys, title }) =>
    make(
      "tr",
      {},
      make("td", {}, ...keys.flatMap((key, i) => [i ? " " : null, makeKey(nameKey(key))])),
      make("td", {}, title),
    ),
  );
  const close = make(
    "button",
    { type: "button", on: { click: () => dialog.close() } },
    "Close ",
    makeKey("Esc"),
  );
  const dialog = make(
    "dialog",
    { class: "keys", "aria-labelledby": "keys-title" },
    make("div", { class: "headline" }, make("h2", { id: "keys-title" }, "Keys"), close),
    make("table", {}, make("tbody", {}, ...rows)),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function nameKey(key) {
  const arrows = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→" };
  return arrows[key] ?? key;
}
