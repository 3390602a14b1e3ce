"use strict";
// A card for each cluster: its mode, its exemplars (the rows nearest to the mode), and their classes.

const exemplarIndex = new Map(report.exemplar_rows.map((row, i) => [row, i]));
const exemplarValue = (row) => report.exemplar_values[exemplarIndex.get(row)];

const valueRange = () => extent([...report.centers.flat(), ...report.exemplar_values]);
const painters = { image: imagePainter, profile: profilePainter, terms: termsPainter, values: valuesPainter };

/** Draw modes and exemplars as images. Large values are dark; images with three channels have their own colours. */
function imagePainter() {
  const [height, width, channels] = report.image_shape;
  const [low, high] = valueRange();
  const shade = (value) => (255 * (value - low)) / (high - low);
  const picture = (values, name, description) => {
    const canvas = element("canvas", { class: `picture ${name}`, width, height, role: "img", "aria-label": description, title: description });
    const context = canvas.getContext("2d");
    const image = context.createImageData(width, height);
    for (let i = 0; i < width * height; i++) {
      for (let c = 0; c < 3; c++) {
        image.data[4 * i + c] = channels ? shade(values[3 * i + c]) : 255 - shade(values[i]);
      }
      image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
    return canvas;
  };
  const cache = new Map(); // a row is in one cluster at a time, so one picture of it is enough
  const exemplar = (row) => {
    if (!cache.has(row)) cache.set(row, picture(exemplarValue(row), "", `row ${row}`));
    return cache.get(row);
  };
  return (k, center, rows) => [
    picture(center, "mode", `mode of cluster ${k}`),
    element("div", { class: "exemplars" }, ...rows.map(exemplar)),
  ];
}

/** Draw modes and exemplars as lines over the features. If the ranges of the features differ much, each has its own. */
function profilePainter() {
  const n = report.n_features;
  const [low, high] = valueRange();
  const ranges = report.feature_ranges;
  const [width, height, left, right, top, bottom] = [320, 130, 36, 30, 8, 18];
  const spacing = (width - left - right) / (n - 1);
  const xAt = (d) => left + spacing * d;
  const yAt = (value, d) => {
    const [a, b] = ranges ? ranges[d] : [low, high];
    return top + (height - top - bottom) * (1 - (value - a) / (b - a || 1));
  };
  const line = (values, attributes) => svgElement("path", {
    d: values.map((value, d) => `${d ? "L" : "M"}${xAt(d).toFixed(1)} ${yAt(value, d).toFixed(1)}`).join(""),
    fill: "none", ...attributes,
  });
  const label = (x, y, text, anchor, maxLength) => {
    const created = svgElement("text", { x, y, "text-anchor": anchor }, shorten(text, maxLength));
    created.append(svgElement("title", {}, text));
    return created;
  };
  const labels = () => {
    const limits = ranges ? ["low", "high"] : [format(low, high - low), format(high, high - low)];
    const nameAll = n <= 5;
    const names = (nameAll ? [...Array(n).keys()] : [0, n - 1]).map((d) =>
      label(xAt(d), height - 5, featureName(d), nameAll ? "middle" : d ? "end" : "start", nameAll ? Math.floor(Math.min(spacing, 2 * right) / 5.8) : 22));
    return [label(left - 4, top + 6, limits[1], "end", 6), label(left - 4, height - bottom, limits[0], "end", 6), ...names];
  };
  return (k, center, rows) => {
    const frame = svgElement("path", { d: `M${left} ${top}V${height - bottom}H${width - right}`, fill: "none", stroke: "var(--line)" });
    const exemplars = rows.map((row) => line(exemplarValue(row), { stroke: color(k), "stroke-width": 1, opacity: 0.35 }));
    const mode = line(center, { class: "mode-line", stroke: "var(--ink)", "stroke-width": 2.5 });
    return [svgElement("svg", { class: "profile", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `mode of cluster ${k}` },
      frame, ...exemplars, mode, ...labels())];
  };
}

/** List the largest features of modes and exemplars that have too many to show all. */
function termsPainter() {
  const item = ([feature, value], largest, k) => {
    const bar = element("span", { class: "bar" });
    bar.style.width = `${(100 * Math.abs(value)) / largest}%`;
    bar.style.setProperty("--own", color(k));
    if (value < 0) bar.classList.add("negative");
    const name = featureName(feature);
    const number = element("span", { class: "number" }, format(value));
    return element("li", { title: name }, element("bdi", {}, name), element("span", {}, bar), number);
  };
  return (k, center, rows) => {
    const terms = center.slice(0, 12);
    const largest = Math.max(...terms.map(([, value]) => Math.abs(value)), 1e-300);
    const exemplars = rows.slice(0, 3).map((row) => {
      const names = exemplarValue(row).slice(0, 5).map(([feature]) => featureName(feature)).join(", ");
      return element("p", { class: "exemplar" }, `row ${row}: `, element("bdi", {}, names));
    });
    return [element("ul", { class: "terms" }, ...terms.map((term) => item(term, largest, k))), ...exemplars];
  };
}

/** List the values of one or two features. */
function valuesPainter() {
  const widths = [...Array(report.n_features).keys()].map((d) => {
    const [low, high] = extent([report.exemplar_values.map((values) => values[d])]);
    return high - low;
  });
  return (k, center, rows) => [
    element("ul", { class: "values" }, ...center.map((value, d) =>
      element("li", {}, element("bdi", {}, featureName(d)), element("span", {}, format(value, widths[d]))))),
    element("p", { class: "exemplar" }, rows.length ? `nearest rows: ${rows.slice(0, 8).join(", ")}` : "no rows"),
  ];
}

/** Draw a bar for each class of some rows; with more than twelve classes, for the eight most frequent. */
function classBars(rows) {
  const counts = report.class_names.map(() => 0);
  for (const row of rows) counts[report.exemplar_classes[exemplarIndex.get(row)]] += 1;
  let shown = [...counts.keys()];
  if (shown.length > 12) shown = shown.filter((c) => counts[c]).sort((a, b) => counts[b] - counts[a] || a - b).slice(0, 8);
  const bars = shown.map((c) => {
    const bar = element("i");
    bar.style.height = `${(34 * counts[c]) / Math.max(rows.length, 1)}px`;
    const name = report.class_names[c];
    return element("div", { title: `class ${name}: ${plural(counts[c], "row")}` },
      element("span", {}, counts[c] ? String(counts[c]) : ""), bar, element("span", {}, element("bdi", {}, name)));
  });
  return element("div", { class: "classes", role: "img", "aria-label": "classes of the nearest rows" }, ...bars);
}

function patternCards() {
  const paint = painters[report.pattern]();
  const nShown = { terms: 3, values: 8 }[report.pattern] ?? report.exemplars.flat().reduce((most, rows) => Math.max(most, rows.length), 0);
  const scaleNote = report.pattern === "profile" && report.feature_ranges ? " Each feature has its own scale." : "";
  const classNote = report.class_names ? " Bars: classes of these rows." : "";
  byId("patterns-caption").textContent =
    `The mode of each cluster with up to ${nShown} rows of the cluster, the nearest first.${classNote}${scaleNote}`;
  return (step) => {
    const cards = clusters.map((k) => {
      const rows = report.exemplars[step][k];
      const head = element("div", { class: "card-head" }, chip(k), element("small", {}, plural(report.steps[step].counts[k], "row")));
      const body = element("div", { class: "card-body" }, ...paint(k, report.centers[step][k], rows));
      const classes = report.class_names && rows.length ? [classBars(rows)] : [];
      return element("article", { class: "card", "data-cluster": k }, head, body, ...classes);
    });
    byId("patterns").replaceChildren(...cards);
  };
}
