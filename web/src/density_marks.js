// The marks shared by the corner plot and the large view: filled highest-density regions, ellipses of components, truth, estimate, fixed values.
import { textWidth } from "./pen.js";

// shapes: multi-polygons in cells of a grid that fills the frame.
export function traceShape(context, shape, f, cells) {
  const dx = f.width / cells, dy = f.height / cells, bottom = f.top + f.height;
  for (const polygon of shape)
    for (const ring of polygon) {
      for (let i = 0; i < ring.length - 1; ++i) {
        const x = f.left + ring[i][0] * dx, y = bottom - ring[i][1] * dy;
        if (i === 0) context.moveTo(x, y);
        else context.lineTo(x, y);
      }
      context.closePath();
    }
}

export function drawRegions(pen, panel, f, lineWidth = 1) {
  panel.shapes.forEach((shape) => pen.path((c) => traceShape(c, shape, f, panel.cells), { fill: "posterior", fillOpacity: 0.2, stroke: "posterior", width: lineWidth, round: true }));
}

export function drawOutline(pen, panel, f) {
  pen.path((c) => traceShape(c, panel.shapes[0], f, panel.cells), { stroke: "prior", width: 1, dash: [3, 2], round: true });
}

const RIM = [5, 31, 14, 22, 0, 18, 9, 27];  // places on the outline for a label, best first

// ellipses: {number, weight, outline (x, y, x, y, ...)} in data units.
export function drawEllipses(pen, ellipses, f, { width = 0.75, labels = false, size = 11 } = {}) {
  const px = f.x(1) - f.x(0), py = f.y(1) - f.y(0), left = f.x(0), bottom = f.y(0);  // the axes are linear, and calling the scales is slow
  pen.path((c) => {
    for (const { outline } of ellipses) {
      const last = outline.length - 2;
      c.moveTo(left + px * outline[last], bottom + py * outline[last + 1]);
      for (let k = 0; k <= last; k += 2) c.lineTo(left + px * outline[k], bottom + py * outline[k + 1]);
    }
  }, { stroke: "ink", width, opacity: 0.75 });
  if (!labels) return;
  const placed = [];
  for (const e of [...ellipses].sort((a, b) => b.weight - a.weight)) {
    // On the rim, where other labels leave room; components on top of each other get the first free place.
    const spot = RIM.map((k) => [f.x(e.outline[2 * k]), f.y(e.outline[2 * k + 1])])
      .find(([x, y]) => x > f.left + 8 && x < f.left + f.width - 8 && y > f.top + 8 && y < f.top + f.height - 8 &&
        placed.every(([px, py]) => Math.abs(px - x) > 1.3 * size || Math.abs(py - y) > 1.1 * size));
    if (!spot) continue;
    placed.push(spot);
    pen.text(spot[0], spot[1] + 0.35 * size, String(e.number), { anchor: "middle", size, color: "ink", halo: true });
  }
}

export function drawTruth(pen, x, y, r = 5) {
  pen.path((c) => {
    c.moveTo(x - r, y - r), c.lineTo(x + r, y + r);
    c.moveTo(x - r, y + r), c.lineTo(x + r, y - r);
  }, { stroke: "truth", width: Math.max(1.25, r / 2.4) });
}

export function drawEstimate(pen, x, y, r = 4) {
  pen.circle(x, y, r, { fill: "estimate", stroke: "paper", width: 1 });
}

// A key for the plots of pairs, or of a single parameter; returns the height used. marks: leave out those a plot has not ({components, prior}: false);
// across: a width to fill with entries side by side, instead of one below the other.
export function drawKey(pen, x, y, { truth, conditioned, single = false, size = 12, components = true, prior = true, across = 0 }) {
  const rows = [];
  const swatch = (n) => (xx, yy) => {
    for (let i = 0; i < n; ++i) pen.rect(xx, yy - 9, 18, 12, { fill: "posterior", fillOpacity: 0.2 });
    pen.rect(xx, yy - 9, 18, 12, { stroke: "posterior" });
  };
  const upright = (style) => (xx, yy) => pen.line(xx + 9, yy - 10, xx + 9, yy + 2, style), level = (style) => (xx, yy) => pen.line(xx, yy - 4, xx + 18, yy - 4, style);
  if (single) {
    rows.push([swatch(1), "posterior density"], [upright({ stroke: "posterior", dash: [2, 2] }), "5, 25, 75, 95 % quantiles"], [upright({ stroke: "estimate", width: 1.25 }), "estimate (mean)"]);
    if (truth) rows.push([upright({ stroke: "truth", width: 1.25, dash: [5, 3] }), "truth"]);
  } else {
    rows.push([swatch(3), "50 % of the posterior"], [swatch(2), "68 %"], [swatch(1), "95 %"]);
    rows.push([(xx, yy) => drawEstimate(pen, xx + 9, yy - 4), "estimate (mean)"]);
    if (truth) rows.push([(xx, yy) => drawTruth(pen, xx + 9, yy - 4), "truth"]);
    if (components) rows.push([(xx, yy) => pen.path((c) => c.arc(xx + 9, yy - 4, 6, 0, 2 * Math.PI), { stroke: "ink", width: 0.75 }), "component, 1 sigma"]);
  }
  if (prior) rows.push([level({ stroke: "prior", width: 1.25 }), "prior (uniform in its box)"]);
  if (conditioned) rows.push([upright({ stroke: "fixed", width: 1.5 }), "value held fixed"], [level({ stroke: "prior", dash: [3, 2] }), single ? "nothing held fixed" : "nothing held fixed (95 %)"]);
  let left = x, top = y;
  rows.forEach(([mark, text], i) => {
    const width = 26 + textWidth(text, size);
    if (i > 0 && (!across || left + width > x + across)) (left = x), (top += 18);
    mark(left, top);
    pen.text(left + 26, top, text, { size, color: "ink" });
    if (across) left += width + 14;
  });
  return top - y + 18;
}
