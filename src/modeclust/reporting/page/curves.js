"use strict";
// How the clusters formed: sizes, rows averaged, moved rows and the objective at each step.

const stepName = (step) => {
  const { stage, name, bandwidth } = report.steps[step];
  return stage === 0 || bandwidth === null ? name : stage === 1 ? `${name}, bandwidth ${format(bandwidth, 3)}` : name;
};

const averagedText = (step) => {
  const numbers = clusters.map((k) => averagedAt(step, k)).filter((value) => value > 0).sort((a, b) => a - b);
  const median = numbers.length ? (numbers[(numbers.length - 1) >> 1] + numbers[numbers.length >> 1]) / 2 : null;
  return median === null ? "" : `each an average of about ${counted(median)}`;
};

/** Return a chart with a line for each series, and a vertical line at the step. */
function stepChart({ title, series, isLog = false, yTitle, width }) {
  const values = series.flatMap(({ values: own }) => own).filter((value) => value !== null && (!isLog || value > 0));
  const [low, high] = extent(values);
  const y = isLog ? [low / 1.2, high * 1.2] : series.length === 1 && yTitle === "objective" ? [low, high] : [0, high * 1.05];
  const marks = stageSteps().map(({ step, name }) => [step, name]);
  const { figure, svg, plot, atX, atY, inner } = chart({ title, width, height: 230, x: [0, Math.max(lastStep, 1)], y, xTicks: marks, yTitle, isLog, left: 62 });
  for (const { k, values: own } of series) {
    const points = own.map((value, step) => [atX(step), value === null || (isLog && value <= 0) ? NaN : atY(value)]);
    plot.append(svgElement("path", { d: linePath(points), fill: "none", stroke: k === undefined ? "var(--ink)" : color(k), "stroke-width": 2, opacity: many ? 0.7 : 1 },
      svgElement("title", {}, k === undefined ? title : nameOf(k))));
  }
  const line = svgElement("line", { class: "now", y1: inner.top, y2: inner.bottom });
  plot.append(line);
  const show = () => { line.setAttribute("x1", atX(state.step)); line.setAttribute("x2", atX(state.step)); };
  show();
  svg.addEventListener("click", (event) => {
    const share = (event.clientX - svg.getBoundingClientRect().left - inner.left) / (inner.right - inner.left);
    goToStep(Math.round(share * lastStep));
  });
  return { figure, show };
}

/** Return the last step of each stage, with its name. */
function stageSteps() {
  const stages = report.steps.map(({ stage }) => stage);
  return [0, 1, 2].map((stage) => stages.lastIndexOf(stage)).filter((step) => step >= 0)
    .map((step) => ({ step: report.steps[step].stage === 0 ? 0 : step, name: report.steps[step].name }));
}

let curveCursors = [];

function drawCurves() {
  const box = byId("curves");
  const width = chartWidth(box);
  const perCluster = (read) => clusters.map((k) => ({ k, values: report.steps.map((step) => read(step)?.[k] ?? null) }));
  const charts = [{ title: `${noun[0].toUpperCase()}${noun.slice(1)} in each cluster`, series: perCluster((step) => step.counts), yTitle: noun }];
  if (report.steps.some((step) => step.rows_averaged)) {
    charts.push({ title: "How many rows each mode averages", series: perCluster((step) => step.rows_averaged), isLog: true, yTitle: "rows averaged" });
  }
  charts.push({ title: "Rows that changed their cluster at each step", series: [{ values: report.steps.map((step) => step.n_changed) }], yTitle: "rows" });
  if (report.steps.some((step) => step.objective !== null && step.objective !== undefined)) {
    charts.push({ title: "The objective, which falls with the bandwidth", series: [{ values: report.steps.map((step) => step.objective ?? null) }], yTitle: "objective" });
  }
  const made = charts.map((options) => stepChart({ ...options, width }));
  curveCursors = made.map(({ show }) => show);
  box.replaceChildren(...made.map(({ figure }) => figure));
}

function startCurves() {
  if (!isKeptPath()) { byId("path-panel").hidden = true; return; }
  byId("path-caption").replaceChildren(...withTerms(`The fit has ${nSteps} steps. It begins with means of all rows in a cluster, and ends with modes, which average only the rows around them.`), " Choose a place in a chart to see that step.");
  drawn(byId("curves"), drawCurves);
  on("step", () => { for (const show of curveCursors) show(); });
}

let playing = null;
const PLAY_DELAY = 450; // milliseconds between two steps

function play(isOn) {
  clearTimeout(playing);
  playing = null;
  if (isOn) {
    if (isAtEnd()) goToStep(0);
    const next = () => {
      goToStep(state.step + 1);
      if (isAtEnd()) play(false);
      else playing = setTimeout(next, PLAY_DELAY);
    };
    playing = setTimeout(next, PLAY_DELAY);
  }
  byId("play").textContent = playing === null ? "Play" : "Stop";
}

function showReadout() {
  const words = report.steps[state.step].stage === 2 && averagedText(state.step) ? averagedText(state.step) : `step ${state.step + 1} of ${nSteps}`;
  byId("readout").replaceChildren(element("strong", {}, stepName(state.step)), element("small", {}, ` ${words}`));
  byId("slider").value = state.step;
  byId("slider").setAttribute("aria-valuetext", `${stepName(state.step)}, step ${state.step + 1} of ${nSteps}`);
  document.body.classList.toggle("on-the-way", !isAtEnd());
}

/** The slider over means, centers and modes, which everything follows. */
function startSlider() {
  if (!isKeptPath()) return;
  byId("steps").hidden = false;
  const slider = byId("slider");
  slider.max = lastStep;
  const stages = stageSteps();
  byId("stages").replaceChildren(...stages.map(({ step, name }) => {
    const mark = element("span", { class: step === 0 ? "first" : step === lastStep ? "last" : "" }, name);
    mark.style.left = `${(100 * step) / lastStep}%`;
    return mark;
  }));
  showReadout();
  on("step", showReadout);
  slider.addEventListener("input", () => { play(false); goToStep(Number(slider.value)); });
  byId("play").addEventListener("click", () => play(playing === null));
}
