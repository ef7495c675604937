// One cell of the grid has the focus; arrows move it.

/** Moves the focus over the rows and columns of a table. */
export class Cursor {
  constructor() {
    this.row = 0;
    this.column = -1; // the item itself
  }

  /** Attach to a table; the focus keeps its position. */
  take(table) {
    this.table = table;
    this.clamp();
    this.findCell()?.setAttribute("tabindex", "0");
    table.addEventListener("focusin", (event) => this.follow(event.target.closest("td, th")));
  }

  get rows() {
    return this.table?.tBodies[0]?.rows ?? [];
  }

  clamp() {
    const marks = this.rows[0]?.querySelectorAll("[data-column]").length ?? 0;
    this.row = Math.max(0, Math.min(this.row, this.rows.length - 1));
    this.column = Math.max(-1, Math.min(this.column, marks - 1));
  }

  findCell() {
    const row = this.rows[this.row];
    return this.column < 0
      ? row?.querySelector("th")
      : row?.querySelector(`[data-column="${this.column}"]`);
  }

  follow(cell) {
    const row = cell?.closest("tbody tr");
    if (!row) return;
    this.table.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    this.row = Number(row.dataset.row);
    this.column = cell.dataset.column === undefined ? -1 : Number(cell.dataset.column);
    this.findCell().setAttribute("tabindex", "0");
  }

  /** Move the focus; returns false if the table has no rows. */
  move(rows, columns) {
    if (!this.rows.length) return false;
    if (this.table.contains(document.activeElement)) {
      this.row += rows;
      this.column += columns;
      this.clamp();
    }
    this.focus();
    return true;
  }

  focus() {
    const cell = this.findCell();
    if (!cell) return;
    this.follow(cell);
    cell.focus({ preventScroll: false });
  }
}
