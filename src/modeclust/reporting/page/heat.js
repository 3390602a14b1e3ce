"use strict";
// The heat map of features by clusters. Only what is in the window is drawn, so that any size stays fast.

const heat = { canvas: null, size: [0, 0], box: null, cell: [0, 22], head: 0, side: 0, order: [], at: null };
const HEAT_LIMIT = 2.5; // spreads at full colour

const mix = (a, b, t) => a.map((part, i) => Math.round(part + (b[i] - part) * t));
const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

/** Return the colours of a cell: its ground, and ink that can be read on it. */
function heatColors(effect, tones) {
  const t = Math.min(Math.abs(effect ?? 0) / HEAT_LIMIT, 1);
  const ground = mix(tones.zero, effect < 0 ? tones.low : tones.high, t);
  const [red, green, blue] = ground.map((part) => ((part / 255) <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return [`rgb(${ground})`, 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? "#000000" : "#ffffff"];
}

/** Return the text of a cell: the typical value, or the share of one value of a category. */
function heatValue(row, k) {
  const { column } = report.heat.rows[row];
  const share = report.heat.values?.[k]?.[row];
  if (!isMeasured(report.columns[column])) {
    const shares = report.cards[k].detail[report.columns[column].name]?.shares ?? [];
    return formatShare(share ?? shares.find(([level]) => level === true)?.[1]);
  }
  return formatValue(report.cards[k].typical[report.columns[column].name], report.columns[column]);
}

const heatFont = () => `12px ${getComputedStyle(document.body).fontFamily}`;

function layOutHeat() {
  const width = heat.box.clientWidth;
  heat.size = [width, heat.box.clientHeight];
  const context = heat.canvas.getContext("2d");
  context.font = heatFont();
  const longest = Math.max(...report.heat.rows.map((row) => context.measureText(shorten(row.label, 60)).width));
  heat.side = Math.round(Math.min(longest + 16, clamp(width * 0.25, 110, 300)));
  const wide = Math.floor((width - heat.side - 4) / heat.order.length);
  heat.cell[0] = clamp(wide, many ? 26 : 64, 340);
  heat.head = heat.cell[0] >= 64 ? 44 : 26;
  const [space, rows] = [heat.box.firstChild, report.heat.rows.length];
  space.style.width = `${heat.side + heat.cell[0] * heat.order.length}px`;
  space.style.height = `${heat.head + heat.cell[1] * rows}px`;
}

function drawHeat() {
  const { box, canvas, cell: [cw, ch], head, side, order } = heat;
  const [width, height] = [Math.min(heat.size[0], side + cw * order.length), heat.size[1]]; // on paper too, where it is scaled
  const ratio = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [width * ratio, height * ratio];
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  const tones = { zero: channels(theme("--heat-zero")), low: channels(theme("--heat-low")), high: channels(theme("--heat-high")) };
  const family = getComputedStyle(document.body).fontFamily;
  const [dx, dy] = [box.scrollLeft, box.scrollTop];
  context.textBaseline = "middle";
  const firstRow = Math.floor(dy / ch);
  const lastRow = Math.min(report.heat.rows.length - 1, Math.ceil((dy + height) / ch));
  const firstColumn = Math.floor(dx / cw);
  const lastColumn = Math.min(order.length - 1, Math.ceil((dx + width) / cw));
  context.font = heatFont();
  context.textAlign = "center";
  for (let row = firstRow; row <= lastRow; row++) {
    for (let place = firstColumn; place <= lastColumn; place++) {
      const k = order[place];
      const [ground, ink] = heatColors(report.heat.effects[k][row], tones);
      const [x, y] = [side + place * cw - dx, head + row * ch - dy];
      context.fillStyle = ground;
      context.fillRect(x + 0.5, y + 0.5, cw - 1, ch - 1);
      if (cw >= 48) {
        context.fillStyle = ink;
        context.fillText(fitted(context, heatValue(row, k), cw - 6), x + cw / 2, y + ch / 2);
      }
      if (heat.at && heat.at[0] === row && heat.at[1] === place) {
        context.strokeStyle = theme("--ink");
        context.lineWidth = 2;
        context.strokeRect(x + 1, y + 1, cw - 2, ch - 2);
      }
    }
  }
  context.fillStyle = theme("--panel");
  context.fillRect(0, 0, side, height);
  context.textAlign = "right";
  context.fillStyle = theme("--ink");
  for (let row = firstRow; row <= lastRow; row++) {
    context.fillText(fitted(context, report.heat.rows[row].label, side - 12), side - 7, head + row * ch + ch / 2 - dy);
  }
  drawHeatHead(context, width, firstColumn, lastColumn, family);
}

function drawHeatHead(context, width, first, last, family) {
  const { cell: [cw], head, side, order, box } = heat;
  context.fillStyle = theme("--panel");
  context.fillRect(0, 0, width, head);
  context.textAlign = "center";
  context.save();
  context.beginPath();
  context.rect(side, 0, width - side, head);
  context.clip();
  for (let place = first; place <= last; place++) {
    const k = order[place];
    const middle = side + place * cw + cw / 2 - box.scrollLeft;
    context.save();
    context.translate(middle - 7, 4);
    context.fillStyle = color(k);
    context.fill(new Path2D(outline(k)));
    context.restore();
    if (cw < 48) continue;
    context.font = `600 12px ${family}`;
    context.fillStyle = theme("--ink");
    context.fillText(fitted(context, nameOf(k), cw - 8), middle, 31);
  }
  context.restore();
}

/** Shorten text to a width. */
function fitted(context, text, width) {
  let shown = shorten(text, 60);
  if (context.measureText(shown).width <= width) return shown;
  while (shown.length > 1 && context.measureText(`${shown}…`).width > width) shown = shown.slice(0, -1);
  return `${shown}…`;
}

function heatText(row, place) {
  const k = heat.order[place];
  const { label, column } = report.heat.rows[row];
  const effect = report.heat.effects[k][row];
  const all = overallText(report.columns[column]);
  const side = effect === null ? "" : Math.abs(effect) < 0.2 ? " like all rows" : ` ${format(Math.abs(effect), 2)} spreads ${effect < 0 ? "below" : "above"} all rows`;
  return `${nameOf(k)}: ${label} ${heatValue(row, k)}${all && isMeasured(report.columns[column]) ? ` (all rows ${all})` : ""},${side}`;
}

function listenToHeat() {
  const { box } = heat;
  const cellAt = (event) => {
    const area = box.getBoundingClientRect();
    const row = Math.floor((event.clientY - area.top + box.scrollTop - heat.head) / heat.cell[1]);
    const place = Math.floor((event.clientX - area.left + box.scrollLeft - heat.side) / heat.cell[0]);
    const isOutside = event.clientY - area.top < heat.head || event.clientX - area.left < heat.side;
    return isOutside || row < 0 || row >= report.heat.rows.length || place < 0 || place >= heat.order.length ? null : [row, place];
  };
  box.addEventListener("pointermove", (event) => {
    const cell = cellAt(event);
    if (cell) showTip(heatText(...cell), new DOMRect(event.clientX - 8, event.clientY - 8, 16, 16));
    else hideTip();
  });
  box.addEventListener("pointerleave", hideTip);
  box.addEventListener("scroll", () => requestAnimationFrame(drawHeat));
  box.addEventListener("blur", () => { heat.at = null; drawHeat(); });
  box.addEventListener("keydown", (event) => {
    const move = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!move) return;
    event.preventDefault();
    const [row, place] = heat.at ?? [0, -1];
    heat.at = [clamp(row + move[0], 0, report.heat.rows.length - 1), clamp(place + move[1], 0, heat.order.length - 1)];
    const [x, y] = [heat.at[1] * heat.cell[0], heat.at[0] * heat.cell[1]];
    box.scrollTo(clamp(box.scrollLeft, x + heat.side + heat.cell[0] - box.clientWidth, x), clamp(box.scrollTop, y + heat.head + heat.cell[1] - box.clientHeight, y));
    byId("live").textContent = heatText(...heat.at);
    drawHeat();
  });
}

function startHeat() {
  if (!report.heat || !report.heat.rows.length || clusters.length < 2) { byId("heat-panel").hidden = true; return; }
  heat.order = [...clusters].sort(cardOrders.size).filter((k) => report.cards[k].rows > 0);
  byId("heat-title").textContent = "Heat map: in which columns the clusters differ";
  byId("heat-caption").replaceChildren("Each cell is the typical value of a cluster. ", element("span", { class: "key high" }, "Orange"), " is above all rows, ",
    element("span", { class: "key low" }, "blue"), " below; full colour is ", `${HEAT_LIMIT} `, term("spreads", "spread"), " or more. The columns that differ most come first.");
  heat.canvas = element("canvas", { "aria-hidden": "true" });
  heat.box = byId("heat");
  for (const [name, value] of Object.entries({ tabindex: "0", role: "application", "aria-label": "Heat map of columns by clusters. The arrow keys go from cell to cell; the table below has the same values." })) heat.box.setAttribute(name, value);
  heat.box.replaceChildren(element("div", {}, heat.canvas));
  heat.box.style.height = `${clamp(46 + 22 * report.heat.rows.length, 90, 480) + 2}px`;
  listenToHeat();
  drawn(heat.box, () => { layOutHeat(); drawHeat(); });
  for (const event of ["name", "theme"]) on(event, drawHeat);
}
