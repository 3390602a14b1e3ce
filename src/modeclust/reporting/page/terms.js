"use strict";
// Tooltips: the glossary explains each term, by pointer, touch and keyboard.

const glossary = new Map(Object.entries(report.glossary ?? {}).map(([term, text]) => [term.toLowerCase(), text]));
// Words that everyone knows are not marked in sentences.
const PLAIN_WORDS = new Set(["row", "rows", "cluster", "map", "class", "start", "path", "examples", "number of clusters", "missing", "feature", "column", "share", "all rows", "mean", "noise", "dip", "terms", "label"]);

/** Return the explanation of a term, in singular or plural, or undefined. */
const explanation = (key) => glossary.get(key.toLowerCase()) ?? glossary.get(key.toLowerCase().replace(/s$/, ""));

/** Return a term with its tooltip; plain text if the glossary does not have it. */
function term(text, key = text) {
  const explained = explanation(key);
  return explained === undefined ? text : element("button", { type: "button", class: "term", "data-tip": explained }, text);
}

const markedTerms = new Set();

/** Return a sentence in which the first mention of each term on the page has a tooltip. */
function withTerms(sentence) {
  const keys = [...glossary.keys()].filter((key) => !PLAIN_WORDS.has(key)).sort((a, b) => b.length - a.length);
  if (!keys.length) return [sentence];
  const escaped = keys.map((key) => key.replace(/[.*+?^$(){}|[\]\\]/g, "\\$&"));
  const parts = sentence.split(new RegExp(`(?<![\\p{L}\\p{N}_])((?:${escaped.join("|")})s?)(?![\\p{L}\\p{N}_])`, "giu"));
  return parts.map((part, i) => {
    const key = part.toLowerCase().replace(/s$/, "");
    if (i % 2 === 0 || markedTerms.has(key)) return part;
    markedTerms.add(key);
    return term(part);
  });
}

const tip = byId("tip");
let tipOwner = null;

/** Show a tooltip below a box of the window, or above it if there is no room. */
function showTip(text, box) {
  tip.textContent = text;
  tip.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = tip;
  const left = clamp(box.left + box.width / 2 - width / 2, 6, Math.max(innerWidth - width - 6, 6));
  const below = box.bottom + 8 + height < innerHeight;
  tip.style.left = `${left}px`;
  tip.style.top = `${below ? box.bottom + 8 : Math.max(box.top - height - 8, 4)}px`;
}

function hideTip() {
  tipOwner?.removeAttribute("aria-describedby");
  tipOwner = null;
  tip.hidden = true;
}

function showTipOf(event) {
  const owner = event.target.closest?.("[data-tip]");
  if (owner === tipOwner) return;
  if (!owner && event.type === "mouseover" && tipOwner === document.activeElement) return; // the page moved under the pointer
  hideTip();
  if (!owner) return;
  tipOwner = owner;
  showTip(owner.dataset.tip, owner.getBoundingClientRect());
  owner.setAttribute("aria-describedby", "tip");
}

for (const event of ["mouseover", "focusin", "click"]) document.addEventListener(event, showTipOf);
document.addEventListener("focusout", hideTip);
document.addEventListener("scroll", () => {
  if (tipOwner) showTip(tipOwner.dataset.tip, tipOwner.getBoundingClientRect());
  else hideTip();
}, { passive: true, capture: true });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
