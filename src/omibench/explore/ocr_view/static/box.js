// A box on the picture of a page, drawn, moved and resized by mouse or by keys.

import { make } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const STEP = 4; // points; with Ctrl one point
const LEAST = 4; // points: width and height of the smallest box
const GRIP_PX = 10;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const HELP =
  "Drag on the page to draw a box, drag it or its corners to change it. Arrows move it, Shift and arrows move its right and lower edge, with Ctrl in single points; Page Up and Page Down turn the page, Enter starts a box.";

/** Shows a page with one box, and reports each change of it. */
export class BoxEditor {
  /**
   * @param {?HTMLElement} root Null on pages of earlier versions, which show no box.
   * @param {(page: number, box: number[]) => void} onChange
   */
  constructor(root, onChange) {
    this.onChange = onChange;
    this.box = null;
    this.sheet = makeSvg("svg", {
      class: "box-page",
      tabindex: "0",
      role: "application",
      "aria-label": "Box on the page",
      "aria-describedby": "box-help",
    });
    this.use = makeSvg("use", {});
    this.frame = makeSvg("rect", { class: "box-frame" });
    this.grips = [0, 1, 2, 3].map((corner) => makeSvg("rect", { class: "box-grip", "data-corner": corner }));
    this.sheet.append(this.use, this.frame, ...this.grips);
    this.place = make("p", { class: "small muted", role: "status" });
    root?.append(this.sheet, this.place, make("p", { class: "small muted", id: "box-help" }, HELP));
    this.sheet.addEventListener("pointerdown", (event) => this.startDrag(event));
    this.sheet.addEventListener("keydown", (event) => this.pressKey(event));
  }

  /** Show a page and a box; an incomplete box is not drawn. */
  show(page, box) {
    const picture = document.querySelector(`#sheet${Number(page)}`);
    this.page = picture ? Number(page) : null;
    this.sheet.toggleAttribute("hidden", !picture);
    const isWhole = box?.length === 4 && box.every(Number.isFinite) && box[0] < box[2] && box[1] < box[3];
    this.box = isWhole ? box : null;
    if (!picture) {
      this.place.textContent = "No picture of this page.";
      return;
    }
    this.size = [Number(picture.getAttribute("width")), Number(picture.getAttribute("height"))];
    this.use.setAttribute("href", `#${picture.id}`);
    this.sheet.setAttribute("viewBox", `0 0 ${this.size.join(" ")}`);
    this.draw();
  }

  draw() {
    const shapes = [this.frame, ...this.grips];
    for (const shape of shapes) shape.style.display = this.box ? "" : "none";
    this.place.textContent = `Page ${this.page}: ${this.box ? this.box.join(", ") : "no box"}`;
    if (!this.box) return;
    const [x0, y0, x1, y1] = this.box;
    setRect(this.frame, x0, y0, x1 - x0, y1 - y0);
    const grip = (GRIP_PX * this.size[0]) / Math.max(1, this.sheet.getBoundingClientRect().width);
    this.grips.forEach((shape, i) => {
      const [x, y] = [i % 2 ? x1 : x0, i < 2 ? y0 : y1];
      setRect(shape, x - grip / 2, y - grip / 2, grip, grip);
    });
  }

  /** Take a box: its edges sorted, within the page, not too small. */
  take([x0, y0, x1, y1]) {
    const [width, height] = this.size;
    const [left, right] = sortEdges(x0, x1, width);
    const [top, bottom] = sortEdges(y0, y1, height);
    this.box = [left, top, right, bottom];
    this.draw();
    this.onChange(this.page, this.box);
  }

  move(x, y) {
    const [x0, y0, x1, y1] = this.box;
    const right = clamp(x, -x0, this.size[0] - x1);
    const down = clamp(y, -y0, this.size[1] - y1);
    this.take([x0 + right, y0 + down, x1 + right, y1 + down]);
  }

  find(event) {
    const point = new DOMPoint(event.clientX, event.clientY);
    const { x, y } = point.matrixTransform(this.sheet.getScreenCTM().inverse());
    return [x, y];
  }

  startDrag(event) {
    if (event.button || this.page === null) return;
    event.preventDefault();
    this.sheet.focus();
    this.sheet.setPointerCapture(event.pointerId);
    const [x, y] = this.find(event);
    const corner = event.target.dataset.corner;
    const start = this.box;
    // The corner across from a grip stays; outside of the box a new one begins.
    let fixed = [x, y];
    if (corner !== undefined) fixed = [start[corner % 2 ? 0 : 2], start[corner < 2 ? 3 : 1]];
    const isMove = event.target === this.frame;
    const drag = (next) => {
      const [toX, toY] = this.find(next);
      if (!isMove) this.take([...fixed, toX, toY]);
      else {
        this.box = start;
        this.move(toX - x, toY - y);
      }
    };
    const end = () => this.sheet.removeEventListener("pointermove", drag);
    this.sheet.addEventListener("pointermove", drag);
    this.sheet.addEventListener("pointerup", end, { once: true });
    this.sheet.addEventListener("pointercancel", end, { once: true });
  }

  pressKey(event) {
    if (event.altKey || event.metaKey) return;
    const arrow = ARROWS[event.key];
    const turn = { PageUp: -1, PageDown: 1 }[event.key];
    const isStart = event.key === "Enter" && !event.ctrlKey;
    if (!arrow && !turn && !isStart) return;
    event.preventDefault();
    if (turn) {
      if (!document.querySelector(`#sheet${this.page + turn}`)) return;
      this.show(this.page + turn, this.box);
      this.onChange(this.page, this.box ?? []);
      return;
    }
    const [width, height] = this.size;
    if (!this.box) this.take([width / 4, height / 4, width / 2, height / 2]);
    if (!arrow) return;
    const step = event.ctrlKey ? 1 : STEP;
    const [x, y] = arrow.map((way) => way * step);
    const [x0, y0, x1, y1] = this.box;
    if (event.shiftKey)
      this.take([x0, y0, Math.max(x0 + LEAST, x1 + x), Math.max(y0 + LEAST, y1 + y)]);
    else this.move(x, y);
  }
}

function sortEdges(one, other, most) {
  const low = clamp(Math.min(one, other), 0, most - LEAST);
  const high = clamp(Math.max(one, other), low + LEAST, most);
  return [low, high].map((edge) => Math.round(edge * 10) / 10);
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

function makeSvg(tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

function setRect(node, x, y, width, height) {
  const values = { x, y, width, height };
  for (const [name, value] of Object.entries(values)) node.setAttribute(name, value);
}
