"use strict";
// The frame of a small chart in SVG: axes, ticks, and places in pixels.

/** Return round numbers between two limits, about `count` of them. */
function ticks(low, high, count = 5) {
  const rough = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(Number((i * step).toPrecision(12)));
  return found;
}

/** Return powers of ten, or of 1, 2 and 5 where there are few. */
function logTicks(low, high) {
  const digits = high / low > 1000 ? [1] : [1, 2, 5];
  const all = [...Array(24).keys()].flatMap((power) => digits.map((digit) => digit * 10 ** (power - 8)));
  return all.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
}

/**
 * Return a figure with a title and the frame of a chart in it.
 *
 * `x` and `y` are limits; `xTicks` lists [value, text]. `at(x, y)` gives pixels, and `plot` is the group to draw in.
 */
function chart({ title, label, width, height = 210, x, y, xTicks, yTicks, xTitle, yTitle, isLog = false, left = 52 }) {
  const [top, right, bottom] = [8, 12, xTitle ? 40 : 24];
  const scale = isLog ? Math.log : (value) => value;
  const atX = (value) => left + ((width - left - right) * (value - x[0])) / (x[1] - x[0] || 1);
  const atY = (value) => height - bottom - ((height - top - bottom) * (scale(value) - scale(y[0]))) / (scale(y[1]) - scale(y[0]) || 1);
  const lines = (yTicks ?? (isLog ? logTicks(...y) : ticks(...y, 4))).map((value) => [atY(value), format(value)]);
  const below = (xTicks ?? ticks(...x, Math.max(2, Math.floor(width / 90))).map((value) => [value, format(value)])).map(([value, text]) => [atX(value), text]);
  const plot = svgElement("g");
  const svg = svgElement("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label ?? title, class: "chart" },
    ...lines.map(([py]) => svgElement("line", { class: "grid", x1: left, x2: width - right, y1: py, y2: py })),
    ...lines.map(([py, text]) => svgElement("text", { x: left - 6, y: py + 4, "text-anchor": "end" }, text)),
    ...below.map(([px, text]) => svgElement("text", { x: clamp(px, left, width - right - 2), y: height - bottom + 16, "text-anchor": anchorOf(px, left, width - right) }, text)),
    xTitle ? svgElement("text", { class: "axis", x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle" }, shorten(xTitle, Math.floor(width / 8))) : null,
    yTitle ? svgElement("text", { class: "axis", x: 12, y: (top + height - bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(top + height - bottom) / 2})` }, shorten(yTitle, 30)) : null,
    plot);
  const figure = element("figure", {}, element("figcaption", {}, title), svg);
  return { figure, svg, plot, atX, atY, inner: { left, right: width - right, top, bottom: height - bottom } };
}

const anchorOf = (px, left, right) => (px < left + 14 ? "start" : px > right - 14 ? "end" : "middle");

/** Return the points of a line for SVG; undefined numbers interrupt it. */
function linePath(points) {
  let isDown = false;
  return points.map(([px, py]) => {
    if (!Number.isFinite(py)) { isDown = false; return ""; }
    const command = `${isDown ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}`;
    isDown = true;
    return command;
  }).join("");
}

/** Return how wide each of the charts in a box is: two are beside each other unless the window is narrow (page.css). */
const chartWidth = (box) => (innerWidth > 900 ? Math.floor((box.clientWidth - 24) / 2) : box.clientWidth);

/** Draw again when the width of a box changes. */
function drawn(box, draw) {
  let width = 0;
  new ResizeObserver(() => {
    if (box.clientWidth === width || box.clientWidth === 0) return;
    width = box.clientWidth;
    draw();
  }).observe(box);
}
