// Requests to the server that serves this page.

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

/** Send plain values. */
export function postJson(address, values) {
  return fetchJson(address, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify(values),
  });
}
