// Long lists draw only what is in view.

const STEP = 4; // places by which the drawn range moves

/**
 * The places of a list that are in view, with some to spare on both sides.
 * @param {number} start Scrolled distance.
 * @param {number} length Length of the view.
 * @param {number} size Length of one entry.
 * @param {number} count Number of entries.
 */
export function findRange(start, length, size, count) {
  const first = Math.floor(start / size / STEP - 1) * STEP;
  const last = Math.ceil((start + length) / size / STEP + 1) * STEP;
  return [Math.min(Math.max(0, first), count), Math.min(Math.max(0, last), count)];
}

/** Draw again when a view is scrolled or resized. */
export function watchView(view, draw) {
  let isAsked = false;
  const ask = () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      draw();
    });
  };
  view.addEventListener("scroll", ask, { passive: true });
  const observer = new ResizeObserver(ask);
  observer.observe(view);
}

/** Sort values; null comes last in both directions. */
export function sortBy(rows, read, isFalling) {
  const keyed = rows.map((row, i) => [read(row) ?? null, i, row]);
  keyed.sort(([a, i], [b, j]) => {
    if (a === null || b === null) return (a === null) - (b === null) || i - j;
    const order = typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
    return (isFalling ? -order : order) || i - j;
  });
  return keyed.map(([, , row]) => row);
}
