// One cell of the grid has the focus; arrows move it.

/** Moves the focus over the rows and columns of a grid. */
export class Cursor {
  constructor() {
    this.row = 0;
    this.column = -1; // the problem itself
  }

  /** Attach to a grid, or to none; the focus keeps its position. */
  take(grid) {
    this.grid = grid;
    if (!grid) return;
    this.clamp();
    this.mark();
    grid.table.addEventListener("focusin", (event) => this.follow(event.target.closest("td, th")));
    grid.afterDraw = (hadFocus) => {
      const cell = this.mark();
      if (hadFocus && !grid.table.contains(document.activeElement)) cell?.focus({ preventScroll: true });
    };
  }

  clamp() {
    const { items, cells } = this.grid.page;
    this.row = Math.max(0, Math.min(this.row, items.length - 1));
    this.column = Math.max(-1, Math.min(this.column, cells.length - 1));
  }

  /** Make the current cell, or the first that is drawn, the one that the Tab key reaches. */
  mark() {
    const { table } = this.grid;
    for (const node of table.tBodies[0].querySelectorAll('[tabindex="0"]')) node.setAttribute("tabindex", "-1");
    const cell = this.grid.findCell(this.row, this.column) ?? table.tBodies[0].querySelector("th");
    cell?.setAttribute("tabindex", "0");
    return cell;
  }

  follow(cell) {
    const row = cell?.closest("tbody tr");
    if (!row) return;
    this.row = Number(row.dataset.row);
    this.column = cell.dataset.column === undefined ? -1 : Number(cell.dataset.column);
    this.mark();
  }

  /** Move the focus; returns false if there are no rows. */
  move(rows, columns) {
    if (!this.grid) return false;
    if (this.grid.table.contains(document.activeElement)) {
      this.row += rows;
      this.column += columns;
      this.clamp();
    }
    this.focus();
    return true;
  }

  focus() {
    this.grid.reveal(this.row, this.column);
    this.mark()?.focus();
  }
}
