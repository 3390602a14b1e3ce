"use strict";
// The data of the report, and functions that format numbers, names and clusters.

const report = JSON.parse(document.getElementById("report").textContent);
const clusters = [...Array(report.n_clusters).keys()];

const byId = (id) => document.getElementById(id);

/** Create an element. Children that are strings become text, never markup. */
function element(tag, attributes = {}, ...children) {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  created.append(...children);
  return created;
}

function svgElement(tag, attributes = {}, ...children) {
  const created = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  created.append(...children);
  return created;
}

/** Format a number with four significant digits, and with more if `range`, the width of the range of such numbers, is small. */
function format(value, range = Math.abs(value)) {
  if (value === null) return "–";
  if (value === 0 || !(range > 0)) return String(value);
  const digits = 4 + Math.max(0, Math.ceil(Math.log10(Math.abs(value) / range)));
  const integerDigits = Math.floor(Math.log10(Math.abs(value))) + 1;
  return String(Number(value.toPrecision(Math.min(17, Math.max(digits, integerDigits > 9 ? 4 : integerDigits)))));
}
const formatCount = (count) => count.toLocaleString("en");
const formatPercent = (fraction) => `${(100 * fraction).toFixed(fraction < 0.1 ? 1 : 0)}%`;
const plural = (count, noun) => `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
const featureName = (d) => (report.feature_names ? report.feature_names[d] : `x${d}`);

/** Return the smallest, the median and the largest number of rows that a mode averages; empty clusters do not count. */
function rowsAveraged(step) {
  const rows = report.steps[step].rows_averaged.filter((value) => value > 0).sort((a, b) => a - b);
  const median = (rows[(rows.length - 1) >> 1] + rows[rows.length >> 1]) / 2;
  return rows.length ? [rows[0], median, rows.at(-1)].map(Math.round) : [0, 0, 0];
}
/** Return the name of a step on an axis: K-means or linkage, a bandwidth, or how many rows a mode averages. */
function stepName(step) {
  const { stage, bandwidth, own_bandwidths: own } = report.steps[step];
  return stage === 0 ? report.model.start : own ? plural(rowsAveraged(step)[1], "row") : format(bandwidth);
}
/** Return the name of a step in a sentence. */
function stepTitle(step) {
  const { stage, own_bandwidths: own } = report.steps[step];
  return stage === 0 ? report.model.start : own ? `modes of ${stepName(step)}` : `bandwidth ${stepName(step)}`;
}
/** Return the name of a center at the first step. */
function startCenter() {
  const { start } = report.model;
  return report.steps[0].stage > 0 ? "start" : start === "K-means" ? "K-means center" : `${start} mean`;
}
/** Return the step whose centers determine the labels at a step: the last one before the labels are frozen. */
function labelledStep(step) {
  const labelled = report.steps.slice(0, step + 1).findLastIndex(({ stage }) => stage < 2);
  return labelled < 0 ? step : labelled;
}

/** Escape text for Plotly, which reads some tags and entities. */
const escapeText = (text) =>
  String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
function shorten(text, maxLength = 40) {
  const characters = [...text]; // by code points, so that no character is cut in half
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join("")}…` : text;
}

// The same symbols as in plots with matplotlib (`plotting/palette.py`).
const SYMBOLS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star"];
const color = (k) => report.colors[k % report.colors.length];
const symbol = (k) => SYMBOLS[Math.floor(k / report.colors.length) % SYMBOLS.length];

/** Return the smallest and the largest of all values. */
function extent(lists) {
  let [low, high] = [Infinity, -Infinity];
  for (const list of lists) {
    for (const value of list) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return high > low ? [low, high] : [low - 0.5, low + 0.5];
}

// Outlines of the symbols, in a square of 14 by 14.
const outlines = {
  circle: "M1 7A6 6 0 1 1 13 7A6 6 0 1 1 1 7Z",
  square: "M1.5 1.5H12.5V12.5H1.5Z",
  "triangle-up": "M7 1L14 13H0Z",
  diamond: "M7 0L14 7L7 14L0 7Z",
  "triangle-down": "M7 13L14 1H0Z",
  cross: "M5 1H9V5H13V9H9V13H5V9H1V5H5Z",
  x: "M3 0L7 4L11 0L14 3L10 7L14 11L11 14L7 10L3 14L0 11L4 7L0 3Z",
  star: "M7 0L9 5H14L10 8L12 14L7 10L2 14L4 8L0 5H5Z",
};

/** Return the symbol of a cluster in its colour, followed by its number. */
function chip(k) {
  const stroke = { stroke: "var(--ink)", "stroke-width": 0.8 };
  const mark = svgElement("path", { d: outlines[symbol(k)], fill: color(k), ...stroke });
  const icon = svgElement("svg", { viewBox: "-1 -1 16 16", "aria-hidden": "true" }, mark);
  return element("span", { class: "chip" }, icon, String(k));
}

const labelsByStep = [Int32Array.from(report.labels.first)];

/** Return the labels at a step, of all rows or of the rows in `report.labels.rows`. */
function labelsAt(step) {
  for (let next = labelsByStep.length; next <= step; next++) {
    const labels = labelsByStep[next - 1].slice();
    const [rows, values] = report.labels.changes[next - 1];
    rows.forEach((row, i) => { labels[row] = values[i]; });
    labelsByStep.push(labels);
  }
  return labelsByStep[step];
}

/** Return the labels of the rows on the map. */
function shownLabels(step) {
  const labels = labelsAt(step);
  return report.labels.rows ? labels : Int32Array.from(report.map.rows, (row) => labels[row]);
}
