"use strict";
// What the page shows: the step of the slider, the names of the clusters, and which one is pointed at.

const nSteps = report.steps ? report.steps.length : 1;
const lastStep = nSteps - 1;
const many = clusters.length > 12; // then cards are closed at first
document.body.classList.toggle("many-clusters", many);
const columnNamed = new Map(report.columns.map((column) => [column.name, column]));
const stepPosition = new Map((report.step_columns ?? []).map((column, i) => [report.columns[column].name, i]));

const state = { step: lastStep, highlight: null };
const listeners = { step: [], highlight: [], name: [], theme: [] };
const on = (event, listener) => listeners[event].push(listener);
const emit = (event, ...values) => { for (const listener of listeners[event]) listener(...values); };

const isAtEnd = () => state.step === lastStep;
const countsAt = (step) => (report.steps ? report.steps[step].counts : report.cards.map((card) => card.rows));
const rowsOf = (k) => countsAt(state.step)[k];
const shareOf = (k) => (isAtEnd() ? report.cards[k].share : rowsOf(k) / report.n_rows);
const averagedAt = (step, k) => (report.steps ? report.steps[step].rows_averaged?.[k] ?? null : report.cards[k].rows_averaged ?? null);

/** Return the typical value of a column at the step; undefined if the summary does not have it. */
function typicalOf(k, name) {
  if (isAtEnd()) return report.cards[k].typical[name];
  return stepPosition.has(name) ? report.steps[state.step].typical[k]?.[stepPosition.get(name)] : undefined;
}

// Columns in the order in which they tell clusters apart.
const typicalNames = report.columns.map((column) => column.name)
  .filter((name) => report.cards.some((card) => Object.hasOwn(card.typical, name)));
const heatNames = (report.heat?.rows ?? []).map((row) => report.columns[row.column].name);
const rankedNames = [...new Set([...heatNames, ...typicalNames])].filter((name) => typicalNames.includes(name));

function goToStep(step) {
  const bounded = clamp(step, 0, lastStep);
  if (bounded === state.step) return;
  state.step = bounded;
  emit("step");
}

function highlight(k) {
  if (k === state.highlight) return;
  state.highlight = k;
  emit("highlight");
}

// The names, which the reader can change. They are kept by the browser if it allows that.
const givenNames = report.cards.map((card) => card.name || `Cluster ${card.cluster}`);
const storeKey = (() => {
  let hash = 0;
  for (const character of JSON.stringify([report.title, givenNames, report.cards.map((card) => card.rows)])) {
    hash = (Math.imul(hash, 31) + character.codePointAt(0)) | 0;
  }
  return `modeclust names ${hash}`;
})();
const names = (() => {
  try {
    const kept = JSON.parse(localStorage.getItem(storeKey) ?? "[]");
    return givenNames.map((name, k) => (typeof kept[k] === "string" ? kept[k] : name));
  } catch {
    return [...givenNames]; // a page in a frame has no store
  }
})();
const nameOf = (k) => (k < 0 ? "no cluster" : names[k]);

/** Return the name of a cluster, which follows when it is changed. */
const nameText = (k) => element("bdi", { dir: "auto", "data-name": k }, nameOf(k));

function rename(k, name) {
  names[k] = name.trim() || givenNames[k];
  for (const shown of document.querySelectorAll(`[data-name="${k}"]`)) shown.textContent = names[k];
  try {
    localStorage.setItem(storeKey, JSON.stringify(names));
  } catch {
    // the names are then kept until the page is closed
  }
  emit("name", k);
}

// Colours and symbols, as in the plots with matplotlib (`plotting/palette.py`).
const OUTLINES = [
  "M1 7A6 6 0 1 1 13 7A6 6 0 1 1 1 7Z", // circle
  "M1.5 1.5H12.5V12.5H1.5Z", // square
  "M7 1L14 13H0Z", // triangle
  "M7 0L14 7L7 14L0 7Z", // diamond
  "M7 13L14 1H0Z", // triangle down
  "M5 1H9V5H13V9H9V13H5V9H1V5H5Z", // cross
  "M3 0L7 4L11 0L14 3L10 7L14 11L11 14L7 10L3 14L0 11L4 7L0 3Z", // x
  "M7 0L9 5H14L10 8L12 14L7 10L2 14L4 8L0 5H5Z", // star
];
const NOISE_COLOR = "#9aa0a6";
const color = (k) => (k < 0 ? NOISE_COLOR : report.colors[k % report.colors.length]);
const outline = (k) => OUTLINES[k < 0 ? 6 : Math.floor(k / report.colors.length) % OUTLINES.length];

/** Return the symbol of a cluster in its colour. */
const symbol = (k) => svgElement("svg", { class: "symbol", viewBox: "-1 -1 16 16", "aria-hidden": "true" },
  svgElement("path", { d: outline(k), fill: color(k) }));

// Labels along the path.
const labelsByStep = [Int32Array.from(report.labels?.first ?? [])];

/** Return the labels at a step, of all rows or of the rows in `report.labels.rows`. */
function labelsAt(step) {
  for (let next = labelsByStep.length; next <= step; next++) {
    const labels = labelsByStep[next - 1].slice();
    const [where, to] = report.labels.changes[next - 1];
    where.forEach((row, i) => { labels[row] = to[i]; });
    labelsByStep.push(labels);
  }
  return labelsByStep[step];
}

/** Go to the card of a cluster and open it. */
function goToCard(k) {
  openCard(k, true);
  const card = byId(`cluster-${k}`);
  card.hidden = false;
  card.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth", block: "start" });
  card.querySelector("h3").focus({ preventScroll: true });
}
