"use strict";
// The head of the page, and the clusters at a glance: their names and sizes.

function showHeader() {
  byId("facts").replaceChildren(...report.facts.flatMap((fact) => [...withTerms(fact), " "]));
  byId("notes").replaceChildren(...report.notes.map((note) => element("li", {}, element("bdi", { dir: "auto" }, ...withTerms(note)))));
  const parts = [["overview", "At a glance"], ["clusters", "Clusters"], ["heat-panel", "Heat map"], ["compare-panel", "Compare"], ["table-panel", "Table"],
    ["outliers-panel", "Outliers"], ["redundant-panel", "Redundant pairs"], ["evidence-panel", "How many clusters?"], ["path-panel", "How they formed"],
    ["method-panel", "How it was made"], ["downloads-panel", "Downloads"]];
  byId("links").replaceChildren(...parts.filter(([id]) => !byId(id).hidden).map(([id, name]) => element("a", { href: `#${id}` }, name)));
}

const N_TOLD = 8; // clusters up to which the list has their sentences

function sizeLine(k) {
  const bar = element("span", { class: "bar", "aria-hidden": "true" }, element("i"));
  bar.style.setProperty("--own", color(k));
  return element("li", { "data-cluster": k, onmouseenter: () => highlight(k), onmouseleave: () => highlight(null) },
    element("a", { href: `#cluster-${k}`, onclick: (event) => { event.preventDefault(); goToCard(k); }, onfocus: () => highlight(k), onblur: () => highlight(null) },
      symbol(k), report.images ? modePicture(k, "thumb") : null, nameText(k)),
    element("span", { class: "share" }), bar,
    clusters.length <= N_TOLD && told(report.cards[k]) ? element("p", { class: "told" }, inEnglish(told(report.cards[k]))) : null);
}

function startGlance() {
  const list = byId("sizes");
  const order = [...clusters].sort(cardOrders.size);
  byId("sizes-panel").hidden = clusters.length === 1 && !report.n_noise; // its card says more
  byId("sizes-title").textContent = clusters.length === 1 ? "One cluster" : `${clusters.length} clusters by size`;
  byId("sizes-caption").textContent = clusters.length === 1 ? "" : many ? "Choose one to see its card. The list scrolls." : "Choose one to see its card.";
  list.replaceChildren(...order.map(sizeLine));
  if (report.n_noise) {
    list.append(element("li", { class: "noise" }, element("span", {}, symbol(-1), term("In no cluster", "noise")),
      element("span", { class: "share" }, formatShare(report.n_noise / report.n_rows, 1)), withNoiseBar()));
  }
  const show = () => {
    const largest = Math.max(...clusters.map(shareOf), (report.n_noise ?? 0) / report.n_rows, 1e-9);
    for (const line of list.children) {
      const k = line.dataset.cluster;
      if (k === undefined) continue;
      setText(line.querySelector(".share"), formatShare(shareOf(k), 1));
      line.title = `${nameOf(k)}: ${counted(rowsOf(k))}`;
      withWidth(line.querySelector(".bar i"), (100 * shareOf(k)) / largest);
      const picture = line.querySelector("canvas");
      if (picture) paintMode(picture, Number(k));
    }
  };
  show();
  on("step", show);
  on("highlight", () => {
    for (const line of list.children) line.classList.toggle("pointed", line.dataset.cluster === String(state.highlight));
  });
}

function withNoiseBar() {
  const bar = element("i");
  bar.style.setProperty("--own", NOISE_COLOR);
  const largest = Math.max(...report.cards.map((card) => card.share), report.n_noise / report.n_rows);
  return element("span", { class: "bar", "aria-hidden": "true" }, withWidth(bar, (100 * report.n_noise) / report.n_rows / largest));
}
