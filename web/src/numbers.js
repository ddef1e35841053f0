// Number formats: as many digits as the uncertainty supports, never "1.2000000000000002", a real minus sign.
import { format } from "d3-format";

const minus = (text) => text.replace(/^-/, "−").replace(/e-/, "e−");

// Three significant digits, plain notation between 1e-3 and 1e5.
export function short(x, digits = 3) {
  if (!Number.isFinite(x)) return typeof x !== "number" || Number.isNaN(x) ? "–" : x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  return minus(size >= 1e-3 && size < 1e5 ? String(Number(x.toPrecision(digits))) : x.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e"));
}

// A fixed number of decimals; no "−0.0".
export function fixedDecimals(x, decimals) {
  const text = x.toFixed(decimals);
  return minus(Number(text) === 0 ? text.replace("-", "") : text);
}

// x with the decimals that `sd` supports: two significant digits of the uncertainty.
export function withUncertainty(x, sd) {
  if (!Number.isFinite(x) || !(sd > 0)) return short(x);
  const size = Math.max(Math.abs(x), sd), narrow = sd < 1e-3 * size && size < 1e12;  // narrow: the digits that matter come late
  if ((size >= 1e5 && !narrow) || size < 1e-3) return short(x, narrow ? Math.min(12, 2 - Math.floor(Math.log10(sd / size))) : 4);
  const decimals = Math.min(8, Math.max(0, 1 - Math.floor(Math.log10(sd))));
  return fixedDecimals(x, decimals);
}

// A probability; never "0 %" for something that is not, never "100 %" for something below.
export function percent(p, decimals) {
  if (!Number.isFinite(p)) return "–";
  const value = 100 * p;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  if (value < 100 && value > 99.9) return "> 99.9 %";
  return `${minus(value.toFixed(decimals ?? (value < 10 || value > 95 ? 1 : 0))).replace(/\.0$/, "")} %`;
}

export const count = (n) => format(",")(n);
