// All parameters at a glance: densities on the diagonal, pairs below it, the key above.
import { drawAxes, frame, labelWith } from "./axes.js";
import { drawEllipses, drawEstimate, drawKey, drawOutline, drawRegions, drawTruth } from "./density_marks.js";
import { textWidth } from "./pen.js";

// Geometry in pixels for M parameters in `width`: panel side, gap and margins.
export function cornerLayout(size, width) {
  const font = size > 8 ? 9 : 11, left = size > 8 ? 52 : 58, bottom = size > 8 ? 40 : 46, gap = size > 8 ? 4 : 7, top = 8, right = 6;
  const side = (width - left - right - gap * (size - 1)) / size;
  const at = (i) => i * (side + gap);
  return { font, left, bottom, gap, top, right, side, height: top + at(size - 1) + side + bottom, x: (i) => left + at(i), y: (j) => top + at(j) };
}

// Which panel is under the point (pixels): [column, row] with row >= column, or null.
export function cornerPanelAt(layout, size, px, py) {
  const find = (p, at) => Array.from({ length: size }, (_, i) => i).find((i) => p >= at(i) && p <= at(i) + layout.side);
  const column = find(px, layout.x), row = find(py, layout.y);
  return column !== undefined && row !== undefined && row >= column ? [column, row] : null;
}

// options: box (axes show the prior box), cells (of a panel's grid), rest (cells of the outline of what nothing fixed shows, kept from before), threshold (weight of a component to be drawn), chosen [a, b]
export function drawCorner(pen, width, view, { box, cells, rest, threshold, chosen }) {
  const { posterior } = view, size = posterior.size, layout = cornerLayout(size, width), conditioned = view.fixed.size > 0, xOffsets = [], yOffsets = [];
  for (let row = 0; row < size; ++row) {
    for (let column = 0; column <= row; ++column) {
      const place = { left: layout.x(column), top: layout.y(row), width: layout.side, height: layout.side };
      if (row === column) xOffsets[column] = drawDiagonal(pen, place, view, row, box, layout, size).xOffset;
      else {
        const f = frame({ ...place, labelGap: layout.left - 13 }, posterior.range(column, box), posterior.range(row, box));
        const offsets = drawAxes(pen, f, { named: false, grid: false, inside: true, size: layout.font, xText: row === size - 1, yText: column === 0, xTicks: size > 6 ? 3 : 4, yTicks: size > 6 ? 3 : 4 });
        if (row === size - 1) xOffsets[column] = offsets.xOffset;
        if (column === 0) yOffsets[row] = offsets.yOffset;
        drawPair(pen, f, view, column, row, { box, cells, rest, threshold, conditioned, width: size > 8 ? 0.75 : 1, mark: size > 8 ? 2.6 : 3.5, labels: layout.side > 110, size: layout.font });
      }
      if (chosen && Math.min(...chosen) === column && Math.max(...chosen) === row)
        pen.rect(place.left - 2, place.top - 2, place.width + 4, place.height + 4, { stroke: "ink", width: 2 });
    }
  }
  for (let k = 0; k < size; ++k) {
    const fit = (label) => Math.min(layout.font + 3, ((layout.font + 3) * layout.side) / Math.max(1, textWidth(label, layout.font + 3)));
    const below = labelWith(posterior.labels[k], xOffsets[k]), beside = labelWith(posterior.labels[k], yOffsets[k]);
    pen.text(layout.x(k) + layout.side / 2, layout.height - 6, below, { anchor: "middle", size: fit(below), color: "ink" });
    if (k > 0) pen.text(13, layout.y(k) + layout.side / 2, beside, { anchor: "middle", size: fit(beside), color: "ink", rotate: -90 });
  }
  if (size > 2 && width > 520) drawKey(pen, layout.x(Math.max(2, Math.ceil(size / 2))) + 4, layout.top + 14, { truth: posterior.result.truth, conditioned, size: 12 });
}

function drawDiagonal(pen, place, view, k, box, layout, size) {
  const { posterior } = view, last = k === size - 1;
  const range = posterior.range(k, box), n = 100, xs = Array.from({ length: n + 1 }, (_, i) => range[0] + ((range[1] - range[0]) * i) / n);
  const densities = (view.distribution(k) ? view : posterior.whole).line(k, xs);
  const f = frame(place, range, [0, 1.08 * Math.max(...densities)]);
  const offsets = drawAxes(pen, f, { named: false, grid: false, inside: true, size: layout.font, xText: last, yText: false, xTicks: size > 6 ? 3 : 4, yTicks: 0 });
  drawLine(pen, f, view, k, xs, densities);
  return offsets;
}

// The density of one parameter with its marks; used for the diagonal and for the large view.
export function drawLine(pen, f, view, k, xs, densities) {
  const { posterior } = view, bottom = f.top + f.height, { low, high } = posterior.parameters[k], truth = posterior.result.truth?.[k];
  pen.clip(f.left, f.top, f.width, f.height, () => {
    if (high > low) {  // the uniform prior, at its own height
      const level = f.y(1 / (high - low));
      pen.path((c) => {
        c.moveTo(f.x(low), bottom), c.lineTo(f.x(low), level), c.lineTo(f.x(high), level), c.lineTo(f.x(high), bottom);
      }, { stroke: "prior", width: 1 });
    }
    const curve = (ys) => (c) => ys.forEach((y, i) => (i ? c.lineTo(f.x(xs[i]), f.y(y)) : c.moveTo(f.x(xs[i]), f.y(y))));
    if (view.fixed.has(k)) {
      pen.path(curve(densities), { stroke: "prior", dash: [3, 2] });
      pen.line(f.x(view.fixed.get(k)), f.top, f.x(view.fixed.get(k)), bottom, { stroke: "fixed", width: 1.5 });
    } else {
      pen.path((c) => {
        curve(densities)(c);
        c.lineTo(f.x(xs.at(-1)), bottom), c.lineTo(f.x(xs[0]), bottom), c.closePath();
      }, { fill: "posterior", fillOpacity: 0.3 });
      pen.path(curve(densities), { stroke: "posterior", width: 1.25, round: true });
      if (view.fixed.size) pen.path(curve(posterior.whole.line(k, xs)), { stroke: "prior", dash: [3, 2] });
      pen.line(f.x(view.mean(k)), f.top, f.x(view.mean(k)), bottom, { stroke: "estimate", width: 1.25 });
    }
    if (Number.isFinite(truth)) pen.line(f.x(truth), f.top, f.x(truth), bottom, { stroke: "truth", width: 1.25, dash: [5, 3] });
  });
}

// One pair inside a frame.
export function drawPair(pen, f, view, a, b, { box, cells, rest, threshold, conditioned, width, mark, labels, size }) {
  const { posterior } = view, truth = posterior.result.truth, free = view.position[a] >= 0 && view.position[b] >= 0;
  pen.clip(f.left, f.top, f.width, f.height, () => {
    if (conditioned) drawOutline(pen, posterior.whole.panel(a, b, box, rest), f);
    if (free) {
      drawRegions(pen, view.panel(a, b, box, cells), f, width);
      drawEllipses(pen, view.ellipses(a, b, threshold), f, { width: 0.75 * width, labels, size });
    }
    for (const [k, vertical] of [[a, true], [b, false]]) {
      if (!view.fixed.has(k)) continue;
      const p = vertical ? f.x(view.fixed.get(k)) : f.y(view.fixed.get(k));
      if (vertical) pen.line(p, f.top, p, f.top + f.height, { stroke: "fixed", width: 1.25 });
      else pen.line(f.left, p, f.left + f.width, p, { stroke: "fixed", width: 1.25 });
    }
    drawEstimate(pen, f.x(view.mean(a)), f.y(view.mean(b)), mark);
    if (truth && Number.isFinite(truth[a]) && Number.isFinite(truth[b])) drawTruth(pen, f.x(truth[a]), f.y(truth[b]), 1.3 * mark);
  });
}
