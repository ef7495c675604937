// Messages for rejected requests.

/** A text that begins with a capital letter. */
export function sentence(text) {
  return text ? `${text[0].toUpperCase()}${text.slice(1)}` : "Does not fit.";
}

/** The message for a failed request. */
export function describeFailure(status, data) {
  if (status === 0)
    return "The server cannot be reached. Your answers are kept in this tab; send them again later.";
  if (status === 401)
    return "You are logged out. Your answers are kept in this tab: log in again in another tab, then reload this page.";
  if (data.reason === "csrf")
    return "This page is too old. Your answers are kept in this tab: reload the page.";
  if (status === 403) return "This task is not waiting for you now.";
  return data.message
    ? sentence(data.message)
    : `The server did not accept it (status ${status}). Your answers are kept in this tab.`;
}
