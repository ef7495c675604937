// The form of a task, made from the declaration of its kind.

import { showText } from "./web/unseen.js";
import { make } from "./web/dom.js";
import { makeControl } from "./fields.js";

/** All fields of a kind, and the one that receives keys. */
export class Form {
  /**
   * @param {Object[]} fields Declarations.
   * @param {Object} context `pictures`, `steps` (texts), `showStep(index)`, `onChange()`, and `edited`:
   *   names of parts shown with another person's edits, whose text is always sent.
   */
  constructor(fields, context) {
    this.onChange = context.onChange;
    this.listeners = {};
    this.active = null;
    const shared = {
      ...context,
      change: (control) => this.change(control),
      activate: (control) => this.mark(control),
      onChoice: (name, listener) => (this.listeners[name] ??= []).push(listener),
    };
    this.controls = fields.map((field) => makeControl(field, shared));
    this.byName = new Map(this.controls.map((control) => [control.field.name, control]));
    this.root = make("div", { class: "fields" }, ...this.groupControls());
    this.ask();
  }

  groupControls() {
    const nodes = [];
    let group = null;
    for (const control of this.controls) {
      if (!control.field.group) nodes.push(control.root);
      else {
        if (group?.dataset.group !== control.field.group) {
          group = make(
            "section",
            { class: "group", data: { group: control.field.group } },
            make("h3", {}, ...showText(control.field.group)),
          );
          nodes.push(group);
        }
        group.append(control.root);
      }
    }
    return nodes;
  }

  /** The answers to the visible fields. */
  read() {
    const asked = this.controls.filter((control) => control.isAsked);
    return Object.fromEntries(asked.map((control) => [control.field.name, control.read()]));
  }

  write(values) {
    for (const [name, value] of Object.entries(values ?? {})) {
      const control = this.byName.get(name);
      if (!control) continue;
      control.write(value);
      this.tell(control);
      control.write(value); // a choice may have replaced its text
    }
    this.ask();
  }

  change(control) {
    this.tell(control);
    this.ask();
    this.onChange();
  }

  tell(control) {
    for (const listener of this.listeners[control.field.name] ?? []) listener(control.read());
  }

  ask() {
    for (const control of this.controls) control.setAsked(this.isAsked(control.field));
  }

  isAsked(field) {
    if ((field.type === "choice" || field.type === "choices") && !field.options.length)
      return false;
    if (!field.when) return true;
    const [name, wanted] = field.when;
    const other = this.byName.get(name);
    const values = other?.isAsked ? [other.read()].flat() : [];
    return values.some((value) =>
      wanted.some((text) => text.toLowerCase() === String(value).toLowerCase()),
    );
  }

  /** Mark and return the first required field without an answer, or null. */
  findGap() {
    const gap = this.controls.find(
      (control) => control.isAsked && control.field.required && !control.isAnswered,
    );
    if (!gap) return null;
    this.showProblem(gap.field.name, "Needs an answer.");
    return gap;
  }

  showProblem(name, message) {
    const control = this.byName.get(name);
    if (!control) return false;
    control.showProblem(message);
    this.activate(control);
    return true;
  }

  markDifferences(names) {
    for (const name of names) {
      const control = this.byName.get(name);
      if (control) control.badge.hidden = false;
    }
  }

  mark(control) {
    if (this.active === control) return;
    this.active?.root.classList.remove("active");
    this.active = control;
    control?.root.classList.add("active");
    if (control?.mark) control.mark(control.current);
  }

  activate(control, isAtStart = false) {
    if (!control) return;
    this.mark(control);
    control.activate?.();
    control.focusTarget?.focus({ preventScroll: true });
    if (!isAtStart) control.root.scrollIntoView({ block: "nearest" });
  }

  /** Activate the first field without an answer; texts only if there are no others. */
  start() {
    const asked = this.controls.filter((control) => control.isAsked);
    const picked = asked.filter((control) => control.field.type !== "text");
    this.activate(picked.find((control) => !control.isAnswered) ?? picked[0] ?? asked[0], true);
  }

  /** Handle a key; return whether a field used it. */
  press(key) {
    const controls = this.controls.filter((control) => control.isAsked);
    const target = [this.active, ...controls].find(
      (control) =>
        control &&
        controls.includes(control) &&
        (control === this.active ? control.press(key) : control.pressAnywhere(key)),
    );
    if (target) {
      this.mark(target);
      if (target.isComplete) this.activate(this.findNext(target));
      return true;
    }
    const named = controls.find((control) => control.field.key === key);
    this.activate(named);
    return Boolean(named);
  }

  findNext(control) {
    const controls = this.controls.filter((candidate) => candidate.isAsked);
    const next = controls[controls.indexOf(control) + 1];
    return next && next.field.type !== "text" ? next : control;
  }
}
