"use strict";
// The map of the rows on a canvas, with the modes, their names, and their ways from the means.

const map = { view: null, full: null, size: [0, 0], canvas: null, tones: null };
const MAP_EDGE = { left: 12, right: 12, top: 10, bottom: 30 };
const MAX_MAP_LABELS = 30;
const [MAX_MAP_SYMBOLS, MAX_MAP_DOTS] = [800, 3000]; // with more rows they are dots, and then small squares
const N_MAP_PARTS = 4;

const mapPoint = (x, y) => {
  const [x0, x1, y0, y1] = map.view;
  const { left, right, top, bottom } = MAP_EDGE;
  return [left + ((map.size[0] - left - right) * (x - x0)) / (x1 - x0), top + ((map.size[1] - top - bottom) * (y1 - y)) / (y1 - y0)];
};

/** Return the label of each row of the map at the step. */
function mapLabels() {
  const labels = labelsAt(state.step);
  return report.labels.rows ? labels : Int32Array.from(report.map.rows, (row) => labels[row]);
}

/** Draw rows as symbols of their clusters, or as dots where they are many, which is faster. */
function drawRows(context, rows, labels, [xs, ys]) {
  const [x0, x1, y0, y1] = map.view; // as in mapPoint, without a list for each row
  const { left, right, top, bottom } = MAP_EDGE;
  const [across, down] = [(map.size[0] - left - right) / (x1 - x0), (map.size[1] - top - bottom) / (y1 - y0)];
  const asDots = xs.length > MAX_MAP_SYMBOLS;
  const radius = asDots ? 2.5 : 4;
  const outlines = new Map([-1, ...clusters].map((k) => [k, new Path2D(outline(k))]));
  for (let part = 0; part < N_MAP_PARTS; part++) { // in parts, so that no cluster covers all others
    const dots = new Map();
    for (let n = part; n < rows.length; n += N_MAP_PARTS) {
      const i = rows[n];
      const [px, py] = [left + across * (xs[i] - x0), top + down * (y1 - ys[i])];
      if (!dots.has(labels[i])) dots.set(labels[i], new Path2D());
      const path = dots.get(labels[i]);
      if (xs.length > MAX_MAP_DOTS) path.rect(px - 1.7, py - 1.7, 3.4, 3.4);
      else if (asDots) {
        path.moveTo(px + radius, py);
        path.arc(px, py, radius, 0, 2 * Math.PI);
      } else path.addPath(outlines.get(labels[i]), new DOMMatrix([radius / 7, 0, 0, radius / 7, px - radius, py - radius]));
    }
    for (const [k, path] of dots) {
      context.fillStyle = color(k);
      context.fill(path);
    }
  }
}

function drawMap() {
  const { canvas, size: [width, height] } = map;
  if (!width) return;
  const ratio = window.devicePixelRatio || 1;
  const sizes = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== sizes[0] || canvas.height !== sizes[1]) [canvas.width, canvas.height] = sizes;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  map.tones ??= { ink: theme("--ink"), panel: theme("--panel"), faint: theme("--faint"), family: getComputedStyle(document.body).fontFamily };
  const { points } = report.map;
  const labels = mapLabels();
  const rows = [...points[0].keys()];
  const isFront = (i) => state.highlight === null || labels[i] === state.highlight;
  context.globalAlpha = 0.12;
  if (state.highlight !== null) drawRows(context, rows.filter((i) => !isFront(i)), labels, points);
  context.globalAlpha = 0.75;
  drawRows(context, rows.filter(isFront), labels, points);
  context.globalAlpha = 1;
  drawWays(context);
  drawModes(context);
  drawAxes(context);
}

/** Return the step at which the way of each mode begins: from there on, its cluster keeps most of its rows at each step. */
function wayStarts() {
  const starts = clusters.map(() => 0);
  for (let step = 1; step <= lastStep; step++) {
    const [before, after] = [labelsAt(step - 1), labelsAt(step)];
    const [kept, all] = [clusters.map(() => 0), clusters.map(() => 0)];
    after.forEach((k, i) => {
      if (k < 0) return;
      all[k] += 1;
      if (before[i] === k) kept[k] += 1;
    });
    for (const k of clusters) if (2 * kept[k] < all[k]) starts[k] = step;
  }
  return starts;
}

/** Draw the way of each mode to this step. */
function drawWays(context) {
  map.starts ??= wayStarts();
  context.strokeStyle = map.tones.ink;
  context.lineWidth = 1.2;
  for (const k of many ? clusters.filter((j) => j === state.highlight) : clusters) {
    context.globalAlpha = state.highlight === null ? 0.5 : state.highlight === k ? 1 : 0.1;
    context.beginPath();
    for (let step = map.starts[k]; step <= state.step; step++) context.lineTo(...mapPoint(...report.map.centers[step][k]));
    context.stroke();
  }
  context.globalAlpha = 1;
}

function drawModes(context) {
  const bySize = [...clusters].sort((a, b) => rowsOf(b) - rowsOf(a)).filter((k) => rowsOf(k) > 0);
  const places = new Map(bySize.map((k) => [k, mapPoint(...report.map.centers[state.step][k])]));
  context.lineWidth = 1.5;
  for (const [k, [px, py]] of [...places].reverse()) {
    if (report.images) {
      drawModePicture(context, k, px, py);
      continue;
    }
    const size = (k === state.highlight ? 1.4 : 1) * modeSize();
    context.save();
    context.translate(px - size / 2, py - size / 2);
    context.scale(size / 14, size / 14);
    context.fillStyle = color(k);
    context.strokeStyle = map.tones.ink;
    const path = new Path2D(outline(k));
    context.fill(path);
    context.stroke(path);
    context.restore();
  }
  drawNames(context, bySize, places);
}

const scratch = document.createElement("canvas");

/** Draw the picture of a mode in a frame of the colour of its cluster. */
function drawModePicture(context, k, px, py) {
  [scratch.height, scratch.width] = report.images.shape;
  paintMode(scratch, k);
  const half = (k === state.highlight ? 1.5 : 1) * modeSize() / 2;
  context.fillStyle = color(k);
  context.fillRect(px - half - 2.5, py - half - 2.5, 2 * half + 5, 2 * half + 5);
  context.imageSmoothingEnabled = report.images.shape[1] > modeSize();
  context.filter = document.body.classList.contains("inverted") ? "invert(1)" : "none";
  context.drawImage(scratch, px - half, py - half, 2 * half, 2 * half);
  context.filter = "none";
}

/** Return how large modes are drawn, in pixels. */
const modeSize = () => (report.images ? (many ? 22 : 30) : 16);

/** Write the names of the clusters beside their modes, the largest first, where there is room. */
function drawNames(context, order, places) {
  const side = modeSize() / 2 + 1;
  const taken = [...places.values()].map(([px, py]) => [px - side, py - side, px + side, py + side]);
  const overlaps = ([a, b, c, d]) => a < 2 || b < 2 || c > map.size[0] - 2 || d > map.size[1] - 26 ||
    taken.some(([e, f, g, h]) => a < g && c > e && b < h && d > f);
  context.font = `600 12.5px ${map.tones.family}`;
  context.lineJoin = "round";
  context.textBaseline = "middle";
  const wanted = state.highlight === null ? order.slice(0, MAX_MAP_LABELS) : [state.highlight];
  for (const k of wanted.filter((j) => places.has(j))) {
    const text = shorten(nameOf(k), map.size[0] < 500 ? 22 : many ? 30 : 40);
    const width = context.measureText(text).width;
    const [px, py] = places.get(k);
    const [besides, above] = [side + 4, side + 11];
    const tries = [[px + besides, py], [px - besides - width, py], [px - width / 2, py - above], [px - width / 2, py + above],
      [px + 8, py - above + 2], [px - 8 - width, py - above + 2], [px + 8, py + above - 2], [px - 8 - width, py + above - 2]];
    const boxes = tries.map(([left, middle]) => [left - 2, middle - 9, left + width + 2, middle + 9]);
    let found = boxes.findIndex((box) => !overlaps(box));
    if (found < 0 && k !== state.highlight) continue;
    found = Math.max(found, 0);
    taken.push(boxes[found]);
    context.globalAlpha = 1;
    context.lineWidth = 4;
    context.strokeStyle = map.tones.panel;
    context.strokeText(text, ...tries[found]);
    context.fillStyle = map.tones.ink;
    context.fillText(text, ...tries[found]);
  }
}

function drawAxes(context) {
  const [width, height] = map.size;
  const [x, y] = report.map.axes;
  context.font = `12px ${map.tones.family}`;
  context.fillStyle = map.tones.faint;
  context.textBaseline = "alphabetic";
  context.strokeStyle = map.tones.panel;
  context.lineWidth = 4;
  const across = `${shorten(x, Math.floor(width / 14))} →`;
  context.fillText(across, width - context.measureText(across).width - 10, height - 9);
  const up = `↑ ${shorten(y, Math.floor(width / 14))}`;
  context.strokeText(up, 8, 18);
  context.fillText(up, 8, 18);
}

/** Return the mode or else the row at a place: {cluster, row} with row -1 for a mode, or null. */
function mapHit(px, py) {
  const away = (x, y) => Math.hypot(...mapPoint(x, y).map((value, axis) => value - [px, py][axis]));
  const near = clusters.filter((k) => rowsOf(k) > 0).map((k) => [away(...report.map.centers[state.step][k]), k]).sort((a, b) => a[0] - b[0])[0];
  if (near && near[0] < modeSize() / 2 + 2) return { cluster: near[1], row: -1 };
  const [xs, ys] = report.map.points;
  let [best, found] = [9, -1];
  for (let i = 0; i < xs.length; i++) {
    const distance = away(xs[i], ys[i]);
    if (distance < best) [best, found] = [distance, i];
  }
  return found < 0 ? null : { cluster: mapLabels()[found], row: found };
}

function hitText({ cluster, row }) {
  if (row < 0) return `${nameOf(cluster)}: ${counted(rowsOf(cluster))} (${formatShare(shareOf(cluster), 1)})`;
  const { rows, classes } = report.map;
  const rowNames = report.labels.names;
  const rowClass = classes && report.class_names ? ` · ${report.class_names[classes[row]]}` : "";
  return `${rowNames ? rowNames[report.labels.rows ? row : rows[row]] : `row ${rows[row]}`} · ${nameOf(cluster)}${rowClass}`;
}

function zoomMap(factor, [px, py] = [map.size[0] / 2, map.size[1] / 2]) {
  const { left, right, top, bottom } = MAP_EDGE;
  const [x0, x1, y0, y1] = map.view;
  const cx = x0 + ((x1 - x0) * (px - left)) / (map.size[0] - left - right);
  const cy = y1 - ((y1 - y0) * (py - top)) / (map.size[1] - top - bottom);
  map.view = [cx + (x0 - cx) * factor, cx + (x1 - cx) * factor, cy + (y0 - cy) * factor, cy + (y1 - cy) * factor];
  drawMap();
}

function listenToMap(canvas) {
  let from = null;
  canvas.addEventListener("pointerdown", (event) => { from = [event.offsetX, event.offsetY, map.view]; });
  addEventListener("pointerup", () => { from = null; });
  canvas.addEventListener("pointermove", (event) => {
    if (from && event.buttons && event.pointerType === "mouse") {
      const [dx, dy] = [event.offsetX - from[0], event.offsetY - from[1]];
      const [x0, x1, y0, y1] = from[2];
      const { left, right, top, bottom } = MAP_EDGE;
      const [mx, my] = [(-dx * (x1 - x0)) / (map.size[0] - left - right), (dy * (y1 - y0)) / (map.size[1] - top - bottom)];
      map.view = [x0 + mx, x1 + mx, y0 + my, y1 + my];
      drawMap();
      return;
    }
    const hit = mapHit(event.offsetX, event.offsetY);
    if (!hit) { hideTip(); return; }
    showTip(hitText(hit), new DOMRect(event.clientX - 6, event.clientY - 6, 12, 12));
  });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("dblclick", (event) => zoomMap(0.5, [event.offsetX, event.offsetY]));
  canvas.addEventListener("click", (event) => {
    const hit = mapHit(event.offsetX, event.offsetY);
    highlight(hit && hit.cluster >= 0 && hit.cluster !== state.highlight ? hit.cluster : null);
  });
  canvas.addEventListener("blur", () => highlight(null));
  canvas.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && state.highlight !== null) goToCard(state.highlight);
    if (!move) return;
    event.preventDefault();
    const order = [...clusters].sort(cardOrders.size);
    const place = state.highlight === null ? (move > 0 ? 0 : -1) : order.indexOf(state.highlight) + move;
    highlight(order.at(place % order.length));
    byId("live").textContent = hitText({ cluster: state.highlight, row: -1 });
  });
}

function startMap() {
  const points = report.map.points;
  const withRoom = ([low, high]) => [low - 0.05 * (high - low), high + 0.05 * (high - low)];
  const centers = report.map.centers.flat();
  const limits = [0, 1].map((axis) => withRoom(extent([...extent(points[axis]), ...extent(centers.map((center) => center?.[axis]))])));
  map.full = map.view = limits.flat();
  const n = report.map.rows.length;
  byId("map-title").textContent = `Map: ${noun} that are alike lie near each other`;
  const shown = n < report.n_rows ? `A sample of ${formatCount(n)} of the ${formatCount(report.n_rows)} ${noun}, drawn at random within each cluster.` : `All ${formatCount(n)} ${noun}.`;
  byId("map-caption").textContent = `${shown} ${report.images ? "Pictures" : "Large symbols"} are the ${isKeptPath() && !many ? "modes, with their way from the means" : "modes"}. Point at one to see what it is.`;
  map.canvas = element("canvas", { tabindex: "0", role: "img", "aria-label": `Map of the ${noun}. The arrow keys go from cluster to cluster, Enter to its card.` });
  byId("map").replaceChildren(map.canvas, element("div", { class: "zoom" },
    button("+", () => zoomMap(1 / 1.5), { "aria-label": "Zoom in" }), button("−", () => zoomMap(1.5), { "aria-label": "Zoom out" }),
    button("All", () => { map.view = map.full; drawMap(); }, { title: "Show the whole map" })));
  listenToMap(map.canvas);
  drawn(byId("map"), () => {
    map.size = [byId("map").clientWidth, byId("map").clientHeight];
    drawMap();
  });
  on("theme", () => { map.tones = null; });
  for (const event of ["step", "highlight", "name", "theme"]) on(event, drawMap);
}

const isKeptPath = () => Boolean(report.steps) && nSteps > 1;
