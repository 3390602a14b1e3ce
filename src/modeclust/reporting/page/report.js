"use strict";
// The report's data, and how numbers, names and clusters are written everywhere on the page.

const report = JSON.parse(document.getElementById("report").textContent);
const clusters = [...Array(report.n_clusters).keys()];

const byId = (id) => document.getElementById(id);

/** Make an element; children that are strings become text, never markup. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function vector(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A number to four digits of what such numbers differ by, and at least of itself. */
function format(value, reach = Math.abs(value)) {
  if (value === null) return "–";
  if (value === 0 || !(reach > 0)) return String(value);
  const digits = 4 + Math.max(0, Math.ceil(Math.log10(Math.abs(value) / reach)));
  const whole = Math.floor(Math.log10(Math.abs(value))) + 1;
  return String(Number(value.toPrecision(Math.min(17, Math.max(digits, whole > 9 ? 4 : whole)))));
}
const whole = (value) => value.toLocaleString("en");
const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`;
const featureName = (d) => (report.feature_names ? report.feature_names[d] : `x${d}`);
const stepName = (step) =>
  report.steps[step].bandwidth === null ? "K-means" : format(report.steps[step].bandwidth);

/** Names from the data, as text for Plotly, which reads a few tags and escapes. */
const plain = (text) =>
  String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
function short(text, most = 40) {
  const signs = [...text]; // whole ones, also those of two parts
  return signs.length > most ? `${signs.slice(0, most - 1).join("")}…` : text;
}

const color = (k) => report.colors[k % report.colors.length];
const symbol = (k) =>
  report.symbols[Math.floor(k / report.colors.length) % report.symbols.length];

/** The least and the greatest of all values. */
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

// Outlines in a square of 14 by 14.
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

/** The cluster's number beside its colour and symbol. */
function chip(k) {
  const rim = { stroke: "var(--ink)", "stroke-width": 0.8 };
  const mark = vector("path", { d: outlines[symbol(k)], fill: color(k), ...rim });
  const picture = vector("svg", { viewBox: "-1 -1 16 16", "aria-hidden": "true" }, mark);
  return element("span", { class: "chip" }, picture, String(k));
}

const labelsByStep = [Int32Array.from(report.labels.first)];

/** The labels at a step, of all rows or of those that `report.labels.rows` names. */
function labelsAt(step) {
  for (let known = labelsByStep.length; known <= step; known++) {
    const labels = labelsByStep[known - 1].slice();
    const [rows, values] = report.labels.changes[known - 1];
    rows.forEach((row, i) => { labels[row] = values[i]; });
    labelsByStep.push(labels);
  }
  return labelsByStep[step];
}

/** The labels of the rows that are drawn. */
function shownLabels(step) {
  const labels = labelsAt(step);
  return report.labels.rows ? labels : Int32Array.from(report.map.rows, (row) => labels[row]);
}
