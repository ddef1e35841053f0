// A square matrix of numbers between -1 and 1 (or 0 and 1) as coloured cells with the numbers written in.
import { textWidth } from "./pen.js";

// matrix (M x M); labels: parts; diverging: -1..1 in two colours, else 0..limit in one. Returns nothing; fills the whole width.
export function drawHeatMap(pen, width, labels, matrix, { limit = 1, decimals = 2, diverging = true, muted = [] } = {}) {
  const size = labels.length, font = size > 8 ? 9 : 11, labelSize = size > 8 ? 11 : 13;
  const left = Math.min(0.25 * width, Math.max(...labels.map((l) => textWidth(l, labelSize))) + 12), top = 6;
  const side = (width - left - 4) / size;
  for (let r = 0; r < size; ++r) {
    for (let c = 0; c < size; ++c) {
      const v = matrix[r][c], x = left + c * side, y = top + r * side;
      const strength = Math.min(1, Math.abs(v) / limit), off = muted.includes(r) || muted.includes(c) || !Number.isFinite(v);
      pen.rect(x + 0.5, y + 0.5, side - 1, side - 1, { fill: off ? "grid" : diverging ? (v < 0 ? "negative" : "positive") : "posterior", fillOpacity: off ? 0.4 : r === c && diverging ? 0.12 : 0.85 * strength });
      if (off || (r === c && diverging)) continue;
      const text = Math.abs(v) < 0.5 * 10 ** -decimals ? "0" : v.toFixed(decimals).replace("0.", ".").replace("-", "−");
      if (side > 24) pen.text(x + side / 2, y + side / 2 + 0.35 * font, text, { anchor: "middle", size: font, color: strength > 0.72 ? "paper" : "ink" });
    }
    pen.text(left - 6, top + (r + 0.5) * side + 0.35 * labelSize, labels[r], { anchor: "end", size: labelSize, color: "ink" });
    pen.text(left + (r + 0.5) * side, top + size * side + labelSize + 3, labels[r], { anchor: "middle", size: Math.min(labelSize, (labelSize * side) / Math.max(1, textWidth(labels[r], labelSize))), color: "ink" });
  }
}

export const heatMapHeight = (width, labels) => {
  const labelSize = labels.length > 8 ? 11 : 13, left = Math.min(0.25 * width, Math.max(...labels.map((l) => textWidth(l, labelSize))) + 12);
  return width - left - 4 + 6 + labelSize + 12;
};
