"use strict";
// The page: the slider selects a step of the path, and everything shows that step.

const nSteps = report.steps.length;
const stepDelay = 450; // milliseconds between two steps of the animation
let current = nSteps - 1;
let playing = null; // the timer of the animation

const charts = [report.histogram ? histogramChart() : mapChart(), curvesChart()];
const showPatterns = patternCards();

// Tooltips that explain words on the page.
const glossary = {
  mode: "Representative of a cluster: a peak of the kernel density of its rows. At an infinite bandwidth it is the mean.",
  exemplar: "The row of the cluster that is nearest to its mode.",
  bandwidth: "Width of the kernel. Rows that are many bandwidths away from a mode have little influence on it.",
  objective: "Mean kernel value of all rows at the mode of their cluster. It is 1 if every row is at its mode.",
  redundant: "Two clusters are redundant if the density between their modes hardly drops, so that they could be one cluster.",
};

/** Return text with a dotted underline and a tooltip. */
const withTooltip = (text, tooltip) => element("span", { class: "term", title: tooltip }, text);

function showHeader() {
  const { kernel, adaptive, bandwidth, bandwidth_rule: rule } = report.model;
  const target = bandwidth === null ? "K-means" : `target bandwidth ${format(bandwidth)}${rule ? ` (rule “${rule}”)` : ""}`;
  byId("facts").textContent = [
    plural(report.n_rows, "row"), plural(report.n_features, "feature"), plural(report.n_clusters, "cluster"),
    `${kernel} kernel`, ...(adaptive ? ["adaptive bandwidths"] : []), target,
  ].join(", ");
  byId("notes").replaceChildren(...report.notes.map((note) => element("li", {}, element("bdi", {}, note))));
  byId("first").textContent = stepName(0);
  byId("last").textContent = nSteps > 1 ? `target ${stepName(nSteps - 1)}` : "";
  byId("patterns-title").replaceChildren(withTooltip("Modes", glossary.mode), " and their nearest rows");
  byId("redundant-title").replaceChildren(withTooltip("Redundant", glossary.redundant), " pairs of clusters");
  document.body.dataset.pattern = report.pattern;
}

function showReadout(step) {
  const { bandwidth, objective } = report.steps[step];
  const name = bandwidth === null ? "K-means (bandwidth ∞)" : `bandwidth ${format(bandwidth)}`;
  const details = element("small", {}, `step ${step + 1} of ${nSteps}, `, withTooltip("objective", glossary.objective), ` ${format(objective)}`);
  byId("readout").replaceChildren(name, details);
  byId("readout").title = glossary.bandwidth;
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
  const startName = report.steps[0].bandwidth === null ? "the K-means center" : "the start";
  return [
    ["cluster", (step, k) => chip(k)],
    ["rows", (step, k) => formatCount(rows(step, k))],
    ["share of rows", (step, k) => formatPercent(rows(step, k) / report.n_rows)],
    ["mean distance", (step, k) => format(report.mean_distances[step][k]), "Mean distance of the rows of the cluster to its mode."],
    [`distance from ${startName}`, (step, k) => format(report.steps[step].moved[k]), "How far the mode has moved along the path."],
    ["exemplar (row)", (step, k) => String(report.exemplars[step][k][0] ?? "–"), glossary.exemplar],
    ...(report.class_names ? [["most frequent class", topClass, "Class that most rows of the cluster have, and their share."]] : []),
    ["redundant with", (step, k) => shorten(partners(k).join(", ") || "–", 24), `${glossary.redundant} This column is for the target bandwidth.`],
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
  const { pairs, threshold } = report.redundant;
  const n = (report.n_clusters * (report.n_clusters - 1)) / 2;
  const nListed = 12;
  const rule = `In a redundant pair, the density of the rows on the line between the two modes never drops below ${formatPercent(threshold)} of the lower peak.`;
  const manyNote = pairs.length > report.n_clusters
    ? " If most pairs are redundant, the bandwidth is too large for separate peaks. It does not mean that there are too many clusters." : "";
  byId("redundant-caption").textContent =
    report.model.bandwidth === null ? "K-means has no densities to compare." :
    pairs.length === 0 ? "None. The density drops between every two modes." :
    `At the target bandwidth: ${pairs.length} of ${plural(n, "pair")}. ${rule}${manyNote}` +
    (pairs.length > nListed ? ` The ${nListed} pairs with the smallest drop:` : "");
  byId("redundant").replaceChildren(...pairs.slice(0, nListed).map(({ clusters: [a, b], ratio }) =>
    element("li", {}, chip(a), chip(b), element("small", { title: "Lowest density between the modes, as a share of the lower peak." }, formatPercent(ratio)))));
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
  const { counts } = report.steps[current];
  const centers = report.centers[current];
  const lines = report.pattern === "terms"
    ? [["cluster", "feature", "value"], ...clusters.flatMap((k) => centers[k].map(([d, value]) => [k, featureName(d), value]))]
    : [["cluster", "count", ...[...Array(report.n_features).keys()].map(featureName)], ...clusters.map((k) => [k, counts[k], ...centers[k]])];
  download(fileName("modes"), lines);
}

function downloadLabels() {
  const rows = report.labels.rows;
  const lines = Array.from(labelsAt(current), (label, i) => [rows ? rows[i] : i, label]);
  download(fileName("labels"), [["row", "label"], ...lines]);
}

function showDownloadCaption() {
  const sentences = ["At the bandwidth of the slider. Rows and clusters are numbered from 0."];
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
  showDownloadCaption();
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
