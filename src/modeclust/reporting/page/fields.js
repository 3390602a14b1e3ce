"use strict";
// Values of columns: the typical row with range marks, and what sets a cluster apart.

const toNumber = (value, column) => (column.kind === "date" && typeof value === "string" ? Date.parse(value) : value);
const isMeasured = (column) => column.kind === "number" || column.kind === "date";

const axes = new Map(); // of each column, the range of all marks

function axisOf(column) {
  if (!axes.has(column.name)) {
    const values = report.cards.flatMap((card) => [card.typical[column.name], ...(card.detail?.[column.name]?.range ?? [])]);
    axes.set(column.name, extent([column.overall, ...(column.range ?? []), ...values].map((value) => toNumber(value, column))));
  }
  return axes.get(column.name);
}

/** Draw where a cluster is among all rows: a band and a dot for the cluster, a grey band and a line for all rows. */
function rangeMark(k, column, value, detail) {
  const [low, high] = axisOf(column);
  const at = (x) => clamp((100 * (toNumber(x, column) - low)) / (high - low), 0, 100);
  const band = (range, className) => (range && range[0] !== null && range[1] !== null
    ? withWidth(element("i", { class: className }), Math.max(at(range[1]) - at(range[0]), 1), at(range[0])) : null);
  const own = band(detail?.range, "own");
  const dot = value === null || value === undefined ? null : withWidth(element("i", { class: "dot" }), 0, at(value));
  const line = column.overall === null || column.overall === undefined ? null : withWidth(element("i", { class: "line" }), 0, at(column.overall));
  for (const mark of [own, dot]) mark?.style.setProperty("--own", color(k));
  return element("span", { class: "mark", "aria-hidden": "true" }, band(column.range, "all"), own, line, dot);
}

/** Draw the share of the most frequent value. */
function shareMark(k, share) {
  const bar = withWidth(element("i", { class: "own" }), 100 * share, 0);
  bar.style.setProperty("--own", color(k));
  return element("span", { class: "mark share", "aria-hidden": "true" }, bar);
}

/** Return what all rows have in a column, in words. */
function overallText(column) {
  if (column.overall === null || column.overall === undefined) return "";
  const share = isMeasured(column) || column.overall_share == null ? "" : ` ${formatShare(column.overall_share)}`;
  return `${formatValue(column.overall, column)}${share}`;
}

/** Return one line of a typical row: column, value, mark. */
function typicalLine(k, name) {
  const column = columnNamed.get(name);
  const detail = report.cards[k].detail?.[name];
  const value = typicalOf(k, name);
  const line = element("tr", { "data-column": name },
    element("th", { scope: "row" }, columnName(name)), element("td", { class: "value" }), element("td", { class: "mark-cell" }));
  showTypicalLine(line, k, column, value, detail);
  return line;
}

function showTypicalLine(line, k, column, value, detail) {
  const [, valueCell, markCell] = line.children;
  const share = isAtEnd() ? detail?.share : undefined;
  valueCell.classList.toggle("words", !isMeasured(column));
  valueCell.replaceChildren(isolated(value === undefined ? "not kept" : formatValue(value, column)),
    ...(share !== undefined && value !== null ? [element("small", {}, ` ${formatShare(share)}`)] : []));
  const missing = detail?.missing ? `, missing in ${formatShare(detail.missing)}` : "";
  const range = detail?.range ? `: most rows from ${formatValue(detail.range[0], column)} to ${formatValue(detail.range[1], column)}` : "";
  const all = overallText(column) ? `; all rows ${overallText(column)}` : "";
  line.title = `${column.name}${range}${all}${missing}`;
  markCell.replaceChildren(...(isMeasured(column) ? [rangeMark(k, column, value, isAtEnd() ? detail : null)]
    : share !== undefined ? [shareMark(k, share)] : []));
}

/** Return a table of typical values; it follows the slider by `showTypicalTable`. */
function typicalTable(k, shownNames) {
  return element("table", { class: "typical" },
    element("thead", {}, element("tr", {},
      element("th", { scope: "col" }, "Typical row"),
      element("th", { scope: "col", class: "value" }, "Value"),
      element("th", { scope: "col" }, "Among all rows"))),
    element("tbody", {}, shownNames.map((name) => typicalLine(k, name))));
}

function showTypicalTable(table, k) {
  for (const line of table.tBodies[0].rows) {
    const name = line.dataset.column;
    showTypicalLine(line, k, columnNamed.get(name), typicalOf(k, name), report.cards[k].detail?.[name]);
  }
}

const MAX_EFFECT = 3; // spreads; longer bars are cut

/** Return bars to the left and to the right of a line, with the sentence of each. */
function apartList(entries, k) {
  const largest = Math.max(1, ...entries.map((entry) => Math.min(Math.abs(entry.effect ?? 0), MAX_EFFECT)));
  return element("ul", { class: "apart" }, entries.map((entry) => {
    const size = (50 * Math.min(Math.abs(entry.effect ?? 0), MAX_EFFECT)) / largest;
    const bar = withWidth(element("i"), size, entry.effect < 0 ? 50 - size : 50);
    bar.style.setProperty("--own", color(k));
    const [, words, others] = /^(.*?)( \([^()]*\))?$/s.exec(entry.text);
    return element("li", {},
      element("span", { class: "words" }, element("bdi", { dir: "ltr" }, words, ...(others ? [" ", element("small", {}, others.trim())] : []))),
      element("span", { class: "diverging", "aria-hidden": "true" }, bar));
  }));
}

/** Return a table of examples: a line for each column, a column for each example. */
function exampleTable(k, examples) {
  const fieldNames = report.columns.map((column) => column.name)
    .filter((name) => examples.some((example) => Object.hasOwn(example.values ?? {}, name)));
  const heads = examples.map((example) => element("th", { scope: "col" }, isolated(example.name)));
  return element("table", { class: "examples" },
    element("thead", {}, element("tr", {}, element("td"), heads)),
    element("tbody", {}, fieldNames.map((name) => element("tr", {},
      element("th", { scope: "row" }, columnName(name)),
      examples.map((example) => element("td", {}, isolated(formatValue(example.values?.[name], columnNamed.get(name)))))))));
}
