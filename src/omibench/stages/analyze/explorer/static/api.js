// The data of a page: of the server that serves it, or inside it.

import { joinQuery, nameCell } from "./address.js";
import { pageData } from "./data.js";

/** Settles once the scripts of formulas are there, which are read meanwhile. */
export const whenWhole = new Promise((settle) => document.addEventListener("DOMContentLoaded", settle));

/** A failed request; the message is for the user. */
export class RequestFailure extends Error {}

/**
 * Get plain values.
 * @param {string} address
 * @param {Object} options Of `fetch`.
 */
export async function fetchJson(address, options = {}) {
  let response;
  try {
    response = await fetch(address, { headers: { Accept: "application/json" }, ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new RequestFailure("The server does not respond. Is `omibench explore` still running?");
  }
  const body = await response.json().catch(() => null);
  if (response.ok && body !== null) return body;
  if (response.status === 401) location.reload(); // redirects to the login
  throw new RequestFailure(body?.message ?? `The server responded with status ${response.status}.`);
}

/** The study. */
export async function fetchStudy() {
  return pageData ? pageData.study : fetchJson("/api/study");
}

/** An item with the cells of an address. */
export async function fetchItem(id, address) {
  if (!pageData) return fetchJson(`/api/items/${encodeURIComponent(id)}${joinQuery(address)}`);
  const { place } = pageData;
  const names = address.has("cells") ? address.getAll("cells") : place.chosen;
  const columns = names.map((name) => place.columns.find((column) => nameCell(column) === name));
  return { ...place, columns: columns.filter(Boolean) };
}

/** What was sent under a key of the store, the reply, and the previous steps. */
export async function fetchSent(key) {
  if (!pageData) return fetchJson(`/api/sent/${encodeURIComponent(key)}`);
  const { conversation, said = null, steps = [] } = pageData.sent[key] ?? {};
  return { sent: pageData.conversations[conversation] ?? null, said, steps };
}

/** Send plain values. */
export function postJson(address, values) {
  return fetchJson(address, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify(values),
  });
}
