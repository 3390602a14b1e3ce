"use strict";
// Two clusters side by side: what they have in each column, and where they differ most.

const N_COMPARED = 10;
const compared = { pair: [0, 0], all: false };

/** Return how much two clusters differ in a column, in spreads if the heat map has the column. */
function differenceIn(name, a, b) {
  const column = columnNamed.get(name);
  const effects = (report.heat?.rows ?? []).flatMap((row, i) => (report.columns[row.column].name === name
    ? [Math.abs((report.heat.effects[a][i] ?? 0) - (report.heat.effects[b][i] ?? 0))] : []));
  if (effects.length) return Math.max(...effects);
  const [x, y] = [a, b].map((k) => toNumber(report.cards[k].typical[name], column));
  if (!isMeasured(column)) return x === y ? 0 : 0.5;
  const [low, high] = column.range ? column.range.map((value) => toNumber(value, column)) : axisOf(column);
  return x == null || y == null ? 0 : Math.abs(x - y) / ((high - low) / 2.5 || 1);
}

function compareLine(name, [a, b]) {
  const column = columnNamed.get(name);
  const cells = [a, b].map((k) => {
    const value = report.cards[k].typical[name];
    const detail = report.cards[k].detail?.[name];
    const share = detail?.share !== undefined && value != null ? ` ${formatShare(detail.share)}` : "";
    return [element("td", { class: "value" }, isolated(formatValue(value, column)), element("small", {}, share)),
      element("td", { class: "mark-cell" }, isMeasured(column) ? rangeMark(k, column, value, detail) : detail?.share !== undefined ? shareMark(k, detail.share) : null)];
  });
  return element("tr", {}, element("th", { scope: "row" }, columnName(name)), cells, element("td", { class: "value faint" }, overallText(column)));
}

function showCompared() {
  const [a, b] = compared.pair;
  const box = byId("compare");
  const withHeads = report.images || report.cards.some((card) => card.terms?.length);
  const heads = !withHeads ? [] : [a, b].map((k) => element("div", { class: "side" }, element("h3", {}, clusterLink(k)),
    element("p", {}, `${formatShare(report.cards[k].share, 1)} of all ${noun}`),
    report.images ? modePicture(k) : null,
    report.cards[k].terms?.length ? termList(report.cards[k].terms, k) : null));
  const order = showsPixels() ? [] : [...typicalNames].map((name) => [differenceIn(name, a, b), name]).sort((x, y) => y[0] - x[0]).map(([, name]) => name);
  const shown = compared.all ? order : order.slice(0, N_COMPARED);
  const table_ = element("table", { class: "compared" }, element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Column"),
    [a, b].map((k) => element("th", { scope: "col", colspan: "2" }, clusterLink(k), element("small", {}, ` ${formatShare(report.cards[k].share, 1)}`))), element("th", { scope: "col", class: "value" }, "All rows"))),
  element("tbody", {}, shown.map((name) => compareLine(name, [a, b]))));
  const more = order.length > N_COMPARED
    ? button(compared.all ? `The ${N_COMPARED} that differ most` : `All ${order.length} columns`, () => { compared.all = !compared.all; showCompared(); }) : null;
  box.replaceChildren(element("div", { class: "sides" }, heads), ...(order.length ? [element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Comparison" }, table_)] : []), ...(more ? [more] : []));
  byId("compare-tools").querySelectorAll("select").forEach((select, i) => { select.value = String(compared.pair[i]); });
}

function compareClusters(a, b) {
  compared.pair = [a, b];
  showCompared();
  byId("compare-panel").scrollIntoView({ block: "start" });
  byId("compare-tools").querySelector("select").focus({ preventScroll: true });
}

function startCompare() {
  const filled = clusters.filter((k) => report.cards[k].rows > 0).sort(cardOrders.size);
  if (filled.length < 2) { byId("compare-panel").hidden = true; return; }
  const first = filled[0];
  compared.pair = [first, report.cards[first].nearest?.cluster ?? filled[1]];
  const choices = ["First cluster", "Second cluster"].map((label, i) => {
    const select = element("select", { "aria-label": label, onchange: () => { compared.pair[i] = Number(select.value); showCompared(); } },
      filled.map((k) => element("option", { value: k, "data-name": k }, nameOf(k))));
    return select;
  });
  byId("compare-tools").replaceChildren(choices[0], element("span", {}, "beside"), choices[1]);
  showCompared();
  on("name", showCompared);
}
