// Pictures of a task: at their marks or in a row, and in a viewer with zoom.

import { showText } from "./unseen.js";
import { make } from "./dom.js";
import { makePicture } from "./sheet.js";
import { openViewer } from "./viewer.js";

/** The pictures of one task; tracks which of them are shown at a mark. */
export class Pictures {
  constructor(pictures) {
    this.pages = pictures.filter((picture) => picture.part === "page");
    this.images = pictures.filter((picture) => picture.part !== "page");
    this.placed = new Set();
  }

  /** The picture of `[IMAGEi]`. */
  place(index) {
    const picture = this.images[index];
    if (!picture?.url)
      return make("span", { class: "math-refused" }, `[IMAGE${index}]: no such picture`);
    this.placed.add(index);
    const mark = `[IMAGE${index}]`;
    const figure = this.makeFigure(picture, this.images, `Picture ${index}`, mark);
    figure.dataset.mark = mark;
    return figure;
  }

  /** Figures of all images without a mark. */
  placeRest() {
    return this.images.flatMap((_, index) => (this.placed.has(index) ? [] : [this.place(index)]));
  }

  placePages() {
    return this.pages.map((page, i) =>
      this.makeFigure(page, this.pages, `Page ${i + 1} of ${this.pages.length}`),
    );
  }

  makeFigure(picture, group, name, mark = "") {
    const title = picture.label || name;
    const open = () => openViewer(group, group.indexOf(picture));
    const button = make(
      "button",
      {
        type: "button",
        class: "picture",
        title: "Enlarge",
        "aria-label": `${title}: enlarge`,
        on: { click: open },
      },
      makePicture(picture, title),
    );
    return make(
      "span",
      { class: `figure ${picture.part}` },
      button,
      make(
        "span",
        { class: "caption" },
        mark ? make("span", { class: "picture-mark" }, mark) : null,
        ...showText(picture.label || (mark ? "" : name)),
      ),
    );
  }
}
