"use strict";
// The page: each part is started once, and follows the state by itself.

const KEYS = {
  " ": () => play(playing === null),
  ArrowRight: () => goToStep(state.step + 1),
  ArrowLeft: () => goToStep(state.step - 1),
  Home: () => goToStep(0),
  End: () => goToStep(lastStep),
};

/** The keys of the slider work wherever they have no other meaning. */
function pressed(event) {
  if (!isKeptPath() || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || !KEYS[event.key]) return;
  if (event.target !== document.body && event.target !== byId("slider")) return;
  event.preventDefault();
  if (event.key !== " ") play(false);
  KEYS[event.key]();
}

function startPage() {
  startCards();
  startGlance();
  if (report.histogram) startHistogram();
  else if (report.map) startMap();
  else byId("map-panel").hidden = true;
  startHeat();
  startCompare();
  startTable();
  startOutliers();
  startRedundant();
  startEvidence();
  startCurves();
  startMethod();
  startDownloads();
  startSlider();
  showHeader();
  document.addEventListener("keydown", pressed);
  for (const medium of ["(prefers-color-scheme: dark)", "print"]) matchMedia(medium).addEventListener("change", () => emit("theme"));
  document.body.dataset.ready = "yes";
}

startPage();
