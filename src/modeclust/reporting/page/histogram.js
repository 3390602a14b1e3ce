"use strict";
// For a single feature, a histogram and the density of each cluster take the place of the map.

function drawHistogram() {
  const { edges, counts, grid, densities, n_outside: nOutside } = report.histogram;
  const box = byId("map");
  const bars = counts[state.step];
  const curves = densities[state.step];
  const sums = edges.slice(1).map((_, bin) => clusters.reduce((sum, k) => sum + bars[k][bin], 0));
  const top = Math.max(...sums, ...(curves ?? []).flat(), 1e-9) * 1.05;
  const { figure, plot, atX, atY, inner } = chart({
    title: "", label: `Histogram of ${report.map.axes[0]}`, width: box.clientWidth || 600, height: box.clientHeight || 420,
    x: [edges[0], edges.at(-1)], y: [0, top], xTitle: report.map.axes[0], yTitle: report.histogram.weighted ? "weight per bin" : `${noun} per bin`,
  });
  const under = edges.slice(1).map(() => 0);
  for (const k of clusters) {
    bars[k].forEach((count, bin) => {
      if (!count) return;
      const [low, high] = [under[bin], under[bin] + count];
      under[bin] = high;
      plot.append(svgElement("rect", { x: atX(edges[bin]), y: atY(high), width: Math.max(atX(edges[bin + 1]) - atX(edges[bin]) - 0.5, 0.5), height: atY(low) - atY(high), fill: color(k), opacity: state.highlight === null || state.highlight === k ? 0.65 : 0.15 },
        svgElement("title", {}, `${nameOf(k)}: ${counted(count)} from ${format(edges[bin])} to ${format(edges[bin + 1])}`)));
    });
  }
  for (const k of clusters) {
    if (curves?.[k]) plot.append(svgElement("path", { class: "density", d: linePath(grid.map((x, i) => [atX(x), atY(curves[k][i])])), fill: "none", stroke: color(k), "stroke-width": 2.5 }));
    const x = report.map.centers[state.step][k][0];
    if (rowsOf(k) > 0) plot.append(svgElement("line", { class: "mode-line", x1: atX(x), x2: atX(x), y1: inner.top, y2: inner.bottom }));
  }
  box.replaceChildren(figure);
  byId("map-caption").textContent = `Bars: how many ${noun} have each value. ${curves ? "Curves: density of each cluster. " : ""}Dashed lines: modes.` +
    (nOutside ? ` ${formatCount(nOutside)} of the ${formatCount(report.n_rows)} ${noun} are outside the axis.` : "");
}

function startHistogram() {
  byId("map-title").textContent = `How ${shorten(report.map.axes[0], 60)} is distributed in the clusters`;
  drawn(byId("map"), drawHistogram);
  for (const event of ["step", "highlight", "name"]) on(event, drawHistogram);
}
