// A picture in the full window: zoom at the pointer, drag, keys.

import { make, makeKey } from "./dom.js";
import { makePicture } from "./sheet.js";

const STEP = 1.25;
const LARGEST = 16;

/**
 * Open the viewer.
 * @param {Object[]} pictures Pictures to step through.
 * @param {number} index Index of the first picture shown.
 */
export function openViewer(pictures, index) {
  new Viewer(pictures, index).open();
}

class Viewer {
  constructor(pictures, index) {
    this.pictures = pictures;
    this.index = index;
    this.stage = make("div", { class: "stage" });
    this.title = make("span", { class: "viewer-title" });
    const button = (text, label, action) =>
      make(
        "button",
        { type: "button", "aria-label": label, title: label, on: { click: action } },
        text,
      );
    const bar = make(
      "div",
      { class: "viewer-bar" },
      this.title,
      make("span", { class: "space" }),
      pictures.length > 1 ? button("←", "Previous picture", () => this.show(this.index - 1)) : null,
      pictures.length > 1 ? button("→", "Next picture", () => this.show(this.index + 1)) : null,
      button("−", "Smaller", () => this.zoom(1 / STEP)),
      button("+", "Larger", () => this.zoom(STEP)),
      button("Fit", "Fit to window", () => this.fit()),
      button("1:1", "Actual size", () => this.showPixels()),
      make(
        "button",
        { type: "button", class: "primary", on: { click: () => this.dialog.close() } },
        "Close ",
        makeKey("Esc"),
      ),
    );
    this.dialog = make("dialog", { class: "viewer", "aria-label": "Picture" }, bar, this.stage);
    this.dialog.addEventListener("close", () => this.dialog.remove());
    this.dialog.addEventListener("keydown", (event) => this.pressKey(event));
    this.stage.addEventListener("wheel", (event) => this.turnWheel(event), { passive: false });
    this.stage.addEventListener("pointerdown", (event) => this.startDrag(event));
    this.stage.addEventListener("dblclick", () =>
      this.scale > this.fitScale * 1.01 ? this.fit() : this.showPixels(),
    );
  }

  open() {
    document.body.append(this.dialog);
    this.dialog.showModal();
    this.show(this.index);
  }

  show(index) {
    this.index = (index + this.pictures.length) % this.pictures.length;
    const picture = this.pictures[this.index];
    this.title.textContent = `${picture.label || "Picture"} (${this.index + 1} of ${this.pictures.length})`;
    this.sheet = makePicture(picture, picture.label || "Picture");
    this.stage.replaceChildren(this.sheet);
    this.image = this.sheet.querySelector("img");
    if (this.image.complete) this.fit();
    else this.image.addEventListener("load", () => this.fit());
  }

  fit() {
    const { clientWidth, clientHeight } = this.stage;
    const { naturalWidth: width, naturalHeight: height } = this.image;
    if (!width || !height) return;
    this.fitScale = Math.min(clientWidth / width, clientHeight / height);
    this.scale = this.fitScale;
    this.left = (clientWidth - width * this.scale) / 2;
    this.top = (clientHeight - height * this.scale) / 2;
    this.draw();
  }

  showPixels() {
    this.zoom(1 / this.scale);
  }

  zoom(factor, x = this.stage.clientWidth / 2, y = this.stage.clientHeight / 2) {
    const scale = Math.min(
      Math.max(this.scale * factor, this.fitScale / 2),
      Math.max(LARGEST * this.fitScale, 2),
    );
    this.left = x - ((x - this.left) * scale) / this.scale;
    this.top = y - ((y - this.top) * scale) / this.scale;
    this.scale = scale;
    this.draw();
  }

  move(x, y) {
    this.left += x;
    this.top += y;
    this.draw();
  }

  draw() {
    this.sheet.style.width = `${this.image.naturalWidth * this.scale}px`;
    this.sheet.style.transform = `translate(${this.left}px, ${this.top}px)`;
    this.dialog.dataset.scale = this.scale.toFixed(3);
  }

  turnWheel(event) {
    event.preventDefault();
    const box = this.stage.getBoundingClientRect();
    this.zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
  }

  startDrag(event) {
    this.stage.setPointerCapture(event.pointerId);
    const drag = (next) => this.move(next.movementX, next.movementY);
    const end = () => this.stage.removeEventListener("pointermove", drag);
    this.stage.addEventListener("pointermove", drag);
    this.stage.addEventListener("pointerup", end, { once: true });
    this.stage.addEventListener("pointercancel", end, { once: true });
  }

  pressKey(event) {
    const actions = {
      "+": () => this.zoom(STEP),
      "=": () => this.zoom(STEP),
      "-": () => this.zoom(1 / STEP),
      0: () => this.fit(),
      1: () => this.showPixels(),
      ArrowLeft: () => this.move(60, 0),
      ArrowRight: () => this.move(-60, 0),
      ArrowUp: () => this.move(0, 60),
      ArrowDown: () => this.move(0, -60),
      j: () => this.show(this.index + 1),
      k: () => this.show(this.index - 1),
    };
    if (actions[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      actions[event.key]();
    }
    event.stopPropagation(); // do not trigger the shortcuts of the page behind
  }
}
