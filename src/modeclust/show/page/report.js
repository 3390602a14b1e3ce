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

const format = (value) => (value === null ? "–" : String(Number(value.toPrecision(4))));
const whole = (value) => value.toLocaleString("en");
const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%`;
const featureName = (d) => (report.feature_names ? report.feature_names[d] : `x${d}`);
const stepName = (step) =>
  report.steps[step].bandwidth === null ? "K-means" : format(report.steps[step].bandwidth);

/** Names from the data, as text for Plotly, which reads a few tags and escapes. */
const plain = (text) =>
  String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const short = (text, most = 40) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

const color = (k) => report.colors[k % report.colors.length];
const symbol = (k) =>
  report.symbols[Math.floor(k / report.colors.length) % report.symbols.length];

/** The cluster's number beside its colour and symbol. */
function chip(k) {
  const shapes = {
    circle: ["circle", { cx: 7, cy: 7, r: 6 }],
    square: ["rect", { x: 1.5, y: 1.5, width: 11, height: 11 }],
    diamond: ["path", { d: "M7 0 L14 7 L7 14 L0 7 Z" }],
    cross: ["path", { d: "M5 1h4v4h4v4h-4v4h-4v-4h-4v-4h4z" }],
    x: ["path", { d: "M3 0L7 4L11 0L14 3L10 7L14 11L11 14L7 10L3 14L0 11L4 7L0 3z" }],
    "triangle-up": ["path", { d: "M7 1 L14 13 L0 13 Z" }],
    "triangle-down": ["path", { d: "M7 13 L14 1 L0 1 Z" }],
    star: ["path", { d: "M7 0l2 5h5l-4 3 2 6-5-4-5 4 2-6-4-3h5z" }],
  };
  const [tag, place] = shapes[symbol(k)];
  const mark = vector(tag, { ...place, fill: color(k) });
  const picture = vector("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, mark);
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
