// A frame with axes: scales from d3-scale, ticks that do not touch each other.
import { scaleLinear, scaleLog } from "d3-scale";
import { textWidth } from "./pen.js";

// box {left, top, width, height} in pixels; x, y: [low, high]; returns scales that map data to pixels.
export function frame(box, x, y, { logY = false } = {}) {
  return {
    ...box,
    x: scaleLinear(widened(x), [box.left, box.left + box.width]),
    y: (logY ? scaleLog : scaleLinear)(logY ? y : widened(y), [box.top + box.height, box.top]),
  };
}

// A range of one value still needs an extent.
export function widened([low, high]) {
  if (!(Number.isFinite(low) && Number.isFinite(high))) return [0, 1];
  if (high > low) return [low, high];
  const half = Math.abs(low) > 0 ? Math.abs(low) / 2 : 1;
  return [low - half, high + half];
}

export function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return [low, high];
}

const tickText = (scale, count) => {
  const format = scale.tickFormat(count);
  return (v) => {
    const text = format(v).replaceAll(",", "");
    return text.length > 7 ? v.toExponential(1).replace("e+", "e").replace("-", "−") : text;
  };
};

// options: xLabel, yLabel (parts or text), xTicks, yTicks (wanted numbers), size (font), grid (lines), xText, yText (false: no numbers), inside (no number
// reaches beyond the frame, where another panel begins)
export function drawAxes(pen, f, { xLabel, yLabel, xTicks = 6, yTicks = 5, size = 11, grid = true, xText = true, yText = true, inside = false } = {}) {
  const bottom = f.top + f.height, right = f.left + f.width;
  const xs = grid || xText ? f.x.ticks(xTicks) : [], ys = grid || yText ? f.y.ticks(yTicks) : [];
  if (grid) {
    pen.path((c) => {
      for (const v of xs) c.moveTo(f.x(v), f.top), c.lineTo(f.x(v), bottom);
      for (const v of ys) c.moveTo(f.left, f.y(v)), c.lineTo(right, f.y(v));
    }, { stroke: "grid", width: 0.75 });
  }
  pen.path((c) => {
    c.moveTo(f.left, f.top);
    c.lineTo(f.left, bottom);
    c.lineTo(right, bottom);
  }, { stroke: "soft", width: 0.75 });
  if (xText) {
    const xFormat = tickText(f.x, xTicks);
    let end = -Infinity;
    for (const v of xs) {
      const text = xFormat(v), half = textWidth(text, size) / 2;
      if (!text || f.x(v) - half < end + 4 || (inside && (f.x(v) - half < f.left - 3 || f.x(v) + half > right + 3))) continue;
      pen.text(f.x(v), bottom + size + 3, text, { anchor: "middle", size });
      end = f.x(v) + half;
    }
  }
  if (yText) {
    const yFormat = tickText(f.y, yTicks);
    let end = Infinity;
    for (const v of ys) {
      const text = yFormat(v);
      if (!text || f.y(v) + size / 2 > end || (inside && (f.y(v) + size / 2 > bottom + 3 || f.y(v) - size / 2 < f.top - 3))) continue;
      pen.text(f.left - 5, f.y(v) + 0.35 * size, text, { anchor: "end", size });
      end = f.y(v) - size / 2 - 1;
    }
  }
  if (xLabel) pen.text(f.left + f.width / 2, bottom + 2.35 * size + 5, xLabel, { anchor: "middle", size: size + 1, color: "ink" });
  if (yLabel) pen.text(f.left - (f.labelGap ?? 38), f.top + f.height / 2, yLabel, { anchor: "middle", size: size + 1, color: "ink", rotate: -90 });
}
