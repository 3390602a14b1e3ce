"use strict";
// The map of the rows, or the histogram of a single feature, and the curves along the path.
//
// A chart is drawn once from `traces` and `layout`. When the slider moves, `update` changes only what depends on
// the step, which is faster.

const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const axisTitle = (text) => ({
  title: { text: escapeText(shorten(text)), standoff: 8, font: { size: innerWidth < 500 ? 10 : 12 } },
});
const zoomHelp = "Drag to zoom in, double-click to zoom out.";
const legend = { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" };
const verticalLine = (x, line) => ({ type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line });

function baseLayout({ axes, ...extra }) {
  const common = { gridcolor: theme("--line"), linecolor: theme("--line"), zeroline: false, automargin: true };
  const styled = Object.entries(axes).map(([name, axis]) => [name, { ...common, ...axis }]);
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: theme("--ink"), family: "system-ui, sans-serif", size: 12 },
    margin: { l: 60, r: 15, t: 35, b: 50 },
    hovermode: "closest",
    uirevision: "kept", // keep zoom and legend when the theme changes
    hoverlabel: { align: "left" },
    ...extra,
    ...Object.fromEntries(styled),
  };
}

/** Return black or white, whichever has more contrast with a colour. */
function textColor(hex) {
  const linear = (part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const [red, green, blue] = [1, 3, 5].map((i) => linear(parseInt(hex.slice(i, i + 2), 16) / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}

/** Draw the rows on a canvas below the chart, because Plotly is too slow for thousands of points. */
function rowsLayer() {
  const { rows, points: [x, y], classes } = report.map;
  const canvas = byId("rows");
  const tooltip = byId("tooltip");
  const size = x.length > 2000 ? 5 : x.length > 500 ? 6 : 8;
  const marks = Object.fromEntries(Object.entries(outlines).map(([name, outline]) => [name, new Path2D(outline)]));
  let step = 0;
  const toPixels = () => {
    const { xaxis, yaxis } = byId("map")._fullLayout;
    const [left, right] = xaxis.range;
    const [bottom, top] = yaxis.range;
    return {
      xaxis,
      yaxis,
      px: (i) => xaxis._offset + (xaxis._length * (x[i] - left)) / (right - left),
      py: (i) => yaxis._offset + (yaxis._length * (top - y[i])) / (top - bottom),
    };
  };
  const draw = (newStep = step) => {
    step = newStep;
    const labels = shownLabels(step);
    const { xaxis, yaxis, px, py } = toPixels();
    const pixelRatio = window.devicePixelRatio || 1;
    const { width, height } = canvas.parentElement.getBoundingClientRect();
    [canvas.width, canvas.height] = [width * pixelRatio, height * pixelRatio];
    const context = canvas.getContext("2d");
    context.scale(pixelRatio, pixelRatio);
    context.beginPath();
    context.rect(xaxis._offset, yaxis._offset, xaxis._length, yaxis._length);
    context.clip();
    context.globalAlpha = 0.65;
    for (let i = 0; i < x.length; i++) {
      context.save();
      context.translate(px(i) - size / 2, py(i) - size / 2);
      context.scale(size / 14, size / 14);
      context.fillStyle = color(labels[i]);
      context.fill(marks[symbol(labels[i])]);
      context.restore();
    }
  };
  const nearest = (left, top) => {
    const { px, py } = toPixels();
    let [found, smallest] = [-1, 8 ** 2]; // within 8 pixels
    for (let i = 0; i < x.length; i++) {
      const squared = (px(i) - left) ** 2 + (py(i) - top) ** 2;
      if (squared < smallest) [found, smallest] = [i, squared];
    }
    return found;
  };
  byId("map").addEventListener("mousemove", (event) => {
    const box = canvas.getBoundingClientRect();
    const i = nearest(event.clientX - box.left, event.clientY - box.top);
    tooltip.hidden = i < 0;
    if (i < 0) return;
    const rowClass = classes ? `, class ${shorten(report.class_names[classes[i]])}` : "";
    tooltip.textContent = `row ${rows[i]}, cluster ${shownLabels(step)[i]}${rowClass}`;
    tooltip.style.left = `${Math.min(event.clientX - box.left + 12, box.width - tooltip.offsetWidth - 4)}px`;
    tooltip.style.top = `${event.clientY - box.top - 34}px`;
  });
  byId("map").addEventListener("mouseleave", () => { tooltip.hidden = true; });
  return draw;
}

/** The rows and the modes in the plane. */
function mapChart() {
  const { rows, points, axes, centers } = report.map;
  const modesAt = (step, axis) => centers[step].map((center) => center[axis]);
  const pathsTo = (step, axis) => clusters.flatMap((k) =>
    [...centers.slice(0, step + 1).map((modes) => modes[k][axis]), null]);
  const startName = report.steps[0].stage === 0 ? "K-means center" : "start of the path";
  // The centers that determine the labels, where they are neither the K-means centers nor the modes.
  const labelCenters = (step, axis) => {
    const labelled = labelledStep(step);
    return labelled < step && report.steps[labelled].stage === 1 ? modesAt(labelled, axis) : [];
  };
  const hasLabelCenters = labelCenters(report.steps.length - 1, 0).length > 0;
  const drawRows = rowsLayer();
  const traces = (step) => {
    const ink = theme("--ink");
    return [
      { x: extent([points[0]]), y: extent([points[1]]), mode: "markers", opacity: 0, hoverinfo: "skip", showlegend: false },
      {
        name: "path", x: pathsTo(step, 0), y: pathsTo(step, 1), mode: "lines", hoverinfo: "skip",
        line: { width: 2, color: ink },
      },
      {
        name: startName, x: modesAt(0, 0), y: modesAt(0, 1), mode: "markers", text: clusters.map(String),
        hovertemplate: `${startName} of cluster %{text}<extra></extra>`,
        marker: { symbol: "asterisk-open", size: 11, color: ink, line: { width: 2 } },
      },
      {
        name: "center of the labels", x: labelCenters(step, 0), y: labelCenters(step, 1), mode: "markers", text: clusters.map(String),
        hovertemplate: "center of the labels of cluster %{text}<extra></extra>", showlegend: hasLabelCenters,
        marker: { symbol: "diamond", size: 9, color: theme("--panel"), line: { width: 2, color: ink } },
      },
      {
        name: "mode", x: modesAt(step, 0), y: modesAt(step, 1), mode: "markers+text", text: clusters.map(String),
        textfont: { size: 11, weight: 700, color: clusters.map((k) => textColor(color(k))) },
        hovertemplate: "mode of cluster %{text}<extra></extra>",
        marker: { size: 19, opacity: 1, color: clusters.map(color), symbol: clusters.map(symbol), line: { width: 2, color: ink } },
      },
    ];
  };
  const layout = () => baseLayout({
    axes: { xaxis: axisTitle(axes[0]), yaxis: axisTitle(axes[1]) }, dragmode: "zoom", legend,
  });
  const update = (step) => {
    const at = (axis) => [pathsTo(step, axis), labelCenters(step, axis), modesAt(step, axis)];
    Plotly.restyle("map", { x: at(0), y: at(1) }, [1, 3, 4]);
    drawRows(step);
  };
  const total = formatCount(report.n_rows);
  const otherNumbers = report.is_sample ? "" : " All other numbers on this page are computed from all rows.";
  const shown = rows.length < report.n_rows
    ? `A random sample of ${formatCount(rows.length)} of the ${total} rows.${otherNumbers}`
    : `All ${total} rows.`;
  return {
    id: "map", traces, layout, update, redraw: () => drawRows(), title: "Map of the rows",
    caption: `${shown} ${zoomHelp}`,
  };
}

/** The histogram and the density of each cluster, for a single feature. */
function histogramChart() {
  const { edges, counts, grid, densities, n_outside: nOutside, weighted } = report.histogram;
  const middles = edges.slice(1).map((edge, i) => (edge + edges[i]) / 2);
  const hatches = ["", "/", "\\", "x", "-", "|", "+", "."];
  const hatch = (k) => hatches[Math.floor(k / report.colors.length) % hatches.length];
  const modeAt = (step, k) => report.map.centers[step][k][0];
  const heights = (step) => [...counts[step], ...clusters.map((k) => densities[step]?.[k] ?? [])];
  const showLines = clusters.length <= 20;
  const lines = (step) => {
    if (!showLines) return [];
    const nonEmpty = clusters.filter((k) => report.steps[step].counts[k] > 0);
    const centers = nonEmpty.map((k) => modeAt(labelledStep(step), k)).sort((a, b) => a - b);
    return [
      ...centers.slice(1).map((x, i) => verticalLine((x + centers[i]) / 2, { color: theme("--ink"), width: 2 })),
      ...clusters.map((k) => verticalLine(modeAt(step, k), { color: color(k), width: 1.5, dash: "dot" })),
    ];
  };
  const traces = (step) => {
    const values = heights(step);
    const bars = clusters.map((k) => ({
      name: `cluster ${k}`, type: "bar", x: middles, y: values[k], width: edges[1] - edges[0], legendgroup: k,
      marker: { color: color(k), opacity: 0.6, line: { width: 0 }, pattern: { shape: hatch(k) } },
      hovertemplate: `cluster ${k} near %{x:.5g}: ${weighted ? "weight %{y:.6g}" : "%{y:.6g} rows"}<extra></extra>`,
    }));
    const curves = clusters.map((k) => ({
      name: `density ${k}`, mode: "lines", x: grid, y: values[clusters.length + k], showlegend: false,
      legendgroup: k, line: { color: color(k), width: 2.5 }, hoverinfo: "skip",
    }));
    return [...bars, ...curves];
  };
  const layout = (step) => baseLayout({
    axes: { xaxis: { ...axisTitle(report.map.axes[0]), range: [edges[0], edges.at(-1)] }, yaxis: { title: { text: weighted ? "weight of the rows per bin" : "rows per bin" }, rangemode: "tozero" } },
    barmode: "stack", bargap: 0, shapes: lines(step), dragmode: "zoom", legend, showlegend: showLines,
  });
  const update = (step) => Plotly.update("map", { y: heights(step) }, { shapes: lines(step) });
  return {
    id: "map", traces, layout, update, title: "Histogram and density of each cluster",
    caption: "Curves: kernel density of each cluster, with the same area as its bars. K-means has no density. " +
      (showLines ? "Solid lines: boundaries between clusters. Dotted lines: modes. " : "") + zoomHelp +
      (nOutside ? ` ${formatCount(nOutside)} of the ${formatCount(report.n_rows)} rows are outside the axis limits.` : ""),
  };
}

/** Objective, cluster sizes, rows averaged and changed labels along the path, with a line at the current step. */
function curvesChart() {
  const bandwidths = report.steps.map((step) => step.bandwidth);
  const finite = bandwidths.filter((bandwidth) => bandwidth !== null).map(Math.log10);
  const gap = finite.length > 1 ? (finite[0] - finite.at(-1)) / (finite.length - 1) : 1;
  // The bandwidth decreases to the right. K-means, which has an infinite bandwidth, is at the left end, after a gap.
  // Steps at which each cluster has a bandwidth of its own are evenly spaced: their medians may be equal.
  const isEven = report.steps.some((step) => step.own_bandwidths);
  const x = bandwidths.map((b, i) => (isEven ? i : b === null ? -(finite[0] ?? 0) - 1.5 * gap : -Math.log10(b)));
  const lastLabelled = labelledStep(x.length - 1);
  const tickStep = Math.max(1, Math.ceil((x.length - 1) / 6));
  const hasRoom = (i) => x[i] - x[0] > 0.12 * (x.at(-1) - x[0]);
  const evenTicks = [...x.keys()].filter((i) => i === 0 || i === lastLabelled ||
    ((x.length - 1 - i) % tickStep === 0 && Math.min(i, Math.abs(i - lastLabelled)) >= 0.7 * tickStep));
  const ticks = isEven ? evenTicks : [...x.keys()].filter((i) => i === 0 || ((x.length - 1 - i) % tickStep === 0 && hasRoom(i)));
  const text = [...x.keys()].map(stepTitle);
  const valuesOf = (read) => report.steps.map(read);
  const hasAveraged = report.steps[0].rows_averaged !== null;
  const [top, upper, lower, bottom] = hasAveraged
    ? [[0.79, 1], [0.52, 0.73], [0.25, 0.46], [0, 0.19]] : [[0.7, 1], [0.3, 0.64], [], [0, 0.24]];
  const traces = () => [
    {
      x, text, y: valuesOf((s) => s.objective), mode: "lines+markers", line: { color: theme("--ink"), width: 2 }, marker: { size: 4 },
      hovertemplate: "%{text}: objective %{y:.5g}<extra></extra>",
    },
    ...clusters.map((k) => ({
      x, text, y: valuesOf((s) => s.counts[k]), yaxis: "y2", mode: "lines+markers", line: { color: color(k), width: 2 },
      marker: { size: 5, symbol: symbol(k) }, hovertemplate: `%{text}: cluster ${k} has %{y} rows<extra></extra>`,
    })),
    {
      x, text, y: valuesOf((s) => s.n_changed), yaxis: "y3", type: "bar", marker: { color: theme("--accent") }, textposition: "none",
      hovertemplate: "%{text}: %{y} labels changed<extra></extra>",
    },
    ...(hasAveraged ? clusters : []).map((k) => ({
      x, text, y: valuesOf((s) => s.rows_averaged[k] || null), yaxis: "y4", mode: "lines+markers", line: { color: color(k), width: 2 },
      marker: { size: 5, symbol: symbol(k) }, hovertemplate: `%{text}: the mode of cluster ${k} averages %{y:,.1~f} rows<extra></extra>`,
    })),
  ];
  const averagedAxis = () => {
    const [low, high] = extent(valuesOf((s) => s.rows_averaged.filter((rows) => rows > 0)));
    const tickvals = [...Array(16).keys()].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));
    return { type: "log", range: [Math.log10(low / 1.5), Math.log10(1.1 * high)], tickvals, ticktext: tickvals.map(formatCount) };
  };
  const stageLines = () => x.slice(1).flatMap((right, i) =>
    (report.steps[i].stage === report.steps[i + 1].stage ? [] : [verticalLine((x[i] + right) / 2, { color: theme("--ink"), width: 1, dash: "dot" })]));
  const currentLine = (step) => [verticalLine(x[step], { color: theme("--accent"), width: 2, dash: "dash" }), ...stageLines()];
  const fixed = (text, domain) => ({ title: { text }, domain, fixedrange: true, rangemode: "tozero" });
  const layout = (step) => baseLayout({
    axes: {
      xaxis: { title: { text: isEven ? "bandwidth, then rows averaged (median)" : "bandwidth" }, tickvals: ticks.map((i) => x[i]), ticktext: ticks.map(stepName), fixedrange: true, anchor: "y3" },
      yaxis: { ...fixed("objective", top), rangemode: "normal" },
      yaxis2: fixed("rows per cluster", upper),
      yaxis3: fixed("changed labels", bottom),
      ...(hasAveraged ? { yaxis4: { ...fixed("rows averaged", lower), ...averagedAxis() } } : {}),
    },
    showlegend: false, dragmode: false, shapes: currentLine(step), margin: { l: 60, r: 15, t: 10, b: 45 },
  });
  const update = (step) => Plotly.relayout("curves", { shapes: currentLine(step) });
  return { id: "curves", traces, layout, update };
}

/** The histogram of the outlier scores; rows above the threshold are in another colour. */
function outliersChart() {
  const { edges, counts, threshold } = report.outliers;
  const width = edges[1] - edges[0];
  const middles = counts.map((_, i) => edges[i] + width / 2);
  const traces = () => [{
    x: middles, y: counts, width, type: "bar", marker: { color: middles.map((x) => theme(x > threshold ? "--accent" : "--faint")) },
    hovertemplate: "score %{x:.1f}: %{y} rows<extra></extra>",
  }];
  const layout = () => baseLayout({
    axes: { xaxis: { title: { text: "outlier score" }, fixedrange: true }, yaxis: { title: { text: "rows" }, type: "log", range: [-0.3, Math.log10(1.2 * Math.max(...counts))], fixedrange: true } },
    bargap: 0, showlegend: false, dragmode: false, margin: { l: 60, r: 15, t: 10, b: 45 },
    shapes: [verticalLine(threshold, { color: theme("--accent"), width: 1, dash: "dash" })],
  });
  return { id: "outliers", traces, layout, update: () => {} };
}
