// The large view of one pair, or of one parameter when both are the same.
import { drawAxes, frame } from "./axes.js";
import { drawLine, drawPair } from "./corner_plot.js";
import { drawKey } from "./density_marks.js";

export function drawLargePair(pen, width, height, view, [a, b], { box, cells, rest, threshold }) {
  const { posterior } = view;
  if (a === b) return drawLargeLine(pen, width, height, view, a, box);
  const f = frame({ left: 64, top: 10, width: width - 76, height: height - 62, labelGap: 50 }, posterior.range(a, box), posterior.range(b, box));
  drawAxes(pen, f, { xLabel: posterior.labels[a], yLabel: posterior.labels[b], size: 12 });
  const { low: x0, high: x1 } = posterior.parameters[a], { low: y0, high: y1 } = posterior.parameters[b];
  pen.clip(f.left, f.top, f.width, f.height, () => {
    if (x1 > x0 && y1 > y0) pen.rect(f.x(x0), f.y(y1), f.x(x1) - f.x(x0), f.y(y0) - f.y(y1), { stroke: "prior", width: 1.25 });
  });
  drawPair(pen, f, view, a, b, { box, cells, rest, threshold, conditioned: view.fixed.size > 0, width: 1.25, mark: 5, labels: true, size: 12 });
}

function drawLargeLine(pen, width, height, view, k, box) {
  const { posterior } = view, range = posterior.range(k, box), distribution = view.distribution(k) ?? posterior.whole.distribution(k), n = 400;
  const xs = Array.from({ length: n + 1 }, (_, i) => range[0] + ((range[1] - range[0]) * i) / n), densities = xs.map((x) => distribution.density(x));
  const f = frame({ left: 64, top: 10, width: width - 76, height: height - 62, labelGap: 50 }, range, [0, 1.08 * Math.max(...densities)]);
  drawAxes(pen, f, { xLabel: posterior.labels[k], yLabel: "density", size: 12 });
  const place = (p) => f.x(distribution.quantile(p)), close = place(0.25) - place(0.05) < 34 || place(0.95) - place(0.75) < 34 || place(0.75) - place(0.25) < 34;
  for (const p of [0.05, 0.25, 0.75, 0.95]) {
    const x = place(p), isOuter = p < 0.1 || p > 0.9;
    if (x < f.left || x > f.left + f.width) continue;
    pen.line(x, f.y(distribution.density(distribution.quantile(p))), x, f.top + f.height, { stroke: "posterior", width: 1, dash: [2, 2] });
    if (!close || isOuter) pen.text(x + (close ? (p < 0.5 ? -4 : 4) : 0), f.top + f.height - 4, `${100 * p} %`, { anchor: close ? (p < 0.5 ? "end" : "start") : "middle", size: 10, halo: true });
  }
  drawLine(pen, f, view, k, xs, densities);
}

// The key on its own, beside the large view.
export function drawPairKey(pen, view, [a, b]) {
  return drawKey(pen, 4, 14, { truth: view.posterior.result.truth, conditioned: view.fixed.size > 0, single: a === b });
}
