// The few plots that only the redrawn paper needs: a pair in a small frame, a density given on a grid, several loss curves, the network as blocks.
import { line } from "d3-shape";
import { drawAxes, frame, lossRange } from "./axes.js";
import { drawPair } from "./corner_plot.js";
import { highestDensityLevels, regionShapes } from "./density_grid.js";
import { drawEstimate, drawRegions, drawTruth } from "./density_marks.js";
import { columnsOf } from "./evaluation_data.js";
import { parameterParts } from "./labels.js";
import { textWidth } from "./pen.js";
import { PROBABILITIES } from "./posterior_view.js";

const CELLS = 110, place = (width, height) => ({ left: 60, top: 8, width: width - 70, height: height - 50, labelGap: 47 });

// panel {x, y: parameters, threshold, range: [x0, x1, y0, y1] or none}
export function drawSmallPair(pen, width, height, posterior, { x, y, threshold, range }) {
  const view = posterior.whole, given = range && [range.slice(0, 2), range.slice(2)];
  if (given) (posterior.ranges ??= []), (posterior.ranges[x] = given[0]), (posterior.ranges[y] = given[1]);
  const f = frame(place(width, height), posterior.range(x, false), posterior.range(y, false));
  drawAxes(pen, f, { xLabel: posterior.labels[x], yLabel: posterior.labels[y], xTicks: 4, yTicks: 4 });
  const { low: x0, high: x1 } = posterior.parameters[x], { low: y0, high: y1 } = posterior.parameters[y];
  pen.clip(f.left, f.top, f.width, f.height, () => pen.rect(f.x(x0), f.y(y1), f.x(x1) - f.x(x0), f.y(y0) - f.y(y1), { stroke: "prior" }));
  drawPair(pen, f, view, x, y, { box: false, cells: CELLS, threshold, conditioned: false, width: 1, mark: 4, labels: true, size: 10 });
}

// panel {parameters (2), range, values {shape, float32}, truth, estimate}
export function drawDensity(pen, width, height, panel) {
  const cells = panel.values.shape[0], columns = columnsOf(panel.values, cells), values = new Float64Array(cells * cells);
  columns.forEach((column, c) => column.forEach((v, r) => (values[r * cells + c] = v)));
  const [x0, x1, y0, y1] = panel.range, labels = panel.parameters.map(parameterParts), f = frame(place(width, height), [x0, x1], [y0, y1]);
  const levels = highestDensityLevels(values, ((x1 - x0) * (y1 - y0)) / cells ** 2, PROBABILITIES), shapes = regionShapes(values, levels, cells, cells);
  drawAxes(pen, f, { xLabel: labels[0], yLabel: labels[1], xTicks: 4, yTicks: 4 });
  pen.clip(f.left, f.top, f.width, f.height, () => {
    drawRegions(pen, { shapes, cells }, f);
    drawEstimate(pen, f.x(panel.estimate[0]), f.y(panel.estimate[1]));
    drawTruth(pen, f.x(panel.truth[0]), f.y(panel.truth[1]));
  });
}

// Curves are told apart by stroke and named at the side, not by colours, which have meanings.
const STROKES = [{ dash: [2, 3], width: 1.5 }, { dash: [7, 3], width: 1.5 }, { width: 2.5 }, { width: 1, opacity: 0.8 }];

// panel {x, y: axis names, curves: [{name, points: [[x, y], ...]}]}
export function drawCurves(pen, width, height, { x, y, curves }) {
  const known = curves.map((c) => ({ ...c, points: c.points.filter(([, v]) => Number.isFinite(v)) })), all = known.flatMap((c) => c.points);
  const side = Math.max(...known.map((c) => textWidth(c.name, 11))) + 42;
  const f = frame({ left: 62, top: 10, width: width - 62 - side - 8, height: height - 60, labelGap: 46 }, [0, Math.max(...all.map(([v]) => v))], lossRange(known.map((c) => c.points.map(([, v]) => v)), 0.1));
  drawAxes(pen, f, { xLabel: x, yLabel: y, xTicks: 4 });
  known.forEach(({ name, points }, i) => {
    const style = { stroke: "posterior", round: true, ...STROKES[i % STROKES.length] };
    pen.clip(f.left, f.top, f.width, f.height, () => pen.path((c) => line(([v]) => f.x(v), ([, v]) => f.y(v)).context(c)(points), style));
    pen.line(f.left + f.width + 10, f.top + 12 + 18 * i, f.left + f.width + 34, f.top + 12 + 18 * i, style);
    pen.text(f.left + f.width + 40, f.top + 16 + 18 * i, name, { size: 11, color: "ink" });
  });
}

// panel {blocks: [{title, lines}]}: boxes from left to right with arrows; in rows where the page is narrow.
const perRow = (width, panel) => Math.max(1, Math.min(panel.blocks.length, Math.floor((width + 30) / 190)));
const blockHeight = (panel) => 40 + 18 * Math.max(...panel.blocks.map((b) => b.lines.length));
export const blocksHeight = (width, panel) => Math.ceil(panel.blocks.length / perRow(width, panel)) * (blockHeight(panel) + 24);

export function drawBlocks(pen, width, panel) {
  const columns = perRow(width, panel), gap = 34, w = (width - 2 - gap * (columns - 1)) / columns, h = blockHeight(panel);
  panel.blocks.forEach(({ title, lines }, i) => {
    const x = 1 + (i % columns) * (w + gap), y = 8 + Math.floor(i / columns) * (h + 24), first = i === 0, last = i === panel.blocks.length - 1, color = first ? "data" : last ? "posterior" : "soft";
    pen.rect(x, y, w, h, { fill: color, fillOpacity: 0.08 });
    pen.rect(x, y, w, h, { stroke: color, width: 1.25 });
    pen.text(x + w / 2, y + 22, title, { anchor: "middle", size: 14, color: "ink", bold: true });
    lines.forEach((text, k) => pen.text(x + w / 2, y + 44 + 18 * k, text, { anchor: "middle", size: Math.min(12, (12 * (w - 10)) / textWidth(text, 12)), color: "ink" }));
    if (first || i % columns === 0) return;
    const from = x - gap + 4, to = x - 5, middle = y + h / 2;
    pen.line(from, middle, to, middle, { stroke: "ink", width: 1.25 });
    pen.path((c) => (c.moveTo(to - 6, middle - 4), c.lineTo(to, middle), c.lineTo(to - 6, middle + 4)), { stroke: "ink", width: 1.25, round: true });
  });
}
