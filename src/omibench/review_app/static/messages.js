// What the page says when the server does not take something.

/** A text that begins with a capital letter. */
export function sentence(text) {
  return text ? `${text[0].toUpperCase()}${text.slice(1)}` : "Does not fit.";
}

/** What a person reads when a request fails. */
export function describeFailure(status, data) {
  if (status === 0)
    return "The server cannot be reached. Your answers are kept in this tab; send them again later.";
  if (status === 401)
    return "You are logged out. Your answers are kept in this tab: log in again in another one, then load this page again.";
  if (data.reason === "csrf")
    return "This page is too old. Your answers are kept in this tab: load the page again.";
  if (status === 403) return "This task does not wait for you now.";
  return data.message
    ? sentence(data.message)
    : `The server did not take it (status ${status}). Your answers are kept in this tab.`;
}
