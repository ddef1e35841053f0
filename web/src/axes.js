// A frame with axes: scales from d3-scale, ticks that do not touch each other.
import { scaleLinear } from "d3-scale";
import { fixedDecimals } from "./numbers.js";
import { textWidth } from "./pen.js";

// box {left, top, width, height} in pixels; x, y: [low, high]; returns scales that map data to pixels.
export function frame(box, x, y) {
  return { ...box, x: scaleLinear(widened(x), [box.left, box.left + box.width]), y: scaleLinear(widened(y), [box.top + box.height, box.top]) };
}

// A range of one value still needs an extent.
export function widened([low, high]) {
  if (!(Number.isFinite(low) && Number.isFinite(high))) return [0, 1];
  if (high > low) return [low, high];
  const half = Math.abs(low) > 0 ? Math.abs(low) / 2 : 1;
  return [low - half, high + half];
}

// What has to be seen of loss curves (lists of values): from a fraction of the way, since the first steps fall from far above, to the lowest point of each. One that rises again far above the
// others, because it was overfitted, leaves the frame.
export function lossRange(curves, fraction) {
  const parts = curves.map((curve) => {
    const values = curve.filter(Number.isFinite), late = values.slice(Math.floor(values.length * fraction));
    return late.slice(0, late.indexOf(Math.min(...late)) + 1);
  });
  const [low, high] = extent(parts.flat()), margin = 0.06 * (high - low || 1);
  return [low - margin, high + margin];
}

export function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return [low, high];
}

const power = (x) => Math.floor(Math.log10(x) + 1e-9);
const numberWidth = (text, size) => size * Array.from(text).reduce((sum, c) => sum + (c === "." ? 0.3 : 0.56), 0);

// With an exponent, and the digits that tell neighbours a step apart.
function withExponent(v, step) {
  if (v === 0) return "0";
  return v.toExponential(Math.min(15, Math.max(0, power(Math.abs(v)) - power(step)))).replace(/(\.\d*?)0+e/, "$1e").replace(".e", "e").replace("e+", "e").replaceAll("-", "−");
}

// The numbers beside ticks, no two of them equal: plain where that fits into `space` pixels, else with an exponent, else as differences from a round
// number, which then belongs to the name of the axis (101325.2, 101325.4 -> 0.2, 0.4 and "p − 101325"). {texts, offset: "" or " − 101325"}
export function tickTexts(ticks, size, space = 7 * 0.56 * size) {
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : Math.abs(ticks[0]) || 1, fits = (texts) => texts.every((text) => numberWidth(text, size) <= space);
  const clean = (v) => (Math.abs(v) < 1e-6 * step ? 0 : v), plain = (v) => fixedDecimals(v, Math.min(100, Math.max(0, -power(step))));
  const written = (values) => {
    const shortest = values.map((v) => (Math.abs(v) < 1e15 && step > 1e-15 ? plain(v) : withExponent(v, step)));
    return fits(shortest) ? shortest : values.map((v) => withExponent(v, step));
  };
  const values = ticks.map(clean), texts = written(values);
  if (fits(texts) || values.length < 2) return { texts, offset: "" };
  const unit = 10 ** (power(Math.abs(values.at(-1) - values[0])) + 1), base = Math.round((values[0] + values.at(-1)) / 2 / unit) * unit;
  if (base === 0) return { texts, offset: "" };
  const amount = Math.abs(base) < 1e15 && unit > 1e-15 ? fixedDecimals(Math.abs(base), Math.max(0, -power(unit))) : withExponent(Math.abs(base), unit);
  return { texts: written(values.map((v) => clean(Math.round((v - base) / step) * step))), offset: ` ${base > 0 ? "−" : "+"} ${amount.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "")}` };
}

// The name of an axis whose numbers are differences.
export const labelWith = (label, offset) => (offset ? [...(Array.isArray(label) ? label : [{ text: label || "value" }]), { text: offset }] : label);

// Room for the numbers left of a frame: up to the name of the axis, whose middle is labelGap away, or up to the border.
export const numberSpace = (f, hasLabel, size) => (hasLabel || f.labelGap ? (f.labelGap ?? 38) - 3 - 0.5 * (size + 1) : f.left - 6);

// options: xLabel, yLabel (parts or text), xTicks, yTicks (wanted numbers), size (font), grid (lines), xText, yText (false: no numbers), inside (no number
// reaches beyond the frame, where another panel begins), named (false: the caller writes the names, with the offsets that this returns)
export function drawAxes(pen, f, { xLabel, yLabel, xTicks = 6, yTicks = 5, size = 11, grid = true, xText = true, yText = true, inside = false, named = true } = {}) {
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
  let xOffset = "", yOffset = "";
  if (xText && xs.length) {
    const { texts, offset } = tickTexts(xs, size);
    let end = -Infinity;
    xOffset = offset;
    xs.forEach((v, i) => {
      const half = textWidth(texts[i], size) / 2, at = Math.min(f.x(v), pen.width - half - 1);  // not beyond the picture
      if (at - half < end + 4 || (inside && (at - half < f.left - 3 || at + half > right + 3))) return;
      pen.text(at, bottom + size + 3, texts[i], { anchor: "middle", size });
      end = at + half;
    });
  }
  if (yText && ys.length) {
    const { texts, offset } = tickTexts(ys, size, numberSpace(f, yLabel, size));
    let end = Infinity;
    yOffset = offset;
    ys.forEach((v, i) => {
      if (f.y(v) + size / 2 > end || (inside && (f.y(v) + size / 2 > bottom + 3 || f.y(v) - size / 2 < f.top - 3))) return;
      pen.text(f.left - 5, f.y(v) + 0.35 * size, texts[i], { anchor: "end", size });
      end = f.y(v) - size / 2 - 1;
    });
  }
  const x = named ? labelWith(xLabel, xOffset) : null, y = named ? labelWith(yLabel, yOffset) : null;
  if (x) pen.text(f.left + f.width / 2, bottom + 2.35 * size + 5, x, { anchor: "middle", size: size + 1, color: "ink" });
  if (y) pen.text(f.left - (f.labelGap ?? 38), f.top + f.height / 2, y, { anchor: "middle", size: size + 1, color: "ink", rotate: -90 });
  return { xOffset, yOffset };
}
