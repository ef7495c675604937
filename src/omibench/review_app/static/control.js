// What all controls of a form share.

import { showText } from "./web/unseen.js";
import { make, makeId, makeKey } from "./web/dom.js";
import { renderInline } from "./web/inline.js";

/** A sentence of help; code in it is shown as code. */
export const showHelp = (text) =>
  renderInline(text, (index) => document.createTextNode(`[IMAGE${index}]`));

/** What all controls share: a heading, a place for a message, whether it is asked now. */
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
      field.required ? null : make("span", { class: "muted small" }, " optional"),
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

  /** Answer to a key while the field is active; whether it did. */
  press() {
    return false;
  }

  /** Answer to a key that belongs to this field alone. */
  pressAnywhere(key) {
    return this.press(key);
  }

  get isAnswered() {
    const value = this.read();
    return value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
  }
}
