// One picture as an element.

import { make } from "./dom.js";

/** An image with the boxes of the extracted parts. */
export function makePicture(picture, title) {
  const image = make("img", { src: picture.url, alt: title, draggable: "false" });
  const sheet = make("span", { class: "sheet" }, image);
  image.addEventListener("error", () =>
    sheet.replaceChildren(make("span", { class: "tag" }, `${title} cannot be shown`)),
  );
  for (const [left, top, right, bottom] of picture.boxes ?? []) {
    const box = make("span", { class: "box", "aria-hidden": "true" });
    const shares = { left, top, width: right - left, height: bottom - top };
    for (const [side, share] of Object.entries(shares)) box.style[side] = `${share * 100}%`;
    sheet.append(box);
  }
  return sheet;
}
