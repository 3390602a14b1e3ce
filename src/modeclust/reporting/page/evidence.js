"use strict";
// What else the reader should know: outliers, redundant pairs, how many clusters, how it was made.

function startOutliers() {
  const { outliers } = report;
  if (!outliers) { byId("outliers-panel").hidden = true; return; }
  byId("outliers-panel").open = !many;
  byId("outliers-title").textContent = `Outliers: ${noun} far from the mode of their cluster`;
  byId("outliers-caption").replaceChildren("Left: how many ", noun, " have each ", term("outlier score"), "; the higher, the more unusual.",
    outliers.n_above ? ` The last bar has ${counted(outliers.n_above)} with higher scores.` : "", " Right: the most unusual ones.");
  const figure = element("div", { class: "figure-box" });
  const lines = outliers.rows.map(({ row, name, cluster, score }) => element("tr", {},
    element("td", {}, isolated(name ?? `row ${row}`)), element("td", { class: "value" }, format(score, 2)), element("td", {}, cluster < 0 ? "in no cluster" : clusterLink(cluster))));
  byId("outliers").replaceChildren(element("div", { class: "halves" }, figure, element("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "Most unusual" },
    element("table", {}, element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Row"), element("th", { scope: "col", class: "value" }, "Score"), element("th", { scope: "col" }, "Cluster"))), element("tbody", {}, lines)))));
  drawn(figure, () => figure.replaceChildren(scoreHistogram(outliers, figure.clientWidth)));
}

function scoreHistogram({ edges, counts }, width) {
  const top = Math.max(...counts, 1);
  const { figure, plot, atX, atY } = chart({ title: `Number of ${noun} by outlier score (log scale)`, width, height: 240, x: [edges[0], edges.at(-1)], y: [0.7, top * 1.3], isLog: true, xTitle: "outlier score", yTitle: noun });
  counts.forEach((count, i) => {
    if (!count) return;
    plot.append(svgElement("rect", { x: atX(edges[i]), y: atY(count), width: Math.max(atX(edges[i + 1]) - atX(edges[i]) - 1, 1), height: atY(0.7) - atY(count), class: "count" },
      svgElement("title", {}, `${counted(count)} from ${format(edges[i])} to ${format(edges[i + 1])}`)));
  });
  return figure;
}

const MAX_PAIRS = 8;

function startRedundant() {
  const { redundant } = report;
  if (!redundant || clusters.length < 2) { byId("redundant-panel").hidden = true; return; }
  const { sentence, pairs = [] } = redundant;
  byId("redundant-title").textContent = redundant.is_too_wide ? "Whether two clusters could be one cannot be told here"
    : pairs.length ? "Clusters that could be one" : "No two clusters could be one";
  byId("redundant-caption").replaceChildren(...withTerms(sentence ?? ""), ...(pairs.length > MAX_PAIRS ? [` The first ${MAX_PAIRS} of ${pairs.length} pairs:`] : []));
  byId("redundant").replaceChildren(...pairs.slice(0, MAX_PAIRS).map(({ clusters: [a, b], text }) => element("li", {}, clusterLink(a), " and ", clusterLink(b),
    ...(text ? [element("small", {}, " ", isolated(text))] : []), button("Compare", () => compareClusters(a, b), { class: "quiet small", "aria-label": `Compare cluster ${a} with cluster ${b}` }))));
}

function startEvidence() {
  const { suggestion } = report;
  if (!suggestion) { byId("evidence-panel").hidden = true; return; }
  byId("evidence-caption").replaceChildren(...withTerms(suggestion.sentence ?? ""));
  const box = byId("evidence");
  const charts = [];
  if (suggestion.dips?.length) charts.push(dipChart);
  if (suggestion.peak_heights?.length) charts.push(peakChart);
  if (charts.length) drawn(box, () => box.replaceChildren(...charts.map((draw) => draw(suggestion, chartWidth(box)))));
}

function thresholdLine(plot, inner, y, text) {
  plot.append(svgElement("line", { class: "threshold", x1: inner.left, x2: inner.right, y1: y, y2: y }),
    svgElement("text", { x: inner.right, y: y - 5, "text-anchor": "end" }, text));
}

/** For each number of clusters, how deep the shallowest dip between two of them is. */
function dipChart({ dips, dip_counts: counts, dip_threshold: threshold, n_by_dips: found }, width) {
  const top = Math.max(...dips, threshold) * 1.15;
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const every = Math.max(1, Math.ceil((most - least + 1) / Math.floor(width / 40)));
  const { figure, plot, atX, atY, inner } = chart({ title: "The shallowest dip between two clusters, for each number of clusters", width, height: 240, x: [least - 0.7, most + 0.7], y: [0, top],
    xTicks: counts.filter((count) => (count - least) % every === 0).map((count) => [count, String(count)]), xTitle: "number of clusters", yTitle: "dip" });
  counts.forEach((count, i) => {
    const side = Math.min(0.38 * (atX(1) - atX(0)), 16);
    plot.append(svgElement("rect", { x: atX(count) - side, y: atY(dips[i]), width: 2 * side, height: atY(0) - atY(dips[i]), class: count === found ? "count found" : "count" },
      svgElement("title", {}, `${counted(count, "clusters")}: dip ${format(dips[i])}`)));
  });
  thresholdLine(plot, inner, atY(threshold), "above: separate clusters");
  return figure;
}

/** How high each peak of the density rises above the ground between it and a higher one. */
function peakChart({ peak_heights: all, peak_threshold: threshold, n_by_peaks: found }, width) {
  const heights = all.slice(0, Math.max(30, found + 5));
  const top = Math.max(...heights, threshold) * 1.15;
  const { figure, plot, atX, atY, inner } = chart({ title: "How high each peak of the density rises, beside the highest one", width, height: 240, x: [0.3, heights.length + 0.7], y: [0, top],
    xTicks: heights.map((_, i) => [i + 1, String(i + 2)]).filter((_, i) => i % Math.max(1, Math.ceil((heights.length * 40) / width)) === 0), xTitle: "peak", yTitle: "height in standard errors" });
  heights.forEach((height, i) => {
    const side = Math.min(0.38 * (atX(1) - atX(0)), 16);
    plot.append(svgElement("rect", { x: atX(i + 1) - side, y: atY(height), width: 2 * side, height: atY(0) - atY(height), class: i + 1 < found ? "count found" : "count" },
      svgElement("title", {}, `peak ${i + 2}: ${format(height)}`)));
  });
  thresholdLine(plot, inner, atY(threshold), "above: a cluster of its own");
  return figure;
}

function startMethod() {
  const details = report.method?.details ?? [];
  if (!details.length) { byId("method-panel").hidden = true; return; }
  byId("method").replaceChildren(...details.map(([name, value]) => element("div", {}, element("dt", {}, term(name)), element("dd", {}, isolated(value)))));
}
