"use strict";
// Modes and labels as CSV files, with the names that the reader gave.

/** Return one line of CSV. Text that a spreadsheet would read as a formula gets a leading quote. */
function csvLine(cells) {
  return cells.map((cell) => {
    if (cell === null || cell === undefined) return "";
    if (typeof cell !== "string") return String(cell);
    const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  }).join(",");
}

function download(fileName, lines) {
  const url = URL.createObjectURL(new Blob([`${lines.map(csvLine).join("\n")}\n`], { type: "text/csv" }));
  element("a", { href: url, download: fileName }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const fileName = (what) => `${what}${isAtEnd() ? "" : `-step-${state.step + 1}`}.csv`;

function downloadModes() {
  const kept = isAtEnd() ? typicalNames : typicalNames.filter((name) => stepPosition.has(name));
  const isText = report.cards.some((card) => card.terms?.length);
  download(fileName("modes"), [
    ["cluster", "name", "count", "share", "rows_averaged", ...(isText ? ["terms"] : []), ...kept],
    ...clusters.map((k) => [k, nameOf(k), rowsOf(k), shareOf(k), averagedAt(state.step, k),
      ...(isText ? [report.cards[k].terms.map(([word]) => word).join(" ")] : []), ...kept.map((name) => typicalOf(k, name))]),
  ]);
}

function downloadLabels() {
  const { rows, names: rowNames } = report.labels;
  const lines = Array.from(labelsAt(state.step), (label, i) => [rows ? rows[i] : i, ...(rowNames ? [rowNames[i]] : []), label, label < 0 ? "" : nameOf(label)]);
  download(fileName("labels"), [["row", ...(rowNames ? ["row_name"] : []), "label", "name"], ...lines]);
}

function startDownloads() {
  const sample = report.labels?.rows ? ` Labels are of the ${counted(report.labels.rows.length)} that this page has.` : "";
  byId("downloads-caption").textContent = `With the names that you gave to the clusters${isKeptPath() ? ", at the step of the slider" : ""}. ${sample}`;
  byId("download-modes").addEventListener("click", downloadModes);
  byId("download-labels").addEventListener("click", downloadLabels);
}
