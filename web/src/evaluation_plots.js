// The plots of an evaluation, one parameter (or one choice) each. Colours: posterior blue, truth green, expectation and bands grey.
import { line } from "d3-shape";
import { drawAxes, frame, lossRange } from "./axes.js";
import { binomialBand, deviation, histogram, histogram2d, mean, normalQq, quantile, quantileLines, sorted } from "./evaluation_data.js";
import { normalDensity } from "./normal.js";
import { fixedDecimals, withUncertainty } from "./numbers.js";

const SHADES = 8;
const QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95];

// A matrix of shades as few paths: one per shade, rows of cells joined.
function drawCells(pen, f, values, bins, shadeOf, color) {
  const dx = f.width / bins, dy = f.height / bins;
  for (let shade = 1; shade <= SHADES; ++shade)
    pen.path((c) => {
      for (let r = 0; r < bins; ++r)
        for (let i = 0; i < bins; ++i) {
          if (shadeOf(values[r * bins + i]) !== shade) continue;
          const start = i;
          while (i + 1 < bins && shadeOf(values[r * bins + i + 1]) === shade) ++i;
          c.rect(f.left + start * dx, f.top + f.height - (r + 1) * dy, (i + 1 - start) * dx, dy);
        }
    }, { fill: color, fillOpacity: 0.05 + (0.9 * shade) / SHADES });
}

const square = (width, height) => ({ left: 58, top: 8, width: width - 72, height: height - 54, labelGap: 45 });

// Counts shaded by the square root (a few trajectories must stay visible beside many), quantiles of the estimate as lines.
export function drawEstimates(pen, width, height, evaluation, k) {
  const box = evaluation.box(k), bins = evaluation.count > 4000 ? 44 : 28, f = frame(square(width, height), box, box);
  const { values } = histogram2d(evaluation.truth[k], evaluation.estimate[k], box, box, bins), largest = Math.max(...values);
  drawAxes(pen, f, { xLabel: truthLabel(evaluation, k), yLabel: "estimate", xTicks: 4, yTicks: 4 });
  drawCells(pen, f, values, bins, (v) => (v > 0 ? Math.max(1, Math.ceil(SHADES * 0.8 * Math.sqrt(v / largest))) : 0), "posterior");
  const { x, lines } = quantileLines(evaluation.truth[k], evaluation.estimate[k], box, QUANTILES);
  pen.clip(f.left, f.top, f.width, f.height, () =>
    lines.forEach((ys, i) => pen.path((c) => line((_, j) => f.x(x[j]), (y) => f.y(y)).context(c)(ys), { stroke: "ink", width: i === 2 ? 1.75 : i % 4 === 0 ? 0.7 : 1.1, round: true })));
  pen.line(f.x(box[0]), f.y(box[0]), f.x(box[1]), f.y(box[1]), { stroke: "truth", width: 1.75, dash: [5, 3] });
}

const truthLabel = (evaluation, k) => [{ text: "true " }, ...evaluation.labels[k]];

// Mean absolute error of parameter k over the true values of a and b.
export function drawErrorMap(pen, width, height, evaluation, k, a, b) {
  const bins = Math.max(6, Math.min(24, Math.floor(Math.sqrt(evaluation.count / 12))));
  const f = frame({ left: 60, top: 10, width: width - 150, height: height - 62, labelGap: 46 }, evaluation.box(a), evaluation.box(b));
  const { values } = histogram2d(evaluation.truth[a], evaluation.truth[b], evaluation.box(a), evaluation.box(b), bins, evaluation.error(k));
  const seen = values.filter((v) => !Number.isNaN(v)), low = quantile(seen, 0.02), high = quantile(seen, 0.98);
  const shade = (v) => (Number.isNaN(v) ? 0 : 1 + Math.min(SHADES - 1, Math.max(0, Math.floor((SHADES * (v - low)) / (high - low || 1)))));
  drawAxes(pen, f, { xLabel: truthLabel(evaluation, a), yLabel: truthLabel(evaluation, b), grid: false, size: 12 });
  drawCells(pen, f, values, bins, shade, "estimate");
  const x = f.left + f.width + 18, side = Math.min(22, f.height / SHADES - 2), step = (high - low) / SHADES, value = (s) => withUncertainty(low + step * s, step);
  pen.text(x, f.top + 10, "mean |error|", { size: 11, color: "ink" });
  for (let s = SHADES; s >= 1; --s) {
    const y = f.top + 24 + (SHADES - s) * side;
    pen.rect(x, y, 18, side, { fill: "estimate", fillOpacity: 0.05 + (0.9 * s) / SHADES });
    pen.text(x + 24, y + side + 4, value(s - 1), { size: 10 });
  }
  pen.text(x + 24, f.top + 28, value(SHADES), { size: 10 });
}

export function drawZScores(pen, width, height, evaluation, k) {
  drawZHistogram(pen, width, height, evaluation.z(k), [...evaluation.labels[k], { text: ": z" }]);
}

// The z-scores of several parameters in one histogram.
export function drawPooledZ(pen, width, height, evaluation, columns) {
  drawZHistogram(pen, width, height, Float32Array.from(columns.flatMap((k) => Array.from(evaluation.z(k)))), "z");
}

function drawZHistogram(pen, width, height, z, xLabel) {
  const bins = 32, counts = histogram(z, -4, 4, bins), densities = counts.map((c) => (c / z.length) * (bins / 8));
  const f = frame({ ...square(width, height), left: 40, width: width - 48 }, [-4, 4], [0, 1.1 * Math.max(0.42, ...densities)]);
  drawAxes(pen, f, { xLabel, xTicks: 5, yTicks: 3 });
  const w = f.width / bins;
  densities.forEach((d, i) => pen.rect(f.left + i * w, f.y(d), w, f.y(0) - f.y(d), { fill: "posterior", fillOpacity: 0.45 }));
  pen.path((c) => line((x) => f.x(x), (x) => f.y(normalDensity(x))).context(c)(Array.from({ length: 81 }, (_, i) => -4 + i / 10)), { stroke: "prior", width: 1.75 });
  pen.text(f.left + 6, f.top + 11, `mean ${fixedDecimals(mean(z), 2)}`, { size: 10 });
  pen.text(f.left + 6, f.top + 23, `SD ${deviation(z).toFixed(2)}`, { size: 10 });
}

export function drawQq(pen, width, height, evaluation, k) {
  const points = normalQq(evaluation.z(k)), f = frame({ ...square(width, height), left: 40, width: width - 48 }, [-3.5, 3.5], [-3.5, 3.5]);
  drawAxes(pen, f, { xLabel: [...evaluation.labels[k], { text: ": quantile of N(0, 1)" }], xTicks: 5, yTicks: 5 });
  pen.clip(f.left, f.top, f.width, f.height, () => {
    const clamp = (v) => Math.min(4, Math.max(-4, v));
    pen.path((c) => {
      points.forEach((p, i) => (i ? c.lineTo(f.x(p.q), f.y(clamp(p.low))) : c.moveTo(f.x(p.q), f.y(clamp(p.low)))));
      [...points].reverse().forEach((p) => c.lineTo(f.x(p.q), f.y(clamp(p.high))));
      c.closePath();
    }, { fill: "prior", fillOpacity: 0.3 });
    pen.line(f.x(-3.5), f.y(-3.5), f.x(3.5), f.y(3.5), { stroke: "prior", dash: [4, 3] });
    pen.path((c) => line((p) => f.x(p.q), (p) => f.y(p.z)).context(c)(points), { stroke: "posterior", width: 2 });
  });
}

// Ranks of the truth in its posterior (PIT): flat when calibrated. Band: 99 % of flat histograms stay inside, bin by bin.
export function drawRanks(pen, width, height, evaluation, k) {
  const counts = evaluation.rankCounts(k), bins = counts.length, n = counts.reduce((a, b) => a + b, 0), [low, high] = binomialBand(n, 1 / bins);
  const top = Math.max(high, ...counts.map((c) => c / n)) * bins * 1.12;
  const f = frame({ ...square(width, height), left: 40, width: width - 48 }, [0, 1], [0, top]);
  drawAxes(pen, f, { xLabel: [...evaluation.labels[k], { text: ": rank of the truth" }], xTicks: 4, yTicks: 4 });
  const w = f.width / bins;
  counts.forEach((c, i) => pen.rect(f.left + i * w + 0.5, f.y((c * bins) / n), w - 1, f.y(0) - f.y((c * bins) / n), { fill: "posterior", fillOpacity: 0.45 }));
  pen.rect(f.left, f.y(high * bins), f.width, f.y(low * bins) - f.y(high * bins), { fill: "prior", fillOpacity: 0.35 });
  pen.line(f.left, f.y(1), f.left + f.width, f.y(1), { stroke: "prior", dash: [4, 3] });
}

// ECDF of the ranks minus the diagonal; inside the band at all points at once in 95 % of calibrated cases (Kolmogorov).
export function drawRankDifference(pen, width, height, evaluation, k) {
  const rising = sorted(evaluation.pit[k]), n = rising.length, half = 1.358 / Math.sqrt(n), points = [[0, 0]];
  for (let i = 0; i < n; i += Math.max(1, Math.floor(n / 300))) points.push([rising[i], (i + 0.5) / n - rising[i]]);
  points.push([1, 0]);
  const limit = 1.15 * Math.max(2 * half, ...points.map((p) => Math.abs(p[1])));
  const f = frame({ ...square(width, height), left: 48, width: width - 56 }, [0, 1], [-limit, limit]);
  drawAxes(pen, f, { xLabel: [...evaluation.labels[k], { text: ": rank of the truth" }], xTicks: 4, yTicks: 4 });
  pen.rect(f.left, f.y(half), f.width, f.y(-half) - f.y(half), { fill: "prior", fillOpacity: 0.3 });
  pen.line(f.left, f.y(0), f.left + f.width, f.y(0), { stroke: "prior", dash: [4, 3] });
  pen.path((c) => line((p) => f.x(p[0]), (p) => f.y(p[1])).context(c)(points), { stroke: "posterior", width: 1.75, round: true });
}

// Above the diagonal: intervals too wide; below: too narrow. With the ranks of single trajectories a curve over all levels, else between those given.
export function drawCoverage(pen, width, height, evaluation, k, levels) {
  const covered = evaluation.coverage(k, levels), n = evaluation.count || 1000, f = frame({ ...square(width, height), left: 44, width: width - 54 }, [0, 1], [0, 1]);
  drawAxes(pen, f, { xLabel: [...evaluation.labels[k], { text: ": level" }], xTicks: 4, yTicks: 4 });
  const grid = Array.from({ length: 51 }, (_, i) => i / 50);
  pen.path((c) => {
    grid.forEach((p, i) => (i ? c.lineTo(f.x(p), f.y(binomialBand(n, p)[0])) : c.moveTo(f.x(p), f.y(0))));
    [...grid].reverse().forEach((p) => c.lineTo(f.x(p), f.y(binomialBand(n, p)[1])));
    c.closePath();
  }, { fill: "prior", fillOpacity: 0.4 });
  pen.line(f.x(0), f.y(0), f.x(1), f.y(1), { stroke: "prior", dash: [4, 3] });
  const curve = evaluation.coverageCurve(k), marked = curve ? evaluation.markedLevels() : levels;
  pen.path((c) => line((p) => f.x(p[0]), (p) => f.y(p[1])).context(c)(curve ?? levels.map((level, i) => [level, covered[i]])), { stroke: "posterior", width: 1.75, round: true });
  levels.forEach((level, i) => marked.includes(level) && pen.circle(f.x(level), f.y(covered[i]), curve ? 2.8 : 2.2, { fill: "posterior" }));
}

// curve [{minutes, train, validation}]
export function drawLoss(pen, width, height, curve) {
  const range = lossRange(["train", "validation"].map((name) => curve.map((p) => p[name])), 0.05);
  const f = frame({ left: 62, top: 10, width: width - 74, height: height - 60, labelGap: 46 }, [0, Math.max(...curve.map((p) => p.minutes))], range);
  drawAxes(pen, f, { xLabel: "minutes", yLabel: "NLL", size: 12 });
  pen.clip(f.left, f.top, f.width, f.height, () => {
    for (const [name, color] of [["train", "prior"], ["validation", "posterior"]]) {
      const points = curve.filter((p) => Number.isFinite(p[name]));
      pen.path((c) => line((p) => f.x(p.minutes), (p) => f.y(p[name])).context(c)(points), { stroke: color, width: name === "train" ? 1.1 : 2, round: true });
    }
  });
  [["train", "prior"], ["validation", "posterior"]].forEach(([name, color], i) => {
    pen.line(f.left + f.width - 110, f.top + 12 + 18 * i, f.left + f.width - 84, f.top + 12 + 18 * i, { stroke: color, width: 2 });
    pen.text(f.left + f.width - 78, f.top + 16 + 18 * i, name, { size: 12, color: "ink" });
  });
}
