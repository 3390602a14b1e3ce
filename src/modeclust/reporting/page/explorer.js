"use strict";
// The page: the slider selects a step of the path, and everything shows that step.

const nSteps = report.steps.length;
const stepDelay = 450; // milliseconds between two steps of the animation
let current = nSteps - 1;
let playing = null; // the timer of the animation
const isAuto = report.steps[nSteps - 1].own_bandwidths; // each mode has a bandwidth of its own
const isFrozen = report.steps[nSteps - 1].stage === 2;
const labelBandwidth = isFrozen ? "the bandwidth of the labels" : "the target bandwidth";

const charts = [report.histogram ? histogramChart() : mapChart(), curvesChart(), outliersChart()];
const showPatterns = patternCards();

// Tooltips that explain words on the page.
const glossary = {
  mode: "Representative of a cluster: a peak of the kernel density of its rows. At an infinite bandwidth it is the mean.",
  center: "Point that determines the labels: a row belongs to the cluster with the nearest center.",
  rowsAveraged: "How many rows the mode averages. Rows near the mode count fully, rows far away hardly: it is (sum w)² / sum w² with the kernel weights w.",
  exemplar: "The row of the cluster that is nearest to its mode.",
  bandwidth: "Width of the kernel. Rows that are many bandwidths away from a mode have little influence on it.",
  objective: "Mean kernel value of all rows at the mode of their cluster. It is 1 if every row is at its mode.",
  outlier: "A row that is unusually far from its center, compared with the other rows of its cluster. The score is 0 at the median distance, and grows by 1 for each standard deviation.",
  redundant: "Two clusters are redundant if the density between their modes hardly drops, so that they could be one cluster.",
};

/** Return text with a dotted underline and a tooltip. */
const withTooltip = (text, tooltip) => element("span", { class: "term", title: tooltip }, text);

/** Return what the header says about bandwidths. */
function bandwidthFacts() {
  const { bandwidth, bandwidth_rule: rule } = report.model;
  const ruleNote = rule ? ` (rule “${rule}”)` : "";
  if (report.steps[nSteps - 1].stage === 0) return ["K-means"];
  if (!isFrozen) return [`target bandwidth ${format(bandwidth)}${ruleNote}`];
  const labels = [withTooltip("labels", glossary.center), bandwidth === null ? " of K-means" : ` at bandwidth ${format(bandwidth)}`];
  if (!isAuto) return [...labels, `, modes at bandwidth ${stepName(nSteps - 1)}${ruleNote}`];
  const [fewest, , most] = rowsAveraged(nSteps - 1);
  const rows = fewest < most ? `${formatCount(fewest)} to ${plural(most, "row")}` : plural(most, "row");
  return ["auto: ", ...labels, ", modes ", withTooltip(`average ${rows}`, glossary.rowsAveraged)];
}

function showHeader() {
  const { kernel, adaptive } = report.model;
  const facts = [
    plural(report.n_rows, "row"), plural(report.n_features, "feature"), plural(report.n_clusters, "cluster"),
    `${kernel} kernel`, ...(adaptive ? ["adaptive bandwidths"] : []),
  ];
  byId("facts").replaceChildren(`${facts.join(", ")}, `, ...bandwidthFacts());
  byId("notes").replaceChildren(...report.notes.map((note) => element("li", {}, element("bdi", {}, note))));
  byId("first").textContent = stepName(0);
  byId("last").textContent = nSteps === 1 ? "" : isAuto ? stepTitle(nSteps - 1) : `target ${stepName(nSteps - 1)}`;
  byId("patterns-title").replaceChildren(withTooltip("Modes", glossary.mode), " and their nearest rows");
  byId("redundant-title").replaceChildren(withTooltip("Redundant", glossary.redundant), " pairs of clusters");
  document.body.dataset.pattern = report.pattern;
}

function showReadout(step) {
  const { stage, objective, own_bandwidths: own } = report.steps[step];
  const name = `${stepTitle(step)}${stage === 0 ? " (bandwidth ∞)" : own ? " (median)" : ""}`;
  const details = element("small", {}, `step ${step + 1} of ${nSteps}, `, withTooltip("objective", glossary.objective), ` ${format(objective)}`);
  byId("readout").replaceChildren(name, details);
  byId("readout").title = own ? glossary.rowsAveraged : glossary.bandwidth;
  byId("slider").value = step;
  byId("slider").setAttribute("aria-valuetext", name);
}

/** Return the columns of the table: name, content for a cluster at a step, and tooltip. */
function columns() {
  const rows = (step, k) => report.steps[step].counts[k];
  const partners = (k) => report.redundant.pairs
    .filter(({ clusters: pair }) => pair.includes(k))
    .map(({ clusters: [a, b] }) => (a === k ? b : a));
  const topClass = (step, k) => {
    if (!report.top_classes[step][k]) return "–";
    const [top, count] = report.top_classes[step][k];
    return element("bdi", {}, `${shorten(report.class_names[top])} (${formatPercent(count / rows(step, k))})`);
  };
  const startName = report.steps[0].stage === 0 ? "the K-means center" : "the start";
  return [
    ["cluster", (step, k) => chip(k)],
    ["rows", (step, k) => formatCount(rows(step, k))],
    ["share of rows", (step, k) => formatPercent(rows(step, k) / report.n_rows)],
    ...(report.steps[0].rows_averaged === null ? [] :
      [["rows averaged", (step, k) => formatCount(Math.round(report.steps[step].rows_averaged[k])), glossary.rowsAveraged]]),
    ["mean distance", (step, k) => format(report.mean_distances[step][k]), "Mean distance of the rows of the cluster to its mode."],
    [`distance from ${startName}`, (step, k) => format(report.steps[step].moved[k]), "How far the mode has moved along the path."],
    ["exemplar (row)", (step, k) => String(report.exemplars[step][k][0] ?? "–"), glossary.exemplar],
    ...(report.class_names ? [["most frequent class", topClass, "Class that most rows of the cluster have, and their share."]] : []),
    ["redundant with", (step, k) => shorten(partners(k).join(", ") || "–", 24), `${glossary.redundant} This column is for ${labelBandwidth}.`],
  ];
}

const tableColumns = columns();

function showTable(step) {
  const table = byId("clusters");
  table.tHead.replaceChildren(element("tr", {}, ...tableColumns.map(([name, , tooltip]) => element("th", { scope: "col" }, tooltip ? withTooltip(name, tooltip) : name))));
  table.tBodies[0].replaceChildren(...clusters.map((k) =>
    element("tr", {}, ...tableColumns.map(([, cell]) => element("td", {}, cell(step, k))))));
}

function showRedundant() {
  const { pairs, threshold, too_wide: isTooWide } = report.redundant;
  const n = (report.n_clusters * (report.n_clusters - 1)) / 2;
  const nListed = 12;
  const ends = isFrozen ? "centers" : "modes";
  const rule = `In a redundant pair, the density of the rows on the line between the two ${ends} drops by less than ${threshold} standard deviations below the lower peak, so the drop may be chance.`;
  byId("redundant-caption").textContent =
    report.model.bandwidth === null ? (isFrozen ? "The labels are those of K-means, which has no densities to compare." : "K-means has no densities to compare.") :
    isTooWide ? `The bandwidth is too wide to tell: at ${labelBandwidth}, the density hardly drops between most pairs of ${ends}. This does not mean that there are too many clusters. Fit with a smaller bandwidth to find redundant ones.` :
    pairs.length === 0 ? `None. The density drops significantly between every two ${ends}.` :
    `At ${labelBandwidth}: ${pairs.length} of ${plural(n, "pair")}. ${rule}` +
    (pairs.length > nListed ? ` The ${nListed} pairs with the smallest drop:` : "");
  byId("redundant").replaceChildren(...pairs.slice(0, nListed).map(({ clusters: [a, b], ratio, significance }) =>
    element("li", {}, chip(a), chip(b), element("small", { title: `Lowest density between the two, as a share of the lower peak: ${formatPercent(ratio)}. The number is the drop in standard deviations.` }, significance.toFixed(1)))));
}

function showOutliers() {
  const { n_above: nAbove, n_rows: nRows, threshold, farthest } = report.outliers;
  byId("outliers-title").replaceChildren(withTooltip("Outliers", glossary.outlier));
  byId("outliers-caption").textContent =
    `${formatCount(nAbove)} of ${plural(nRows, "row")} have a score above ${threshold}, which one in 700 rows of a Gaussian cluster has. The rows with the highest scores are below the histogram.`;
  byId("farthest").replaceChildren(...farthest.map(({ row, cluster, score }) =>
    element("li", {}, chip(cluster), `row ${row}`, element("small", { title: glossary.outlier }, score.toFixed(1)))));
}

function show(step) {
  current = Math.min(Math.max(step, 0), nSteps - 1);
  showReadout(current);
  showPatterns(current);
  showTable(current);
  for (const chart of charts) chart.update(current);
}

function play(on) {
  clearTimeout(playing);
  playing = null;
  if (on && nSteps > 1) {
    if (current === nSteps - 1) show(0);
    playing = setTimeout(playNext, stepDelay);
  }
  byId("play").textContent = playing === null ? "Play" : "Stop";
}

function playNext() {
  show(current + 1);
  playing = setTimeout(playNext, stepDelay);
  if (current === nSteps - 1) play(false);
}

function stepTo(step) {
  play(false);
  show(step);
}

/** Return one line of CSV. Text that a spreadsheet would read as a formula gets a leading quote. */
function csvLine(cells) {
  return cells.map((cell) => {
    if (typeof cell === "number") return String(cell);
    const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  }).join(",");
}

function download(name, lines) {
  const url = URL.createObjectURL(new Blob([`${lines.map(csvLine).join("\n")}\n`], { type: "text/csv" }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const fileName = (what) => `${what}-${stepName(current).replace(/[^\w.+-]/g, "")}.csv`;

function downloadModes() {
  const { counts, rows_averaged: averaged } = report.steps[current];
  const centers = report.centers[current];
  const columns = averaged === null ? [["count", counts]] : [["count", counts], ["rows_averaged", averaged]];
  const lines = report.pattern === "terms"
    ? [["cluster", "feature", "value"], ...clusters.flatMap((k) => centers[k].map(([d, value]) => [k, featureName(d), value]))]
    : [["cluster", ...columns.map(([name]) => name), ...[...Array(report.n_features).keys()].map(featureName)],
      ...clusters.map((k) => [k, ...columns.map(([, values]) => values[k]), ...centers[k]])];
  download(fileName("modes"), lines);
}

function downloadLabels() {
  const rows = report.labels.rows;
  const lines = Array.from(labelsAt(current), (label, i) => [rows ? rows[i] : i, label]);
  download(fileName("labels"), [["row", "label"], ...lines]);
}

function showCurvesCaption() {
  const stages = " Dotted lines separate K-means, the bandwidths at which labels are found, and the modes of these labels, which average fewer and fewer rows.";
  byId("curves-caption").textContent =
    `The bandwidth decreases from left to right.${isAuto && report.model.bandwidth !== null ? stages : ""} Click on a point to show that step.`;
}

function showDownloadCaption() {
  const sentences = ["At the step of the slider. Rows and clusters are numbered from 0."];
  if (report.pattern === "terms") sentences.push("Modes: the largest features of each mode.");
  if (report.labels.rows) sentences.push(`Labels: of the ${plural(report.labels.rows.length, "row")} on the map.`);
  byId("download-caption").textContent = sentences.join(" ");
}

const keys = {
  " ": () => play(playing === null),
  ArrowRight: () => stepTo(current + 1),
  ArrowLeft: () => stepTo(current - 1),
  Home: () => stepTo(0),
  End: () => stepTo(nSteps - 1),
};

function start() {
  const slider = byId("slider");
  slider.max = nSteps - 1;
  slider.disabled = byId("play").disabled = nSteps === 1;
  showHeader();
  showRedundant();
  showOutliers();
  showDownloadCaption();
  showCurvesCaption();
  byId("map-title").textContent = charts[0].title;
  byId("map-caption").textContent = charts[0].caption;
  byId("map").setAttribute("aria-label", charts[0].title);
  const options = { displayModeBar: false, responsive: true };
  const draw = () => charts.forEach(({ id, traces, layout }) => Plotly.react(id, traces(current), layout(current), options));
  draw();
  show(current);
  if (charts[0].redraw) {
    byId("map").on("plotly_afterplot", charts[0].redraw);
    byId("map").on("plotly_relayouting", charts[0].redraw);
  }

  slider.addEventListener("input", () => stepTo(Number(slider.value)));
  byId("play").addEventListener("click", () => play(playing === null));
  byId("download-modes").addEventListener("click", downloadModes);
  byId("download-labels").addEventListener("click", downloadLabels);
  byId("curves").on("plotly_click", (event) => stepTo(event.points[0].pointIndex));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    if (event.key === " " && event.target.closest("button")) return; // the key presses the button
    if (event.target.closest(".scroll")) return; // the key scrolls the table
    event.preventDefault();
    keys[event.key]();
  });
}

start();
