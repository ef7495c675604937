// Keyboard shortcuts of the page, disabled during typing.

import { make, makeKey } from "./web/dom.js";

const TYPING = "textarea, select, input:not([type=radio]):not([type=checkbox])";
const STORED = "single-keys";

/**
 * Listen to keys.
 * @param {Object<string, () => void>} actions By key; `Ctrl+Enter` also works during typing.
 * @param {(key: string) => boolean} press Handles any other key in the form.
 */
export function listenToKeys(actions, press) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]"))
      return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      actions["Ctrl+Enter"]();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches?.(TYPING)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const isArrow = event.key.startsWith("Arrow");
    if (isArrow && event.target.matches?.("input")) return; // arrows move within radio buttons
    if (event.key === "?") return void actions["?"](event.preventDefault());
    if (!areSingleKeysOn() || event.key === "Enter" || event.key === " " || event.key === "Tab")
      return;
    const action = actions[event.key];
    if (action) action();
    else if (!press(event.key)) return;
    event.preventDefault();
  });
}

/** Whether keys without Ctrl are enabled; users can disable them. */
export function areSingleKeysOn() {
  return localStorage.getItem(STORED) !== "off";
}

/** The overlay with all keys of a task; before the own answer it has no comment. */
export function openKeys(kind, asksFirst = false) {
  const general = [
    ["j", "next task (or →)"],
    ["k", "previous task (or ←)"],
    ...(asksFirst
      ? [["Enter", "send your answer"]]
      : [
          ["Ctrl+Enter", "send the decision"],
          ["/", "write a comment"],
        ]),
    ["Page Down", "scroll the task; Page Up: back"],
    ["+", "enlarge the first picture; again: larger"],
    ["Esc", "leave a text, close a picture"],
    ["Tab", "next field or button"],
    ["?", "these keys"],
  ];
  const fields = kind.fields.flatMap((field) => [
    ...(field.key
      ? [[field.key, field.type === "flag" ? `${field.title}: yes or no` : `go to: ${field.title}`]]
      : []),
    ...(field.type === "rating"
      ? [[`${field.scale[0]}–${field.scale[1]}`, `${field.title} (while it is active)`]]
      : []),
    ...(field.options ?? [])
      .filter((option) => option.key)
      .map((option) => [option.key, nameOption(field, option)]),
  ]);
  const toggle = make("input", { type: "checkbox" });
  toggle.checked = areSingleKeysOn();
  toggle.addEventListener("change", () =>
    localStorage.setItem(STORED, toggle.checked ? "on" : "off"),
  );
  const dialog = make(
    "dialog",
    { class: "keys", "aria-labelledby": "keys-title" },
    make(
      "div",
      { class: "headline" },
      make("h2", { id: "keys-title" }, "Keys"),
      make(
        "button",
        { type: "button", on: { click: () => dialog.close() } },
        "Close ",
        makeKey("Esc"),
      ),
    ),
    make(
      "div",
      { class: "columns" },
      makeTable("Everywhere", general),
      makeTable(kind.title, fields),
    ),
    make(
      "label",
      { class: "option" },
      toggle,
      make("span", {}, "Use single keys (Ctrl+Enter and Tab always work)"),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function nameOption(field, option) {
  const isSentence = /[?.:]$/.test(field.title);
  return `${field.title}${isSentence ? "" : ":"} ${option.title}`;
}

function makeTable(title, rows) {
  const body = rows.map(([key, text]) =>
    make("tr", {}, make("td", {}, make("kbd", {}, key)), make("td", {}, text)),
  );
  return make("table", {}, make("caption", {}, title), make("tbody", {}, ...body));
}
