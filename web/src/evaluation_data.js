// The numbers of an evaluation, by column: truth, estimate, sd, pit (n x M), as nested lists or as base64 of little-endian float32
//   {"shape": [n, M], "float32": "..."}
// and what the plots need of them: quantiles, histograms, bands.
import { parameterParts, plainLabel } from "./labels.js";
import { normalCdf, normalQuantile } from "./normal.js";

// -> M columns of n floats
export function columnsOf(table, m) {
  if (table === undefined || table === null) return null;
  if (table.float32 !== undefined) {
    const bytes = Uint8Array.from(atob(table.float32), (c) => c.charCodeAt(0)), [n, width] = table.shape;
    if (width !== m || bytes.length !== 4 * n * m) throw new Error(`a table of shape ${table.shape} with ${bytes.length} bytes does not fit ${m} parameters`);
    const view = new DataView(bytes.buffer);
    return Array.from({ length: m }, (_, k) => Float32Array.from({ length: n }, (_, i) => view.getFloat32(4 * (i * m + k), true)));
  }
  if (typeof table[0] === "number") return Array.from({ length: m }, (_, k) => Float32Array.from({ length: table.length / m }, (_, i) => table[i * m + k]));
  return Array.from({ length: m }, (_, k) => Float32Array.from(table, (row) => row[k]));
}

// The object of `penn evaluate --json` has the same numbers in other places; both are welcome.
function arranged(data) {
  const kept = data.trajectories ?? {}, pairs = data.correlations;
  const matrix = (key, diagonal) => pairs && data.parameters.map((p, a) => data.parameters.map((q, b) => {
    const found = pairs.find((c) => (c.first === p.name && c.second === q.name) || (c.first === q.name && c.second === p.name));
    return a === b ? diagonal : found?.[key] ?? found?.correlation?.[key] ?? NaN;
  }));
  return { ...data, truth: data.truth ?? kept.truth, estimate: data.estimate ?? kept.mean, sd: data.sd ?? kept.sd, pit: data.pit ?? kept.pit, n: data.n ?? data.count, version: data.version ?? data.penn,
    correlation_mean: data.correlation_mean ?? matrix("mean", 1), correlation_sd: data.correlation_sd ?? matrix("sd", 0) };
}

export class Evaluation {
  constructor(data) {
    data = this.data = arranged(data);
    this.parameters = data.parameters.map((p) => (typeof p === "string" ? { name: p } : p));
    this.size = this.parameters.length;
    this.labels = this.parameters.map(parameterParts);
    this.names = this.labels.map(plainLabel);
    for (const name of ["truth", "estimate", "sd", "pit"]) this[name] = columnsOf(data[name], this.size);
    this.count = this.truth?.[0].length ?? data.n ?? 0;
  }
  box(k) {
    const { low, high } = this.parameters[k];
    if (high > low) return [low, high];
    return [quantile(this.truth[k], 0), quantile(this.truth[k], 1)];
  }
  z(k) {
    this.scores ??= [];
    return (this.scores[k] ??= this.truth[k].map((t, i) => (this.estimate[k][i] - t) / this.sd[k][i]));
  }
  error(k) {
    return this.truth[k].map((t, i) => Math.abs(this.estimate[k][i] - t));
  }
  // How often the truth's rank fell into each bin: from the ranks, else as counted by the program; null where there is neither.
  rankCounts(k, bins = 20) {
    return this.pit ? histogram(this.pit[k], 0, 1, bins) : this.parameters[k].ranks ?? null;
  }
  // Fraction of truths inside central intervals, one number per level: from the file, else from the PIT.
  coverage(k, levels) {
    const given = this.data.coverage;
    const table = given?.empirical ?? given?.values ?? given?.parameters ?? given;
    const row = Array.isArray(table) ? table[k] : table?.[this.parameters[k].name];
    const own = this.parameters[k].coverage;  // [{level, fraction}]
    if (!given && Array.isArray(own)) return own.map((c) => c.fraction);
    if (given?.levels && Array.isArray(row) && row.length === given.levels.length) return row;
    return this.pit ? levels.map((level) => fraction(this.pit[k], (u) => Math.abs(2 * u - 1) <= level)) : null;
  }
  // The same for every level from 0 to 1, where the ranks are known: the fraction of truths whose distance from the median, |2 pit - 1|, is at most p. [p, fraction] at `points` + 1 levels.
  coverageCurve(k, points = 200) {
    if (!this.pit) return null;
    const rising = sorted(this.pit[k].map((u) => Math.abs(2 * u - 1)));
    let below = 0;
    return Array.from({ length: points + 1 }, (_, i) => {
      while (below < rising.length && rising[below] <= i / points + 1e-7) ++below;  // float32
      return [i / points, below / rising.length];
    });
  }
  // Levels that are marked: those the program counted.
  markedLevels() {
    const given = this.data.coverage, own = this.parameters[0].coverage;
    return (given ? given.levels : Array.isArray(own) ? own.map((c) => c.level) : null) ?? [];
  }
  // Of the joint regions of highest density: [{level, fraction, band}], band: where 99 % of calibrated cases lie.
  jointCoverage() {
    const list = this.data.joint?.coverage;
    return Array.isArray(list) && list.length ? list.map(({ level, fraction }) => ({ level, fraction, band: binomialBand(this.count || 1000, level) })) : null;
  }
  levels() {
    const given = this.data.coverage, own = this.parameters[0].coverage;
    if (!given && Array.isArray(own)) return own.map((c) => c.level);
    return given?.levels && this.coverage(0, given.levels) ? given.levels : this.pit ? Array.from({ length: 19 }, (_, i) => 0.05 * (i + 1)) : null;
  }
}

export const fraction = (values, condition) => {
  let hits = 0;
  for (const v of values) if (condition(v)) ++hits;
  return hits / values.length;
};

export const mean = (values) => {
  let sum = 0;
  for (const v of values) sum += v;
  return sum / values.length;
};
export const deviation = (values) => {
  const m = mean(values);
  let sum = 0;
  for (const v of values) sum += (v - m) ** 2;
  return Math.sqrt(sum / values.length);
};

export const sorted = (values) => Float64Array.from(values).filter((v) => !Number.isNaN(v)).sort();
export function sortedQuantile(rising, p) {
  if (!rising.length) return NaN;
  const at = p * (rising.length - 1), i = Math.floor(at), next = rising[Math.min(rising.length - 1, i + 1)];
  return rising[i] + (at - i) * (next - rising[i]);
}
export const quantile = (values, p) => sortedQuantile(sorted(values), p);

export function histogram(values, low, high, bins) {
  const counts = new Array(bins).fill(0);
  for (const v of values) {
    const i = Math.floor((bins * (v - low)) / (high - low));
    if (i >= 0 && i < bins) ++counts[i];
    else if (v === high) ++counts[bins - 1];
  }
  return counts;
}

// Counts, or means of `weights`, of points (x, y) in bins x bins cells; rows from below. Empty cells of a mean are NaN.
export function histogram2d(xs, ys, [x0, x1], [y0, y1], bins, weights) {
  const counts = new Float64Array(bins * bins), sums = new Float64Array(bins * bins);
  for (let i = 0; i < xs.length; ++i) {
    if (!(xs[i] >= x0 && xs[i] <= x1 && ys[i] >= y0 && ys[i] <= y1)) continue;  // also drops NaN
    const c = Math.min(bins - 1, Math.floor((bins * (xs[i] - x0)) / (x1 - x0))), r = Math.min(bins - 1, Math.floor((bins * (ys[i] - y0)) / (y1 - y0)));
    ++counts[r * bins + c];
    if (weights) sums[r * bins + c] += weights[i];
  }
  return weights ? { counts, values: sums.map((s, i) => (counts[i] ? s / counts[i] : NaN)) } : { counts, values: counts };
}

// Band that a binomial count of n trials with probability p leaves in a fraction `outside` of cases (normal approximation).
export function binomialBand(n, p, outside = 0.01) {
  const half = normalQuantile(1 - outside / 2) * Math.sqrt((p * (1 - p)) / n);
  return [Math.max(0, p - half), Math.min(1, p + half)];
}

// Quantile lines: the truth is cut into bins of equal width; in each, quantiles of the estimate. {x (bins), lines: one array per p}
export function quantileLines(truth, estimate, [low, high], probabilities, bins = 24, fewest = 8) {
  const groups = Array.from({ length: bins }, () => []);
  for (let i = 0; i < truth.length; ++i) groups[Math.min(bins - 1, Math.max(0, Math.floor((bins * (truth[i] - low)) / (high - low))))]?.push(estimate[i]);
  const x = [], lines = probabilities.map(() => []);
  groups.forEach((group, b) => {
    if (group.length < fewest) return;
    const rising = sorted(group);
    x.push(low + ((high - low) * (b + 0.5)) / bins);
    probabilities.forEach((p, i) => lines[i].push(sortedQuantile(rising, p)));
  });
  return { x, lines };
}

// Q-Q points of z against N(0, 1) with the band of order statistics (beta distribution, normal approximation in probability).
export function normalQq(z, points = 101) {
  const rising = sorted(z), n = rising.length;
  return Array.from({ length: points }, (_, i) => {
    const q = -3.2 + (6.4 * i) / (points - 1), p = normalCdf(q), half = 2.576 * Math.sqrt((p * (1 - p)) / n);
    return { q, z: sortedQuantile(rising, p), low: p - half > 0 ? normalQuantile(p - half) : -Infinity, high: p + half < 1 ? normalQuantile(p + half) : Infinity };
  }).filter((point) => normalCdf(point.q) * n > 2 && (1 - normalCdf(point.q)) * n > 2);
}
