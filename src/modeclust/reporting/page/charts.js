"use strict";
// The map, or the histogram of one feature, and the curves along the path.
//
// A chart says what is drawn at a step, wholly (traces and layout) or as a change of what is there
// (update), which is quick.

const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const axisTitle = (text) => ({
  title: { text: plain(short(text)), standoff: 8, font: { size: innerWidth < 500 ? 10 : 12 } },
});
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
    uirevision: "kept", // zoom and legend outlast a change of theme
    hoverlabel: { align: "left" },
    ...extra,
    ...Object.fromEntries(styled),
  };
}

/** Black or white, whichever has more contrast with a colour. */
function readable(hex) {
  const linear = (part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const [red, green, blue] = [1, 3, 5].map((i) => linear(parseInt(hex.slice(i, i + 2), 16) / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}

/** Rows, on a canvas below the chart, since thousands of them must follow the slider at once. */
function rowsLayer() {
  const { rows, places: [x, y], classes } = report.map;
  const canvas = byId("rows");
  const tip = byId("tip");
  const size = x.length > 2000 ? 5 : x.length > 500 ? 6 : 8;
  const marks = Object.fromEntries(Object.entries(outlines).map(([name, outline]) => [name, new Path2D(outline)]));
  let step = 0;
  const frame = () => {
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
  const draw = (at = step) => {
    step = at;
    const labels = shownLabels(step);
    const { xaxis, yaxis, px, py } = frame();
    const sharp = window.devicePixelRatio || 1;
    const { width, height } = canvas.parentElement.getBoundingClientRect();
    [canvas.width, canvas.height] = [width * sharp, height * sharp];
    const pen = canvas.getContext("2d");
    pen.scale(sharp, sharp);
    pen.beginPath();
    pen.rect(xaxis._offset, yaxis._offset, xaxis._length, yaxis._length);
    pen.clip();
    pen.globalAlpha = 0.65;
    for (let i = 0; i < x.length; i++) {
      pen.save();
      pen.translate(px(i) - size / 2, py(i) - size / 2);
      pen.scale(size / 14, size / 14);
      pen.fillStyle = color(labels[i]);
      pen.fill(marks[symbol(labels[i])]);
      pen.restore();
    }
  };
  const nearest = (left, top) => {
    const { px, py } = frame();
    let [best, reach] = [-1, 8 ** 2];
    for (let i = 0; i < x.length; i++) {
      const away = (px(i) - left) ** 2 + (py(i) - top) ** 2;
      if (away < reach) [best, reach] = [i, away];
    }
    return best;
  };
  byId("map").addEventListener("mousemove", (event) => {
    const box = canvas.getBoundingClientRect();
    const i = nearest(event.clientX - box.left, event.clientY - box.top);
    tip.hidden = i < 0;
    if (i < 0) return;
    const known = classes ? `, class ${short(report.class_names[classes[i]])}` : "";
    tip.textContent = `row ${rows[i]}, cluster ${shownLabels(step)[i]}${known}`;
    tip.style.left = `${Math.min(event.clientX - box.left + 12, box.width - tip.offsetWidth - 4)}px`;
    tip.style.top = `${event.clientY - box.top - 34}px`;
  });
  byId("map").addEventListener("mouseleave", () => { tip.hidden = true; });
  return draw;
}

/** Rows and centroids in the plane. */
function mapChart() {
  const { rows, places, axes, centers } = report.map;
  const at = (step, axis) => centers[step].map((center) => center[axis]);
  const trail = (step, axis) => clusters.flatMap((k) =>
    [...centers.slice(0, step + 1).map((points) => points[k][axis]), null]);
  const drawRows = rowsLayer();
  const traces = (step) => {
    const ink = theme("--ink");
    return [
      { x: extent([places[0]]), y: extent([places[1]]), mode: "markers", opacity: 0, hoverinfo: "skip", showlegend: false },
      {
        name: "path", x: trail(step, 0), y: trail(step, 1), mode: "lines", hoverinfo: "skip",
        line: { width: 2, color: ink },
      },
      {
        name: report.steps[0].bandwidth === null ? "mean" : "start", x: at(0, 0), y: at(0, 1), mode: "markers", text: clusters.map(String),
        hovertemplate: "first centroid of cluster %{text}<extra></extra>",
        marker: { symbol: "asterisk-open", size: 11, color: ink, line: { width: 2 } },
      },
      {
        name: "centroid", x: at(step, 0), y: at(step, 1), mode: "markers+text", text: clusters.map(String),
        textfont: { size: 11, weight: 700, color: clusters.map((k) => readable(color(k))) },
        hovertemplate: "centroid of cluster %{text}<extra></extra>",
        marker: { size: 19, opacity: 1, color: clusters.map(color), symbol: clusters.map(symbol), line: { width: 2, color: ink } },
      },
    ];
  };
  const layout = () => baseLayout({
    axes: { xaxis: axisTitle(axes[0]), yaxis: axisTitle(axes[1]) }, dragmode: "zoom", legend,
  });
  const update = (step) => {
    Plotly.restyle("map", { x: [trail(step, 0), at(step, 0)], y: [trail(step, 1), at(step, 1)] }, [1, 3]);
    drawRows(step);
  };
  const total = whole(report.n_rows);
  const others = report.is_sample ? "" : "; all other numbers are of all rows";
  const shown = rows.length < report.n_rows
    ? `${whole(rows.length)} of the ${total} rows, drawn at random from each cluster${others}.`
    : `All ${total} rows.`;
  return {
    id: "map", traces, layout, update, redraw: () => drawRows(), title: "Map of the rows",
    caption: `${shown} Drag over a part to enlarge it, double click to go back.`,
  };
}

/** One feature: how many rows of each cluster there are, and the density of each. */
function lineChart() {
  const { edges, counts, grid, densities, outside, weighted } = report.line;
  const middles = edges.slice(1).map((edge, i) => (edge + edges[i]) / 2);
  const shadings = ["", "/", "\\", "x", "-", "|", "+", "."];
  const shading = (k) => shadings[Math.floor(k / report.colors.length) % shadings.length];
  const place = (step, k) => report.map.centers[step][k][0];
  const heights = (step) => [...counts[step], ...clusters.map((k) => densities[step]?.[k] ?? [])];
  const few = clusters.length <= 20;
  const lines = (step) => {
    if (!few) return [];
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
      hovertemplate: `%{y:.6g} ${weighted ? "weight" : "rows"} of cluster ${k} near %{x:.5g}<extra></extra>`,
    }));
    const curves = clusters.map((k) => ({
      name: `density ${k}`, mode: "lines", x: grid, y: values[clusters.length + k], showlegend: false,
      legendgroup: k, line: { color: color(k), width: 2.5 }, hoverinfo: "skip",
    }));
    return [...bars, ...curves];
  };
  const layout = (step) => baseLayout({
    axes: { xaxis: { ...axisTitle(report.map.axes[0]), range: [edges[0], edges.at(-1)] }, yaxis: { title: { text: weighted ? "weight in a bin" : "rows in a bin" }, rangemode: "tozero" } },
    barmode: "stack", bargap: 0, shapes: lines(step), dragmode: "zoom", legend, showlegend: few,
  });
  const update = (step) => Plotly.update("map", { y: heights(step) }, { shapes: lines(step) });
  return {
    id: "map", traces, layout, update, title: "Histogram and density of each cluster",
    caption: "Curves: the kernel density of each cluster, with the area of its bars, and no finer than the chart; K-means " +
      `has none. ${few ? "Solid lines: where clusters meet. Dotted lines: centroids. " : ""}Drag over a part to enlarge it, double click to go back.` +
      (outside ? ` ${whole(outside)} of the ${whole(report.n_rows)} rows lie beyond the axis, and centroids may on their way.` : ""),
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
  const clear = (i) => i === 0 || x[i] - x[0] > 0.12 * (x.at(-1) - x[0]);
  const ticks = [...x.keys()].filter((i) => i === 0 || ((x.length - 1 - i) % every === 0 && clear(i)));
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
      x, text, y: of((s) => s.changed), yaxis: "y3", type: "bar", marker: { color: theme("--accent") }, textposition: "none",
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
