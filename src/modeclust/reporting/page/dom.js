"use strict";
// The summary, elements of the page, and text from numbers.

const report = JSON.parse(document.getElementById("report").textContent);
const clusters = report.cards.map((card) => card.cluster);
const noun = report.noun ?? "rows";

const byId = (id) => document.getElementById(id);

function fill(created, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") created.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) created.setAttribute(name, value === true ? "" : value);
  }
  created.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return created;
}

/** Create an element. Children that are strings become text, never markup. */
const element = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svgElement = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** Return text whose direction does not disturb the text around it. */
const isolated = (text) => element("bdi", { dir: "auto" }, String(text));

/** Return a sentence of the page itself, in which words of the data may be right-to-left. */
const inEnglish = (text) => element("bdi", { dir: "ltr" }, text);

/** Return the name of a column, which may be broken where its words begin: in NumWebVisits or num_web. */
const columnName = (name) => element("bdi", { dir: "auto" },
  String(name).split(/(?<=_)|(?<=\p{Ll})(?=\p{Lu})/u).flatMap((word, i) => (i ? [element("wbr"), word] : [word])));

/** Return a button. */
const button = (text, onclick, attributes = {}) => element("button", { type: "button", onclick, ...attributes }, text);

/** Set a text if it is another one, because the browser lays out again what is set. */
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Set the width of an element in percent. (Attributes named `style` are against the policy of the page.) */
function withWidth(created, percent, left = null) {
  created.style.width = `${Math.max(percent, 0).toFixed(2)}%`;
  if (left !== null) created.style.left = `${left.toFixed(2)}%`;
  return created;
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** Return the smallest and the largest of the numbers; neither is infinite, and they differ. */
function extent(numbers) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of numbers) {
    if (value === null || !Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return [0, 1];
  return high > low ? [low, high] : [low - 0.5, high + 0.5];
}

/** Shorten text to a number of characters; no character is cut in half. */
function shorten(text, maxLength = 40) {
  const characters = [...String(text)];
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join("").trimEnd()}…` : String(text);
}

const numberFormats = new Map();

/** Write a number with at most this many decimals. (A format is slow to make, and so it is kept.) */
function localized(value, decimals = 0, useGrouping = true) {
  const key = decimals * 2 + Number(useGrouping);
  if (!numberFormats.has(key)) numberFormats.set(key, new Intl.NumberFormat("en", { maximumFractionDigits: decimals, useGrouping }));
  return numberFormats.get(key).format(value);
}

const formatCount = (count) => localized(Math.round(count));
const counted = (count, what = noun) => `${formatCount(count)} ${count === 1 ? singular(what) : what}`;
const singular = (plural) => plural.replace(/ies$/, "y").replace(/s$/, "");

/** Format a share as the sentences do; `decimals` are for shares below 10%. */
function formatShare(share, decimals = 0) {
  if (share === null || share === undefined || Number.isNaN(share)) return "–";
  const least = 0.5 / 10 ** (decimals + 2);
  if (share > 0 && share < least) return `<${decimals ? "0.1" : "1"}%`;
  if (share >= 0.995 && share < 1) return ">99%";
  return `${(100 * share).toFixed(share < 0.0995 && share > 0 ? decimals : 0)}%`;
}

/** Format a number with four significant digits. */
function format(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size >= 1e9 || (size > 0 && size < 1e-5)) return value.toExponential(digits - 2);
  const text = size >= 10 ** (digits - 1) ? formatCount(value) : String(Number(value.toPrecision(digits)));
  return text.replace("-", "−");
}

/** Whether the numbers of a column are years, which have no thousands separator. */
const isYear = (column) => column.year ?? (column.integer && column.range !== null && column.range[0] >= 1800 && column.range[1] <= 2100);

/** Format a value in the units of its column, rounded as in the sentences (`reporting/wording.py`). */
function formatValue(value, column) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return String(value);
  if (column.binary) return formatShare(value);
  const { unit = 1, decimals = 0 } = column;
  if (unit < 1e-6 || Math.abs(value) >= 1e12) return format(value, 3);
  const rounded = Math.round(value / unit) * unit;
  const text = localized(rounded, decimals, !isYear(column));
  return text === "-0" ? "0" : text.replace("-", "−");
}

/** Return the value of a CSS variable. */
const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
