// The data inside a page that opens from disk.

const element = document.getElementById("data");

/** As `describe_page` in Python makes them; null on a served page, which requests them. */
export const pageData = element ? JSON.parse(element.textContent) : null;
