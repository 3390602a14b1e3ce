"use strict";
// A card for each cluster: its name, size and sentence, and below them what is typical in it.

// Shown before the reader asks for all.
const N_TYPICAL = 6; // columns
const N_DOCUMENTS = 3;
const N_CHARACTERS = 180; // of a document

const cardOf = (k) => byId(`cluster-${k}`);

/** Return what is always seen of a card, and its body, which is made when it is opened. */
function makeCard(card) {
  const k = card.cluster;
  const title = element("h3", { tabindex: "-1" }, nameText(k));
  const toggle = button("Details", () => openCard(k, !isOpen(k)), { class: "quiet toggle", "aria-expanded": "false", "aria-controls": `body-${k}` });
  const shares = element("p", { class: "shares" }, element("strong", { class: "share" }), " ", element("span", { class: "count" }));
  const bar = element("span", { class: "bar", "aria-hidden": "true" }, element("i"));
  bar.style.setProperty("--own", color(k));
  return element("article", { class: "card", id: `cluster-${k}`, "data-cluster": k, onmouseenter: () => highlight(k), onmouseleave: () => highlight(null) },
    many && report.images ? modePicture(k, "thumb") : null,
    element("header", {}, symbol(k), title, renameButton(k, title), toggle),
    shares, bar,
    element("p", { class: "sentence" }, inEnglish(told(card))),
    element("div", { class: "body", id: `body-${k}`, hidden: true }));
}

/** Return a sentence without its "37% of rows.", which the head of the card says, and which follows the slider. */
const withoutShare = (sentence) => (sentence ?? "").replace(/^[<>\d]+% of \S+\. ?/u, "");

/** Return the sentence of a card, or nothing if the name says the same. */
function told(card) {
  const text = card.rows ? withoutShare(card.sentence) : "";
  return text.replace(/^[^:]*: |\.$/g, "") === card.name ? "" : text;
}

/** Return the button that turns the title of a card into a field. */
function renameButton(k, title) {
  const start = () => {
    const field = element("input", { type: "text", dir: "auto", "aria-label": `Name of cluster ${k}`, class: "name-field" });
    field.value = nameOf(k);
    let done = false;
    const finish = (isKept) => {
      if (done) return;
      done = true;
      title.replaceChildren(nameText(k));
      if (isKept) rename(k, field.value);
      renamer.hidden = false;
      renamer.focus();
    };
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault(); // or the key would press the button that gets the focus
      finish(event.key === "Enter");
    });
    field.addEventListener("blur", () => finish(true));
    title.replaceChildren(field);
    renamer.hidden = true;
    field.select();
  };
  const renamer = button("✎", start, { class: "quiet rename", "aria-label": `Rename cluster ${k}`, title: "Rename" });
  return renamer;
}

const isOpen = (k) => !cardOf(k).querySelector(".body").hidden;

function openCard(k, wanted) {
  const card = cardOf(k);
  const body = card.querySelector(".body");
  if (!body.hasChildNodes()) body.append(...cardBody(report.cards[k]));
  body.hidden = !wanted;
  card.classList.toggle("open", wanted);
  // An open card lists what its sentence says.
  card.querySelector(".sentence").hidden = wanted && body.querySelector(".apart, .terms") !== null;
  const toggle = card.querySelector(".toggle");
  toggle.textContent = wanted ? "Close" : "Details";
  toggle.setAttribute("aria-expanded", String(wanted));
  if (wanted) showBody(k);
}

/** A part of a card with a small title. */
const part = (title, ...content) => element("section", {}, title ? element("h4", {}, title) : null, ...content);

/** A folded part, which is made when it is opened. */
function folded(title, make) {
  const details = element("details", {}, element("summary", {}, title));
  details.addEventListener("toggle", () => { if (details.open && details.children.length === 1) details.append(...make()); });
  return details;
}

function cardBody(card) {
  const k = card.cluster;
  if (card.rows === 0) return [part(null, element("p", {}, `There are no ${noun} in this cluster.`))];
  const examples = card.examples ?? [];
  const parts = [];
  if (report.images) parts.push(part(null, element("div", { class: "pictures" }, modePicture(k), element("div", { class: "rows" }, examples.filter(hasImage).map(rowPicture)))));
  if (card.terms?.length) parts.push(part(term("Telling words", "terms"), termList(card.terms, k)));
  if (card.apart?.length && !showsPixels()) parts.push(part(term("What sets it apart", "sets it apart"), apartList(card.apart, k)));
  const texts = examples.filter((example) => example.text);
  if (texts.length) parts.push(part("Documents nearest to the mode", element("ul", { class: "documents" }, texts.slice(0, N_DOCUMENTS).map(documentItem)),
    texts.length > N_DOCUMENTS ? folded(`${texts.length - N_DOCUMENTS} more`, () => [element("ul", { class: "documents" }, texts.slice(N_DOCUMENTS).map(documentItem))]) : null));
  if (rankedNames.length && !showsPixels()) parts.push(part(null, typicalTable(k, rankedNames.slice(0, N_TYPICAL))));
  if (typicalNames.length > N_TYPICAL || (showsPixels() && typicalNames.length)) {
    parts.push(folded(`Typical row, all ${typicalNames.length} columns`, () => [element("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": `Typical row of cluster ${k}` }, typicalTable(k, typicalNames))]));
  }
  if (examples.some((example) => Object.keys(example.values ?? {}).length)) {
    parts.push(folded(`Real examples: ${shorten(examples.map((example) => example.name).join(", "), 200)}`,
      () => [element("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": `Examples of cluster ${k}` }, exampleTable(k, examples))]));
  } else if (examples.length && !texts.length && !report.images) {
    parts.push(part("Real examples", element("p", {}, isolated(examples.map((example) => example.name).join(", ")))));
  }
  if (card.classes?.length) parts.push(part("Classes", classList(card.classes, card.rows)));
  const facts = factList(card);
  facts.classList.toggle("half", parts.filter((each) => each.tagName === "SECTION").length % 2 === 1);
  return [...parts, facts];
}

const hasImage = (example) => example.image !== null && example.image !== undefined;
/** Whether the columns are the pixels of images, so that pictures say more than values. */
const showsPixels = () => report.images !== null && report.images !== undefined && !report.heat;

function termList(terms, k) {
  const largest = Math.max(...terms.map(([, score]) => Math.abs(score)), 1e-300);
  return element("ul", { class: "terms" }, terms.slice(0, 12).map(([word, score]) => {
    const bar = withWidth(element("i", { "aria-hidden": "true" }), (100 * Math.abs(score)) / largest);
    bar.style.setProperty("--own", color(k));
    return element("li", {}, isolated(word), bar);
  }));
}

function documentItem(example) {
  const named = element("small", {}, isolated(example.name), ...(example.class != null ? [" · ", isolated(example.class)] : []));
  if (example.text.length <= N_CHARACTERS) return element("li", {}, element("p", {}, isolated(example.text)), named);
  return element("li", {}, element("p", {}, isolated(shorten(example.text, N_CHARACTERS))), named,
    folded("The whole text", () => [element("p", { class: "whole" }, isolated(example.text))]));
}

function classList(classes, rows) {
  const shown = classes.slice(0, 5);
  const rest = classes.slice(5).reduce((sum, [, count]) => sum + count, 0);
  const total = classes.reduce((sum, [, count]) => sum + count, 0) || rows || 1;
  const words = shown.map(([name, count]) => element("li", {}, element("b", {}, isolated(name)), ` ${formatShare(count / total)}`));
  return element("ul", { class: "classes" }, words, ...(rest ? [element("li", {}, `others ${formatShare(rest / total)}`)] : []));
}

/** Return the facts at the foot of a card: nearest cluster, stability, rows averaged, redundancy. */
function factList(card) {
  const k = card.cluster;
  const facts = [];
  const { nearest, stability } = card;
  if (nearest) {
    const differences = (nearest.apart ?? []).slice(0, 2).map((entry) => entry.text).join("; ");
    facts.push([term("Nearest cluster"), [clusterLink(nearest.cluster), differences ? element("span", {}, ". What tells the two apart: ", inEnglish(differences)) : "", " ",
      button("Compare", () => compareClusters(k, nearest.cluster), { class: "quiet small", "aria-label": `Compare cluster ${k} with cluster ${nearest.cluster}` })]]);
  }
  if (stability && stability.jaccard !== null && stability.jaccard !== undefined) facts.push([term("Stability"), `${formatShare(stability.jaccard)}, ${stabilityWord(stability.jaccard)}`]);
  if (averagedAt(lastStep, k) !== null) facts.push([term("Rows averaged"), element("span", { class: "averaged" })]);
  const others = card.redundant_with ?? [];
  if (others.length > 3) facts.push([term("Redundant"), `with ${others.length} other clusters`]);
  else if (others.length) facts.push([term("Redundant"), ["with ", others.map((j, n) => [n ? ", " : "", clusterLink(j)])]]);
  return element("dl", { class: "card-facts" }, facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

// The limits of the glossary.
const stabilityWord = (jaccard) => (jaccard >= 0.85 ? "stable" : jaccard >= 0.6 ? "partly stable" : "not stable");

const clusterLink = (k) => element("a", { href: `#cluster-${k}`, class: "cluster-link", onclick: (event) => { event.preventDefault(); goToCard(k); } }, symbol(k), nameText(k));

/** Return the share of a full bar: of all rows, or of the largest of many clusters. */
const fullBar = () => (many ? Math.max(...clusters.map(shareOf), 1e-9) : 1);

/** Show the size of a cluster at the step. */
function showHead(k, full = fullBar()) {
  const card = cardOf(k);
  setText(card.querySelector(".share"), formatShare(shareOf(k), 1));
  setText(card.querySelector(".count"), `of all ${noun} (${formatCount(rowsOf(k))})`);
  withWidth(card.querySelector(".bar i"), (100 * shareOf(k)) / full);
  const thumb = card.querySelector("canvas.thumb");
  if (thumb) paintMode(thumb, k);
}

/** Show what follows the slider in the body of a card. */
function showBody(k) {
  const body = cardOf(k).querySelector(".body");
  const picture = body.querySelector("canvas.mode");
  if (picture) paintMode(picture, k);
  for (const table of body.querySelectorAll("table.typical")) showTypicalTable(table, k);
  const averaged = body.querySelector(".averaged");
  if (averaged) averaged.textContent = format(Math.round(averagedAt(state.step, k)));
}

/** Return whether a cluster has all words of a query in its texts. */
function matches(k, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return true;
  const card = report.cards[k];
  const text = [nameOf(k), `cluster ${k}`, card.sentence, ...(card.terms ?? []).map(([word]) => word), ...(card.apart ?? []).map((entry) => entry.text),
    ...Object.values(card.typical).filter((value) => typeof value === "string"), ...(card.examples ?? []).map((example) => example.name)].join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}

const cardOrders = {
  size: (a, b) => report.cards[b].rows - report.cards[a].rows || a - b,
  number: (a, b) => a - b,
  name: (a, b) => nameOf(a).localeCompare(nameOf(b), undefined, { numeric: true }),
  stability: (a, b) => (report.cards[b].stability?.jaccard ?? -1) - (report.cards[a].stability?.jaccard ?? -1) || a - b,
};

function cardTools() {
  const search = element("input", { type: "search", placeholder: "Find a cluster", "aria-label": "Find a cluster by name, word or value", id: "find",
    oninput: () => {
      let found = 0;
      for (const k of clusters) found += !(cardOf(k).hidden = !matches(k, search.value));
      byId("no-cards").hidden = found > 0;
    } });
  const orders = Object.keys(cardOrders).filter((name) => name !== "stability" || report.cards.some((card) => card.stability));
  const order = element("select", { id: "order", onchange: () => byId("cards").append(...[...clusters].sort(cardOrders[order.value]).map(cardOf)) },
    orders.map((name) => element("option", { value: name }, name)));
  const all = button(many ? "Open all" : "Close all", () => {
    const wanted = all.textContent === "Open all";
    for (const k of clusters) openCard(k, wanted);
    all.textContent = wanted ? "Close all" : "Open all";
  });
  if (clusters.length < 2) return report.images && !isColoured() ? [inversionSwitch()] : [];
  return [...(report.images && !isColoured() ? [inversionSwitch()] : []), ...(many ? [search] : []),
    element("label", { class: "check" }, "Sort by", order), all];
}

function startCards() {
  byId("clusters-title").replaceChildren(clusters.length === 1 ? "The cluster" : "The clusters, one by one");
  byId("clusters-caption").replaceChildren(...cardCaption());
  byId("card-tools").replaceChildren(...cardTools());
  byId("cards").replaceChildren(...[...clusters].sort(cardOrders.size).map((k) => makeCard(report.cards[k])));
  byId("cards").classList.toggle("many", many);
  byId("cards").classList.toggle("pairs", !many && clusters.length > 1 && clusters.length % 3 === 1);
  for (const k of clusters) {
    showHead(k);
    if (!many) openCard(k, true);
  }
  on("step", () => {
    const full = fullBar();
    for (const k of clusters) {
      showHead(k, full);
      if (isOpen(k)) showBody(k);
    }
  });
  on("highlight", () => {
    for (const k of clusters) cardOf(k).classList.toggle("pointed", k === state.highlight);
  });
}

function cardCaption() {
  const marks = rankedNames.length && !showsPixels() ? [" In each mark, the grey band has the middle 80% of all ", noun, " and the line their average; the coloured band and the dot are the cluster’s."] : [];
  return [...withTerms(report.is_text ? "Each cluster by its telling words and the real documents nearest to its mode." : report.images ? "Each cluster by its mode and the real pictures nearest to it." : "What is typical in each cluster, in your own units: values and shares of the rows around its mode, not of the whole cluster."), ...marks];
}
