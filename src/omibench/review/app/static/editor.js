// A text area with a live preview: formulas and pictures as dataset users see them.

import { make } from "./web/dom.js";
import { showDifference } from "./web/diff.js";
import { makeProse } from "./web/prose.js";

const DELAY_MS = 120;
const TALLEST_PX = 260; // so that text and preview are visible together

/** An editor of one text. If it starts from a part of the task, it is closed until opened. */
export class Editor {
  constructor({ field, start, id, pictures, onChange }) {
    Object.assign(this, { field, pictures, onChange });
    this.isEdit = Boolean(field.edits);
    this.start = normalise(start);
    this.area = make("textarea", {
      "aria-labelledby": id,
      dir: "auto",
      rows: this.isEdit ? 6 : 2,
      maxlength: 200000,
      spellcheck: "true",
    });
    this.preview = make("div", { class: "preview", "aria-live": "off" });
    this.area.value = this.start;
    this.area.addEventListener("input", () => this.update());
    this.root = make("div", { class: "editor" });
    this.status = make("span", { class: "muted small", role: "status" });
    if (this.isEdit) this.buildEdit();
    else this.root.append(this.area, this.preview);
    this.resize();
    this.draw();
  }

  buildEdit() {
    this.opener = make(
      "button",
      { type: "button", class: "small", on: { click: () => this.open(true) } },
      this.start ? "Correct it" : "Write it",
    );
    this.restore = make(
      "button",
      { type: "button", class: "quiet small", hidden: true, on: { click: () => this.undo() } },
      "Restore the original text",
    );
    this.changes = make(
      "button",
      {
        type: "button",
        class: "quiet small",
        "aria-pressed": "false",
        hidden: true,
        on: { click: () => this.toggleChanges() },
      },
      "Show changes",
    );
    this.box = make(
      "div",
      { class: "editor-box", hidden: !this.field.required },
      this.area,
      make("div", { class: "preview-title" }, "Preview", this.changes, this.restore),
      this.preview,
    );
    this.opener.hidden = this.field.required;
    this.root.append(this.opener, this.status, this.box);
  }

  get text() {
    return normalise(this.area.value);
  }

  open(withFocus = false) {
    if (!this.box || !this.box.hidden) return;
    this.box.hidden = false;
    this.opener.hidden = true;
    this.resize();
    if (withFocus) this.area.focus({ preventScroll: true });
    this.root.parentElement.scrollIntoView({ block: "start" });
  }

  setText(text) {
    this.area.value = text;
    if (this.isEdit && this.text !== this.start) this.open();
    this.resize();
    this.draw();
  }

  setStart(text) {
    this.start = normalise(text);
    this.setText(this.start);
    if (this.start) this.open();
  }

  undo() {
    this.setText(this.start);
    this.onChange();
    this.area.focus();
  }

  toggleChanges() {
    const isPressed = this.changes.getAttribute("aria-pressed") === "true";
    this.changes.setAttribute("aria-pressed", String(!isPressed));
    this.draw();
  }

  update() {
    this.resize();
    this.onChange();
    clearTimeout(this.timeout);
    this.timeout = setTimeout(() => this.draw(), DELAY_MS);
  }

  resize() {
    this.area.style.height = "auto";
    if (this.area.scrollHeight)
      this.area.style.height = `${Math.min(this.area.scrollHeight + 2, TALLEST_PX)}px`;
  }

  draw() {
    const { text } = this;
    const isChanged = this.isEdit && text !== this.start;
    if (this.restore) {
      this.restore.hidden = !isChanged;
      this.changes.hidden = !isChanged || !this.start;
      this.status.textContent = isChanged ? "Changed" : "";
    }
    const showsChanges = isChanged && this.changes.getAttribute("aria-pressed") === "true";
    const isPlain = !this.isEdit && !/[$\\[`*]/.test(text);
    this.preview.hidden = isPlain || !text.trim();
    if (this.preview.hidden) this.preview.replaceChildren();
    else
      this.preview.replaceChildren(
        showsChanges ? showDifference(this.start, text) : makeProse(text, this.pictures),
      );
  }
}

function normalise(text) {
  return text.replace(/\r\n?/g, "\n");
}
