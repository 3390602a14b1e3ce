"use strict";
// A card for each cluster: its centroid, the rows nearest to it, and their classes.

const exemplarIndex = new Map(report.exemplar_rows.map((row, i) => [row, i]));
const exemplarValue = (row) => report.exemplar_values[exemplarIndex.get(row)];

const everyPattern = () => extent([...report.centers.flat(), ...report.exemplar_values]);
const paints = { image: imagePainter, profile: profilePainter, terms: termsPainter, values: valuesPainter };

/** Rows as images, dark where values are great; with three channels in their own colours. */
function imagePainter() {
  const [height, width, channels] = report.image_shape;
  const [low, high] = everyPattern();
  const grade = (value) => (255 * (value - low)) / (high - low);
  const picture = (values, name, describe) => {
    const canvas = element("canvas", { class: `picture ${name}`, width, height, role: "img", "aria-label": describe, title: describe });
    const context = canvas.getContext("2d");
    const image = context.createImageData(width, height);
    for (let i = 0; i < width * height; i++) {
      for (let c = 0; c < 3; c++) {
        image.data[4 * i + c] = channels ? grade(values[3 * i + c]) : 255 - grade(values[i]);
      }
      image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
    return canvas;
  };
  const kept = new Map(); // a row is near one centroid at a time, so its picture can move
  const neighbor = (row) => {
    if (!kept.has(row)) kept.set(row, picture(exemplarValue(row), "", `row ${row}`));
    return kept.get(row);
  };
  return (k, center, rows) => [
    picture(center, "centroid", `centroid of cluster ${k}`),
    element("div", { class: "neighbors" }, ...rows.map(neighbor)),
  ];
}

/** Rows as lines over their features; each feature over its own range where these differ much. */
function profilePainter() {
  const n = report.n_features;
  const [low, high] = everyPattern();
  const ranges = report.feature_ranges;
  const [width, height, left, right, top, bottom] = [320, 130, 36, 30, 8, 18];
  const spacing = (width - left - right) / (n - 1);
  const across = (d) => left + spacing * d;
  const up = (value, d) => {
    const [a, b] = ranges ? ranges[d] : [low, high];
    return top + (height - top - bottom) * (1 - (value - a) / (b - a || 1));
  };
  const line = (values, attributes) => vector("path", {
    d: values.map((value, d) => `${d ? "L" : "M"}${across(d).toFixed(1)} ${up(value, d).toFixed(1)}`).join(""),
    fill: "none", ...attributes,
  });
  const label = (x, y, text, anchor, most) => {
    const made = vector("text", { x, y, "text-anchor": anchor }, short(text, most));
    made.append(vector("title", {}, text));
    return made;
  };
  const labels = () => {
    const bounds = ranges ? ["low", "high"] : [format(low, high - low), format(high, high - low)];
    const all = n <= 5;
    const names = (all ? [...Array(n).keys()] : [0, n - 1]).map((d) =>
      label(across(d), height - 5, featureName(d), all ? "middle" : d ? "end" : "start", all ? Math.floor(Math.min(spacing, 2 * right) / 5.8) : 22));
    return [label(left - 4, top + 6, bounds[1], "end", 6), label(left - 4, height - bottom, bounds[0], "end", 6), ...names];
  };
  return (k, center, rows) => {
    const frame = vector("path", { d: `M${left} ${top}V${height - bottom}H${width - right}`, fill: "none", stroke: "var(--line)" });
    const near = rows.map((row) => line(exemplarValue(row), { stroke: color(k), "stroke-width": 1, opacity: 0.35 }));
    const own = line(center, { class: "own", stroke: "var(--ink)", "stroke-width": 2.5 });
    return [vector("svg", { class: "profile", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `centroid of cluster ${k}` },
      frame, ...near, own, ...labels())];
  };
}

/** The greatest features of rows that have too many to show. */
function termsPainter() {
  const bar = ([feature, value], most, k) => {
    const made = element("span", { class: "bar" });
    made.style.width = `${(100 * Math.abs(value)) / most}%`;
    made.style.setProperty("--own", color(k));
    if (value < 0) made.classList.add("negative");
    const name = featureName(feature);
    const number = element("span", { class: "number" }, format(value));
    return element("li", { title: name }, element("bdi", {}, name), element("span", {}, made), number);
  };
  return (k, center, rows) => {
    const terms = center.slice(0, 12);
    const most = Math.max(...terms.map(([, value]) => Math.abs(value)), 1e-300);
    const near = rows.slice(0, 3).map((row) => {
      const names = exemplarValue(row).slice(0, 5).map(([feature]) => featureName(feature)).join(", ");
      return element("p", { class: "near" }, `row ${row}: `, element("bdi", {}, names));
    });
    return [element("ul", { class: "terms" }, ...terms.map((term) => bar(term, most, k))), ...near];
  };
}

/** One or two features as numbers. */
function valuesPainter() {
  const reach = [...Array(report.n_features).keys()].map((d) => {
    const [low, high] = extent([report.exemplar_values.map((values) => values[d])]);
    return high - low;
  });
  return (k, center, rows) => [
    element("ul", { class: "values" }, ...center.map((value, d) =>
      element("li", {}, element("bdi", {}, featureName(d)), element("span", {}, format(value, reach[d]))))),
    element("p", { class: "near" }, rows.length ? `nearest rows: ${rows.slice(0, 8).join(", ")}` : "no rows"),
  ];
}

/** How many of some rows are of each class; of more than twelve classes, their eight commonest. */
function classBars(rows) {
  const counts = report.class_names.map(() => 0);
  for (const row of rows) counts[report.exemplar_classes[exemplarIndex.get(row)]] += 1;
  let shown = [...counts.keys()];
  if (shown.length > 12) shown = shown.filter((c) => counts[c]).sort((a, b) => counts[b] - counts[a] || a - b).slice(0, 8);
  const bars = shown.map((c) => {
    const bar = element("i");
    bar.style.height = `${(34 * counts[c]) / Math.max(rows.length, 1)}px`;
    const name = report.class_names[c];
    return element("div", { title: `${counts[c]} of class ${name}` },
      element("span", {}, counts[c] ? String(counts[c]) : ""), bar, element("span", {}, element("bdi", {}, name)));
  });
  return element("div", { class: "classes", role: "img", "aria-label": "classes of the nearest rows" }, ...bars);
}

function patternCards() {
  const paint = paints[report.pattern]();
  const n = { terms: 3, values: 8 }[report.pattern] ?? report.exemplars.flat().reduce((most, rows) => Math.max(most, rows.length), 0);
  const scale = report.pattern === "profile" && report.feature_ranges ? " Each feature is drawn over its own range." : "";
  const bars = report.class_names ? " Bars: classes of these rows." : "";
  byId("patterns-caption").textContent =
    `Each centroid with up to ${n} rows of its cluster nearest to it, the nearest first.${bars}${scale}`;
  return (step) => {
    const cards = clusters.map((k) => {
      const rows = report.exemplars[step][k];
      const head = element("div", { class: "card-head" }, chip(k), element("small", {}, `${whole(report.steps[step].counts[k])} rows`));
      const body = element("div", { class: "card-body" }, ...paint(k, report.centers[step][k], rows));
      const classes = report.class_names && rows.length ? [classBars(rows)] : [];
      return element("article", { class: "card", "data-cluster": k }, head, body, ...classes);
    });
    byId("patterns").replaceChildren(...cards);
  };
}
