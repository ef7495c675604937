// Drafts: saved on the server shortly after each change, or in this tab if that fails.

const DELAY_MS = 700;

/** Saves unfinished answers. */
export class Autosave {
  /**
   * @param {string} key Key of the draft in this tab, for one person and task.
   * @param {(isLast: boolean) => Promise<{status: number}>} save Sends the answers.
   * @param {() => Object} read Returns the current answers.
   * @param {(state: "saving"|"saved"|"failed") => void} report
   */
  constructor(key, save, read, report) {
    Object.assign(this, { key: `draft:${key}`, save, read, report });
    this.timeout = null;
    this.isDirty = false;
    this.isStopped = false;
    this.sending = Promise.resolve();
    addEventListener("pagehide", () => this.flush(true));
  }

  change() {
    this.isDirty = true;
    this.isStopped = false;
    this.report("saving");
    clearTimeout(this.timeout);
    this.timeout = setTimeout(() => this.flush(), DELAY_MS);
  }

  /** Save only the time, unless answers will be saved anyway. */
  keepTime() {
    if (this.isDirty || this.isStopped || document.visibilityState !== "visible") return;
    this.isDirty = true;
    this.flush();
  }

  async flush(isLast = false) {
    clearTimeout(this.timeout);
    if (!this.isDirty) return;
    this.isDirty = false;
    const answers = this.read();
    if (isLast) this.keep(answers);
    // In sequence, so that an older draft never follows a newer one; the last one immediately.
    this.sending = isLast ? this.save(true) : this.sending.then(() => this.save(false));
    const { status } = await this.sending;
    const isSaved = status >= 200 && status < 300;
    if (isSaved) this.forget();
    else this.keep(answers);
    this.report(isSaved ? "saved" : "failed");
  }

  /** Stop saving until the next change; resolves after pending requests. */
  async stop() {
    this.isDirty = false;
    this.isStopped = true;
    clearTimeout(this.timeout);
    await this.sending;
  }

  keep(answers) {
    keepInTab(this.key, answers);
  }

  /** The answers stored in this tab, or null. */
  recall() {
    return recallInTab(this.key);
  }

  forget() {
    sessionStorage.removeItem(this.key);
  }
}

/** Store values in this tab, where they survive a reload. */
export function keepInTab(key, values) {
  try {
    sessionStorage.setItem(key, JSON.stringify(values));
  } catch {
    // Without storage only the server's draft is left.
  }
}

/** The values stored in this tab, or null. */
export function recallInTab(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key));
  } catch {
    return null;
  }
}
