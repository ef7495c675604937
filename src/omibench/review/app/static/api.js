// Requests to the server of this page only.

const BOUND_KEEPALIVE = 60_000; // bytes that browsers send after leaving a page
const LONGEST_MS = 20_000;

/** Sends a person's actions on one task. */
export class TaskApi {
  constructor(task, csrf) {
    this.path = `/tasks/${encodeURIComponent(task)}`;
    this.csrf = csrf;
  }

  decide(body) {
    return this.send("POST", "/decision", body);
  }

  answer(body) {
    return this.send("POST", "/answer", body);
  }

  saveDraft(body, isLast = false) {
    return this.send("PUT", "/draft", body, isLast);
  }

  claim() {
    return this.send("POST", "/claim");
  }

  release() {
    return this.send("DELETE", "/claim", undefined, true);
  }

  /**
   * @returns {Promise<{status: number, data: Object}>} Status 0 if the server cannot be reached,
   *   401 if the person is logged out.
   */
  async send(method, path, body, isLast = false) {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = { "X-CSRF-Token": this.csrf };
    if (text !== undefined) headers["Content-Type"] = "application/json";
    try {
      const response = await fetch(this.path + path, {
        method,
        headers,
        body: text,
        redirect: "manual",
        signal: isLast ? undefined : AbortSignal.timeout(LONGEST_MS),
        keepalive: isLast && (text ?? "").length < BOUND_KEEPALIVE,
      });
      if (response.type === "opaqueredirect") return { status: 401, data: {} };
      const isJson = (response.headers.get("Content-Type") ?? "").includes("json");
      return { status: response.status, data: isJson ? await response.json() : {} };
    } catch {
      return { status: 0, data: {} };
    }
  }
}
