// Drafts: kept by the server a moment after each change, and by this tab where that fails.

const DELAY_MS = 700;

/** Saves answers that were begun. */
export class Autosave {
  /**
   * @param {string} task
   * @param {(isLast: boolean) => Promise<{status: number}>} save Sends the answers.
   * @param {() => Object} read The answers as they are.
   * @param {(state: "saving"|"saved"|"failed") => void} report
   */
  constructor(task, save, read, report) {
    Object.assign(this, { key: `draft:${task}`, save, read, report });
    this.timeout = null;
    this.isDirty = false;
    addEventListener("pagehide", () => this.flush(true));
  }

  change() {
    this.isDirty = true;
    this.report("saving");
    clearTimeout(this.timeout);
    this.timeout = setTimeout(() => this.flush(), DELAY_MS);
  }

  async flush(isLast = false) {
    clearTimeout(this.timeout);
    if (!this.isDirty) return;
    this.isDirty = false;
    const answers = this.read();
    if (isLast) this.keep(answers);
    const { status } = await this.save(isLast);
    const isSaved = status >= 200 && status < 300;
    if (isSaved) this.forget();
    else this.keep(answers);
    this.report(isSaved ? "saved" : "failed");
  }

  /** Nothing is saved any more. */
  stop() {
    this.isDirty = false;
    clearTimeout(this.timeout);
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
