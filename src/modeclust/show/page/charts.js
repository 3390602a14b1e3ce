"use strict";
// The map, or the histogram of one feature, and the curves along the path.
//
// A chart says what is drawn at a step, wholly (traces and layout) or as a change of what is there
// (update), which is quick.

const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const axisTitle = (text) => ({ title: { text: plain(short(text)), standoff: 8 } });
const legend = { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" };
const upright = (x, line) => ({ type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line });

function baseLayout({ axes, ...extra }) {
  const common = { gridcolor: theme("--line"), linecolor: theme("--line"), zeroline: false, automargin: true };
  const styled = Object.entries(axes).map(([name, axis]) => [name, { ...common, ...axis }]);
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: theme("--ink"), family: "system-ui, sans-serif", size: 12 },
    margin: { l: 60, r: 15, t: 35, b: 50 },
    hovermode: "closest",
    hoverlabel: { align: "left" },
    ...extra,
    ...Object.fromEntries(styled),
  };
}

/** Rows and centroids in the plane. */
function mapChart() {
  const { rows, places, axes, centers, classes } = report.map;
  const [x, y] = places;
  const size = x.length > 2000 ? 4 : x.length > 500 ? 5 : 7;
  const at = (step, axis) => centers[step].map((center) => center[axis] ?? 0);
  const trail = (step, axis) => clusters.flatMap((k) =>
    [...centers.slice(0, step + 1).map((points) => points[k][axis] ?? 0), null]);
  const hover = (labels) => rows.map((row, i) => {
    const known = classes ? `<br>class ${plain(short(report.class_names[classes[i]]))}` : "";
    return `row ${row}<br>cluster ${labels[i]}${known}`;
  });
  const traces = (step) => {
    const labels = shownLabels(step);
    const ink = theme("--ink");
    return [
      {
        name: "rows", x, y, mode: "markers", text: hover(labels), hovertemplate: "%{text}<extra></extra>",
        marker: { size, opacity: 0.65, color: Array.from(labels, color), symbol: Array.from(labels, symbol) },
      },
      {
        name: "path", x: trail(step, 0), y: trail(step, 1), mode: "lines", hoverinfo: "skip",
        line: { width: 1.5, color: ink },
      },
      {
        name: "mean", x: at(0, 0), y: at(0, 1), mode: "markers", text: clusters.map(String),
        hovertemplate: "first centroid of cluster %{text}<extra></extra>",
        marker: { symbol: "asterisk-open", size: 10, color: ink, line: { width: 2 } },
      },
      {
        name: "centroid", x: at(step, 0), y: at(step, 1), mode: "markers+text", text: clusters.map((k) => `<b>${k}</b>`),
        textposition: "top center", hovertemplate: "centroid of cluster %{text}<extra></extra>",
        marker: { size: 13, color: clusters.map(color), symbol: clusters.map(symbol), line: { width: 2, color: ink } },
      },
    ];
  };
  const layout = () => baseLayout({
    axes: { xaxis: axisTitle(axes[0]), yaxis: axisTitle(axes[1] ?? "") }, dragmode: "pan", legend,
  });
  let drawn = 0;
  const update = (step) => {
    const [before, labels] = [shownLabels(drawn), shownLabels(step)];
    drawn = step;
    if (labels.some((label, i) => label !== before[i])) {
      Plotly.restyle("map", {
        "marker.color": [Array.from(labels, color)], "marker.symbol": [Array.from(labels, symbol)], text: [hover(labels)],
      }, [0]);
    }
    Plotly.restyle("map", { x: [trail(step, 0), at(step, 0)], y: [trail(step, 1), at(step, 1)] }, [1, 3]);
  };
  const total = whole(report.n_rows);
  return {
    id: "map", traces, layout, update, title: "Map of the rows",
    caption: rows.length < report.n_rows
      ? `${whole(rows.length)} of the ${total} rows, drawn at random from each cluster. All other numbers on this page are of all rows.`
      : `All ${total} rows.`,
  };
}

/** One feature: how many rows of each cluster there are, and the density of each. */
function lineChart() {
  const { edges, counts, grid, densities } = report.line;
  const middles = edges.slice(1).map((edge, i) => (edge + edges[i]) / 2);
  const shadings = ["", "/", "\\", "x", "-", "|", "+", "."];
  const shading = (k) => shadings[Math.floor(k / report.colors.length) % shadings.length];
  const place = (step, k) => report.map.centers[step][k][0];
  const heights = (step) => [...counts[step], ...clusters.map((k) => densities[step]?.[k] ?? [])];
  const lines = (step) => {
    const held = clusters.filter((k) => report.steps[step].counts[k] > 0).map((k) => place(step, k)).sort((a, b) => a - b);
    return [
      ...held.slice(1).map((x, i) => upright((x + held[i]) / 2, { color: theme("--ink"), width: 2 })),
      ...clusters.map((k) => upright(place(step, k), { color: color(k), width: 1.5, dash: "dot" })),
    ];
  };
  const traces = (step) => {
    const values = heights(step);
    const bars = clusters.map((k) => ({
      name: `cluster ${k}`, type: "bar", x: middles, y: values[k], width: edges[1] - edges[0], legendgroup: k,
      marker: { color: color(k), opacity: 0.6, line: { width: 0 }, pattern: { shape: shading(k) } },
      hovertemplate: `%{y} rows of cluster ${k} near %{x:.5g}<extra></extra>`,
    }));
    const curves = clusters.map((k) => ({
      name: `density ${k}`, mode: "lines", x: grid, y: values[clusters.length + k], showlegend: false,
      legendgroup: k, line: { color: color(k), width: 2.5 }, hoverinfo: "skip",
    }));
    return [...bars, ...curves];
  };
  const layout = (step) => baseLayout({
    axes: { xaxis: axisTitle(report.map.axes[0]), yaxis: { title: { text: "rows in a bin" } } },
    barmode: "stack", bargap: 0, shapes: lines(step), dragmode: "zoom", legend, showlegend: true,
  });
  const update = (step) => Plotly.update("map", { y: heights(step) }, { shapes: lines(step) });
  return {
    id: "map", traces, layout, update, title: "Histogram and density of each cluster",
    caption: "Curves: the kernel density of each cluster, scaled to the bars; K-means has none. Solid lines: " +
      "where clusters meet. Dotted lines: centroids. Drag over a part to enlarge it, double click to go back.",
  };
}

/** Objective, sizes and changed labels against the bandwidth, with a cursor. */
function curvesChart() {
  const bandwidths = report.steps.map((step) => step.bandwidth);
  const finite = bandwidths.filter((bandwidth) => bandwidth !== null).map(Math.log10);
  const gap = finite.length > 1 ? (finite[0] - finite.at(-1)) / (finite.length - 1) : 1;
  // Bandwidths fall to the right; that of K-means, which is infinite, stands a little apart.
  const x = bandwidths.map((b) => (b === null ? -(finite[0] ?? 0) - 1.5 * gap : -Math.log10(b)));
  const every = Math.max(1, Math.ceil(finite.length / 6));
  const ticks = [...x.keys()].filter((i) => bandwidths[i] === null || (x.length - 1 - i) % every === 0);
  const text = [...x.keys()].map(stepName);
  const of = (read) => report.steps.map(read);
  const traces = () => [
    {
      x, text, y: of((s) => s.objective), mode: "lines+markers", line: { color: theme("--ink"), width: 2 }, marker: { size: 4 },
      hovertemplate: "%{text}: objective %{y:.5g}<extra></extra>",
    },
    ...clusters.map((k) => ({
      x, text, y: of((s) => s.counts[k]), yaxis: "y2", mode: "lines+markers", line: { color: color(k), width: 2 },
      marker: { size: 5, symbol: symbol(k) }, hovertemplate: `%{text}: cluster ${k} has %{y} rows<extra></extra>`,
    })),
    {
      x, text, y: of((s) => s.changed), yaxis: "y3", type: "bar", marker: { color: theme("--accent") },
      hovertemplate: "%{text}: %{y} labels changed<extra></extra>",
    },
  ];
  const cursor = (step) => [upright(x[step], { color: theme("--accent"), width: 2, dash: "dash" })];
  const fixed = (text, domain) => ({ title: { text }, domain, fixedrange: true, rangemode: "tozero" });
  const layout = (step) => baseLayout({
    axes: {
      xaxis: { title: { text: "bandwidth" }, tickvals: ticks.map((i) => x[i]), ticktext: ticks.map(stepName), fixedrange: true, anchor: "y3" },
      yaxis: { ...fixed("objective", [0.7, 1]), rangemode: "normal" },
      yaxis2: fixed("rows", [0.3, 0.64]),
      yaxis3: fixed("changed", [0, 0.24]),
    },
    showlegend: false, dragmode: false, shapes: cursor(step), margin: { l: 60, r: 15, t: 10, b: 45 },
  });
  const update = (step) => Plotly.relayout("curves", { shapes: cursor(step) });
  return { id: "curves", traces, layout, update };
}
