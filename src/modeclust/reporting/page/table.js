"use strict";
// The table of all clusters, which can be sorted and searched.

const N_TABLE_COLUMNS = many ? 8 : 12; // of typical values

/** Return the columns of the table: title, key in the glossary, text of a cell, and what it is sorted by. */
function tableColumns() {
  const has = (read) => report.cards.some((card) => read(card) !== null && read(card) !== undefined);
  const columns = [
    { title: "Cluster", key: "cluster", cell: null, sort: (k) => nameOf(k) },
    { title: noun[0].toUpperCase() + noun.slice(1), cell: (k) => formatCount(rowsOf(k)), sort: rowsOf },
    { title: "Share", key: "share", cell: (k) => formatShare(shareOf(k), 1), sort: shareOf },
  ];
  if (has((card) => averagedAt(lastStep, card.cluster))) {
    columns.push({ title: "Rows averaged", key: "rows averaged", cell: (k) => format(Math.round(averagedAt(state.step, k))), sort: (k) => averagedAt(state.step, k) });
  }
  if (has((card) => card.stability?.jaccard)) {
    columns.push({ title: "Stability", key: "stability", cell: (k) => formatShare(report.cards[k].stability?.jaccard), sort: (k) => report.cards[k].stability?.jaccard });
  }
  if (has((card) => card.classes?.[0])) {
    const top = (k) => report.cards[k].classes?.[0];
    columns.push({ title: "Most frequent class", cell: (k) => (top(k) ? `${shorten(top(k)[0])} (${formatShare(top(k)[1] / report.cards[k].classes.reduce((sum, [, count]) => sum + count, 0))})` : "–"), sort: (k) => String(top(k)?.[0] ?? "") });
  }
  if (has((card) => card.terms?.[0])) {
    columns.push({ title: "Telling words", key: "terms", cell: (k) => report.cards[k].terms.slice(0, 5).map(([word]) => word).join(", "), sort: (k) => report.cards[k].terms[0]?.[0] ?? "" });
  }
  if (has((card) => card.nearest)) {
    columns.push({ title: "Nearest cluster", key: "nearest cluster", cell: (k) => (report.cards[k].nearest ? shorten(nameOf(report.cards[k].nearest.cluster), 30) : "–"), sort: (k) => nameOf(report.cards[k].nearest?.cluster ?? -1) });
  }
  const values = showsPixels() ? [] : rankedNames.slice(0, N_TABLE_COLUMNS);
  return [...columns, ...values.map((name) => ({
    title: name, cell: (k) => formatValue(typicalOf(k, name), columnNamed.get(name)), sort: (k) => toNumber(typicalOf(k, name), columnNamed.get(name)), isValue: true,
  }))];
}

const table = { columns: [], lines: [], sorted: [null, 1] };

/** Return the class of the cells of a column: numbers are at the right. */
const classOf = (read) => (clusters.some((k) => typeof read(k) === "string") ? "words" : "value");

/** Compare two values of a column; missing ones come last, in either direction. */
function compareValues(a, b, direction) {
  const [aMissing, bMissing] = [a, b].map((value) => value === null || value === undefined);
  if (aMissing || bMissing) return Number(aMissing) - Number(bMissing);
  const difference = typeof a === "string" ? a.localeCompare(String(b), undefined, { numeric: true }) : Number(a) - Number(b);
  return direction * difference;
}

function sortTable(index) {
  const { columns, sorted } = table;
  const first = typeof columns[index].sort(clusters[0]) === "string" ? 1 : -1; // numbers: the largest first
  table.sorted = sorted[0] === index ? [index, -sorted[1]] : [index, first];
  orderTable();
}

function orderTable() {
  const [index, direction] = table.sorted;
  const read = table.columns[index].sort;
  const order = [...clusters].sort((a, b) => compareValues(read(a), read(b), direction) || a - b);
  byId("table").tBodies[0].append(...order.map((k) => table.lines[k]));
  [...byId("table").tHead.rows[0].cells].forEach((cell, i) => {
    if (i === index) cell.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    else cell.removeAttribute("aria-sort");
  });
}

function showTable() {
  for (const k of clusters) {
    const cells = table.lines[k].cells;
    table.columns.forEach(({ cell }, i) => {
      if (!cell) return;
      setText(cells[i].firstChild, cell(k));
    });
  }
}

function startTable() {
  table.columns = tableColumns();
  const search = element("input", { type: "search", placeholder: "Search the table", "aria-label": "Search the table", id: "table-find",
    oninput: () => { for (const k of clusters) table.lines[k].hidden = !matches(k, search.value); } });
  byId("table-tools").replaceChildren(...(clusters.length > 1 ? [search] : []));
  const values = table.columns.filter((column) => column.isValue).length;
  const rest = rankedNames.length - values;
  byId("table-caption").textContent = (values ? `Typical values, in the order in which they tell the clusters apart${rest > 0 && !showsPixels() ? `; ${rest} more columns are in the cards and in the download` : ""}. ` : "") +
    (clusters.length > 1 ? "Choose a heading to sort." : "");
  const grid = byId("table");
  grid.tHead.replaceChildren(element("tr", {}, table.columns.map(({ title, key, sort }, i) => element("th", { scope: "col", class: classOf(sort) },
    button(columnName(shorten(title, 32)), () => sortTable(i), { class: "sort", "data-tip": explanation(key ?? "") ?? ([...title].length > 32 ? title : null) })))));
  table.lines = clusters.map((k) => element("tr", { "data-cluster": k, onmouseenter: () => highlight(k), onmouseleave: () => highlight(null) },
    table.columns.map(({ cell, sort }) => (cell ? element("td", { class: classOf(sort) }, classOf(sort) === "words" ? isolated("") : document.createTextNode("")) : element("th", { scope: "row" }, clusterLink(k))))));
  showTable();
  table.sorted = [1, -1];
  orderTable();
  on("step", showTable);
  on("name", showTable);
}
