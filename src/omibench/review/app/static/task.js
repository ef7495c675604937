// The page of one task: content on the left, form on the right, built from the JSON of the page.

import { TaskApi } from "./api.js";
import { openConflict } from "./conflict.js";
import { renderContent } from "./content.js";
import { showText } from "./web/unseen.js";
import { make, makeKey } from "./web/dom.js";
import { Autosave, keepInTab, recallInTab } from "./drafts.js";
import { Form } from "./form.js";
import { explainSecond } from "./history.js";
import { listenToKeys, openKeys } from "./keys.js";
import { describeFailure, sentence } from "./messages.js";
import { listAnswerFields, readOwnAnswer } from "./own_answer.js";
import { asText } from "./parts.js";
import { makeProse } from "./web/prose.js";
import { Pictures } from "./web/pictures.js";
import { formatSeconds, formatTimeLeft, Timer } from "./timer.js";
import { openViewer } from "./web/viewer.js";

const CLAIM_MS = 60_000;
const TIME_MS = 5_000; // measured time must survive a reload

class TaskPage {
  constructor(page) {
    Object.assign(this, page); // task, kind, role, draft, state, history, next, previous, base
    this.api = new TaskApi(page.task.id, page.csrf);
    this.pictures = new Pictures(page.task.pictures ?? []);
    this.isOpen = page.may_decide !== false;
    this.isSending = false;
    this.confirmed = new Set(); // names of doubts that the person was asked about
    this.status = make("span", { class: "muted small", role: "status" });
    this.message = make("p", { class: "problem", role: "alert", hidden: true });
    const person = document.querySelector(".person bdi")?.textContent ?? "";
    this.autosave = new Autosave(
      JSON.stringify([person, page.task.id]),
      (isLast) => this.api.saveDraft(this.readAnswers(), isLast),
      () => this.readAnswers(),
      (state) => this.reportDraft(state),
    );
    this.ownKey = `own:${JSON.stringify([person, page.task.id, page.task.content_hash])}`;
    this.kept = this.autosave.recall();
  }

  build() {
    this.content = make(
      "div",
      { class: "content", tabindex: "0", role: "region", "aria-label": "Task" },
      ...renderContent(this, this.pictures, (fields) => this.take(fields)),
    );
    const steps = this.task.content.steps;
    const fields = this.asks_first ? listAnswerFields(this.task.content) : this.kind.fields;
    this.form = new Form(fields, {
      pictures: this.pictures,
      steps: Array.isArray(steps) ? steps.map(writeStep) : [],
      showStep: (index) => showStep(index),
      edited: new Set(this.role === "annotator" ? [] : (this.task.edited ?? [])),
      onChange: () => {
        this.markCandidate();
        if (this.asks_first) this.keepOwnAnswer();
        else this.autosave.change();
      },
    });
    this.comment = make("textarea", {
      rows: 2,
      maxlength: 20000,
      dir: "auto",
      "aria-labelledby": "comment-title",
      on: { input: () => this.autosave.change() },
    });
    document.querySelector("#bar").append(...this.makeBar());
    document
      .querySelector("#main")
      .append(make("div", { class: "split" }, this.content, this.makePanel()));
    const begun = this.kept ?? this.draft;
    if (!this.asks_first) this.restore();
    else this.form.write(recallInTab(this.ownKey)?.fields);
    if (!this.isOpen)
      this.showNotice("This task is not waiting for you: you can read it, but not decide.");
    else if (this.asks_first && begun?.content_hash && begun.content_hash !== this.task.content_hash)
      this.showNotice("The task has changed since you started: read it again and answer it.");
    // What the reader has not seen yet begins at their own answer.
    if (this.own_answer && !this.history.length)
      document.querySelector("#own-answer").scrollIntoView({ block: "start" });
    this.form.markDifferences(this.state.differences ?? []);
    if (this.isOpen) {
      this.form.start();
      this.claim();
    }
    this.listen();
  }

  makeBar() {
    const { task, kind, role } = this;
    const { number, total, left_s: left } = this.progress;
    return [
      make("h1", {}, kind.title),
      make("bdi", { class: "task-id", title: task.id }, ...showText(task.id)),
      make("span", { class: "tag" }, role),
      task.purpose === "work" ? null : make("span", { class: "tag" }, task.purpose),
      task.simulated
        ? make(
            "span",
            { class: "mark-simulated", title: "Texts of this task come from a simulated model" },
            "SIMULATED",
          )
        : null,
      this.makeMove(this.previous, "←", "Previous task (k)", "previous"),
      this.makeMove(this.next, "→", "Next task (j)", "next"),
      number
        ? make(
            "span",
            { class: "pace", title: "The time left is estimated from your own times" },
            `${number} of ${total}${left === null ? "" : ` · ${formatTimeLeft(left)} left`}`,
          )
        : null,
    ].filter(Boolean);
  }

  makeMove(target, text, label, name) {
    const address = linkTask(target);
    if (!address) return make("span", { class: "move muted", "aria-hidden": "true" }, text);
    const go = (event) => {
      event.preventDefault();
      this.leave(address);
    };
    return make(
      "a",
      {
        class: "move",
        id: name,
        href: address,
        title: label,
        "aria-label": label,
        on: { click: go },
      },
      text,
    );
  }

  makePanel() {
    this.sendButton = make(
      "button",
      { type: "button", class: "primary", on: { click: () => this.send() } },
      this.asks_first ? "Send your answer " : "Send ",
      makeKey(this.asks_first ? "Enter" : "Ctrl+Enter"),
    );
    this.sendButton.disabled = !this.isOpen;
    const instruction = make(
      "details",
      { class: "instruction" },
      make("summary", {}, "What to do"),
      makeProse(this.kind.instruction, this.pictures),
    );
    instruction.open = localStorage.getItem(`instruction:${this.kind.name}`) !== "closed";
    instruction.addEventListener("toggle", () =>
      localStorage.setItem(`instruction:${this.kind.name}`, instruction.open ? "open" : "closed"),
    );
    this.notice = make("p", { class: "notice", hidden: true });
    const comment = make(
      "div",
      { class: "field field-comment" },
      make(
        "div",
        { class: "field-title", id: "comment-title" },
        "Comment",
        make("span", { class: "muted small" }, " optional"),
        makeKey("/"),
      ),
      this.comment,
    );
    const keys = make(
      "button",
      {
        type: "button",
        class: "quiet",
        title: "All keys",
        on: { click: () => openKeys(this.kind, this.asks_first) },
      },
      "Keys ",
      makeKey("?"),
    );
    return make(
      "form",
      {
        class: "panel",
        "aria-label": this.asks_first ? "Your own answer" : "Your decision",
        autocomplete: "off",
        on: { submit: (event) => event.preventDefault() },
      },
      make(
        "div",
        { class: "panel-body" },
        ...[this.notice, instruction, this.form.root, this.asks_first ? null : comment].filter(
          Boolean,
        ),
      ),
      make(
        "div",
        { class: "panel-foot" },
        this.message,
        make("div", { class: "buttons" }, this.sendButton, keys, this.makeClock(), this.status),
      ),
    );
  }

  makeClock() {
    this.timer = new Timer(
      Math.max(...[this.draft, this.kept, recallInTab(this.ownKey)].map((begun) => begun?.seconds ?? 0)),
    );
    if (!this.kind.timed) return null;
    const clock = make(
      "span",
      { class: "clock", role: "timer" },
      formatSeconds(this.timer.seconds),
    );
    setInterval(() => {
      clock.textContent = formatSeconds(this.timer.seconds);
    }, 500);
    const pause = make(
      "button",
      { type: "button", class: "quiet", "aria-pressed": "false" },
      "Pause",
    );
    pause.addEventListener("click", () => {
      this.timer.setPaused(!this.timer.isPaused);
      pause.setAttribute("aria-pressed", String(this.timer.isPaused));
      pause.textContent = this.timer.isPaused ? "Go on" : "Pause";
      document.body.classList.toggle("paused", this.timer.isPaused);
      document.querySelector(".content").inert = this.timer.isPaused;
    });
    return make("span", { class: "timer" }, clock, pause);
  }

  restore() {
    const draft = this.kept ?? this.draft;
    const own = this.history.findLast(
      (decision) => decision.role === this.role && !decision.stale,
    );
    const answers = draft ?? own;
    if (this.kind.fields.some((field) => field.prefill)) {
      this.form.write(
        Object.fromEntries(
          this.kind.fields
            .filter((field) => field.prefill)
            .map((field) => [field.name, field.start ?? null]),
        ),
      );
    }
    if (answers) {
      this.form.write(answers.fields);
      this.comment.value = answers.comment ?? "";
    }
    this.markCandidate();
    if (!this.isOpen) return;
    if (draft?.content_hash && draft.content_hash !== this.task.content_hash) {
      this.showNotice("The task has changed since you started: read it again before you submit.");
    } else if (draft?.comment || Object.keys(draft?.fields ?? {}).length)
      this.status.textContent = "Draft restored";
    else if (own) this.showNotice(explainSecond(own, this.role));
    else if (this.history.some((decision) => decision.stale && decision.role === this.role))
      this.showNotice(
        "The task has changed since your decision. The log keeps it, but it no longer counts: decide again.",
      );
  }

  markCandidate() {
    const chooser = this.kind.fields.find((field) => field.options_from === "candidates");
    const value = chooser && this.form.byName.get(chooser.name).read();
    for (const node of document.querySelectorAll(".candidate")) {
      const isChosen = node.dataset.value === value;
      if (isChosen && !node.classList.contains("chosen")) node.scrollIntoView({ block: "nearest" });
      node.classList.toggle("chosen", isChosen);
    }
  }

  readAnswers() {
    return {
      fields: this.form.read(),
      comment: this.comment.value.trim(),
      seconds: this.timer.seconds,
      content_hash: this.task.content_hash,
    };
  }

  /** Keep the own answer in this tab: a draft belongs to the decision that follows it. */
  keepOwnAnswer() {
    keepInTab(this.ownKey, { fields: this.form.read(), seconds: this.timer.seconds });
  }

  take(fields) {
    this.form.write(fields);
    this.autosave.change();
  }

  /** Send what the form asks for: the own answer first, then the decision. */
  send() {
    if (!this.isOpen || this.isSending) return;
    this.showProblem("");
    if (this.form.findGap()) this.showProblem("A field still needs an answer.");
    else if (this.asks_first) this.answer();
    else if (!this.asksAboutFormulas()) this.decide();
  }

  async answer() {
    const answer = readOwnAnswer(this.form.read());
    if (answer === null) {
      this.showProblem("Give your answer, or mark that you cannot answer it.");
      return;
    }
    this.setSending(true);
    const { status, data } = await this.api.answer({
      answer,
      seconds: this.timer.seconds,
      content_hash: this.task.content_hash,
    });
    if (status === 204) {
      sessionStorage.removeItem(this.ownKey);
      location.reload();
      return;
    }
    this.setSending(false);
    if (data.reason === "changed")
      this.showProblem("The task has changed: reload the page, read it again and answer it.");
    else this.showProblem(describeFailure(status, data));
  }

  async decide() {
    this.setSending(true);
    await this.autosave.stop();
    const answers = this.readAnswers();
    const { status, data } = await this.api.decide({
      ...answers,
      base: this.base ?? null,
      confirmed: [...this.confirmed],
    });
    if (status === 201) {
      this.autosave.forget();
      localStorage.setItem(`instruction:${this.kind.name}`, "closed");
      location.assign(linkTask(data.next) ?? "/");
      return;
    }
    this.setSending(false);
    this.autosave.keep(answers);
    if (status === 409) this.openConflict(data, answers);
    else if (status === 428) this.askAbout(data.doubts);
    else if (status === 422 && this.form.showProblem(data.field, sentence(data.message)))
      this.showProblem("One answer is not valid.");
    else this.showProblem(describeFailure(status, data));
  }

  /** Show what is odd about the answers; sent again unchanged, they count. */
  askAbout(doubts) {
    for (const { name, field, message } of doubts) {
      this.confirmed.add(name);
      this.form.showProblem(field, sentence(message));
    }
    this.showProblem("Is this what you mean? Change it, or send again to confirm.");
  }

  /** Ask once about formulas that the preview cannot set. */
  asksAboutFormulas() {
    const refused = this.form.controls
      .filter((control) => control.isAsked && control.root.querySelector(".preview .math-refused"))
      .map((control) => control.field.name)
      .filter((name) => !this.confirmed.has(`${name}:preview`));
    const message = "the preview cannot show a formula of this text";
    if (refused.length)
      this.askAbout(refused.map((field) => ({ name: `${field}:preview`, field, message })));
    return refused.length > 0;
  }

  openConflict(data, answers) {
    const goOn = async () => {
      await this.autosave.stop();
      await this.api.saveDraft(answers);
      location.reload();
    };
    const drop = () => {
      this.autosave.stop();
      this.autosave.forget();
      location.assign(linkTask(this.next) ?? "/");
    };
    openConflict(data, this.kind.fields, answers, { goOn, drop });
  }

  async claim() {
    const { status, data } = await this.api.claim();
    if (status === 409) {
      const name = data.by ? `${data.by} has` : "Another person has";
      this.showNotice(`${name} this task open. You can wait, or continue with the next one.`);
      this.isClaimedElsewhere = true;
    } else if (status === 401) this.showProblem(describeFailure(401, {}));
    else if (status && status < 400 && this.isClaimedElsewhere) {
      this.isClaimedElsewhere = false;
      this.notice.hidden = true;
    }
  }

  async leave(address) {
    await this.autosave.flush();
    location.assign(address);
  }

  listen() {
    const follow = (id) => document.getElementById(id)?.click();
    const scroll = (pages) => this.content.scrollBy({ top: pages * this.content.clientHeight });
    const actions = {
      ...(this.asks_first ? {} : { "/": () => this.comment.focus() }),
      PageDown: () => scroll(0.85),
      PageUp: () => scroll(-0.85),
      "Ctrl+Enter": () => this.send(),
      "?": () => openKeys(this.kind, this.asks_first),
      j: () => follow("next"),
      k: () => follow("previous"),
      ArrowRight: () => follow("next"),
      ArrowLeft: () => follow("previous"),
      "+": () => {
        const group = this.pictures.images.length ? this.pictures.images : this.pictures.pages;
        if (group.length) openViewer(group, 0);
      },
    };
    listenToKeys(actions, (key) => this.isOpen && this.form.press(key));
    if (this.asks_first)
      this.form.root.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        if (event.target.closest("button, summary, a")) return;
        event.preventDefault();
        this.send();
      });
    setInterval(() => {
      if (this.isOpen && document.visibilityState === "visible") this.claim();
    }, CLAIM_MS);
    const keepTime = () => (this.asks_first ? this.keepOwnAnswer() : this.autosave.keepTime());
    if (this.isOpen && this.kind.timed) setInterval(keepTime, TIME_MS);
    addEventListener("pagehide", () => this.isOpen && this.api.release());
  }

  reportDraft(state) {
    this.status.textContent = {
      saving: "Saving …",
      saved: "Draft saved",
      failed: "Not saved: kept in this tab",
    }[state];
  }

  setSending(isSending) {
    this.isSending = isSending;
    this.sendButton.disabled = isSending;
    this.sendButton.setAttribute("aria-busy", String(isSending));
  }

  showProblem(text) {
    this.message.textContent = text;
    this.message.hidden = !text;
  }

  showNotice(text) {
    this.notice.textContent = text;
    this.notice.hidden = false;
  }
}

/** The address of a task by its id, or the given address; null without a target. */
function linkTask(target) {
  if (!target) return null;
  return target.startsWith("/") ? target : `/tasks/${encodeURIComponent(target)}`;
}

function writeStep(step) {
  return asText(typeof step === "object" && step !== null ? step.text : step);
}

function showStep(index) {
  for (const node of document.querySelectorAll(".steps > li")) {
    node.classList.toggle("current", node.id === `step-${index}`);
  }
  const isBeside = getComputedStyle(document.querySelector(".split")).display === "grid";
  if (isBeside) document.getElementById(`step-${index}`)?.scrollIntoView({ block: "nearest" });
}

try {
  new TaskPage(JSON.parse(document.querySelector("#task").textContent)).build();
  document.documentElement.dataset.ready = "true";
} catch (error) {
  const text = `This page cannot be shown (${error.message}). Please inform the owner of this review.`;
  document.querySelector("#main").append(make("p", { class: "problem", role: "alert" }, text));
  throw error;
}
