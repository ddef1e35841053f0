// Examples of what the program hands to the pages, made from formulas with fixed seeds.
import { inverseUpper, qrUpper } from "../src/linear.js";
import { ProbitAxis } from "../src/posterior_distribution.js";

export function generator(seed) {
  let state = seed >>> 0;
  const uniform = () => {  // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296 + 2 ** -33;
  };
  return { uniform, normal: () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()) };
}

const rounded = (x, digits = 5) => Number(x.toPrecision(digits));

// Observations of an Ornstein-Uhlenbeck process with correlation time tau and SD sd.
function ouTrajectory(n, sampling, tau, sd, random) {
  const a = Math.exp(-sampling / tau), values = [];
  let x = sd * random.normal();
  for (let i = 0; i < n; ++i) values.push(rounded((x = a * x + sd * Math.sqrt(1 - a * a) * random.normal())));
  return values;
}

// A component with mean, SDs and some correlations [[a, b, r], ...]: its covariance and upper factor.
function component(mean, sds, correlations) {
  const m = mean.length, s = new Float64Array(m * m);
  for (let a = 0; a < m; ++a) s[a * m + a] = sds[a] ** 2;
  for (const [a, b, r] of correlations) s[a * m + b] = s[b * m + a] = r * sds[a] * sds[b];
  return { mean, covariance: s };
}

const rows = (flat, m) => Array.from({ length: m }, (_, r) => Array.from(flat.slice(r * m, r * m + m)));

function result(parameters, weights, components, extra) {
  const m = parameters.length;
  return { parameters, weights, means: components.map((c) => c.mean), covariances: components.map((c) => rows(c.covariance, m)), ...extra };
}

const OUP = [
  { name: "lg_tau", label: "lg τ", low: -0.5, high: 1.5 }, { name: "D_fgn", label: "D_fgn", low: 0, high: 1 }, { name: "H", label: "H", low: 0.05, high: 0.95 },
  { name: "D_levy", label: "D_levy", low: 0, high: 1 }, { name: "alpha", label: "alpha", low: 1.4, high: 2 },
];

// H = 0.5, alpha = 2: the two noises look alike, and the posterior covers the line D_fgn + D_levy = const in three groups.
export function oupPosterior() {
  const make = (i, n, truth) => {
    const random = generator(11 + i), spread = Math.sqrt(1000 / n);
    const tau = 10 ** truth[0], trajectory = { t0: 0, sampling: 0.1, channels: ["x"], values: [ouTrajectory(n, 0.1, tau, Math.sqrt(truth[1] + truth[3]), random)] };
    const q = (z) => Array.from({ length: 120 }, (_, k) => rounded(z * Math.sqrt(truth[1] + truth[3]) * (1 + 0.1 * Math.sin(k / 9)), 4));
    return result(OUP, [0.46, 0.27, 0.19, 0.08],
      [component([truth[0], 0.3, 0.49, 0.27, 1.93], [0.08 * spread, 0.12, 0.04 * spread, 0.12, 0.045], [[1, 3, -0.94], [0, 1, 0.2], [0, 3, -0.1], [2, 0, -0.35]]),
        component([truth[0] + 0.02, 0.52, 0.5, 0.05, 1.75], [0.08 * spread, 0.06, 0.03 * spread, 0.03, 0.14], [[1, 3, -0.5], [0, 1, 0.3], [2, 0, -0.3]]),
        component([truth[0] - 0.03, 0.06, 0.42, 0.5, 1.96], [0.09 * spread, 0.03, 0.2, 0.05, 0.025], [[1, 3, -0.4], [0, 3, 0.3]]),
        component([truth[0], 0.2, 0.55, 0.36, 1.9], [0.12 * spread, 0.15, 0.1, 0.15, 0.06], [[1, 3, -0.9]])],
      { name: `bead_${i + 1}.csv`, model: "oup", version: "0.1.0", n, sampling: 0.1, truth, trajectory, contraction: [0.97, 0.72, 0.91, 0.7, 0.66], outside_mass: 0.061, typicality: 0.43,
        modes: [{ theta: [truth[0], 0.3, 0.49, 0.27, 1.93], weight: 0.46 }, { theta: [truth[0], 0.52, 0.5, 0.05, 1.75], weight: 0.35 }, { theta: [truth[0], 0.06, 0.42, 0.5, 1.96], weight: 0.19 }],
        verdict: ["lg τ and H are identified: the data narrow them to 16 % and 30 % of the prior's width.", "D_fgn and D_levy are known only in combination: D_fgn + D_levy = 0.57 ± 0.03.", "Three explanations fit: 46 %, 35 % and 19 %."],
        warnings: i === 1 ? ["The trajectory has 200 samples; the model was trained on 400 to 1,200."] : [],
        predictive: { t: Array.from({ length: 120 }, (_, k) => rounded(k * 0.1, 4)), quantiles: { 5: q(-1.645), 25: q(-0.674), 50: q(0), 75: q(0.674), 95: q(1.645) },
          checks: [{ name: "standard deviation", observed: 0.741, percentile: 0.41 }, { name: "largest increment", observed: 1.93, percentile: 0.987 }, { name: "autocorrelation at lag 10", observed: 0.72, percentile: 0.55 }] } });
  };
  return { kind: "posterior", results: [make(0, 600, [0.6, 0.32, 0.5, 0.25, 1.97]), make(1, 200, [0.2, 0.3, 0.47, 0.28, 1.9])] };
}

const CFHN = [["a", -3, 3], ["b", 0, 3], ["c", 0.1, 3], ["g", -3, 3], ["alpha", 1.2, 2], ["D", 0.05, 0.5]]
  .flatMap(([name, low, high]) => [1, 2].map((i) => ({ name: `${name}${i}`, label: `${name}${i}`, low, high })));

// The mean of two exchangeable neurons: two mirror modes, ten components, some of them nearly singular (ridge: SDs along the last axes of 1e-6).
export function cfhnPosterior(n = 1500) {
  const random = generator(5), m = 12, weights = [], components = [], center = CFHN.map((p) => p.low + (p.high - p.low) * (0.3 + 0.4 * random.uniform()));
  for (let j = 0; j < 10; ++j) {
    const mirror = (k) => (j % 2 ? k ^ 1 : k), width = CFHN.map((p) => (p.high - p.low) * (0.03 + 0.05 * random.uniform()));
    const mean = CFHN.map((p, k) => center[mirror(k)] + 0.6 * width[k] * random.normal());
    const a = new Float64Array(m * m);
    for (let r = 0; r < m; ++r) for (let c = 0; c < m; ++c) a[r * m + c] = ((r === c ? 1 : 0) + 0.2 * random.normal()) / width[c] * (j === 4 && r > 9 ? 1e6 : 1);
    const u = qrUpper(a, m, m), t = inverseUpper(u, m), s = new Float64Array(m * m);
    for (let r = 0; r < m; ++r) for (let c = 0; c < m; ++c) for (let k = 0; k < m; ++k) s[r * m + c] += t[r * m + k] * t[c * m + k];
    weights.push(0.05 + random.uniform());
    components.push({ mean, covariance: s, factor: u });
  }
  const total = weights.reduce((x, y) => x + y), sampling = 0.2;
  const both = [ouTrajectory(n, sampling, 2, 1.1, random)];
  return { kind: "posterior", results: [result(CFHN, weights.map((w) => w / total), components, {
    factors: components.map((c) => rows(c.factor, m)), model: "cfhn:mean", version: "0.1.0", n, sampling, truth: center.map((x, k) => x + 0.02 * (CFHN[k].high - CFHN[k].low) * random.normal()),
    trajectory: { t0: 0, sampling, channels: ["(x1 + x2) / 2"], values: both }, typicality: 0.71, outside_mass: 0.02, contraction: CFHN.map(() => 0.5 + 0.45 * random.uniform()),
    verdict: ["Two explanations fit equally well: the two neurons are exchangeable.", "c1 and D1 are coupled (correlation −0.6)."], warnings: [] })] };
}

// The same page with its mixtures in probit coordinates, each component with the same centre and, where it is narrow, the same scales.
export function inProbitCoordinates(page) {
  const results = page.results.map((r) => {
    const axes = r.parameters.map((p) => new ProbitAxis(p.low, p.high)), means = r.means.map((mean) => mean.map((x, k) => axes[k].to(x)));
    const rate = (j, k) => 1 / axes[k].slope(means[j][k]);
    return { ...r, coordinates: axes.map(() => "probit"), means, factors: undefined, covariances: r.covariances.map((s, j) => s.map((row, a) => row.map((x, b) => x * rate(j, a) * rate(j, b)))) };
  });
  return { ...page, results };
}

// Calibrated for all parameters but the last, which is too narrow by a factor 1.4. `packed`: base64 of float32.
export function evaluation(n = 2000, packed = true) {
  const random = generator(23), m = OUP.length, tables = { truth: [], estimate: [], sd: [], pit: [] };
  const cdf = (z) => 1 / (1 + Math.exp(-1.5976 * z - 0.07056 * z ** 3));  // normal cdf to 2e-4, enough for a picture
  for (let i = 0; i < n; ++i) {
    const truth = OUP.map((p) => p.low + (p.high - p.low) * random.uniform());
    const sd = OUP.map((p, k) => (p.high - p.low) * (0.03 + 0.02 * k + 0.05 * Math.exp(-((truth[2] - 0.5) ** 2) / 0.01)));
    const estimate = truth.map((t, k) => t + sd[k] * random.normal() * (k === m - 1 ? 1.4 : 1));
    for (const [name, row] of [["truth", truth], ["estimate", estimate], ["sd", sd], ["pit", truth.map((t, k) => cdf((t - estimate[k]) / sd[k]))]]) tables[name].push(row);
  }
  const pack = (table) => (packed ? { shape: [n, m], float32: Buffer.from(Float32Array.from(table.flat()).buffer).toString("base64") } : table.map((row) => row.map((x) => rounded(x, 4))));
  const matrix = (f) => OUP.map((_, a) => OUP.map((_, b) => rounded(f(a, b), 3)));
  return {
    kind: "evaluation", model: "oup", version: "0.1.0", parameters: OUP, ...Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, pack(table)])),
    correlation_mean: matrix((a, b) => (a === b ? 1 : a + b === 4 ? -0.62 : 0.3 * Math.cos(a * b + a + b))), correlation_sd: matrix((a, b) => (a === b ? 0 : 0.12 + 0.06 * Math.abs(a - b))), nll: { mean: -6.48, sd: 1.97 },
    curve: Array.from({ length: 80 }, (_, i) => ({ minutes: rounded(0.2 * (i + 1), 4), train: rounded(-6.5 + 5 / (1 + 0.35 * i) + 0.08 * random.normal(), 4), validation: i % 4 === 3 ? rounded(-6.45 + 5 / (1 + 0.35 * i), 4) : null })),
    failed: true, verdict: ["alpha: too narrow (SD of z 1.40; 90 % intervals hold the truth in 76 % of trajectories).", "All other parameters are calibrated."],
  };
}

// `count` trajectories of two channels, as `penn simulate --page` writes them; trajectory i has parameters (i + 1) / 8 and i + 1.
export const simulation = (count, n = 400) => ({
  kind: "simulation", system: "bead", title: "A bead in a trap", n, version: "0.0",
  parameters: [{ name: "lg_tau", label: "lg τ", low: 0, high: 2 }, { name: "D_levy", label: "D_Lévy", low: 0, high: 9 }],
  trajectories: Array.from({ length: count }, (_, i) => ({
    theta: [(i + 1) / 8, i + 1],
    trajectory: { t0: 0, sampling: 0.1, channels: ["x", "y"], values: [0, 1].map((c) => Array.from({ length: n }, (_, k) => Math.sin(0.05 * (i + 1) * k + c) + 0.1 * Math.cos(7.1 * k + i))) },
  })),
});
