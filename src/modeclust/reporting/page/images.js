"use strict";
// Pictures of rows and modes, from the bytes in the summary.

const decoded = new Map();

function bytesOf(which) {
  if (!decoded.has(which)) decoded.set(which, Uint8Array.from(atob(report.images[which]), (character) => character.charCodeAt(0)));
  return decoded.get(which);
}

const isColoured = () => report.images.shape.length === 3;

/** Draw picture i of the rows or of the modes on a canvas. Grey values are shown as they are: 0 is black. */
function paint(canvas, which, i) {
  const [height, width, channels = 1] = report.images.shape;
  const bytes = bytesOf(which);
  const context = canvas.getContext("2d");
  const picture = context.createImageData(width, height);
  const first = i * width * height * channels;
  for (let pixel = 0; pixel < width * height; pixel++) {
    for (let part = 0; part < 3; part++) {
      picture.data[4 * pixel + part] = bytes[first + channels * pixel + (channels === 3 ? part : 0)];
    }
    picture.data[4 * pixel + 3] = 255;
  }
  context.putImageData(picture, 0, 0);
}

function canvasFor(label, className) {
  const [height, width] = report.images.shape;
  return element("canvas", {
    width, height, role: "img", "aria-label": label, title: label,
    class: `picture ${className}${isColoured() ? "" : " grey"}${width < 48 ? " pixelated" : ""}`,
  });
}

/** Return the picture of a mode, which follows the slider by `paintMode`. */
function modePicture(k, className = "mode") {
  const canvas = canvasFor(`Mode of ${nameOf(k)}`, className);
  paintMode(canvas, k);
  return canvas;
}

const paintMode = (canvas, k) => paint(canvas, "modes", state.step * clusters.length + k);

/** Return the picture of a row. */
function rowPicture(example) {
  const canvas = canvasFor(example.name, "row");
  paint(canvas, "rows", example.image);
  return canvas;
}

/** Return the switch that inverts grey pictures. */
function inversionSwitch() {
  const box = element("input", { type: "checkbox", id: "invert", onchange: () => {
    document.body.classList.toggle("inverted", box.checked);
    emit("theme");
  } });
  return element("label", { class: "check" }, box, "Invert grey pictures");
}
