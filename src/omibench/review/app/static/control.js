// Base class of all form controls.

import { showText } from "./web/unseen.js";
import { make, makeId, makeKey } from "./web/dom.js";
import { renderInline } from "./web/inline.js";

/** Help text with inline code. */
export const showHelp = (text) =>
  renderInline(text, (index) => document.createTextNode(`[IMAGE${index}]`));

/** Base class: a heading, a place for messages, and visibility. */
export class Control {
  constructor(field, context) {
    this.field = field;
    this.context = context;
    this.id = makeId("field");
    this.isAsked = true;
    this.message = make("p", { class: "problem", role: "alert", hidden: true });
    this.badge = make("span", { class: "tag differs", hidden: true }, "people differ");
  }

  build(tag, ...children) {
    const { field } = this;
    const title = make(
      tag === "fieldset" ? "legend" : "div",
      { class: "field-title", id: `${this.id}-title` },
      ...showText(field.title),
      field.required || field.isMain ? null : make("span", { class: "muted small" }, " optional"),
      field.key ? makeKey(field.key) : null,
      this.badge,
    );
    const help = field.help
      ? make("p", { class: "help", id: `${this.id}-help` }, ...showHelp(field.help))
      : null;
    const described = help ? { "aria-describedby": help.id } : {};
    this.root = make(tag, {
      class: `field field-${field.type}`,
      data: { field: field.name },
      ...described,
    });
    this.root.append(title, ...[help].filter(Boolean), ...children, this.message);
    this.root.addEventListener("focusin", () => this.context.activate(this));
    return this.root;
  }

  setAsked(isAsked) {
    this.isAsked = isAsked;
    this.root.hidden = !isAsked;
  }

  showProblem(text) {
    this.message.textContent = text;
    this.message.hidden = !text;
    this.root.classList.toggle("invalid", Boolean(text));
  }

  change() {
    this.showProblem("");
    this.context.change(this);
  }

  /** Handle a key while the field is active; return whether it was used. */
  press() {
    return false;
  }

  /** Handle a key that is unique to this field. */
  pressAnywhere(key) {
    return this.press(key);
  }

  get isAnswered() {
    const value = this.read();
    return value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
  }
}
