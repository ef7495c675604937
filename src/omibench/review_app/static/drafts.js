// Drafts: kept by the server a moment after each change, and by this tab where that fails.

const DELAY_MS = 700;

/** Saves answers that were begun. */
export class Autosave {
  /**
   * @param {string} key Names the draft in this tab: of one person, on one task.
   * @param {(isLast: boolean) => Promise<{status: number}>} save Sends the answers.
   * @param {() => Object} read The answers as they are.
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

  /** Save the time alone, unless answers are about to be saved anyway. */
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
    // One after the other, so that an older draft never follows a newer one; the last one at once.
    this.sending = isLast ? this.save(true) : this.sending.then(() => this.save(false));
    const { status } = await this.sending;
    const isSaved = status >= 200 && status < 300;
    if (isSaved) this.forget();
    else this.keep(answers);
    this.report(isSaved ? "saved" : "failed");
  }

  /** Save nothing until the next change; resolves once nothing is on its way. */
  async stop() {
    this.isDirty = false;
    this.isStopped = true;
    clearTimeout(this.timeout);
    await this.sending;
  }

  keep(answers) {
    try {
      sessionStorage.setItem(this.key, JSON.stringify(answers));
    } catch {
      // Without storage the server's draft is all there is.
    }
  }

  /** The answers that this tab keeps; null where it keeps none. */
  recall() {
    try {
      return JSON.parse(sessionStorage.getItem(this.key));
    } catch {
      return null;
    }
  }

  forget() {
    sessionStorage.removeItem(this.key);
  }
}
