"use strict";
// The page: one step of the path is current, and everything shows it.

const nSteps = report.steps.length;
const pause = 450; // milliseconds between two steps of a play
let current = nSteps - 1;
let playing = null;

const charts = [report.line ? lineChart() : mapChart(), curvesChart()];
const showPatterns = patternCards();

function showHeader() {
  const { kernel, adaptive, bandwidth, bandwidth_rule: rule } = report.model;
  const target = bandwidth === null ? "K-means" : `target bandwidth ${format(bandwidth)}${rule ? ` (by the rule “${rule}”)` : ""}`;
  byId("facts").textContent =
    `${whole(report.n_rows)} rows of ${whole(report.n_features)} ${report.n_features === 1 ? "feature" : "features"}, ` +
    `${report.n_clusters} ${report.n_clusters === 1 ? "cluster" : "clusters"}, ${kernel} kernel${adaptive ? ", adaptive" : ""}, ${target}`;
  byId("notes").replaceChildren(...report.notes.map((note) => element("li", {}, element("bdi", {}, note))));
  byId("first").textContent = stepName(0);
  byId("last").textContent = nSteps > 1 ? `target ${stepName(nSteps - 1)}` : "";
  document.body.dataset.pattern = report.pattern;
}

function showReadout(step) {
  const { bandwidth, objective } = report.steps[step];
  const name = bandwidth === null ? "K-means (bandwidth ∞)" : `bandwidth ${format(bandwidth)}`;
  byId("readout").replaceChildren(name, element("small", {}, `step ${step + 1} of ${nSteps}, objective ${format(objective)}`));
  byId("slider").value = step;
  byId("slider").setAttribute("aria-valuetext", name);
}

/** The columns of the table: a name, and what stands in it for a cluster at a step. */
function columns() {
  const rows = (step, k) => report.steps[step].counts[k];
  const partners = (k) => report.redundant.pairs
    .filter(({ clusters: pair }) => pair.includes(k))
    .map(({ clusters: [a, b] }) => (a === k ? b : a));
  const common = (step, k) => {
    if (!report.commonest[step][k]) return "–";
    const [best, count] = report.commonest[step][k];
    return element("bdi", {}, `${short(report.class_names[best])} (${percent(count / rows(step, k))})`);
  };
  return [
    ["cluster", (step, k) => chip(k)],
    ["rows", (step, k) => whole(rows(step, k))],
    ["share", (step, k) => percent(rows(step, k) / report.n_rows)],
    ["mean distance", (step, k) => format(report.spread[step][k])],
    [`moved from ${report.steps[0].bandwidth === null ? "the mean" : "the start"}`, (step, k) => format(report.steps[step].moved[k])],
    ["nearest row", (step, k) => String(report.exemplars[step][k][0] ?? "–")],
    ...(report.class_names ? [["commonest class", common]] : []),
    ["redundant with, at the target", (step, k) => short(partners(k).join(", ") || "–", 24)],
  ];
}

const tableColumns = columns();

function showTable(step) {
  const table = byId("clusters");
  table.tHead.replaceChildren(element("tr", {}, ...tableColumns.map(([name]) => element("th", { scope: "col" }, name))));
  table.tBodies[0].replaceChildren(...clusters.map((k) =>
    element("tr", {}, ...tableColumns.map(([, cell]) => element("td", {}, cell(step, k))))));
}

function showRedundant() {
  const { pairs, threshold } = report.redundant;
  const n = (report.n_clusters * (report.n_clusters - 1)) / 2;
  const most = 12;
  const rule = `their points' density falls nowhere below ${percent(threshold)} of the lower peak on the way from one to the other`;
  const many = pairs.length > report.n_clusters ? " So many mean that the bandwidth is too wide for peaks of their own, rather than that there are too many clusters." : "";
  byId("redundant-caption").textContent =
    report.model.bandwidth === null ? "K-means has no densities to compare." :
    pairs.length === 0 ? "None: between each two modes the density dips." :
    `At the target bandwidth ${pairs.length} of ${n} pairs of clusters are redundant: ${rule}.${many}` +
    (pairs.length > most ? ` The ${most} most redundant:` : "");
  byId("redundant").replaceChildren(...pairs.slice(0, most).map(({ clusters: [a, b], ratio }) =>
    element("li", {}, chip(a), chip(b), element("small", {}, percent(ratio)))));
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
    playing = setTimeout(playOn, pause);
  }
  byId("play").textContent = playing === null ? "Play" : "Stop";
}

function playOn() {
  show(current + 1);
  playing = setTimeout(playOn, pause);
  if (current === nSteps - 1) play(false);
}

function stepTo(step) {
  play(false);
  show(step);
}

/** One line of CSV. Text that a spreadsheet would take for a formula is marked as text. */
function csvLine(cells) {
  return cells.map((cell) => {
    if (typeof cell === "number") return String(cell);
    const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  }).join(",");
}

function download(name, lines) {
  const address = URL.createObjectURL(new Blob([`${lines.map(csvLine).join("\n")}\n`], { type: "text/csv" }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

const fileName = (what) => `${what}-${stepName(current).replace(/[^\w.+-]/g, "")}.csv`;

function downloadCenters() {
  const { counts } = report.steps[current];
  const centers = report.centers[current];
  const lines = report.pattern === "terms"
    ? [["cluster", "feature", "value"], ...clusters.flatMap((k) => centers[k].map(([d, value]) => [k, featureName(d), value]))]
    : [["cluster", "count", ...[...Array(report.n_features).keys()].map(featureName)], ...clusters.map((k) => [k, counts[k], ...centers[k]])];
  download(fileName("centers"), lines);
}

function downloadLabels() {
  const rows = report.labels.rows;
  const lines = Array.from(labelsAt(current), (label, i) => [rows ? rows[i] : i, label]);
  download(fileName("labels"), [["row", "label"], ...lines]);
}

function showDownloadCaption() {
  const parts = ["At the bandwidth chosen above; rows and clusters count from 0."];
  if (report.pattern === "terms") parts.push("Centers: the greatest features of each.");
  if (report.labels.rows) parts.push(`Labels: of the ${whole(report.labels.rows.length)} rows drawn.`);
  byId("download-caption").textContent = parts.join(" ");
}

const keys = {
  " ": () => play(playing === null),
  ArrowRight: () => stepTo(current + 1),
  ArrowLeft: () => stepTo(current - 1),
  Home: () => stepTo(0),
  End: () => stepTo(nSteps - 1),
};

function begin() {
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
  byId("download-centers").addEventListener("click", downloadCenters);
  byId("download-labels").addEventListener("click", downloadLabels);
  byId("curves").on("plotly_click", (event) => stepTo(event.points[0].pointIndex));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    if (event.key === " " && event.target.closest("button")) return; // which it presses
    if (event.target.closest(".scroll")) return; // which it scrolls
    event.preventDefault();
    keys[event.key]();
  });
}

begin();
