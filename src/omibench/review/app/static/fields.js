// One control for each type of field. A control reads and sets one value, and handles keys.

import { Control, showHelp } from "./control.js";
import { showText } from "./web/unseen.js";
import { make, makeKey } from "./web/dom.js";
import { Editor } from "./editor.js";
import { makeShort } from "./web/prose.js";

/** `choice` (radio buttons) and `choices` (check boxes). */
class OptionsControl extends Control {
  constructor(field, context) {
    super(field, context);
    this.isMany = field.type === "choices";
    this.inputs = field.options.map((option) =>
      make("input", {
        type: this.isMany ? "checkbox" : "radio",
        name: this.id,
        value: option.value,
        on: { change: () => this.change() },
      }),
    );
    const hasHelp = field.options.some((option) => option.help);
    const isShort =
      (!this.isMany || field.isMain) && !hasHelp && field.options.every((option) => option.title.length < 24);
    const labels = field.options.map((option, i) =>
      make(
        "label",
        { class: "option" },
        this.inputs[i],
        make(
          "span",
          {},
          make("bdi", {}, ...showText(option.title)),
          option.help ? make("span", { class: "help" }, ...showText(option.help)) : null,
        ),
        option.key ? makeKey(option.key) : null,
      ),
    );
    this.labels = labels;
    this.build(
      "fieldset",
      make("div", { class: isShort ? "options short" : "options" }, ...labels),
    );
    if (!field.narrowed_by) return;
    this.narrow(null);
    context.onChoice(field.narrowed_by, (value) => this.narrow(value));
  }

  /** Offer the options of one subject, with new digits; "none fits" is chosen if it is alone. */
  narrow(subject) {
    let digit = 0;
    const offered = this.field.options.filter((option, i) => {
      const isOffered = !option.subjects.length || option.subjects.includes(subject);
      this.labels[i].hidden = !isOffered;
      if (!isOffered) this.inputs[i].checked = false;
      if (option.subjects.length) {
        if (isOffered) digit += 1;
        option.key = isOffered && digit < 10 ? String(digit) : "";
        this.labels[i].querySelector("kbd")?.remove();
        if (option.key) this.labels[i].append(makeKey(option.key));
      }
      return isOffered;
    });
    if (offered.length === 1 && subject) this.write(offered[0].value);
  }

  get focusTarget() {
    return this.inputs.find((input) => input.checked) ?? this.inputs[0];
  }

  read() {
    const values = this.inputs.filter((input) => input.checked).map((input) => input.value);
    return this.isMany ? values : (values[0] ?? null);
  }

  write(value) {
    const values = new Set([value].flat());
    this.inputs.forEach((input, i) => {
      input.checked = values.has(input.value);
      if (input.checked) this.labels[i].hidden = false;
    });
  }

  press(key) {
    const index = this.field.options.findIndex((option) => option.key === key);
    if (index < 0) return false;
    const input = this.inputs[index];
    input.checked = this.isMany ? !input.checked : true;
    input.focus();
    this.change();
    this.isComplete = !this.isMany;
    return true;
  }
}

/** `rating`: one button for each number of the scale. */
class RatingControl extends OptionsControl {
  constructor(field, context) {
    const [low, high] = field.scale;
    const options = Array.from({ length: high - low + 1 }, (_, i) => ({
      value: String(low + i),
      title: String(low + i),
      key: "",
      help: "",
    }));
    super({ ...field, type: "rating", options }, context);
    this.root.querySelector(".options").title = `Digits ${low} to ${high}`;
  }

  read() {
    const value = super.read();
    return value === null ? null : Number(value);
  }

  write(value) {
    super.write(value === null || value === undefined ? [] : String(value));
  }

  press(key) {
    if (!/^\d$/.test(key)) return false;
    const input = this.inputs.find((candidate) => candidate.value === key);
    this.isComplete = Boolean(input);
    if (input) {
      input.checked = true;
      input.focus();
      this.change();
    }
    return true;
  }

  pressAnywhere() {
    return false;
  }
}

/** `flag`: true or false. */
class FlagControl extends Control {
  constructor(field, context) {
    super(field, context);
    this.input = make("input", { type: "checkbox", on: { change: () => this.change() } });
    const title = make("span", { class: "field-title" }, ...showText(field.title));
    const help = field.help ? make("span", { class: "help" }, ...showHelp(field.help)) : null;
    const key = field.key ? makeKey(field.key) : null;
    this.root = make("div", { class: "field field-flag", data: { field: field.name } });
    this.root.append(
      make(
        "label",
        { class: "option" },
        this.input,
        make("span", {}, title, this.badge, help),
        ...[key].filter(Boolean),
      ),
      this.message,
    );
    this.root.addEventListener("focusin", () => context.activate(this));
  }

  get focusTarget() {
    return this.input;
  }

  read() {
    return this.input.checked;
  }

  write(value) {
    this.input.checked = value === true;
  }

  get isAnswered() {
    return true;
  }

  press(key) {
    if (key !== this.field.key) return false;
    this.input.checked = !this.input.checked;
    this.input.focus();
    this.change();
    this.isComplete = false;
    return true;
  }
}

/** `steps`: one option for each step of the response. */
class StepsControl extends Control {
  constructor(field, context) {
    super(field, context);
    this.current = 0;
    this.rows = context.steps.map((text, index) => this.makeRow(text, index));
    const legend = make(
      "p",
      { class: "help" },
      ...field.options.flatMap((option) => [makeKey(option.key), ` ${option.title}  `]),
      "for the step in the frame; ",
      makeKey("Backspace"),
      " goes back.",
    );
    this.build(
      "fieldset",
      legend,
      make("div", { class: "step-rows" }, ...this.rows.map((row) => row.root)),
    );
  }

  makeRow(text, index) {
    const inputs = this.field.options.map((option) =>
      make("input", {
        type: "radio",
        name: `${this.id}-${index}`,
        value: option.value,
        "aria-label": `Step ${index + 1}: ${option.title}`,
        on: { change: () => this.change(), focus: () => this.mark(index) },
      }),
    );
    const labels = this.field.options.map((option, i) =>
      make("label", { class: "option" }, inputs[i], make("span", {}, option.title)),
    );
    const root = make(
      "div",
      { class: "step-row" },
      make("span", { class: "number" }, String(index + 1)),
      make("div", { class: "step-text" }, makeShort(text, this.context.pictures)),
      make("div", { class: "options short" }, ...labels),
    );
    return { root, inputs };
  }

  get focusTarget() {
    const inputs = this.rows[this.current]?.inputs ?? [];
    return inputs.find((input) => input.checked) ?? inputs[0];
  }

  mark(index) {
    this.current = index;
    this.rows.forEach((row, i) => row.root.classList.toggle("current", i === index));
    this.context.showStep(index);
  }

  read() {
    return this.rows.map((row) => row.inputs.find((input) => input.checked)?.value ?? null);
  }

  write(value) {
    this.rows.forEach((row, i) => {
      for (const input of row.inputs)
        input.checked = Array.isArray(value) && input.value === value[i];
    });
  }

  get isAnswered() {
    return this.read().every((value) => value !== null);
  }

  press(key) {
    this.isComplete = false;
    if (key === "Backspace" && this.current > 0) {
      this.goTo(this.current - 1);
      return true;
    }
    const index = this.field.options.findIndex((option) => option.key === key);
    if (index < 0 || !this.rows.length) return false;
    this.rows[this.current].inputs[index].checked = true;
    this.change();
    if (this.current + 1 < this.rows.length) this.goTo(this.current + 1);
    else this.isComplete = true;
    return true;
  }

  goTo(index) {
    this.mark(index);
    this.focusTarget.focus();
  }
}

/** `text`: a line, or an editor with a preview if it starts from a part of the task. */
class TextControl extends Control {
  constructor(field, context) {
    super(field, context);
    this.start = typeof field.start === "string" ? field.start : null;
    this.editor = new Editor({
      field,
      start: this.start ?? "",
      id: `${this.id}-title`,
      pictures: context.pictures,
      onChange: () => this.change(),
    });
    this.build("div", this.editor.root);
    if (field.starts)
      context.onChoice(field.starts_by, (value) => this.offer(field.starts[value] ?? ""));
  }

  get focusTarget() {
    return this.editor.area;
  }

  /** Start from another text, unless the person has already written one. */
  offer(text) {
    if (this.start !== null && this.editor.text !== this.start && this.editor.text.trim()) return;
    this.start = text;
    this.editor.setStart(text);
  }

  /** Null if the text is unchanged: untouched texts are not submitted. */
  read() {
    const text = this.editor.text;
    const isOfTask = this.field.edits && !this.context.edited.has(this.field.edits);
    const isUntouched = isOfTask && text === (this.start ?? "");
    return isUntouched || !text.trim() ? null : text;
  }

  write(value) {
    if (typeof value === "string") this.editor.setText(value);
  }

  get isAnswered() {
    return Boolean(this.editor.text.trim());
  }

  press() {
    return false;
  }

  activate() {
    this.editor.open();
  }
}

const CONTROLS = {
  choice: OptionsControl,
  choices: OptionsControl,
  rating: RatingControl,
  flag: FlagControl,
  steps: StepsControl,
  text: TextControl,
};

/** The control of a field. */
export function makeControl(field, context) {
  return new CONTROLS[field.type](field, context);
}
