// The normal law on the line, and mixtures of normals: cdf(x) = sum_j w_j Phi((x - mu_j) / sd_j).

// erfc by a continued fraction for large arguments and the series of erf for small ones: relative error below 1e-13.
export function erfc(x) {
  if (x < 0) return 2 - erfc(-x);
  if (x < 2.5) {
    // erf(x) = 2/sqrt(pi) exp(-x^2) sum_k 2^k x^(2k+1) / (2k+1)!!: all terms positive, no cancellation
    let term = x, sum = x;
    for (let k = 1; k < 100 && term > 1e-17 * sum; ++k) sum += term *= (2 * x * x) / (2 * k + 1);
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }
  if (x > 27) return 0;
  let f = 0;  // Laplace's continued fraction, from the inside out
  for (let k = 80; k >= 1; --k) f = k / 2 / (x + f);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + f);
}

export const normalCdf = (z) => 0.5 * erfc(-z / Math.SQRT2);
export const normalDensity = (z) => Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI);

// Phi^-1 by bisection and Newton on a bracket that holds every double probability above 1e-300.
export function normalQuantile(p) {
  if (!(p > 0)) return p === 0 ? -Infinity : NaN;
  if (!(p < 1)) return p === 1 ? Infinity : NaN;
  return solveMonotone((z) => normalCdf(z), normalDensity, p, -40, 40);
}

// x in [low, high] with f(x) = p, f rising with derivative df: Newton inside the bracket, halving whenever Newton leaves it.
export function solveMonotone(f, df, p, low, high) {
  let x = (low + high) / 2;
  for (let i = 0; i < 200 && high - low > 1e-14 * (Math.abs(low) + Math.abs(high)); ++i) {
    const difference = f(x) - p;
    if (difference === 0) return x;
    if (difference > 0) high = x;
    else low = x;
    const next = x - difference / df(x);
    const inside = next > low && next < high;
    if (inside && Math.abs(next - x) <= 1e-15 * Math.abs(x)) return next;
    x = inside ? next : (low + high) / 2;
  }
  return x;
}

// A mixture of normals on the line: weights (N) that sum to 1, means (N), sds (N).
export class NormalMixture {
  constructor(weights, means, sds) {
    Object.assign(this, { weights, means, sds });
  }
  density(x) {
    let sum = 0;
    for (let j = 0; j < this.weights.length; ++j) sum += (this.weights[j] / this.sds[j]) * normalDensity((x - this.means[j]) / this.sds[j]);
    return sum;
  }
  cdf(x) {
    let sum = 0;
    for (let j = 0; j < this.weights.length; ++j) sum += this.weights[j] * normalCdf((x - this.means[j]) / this.sds[j]);
    return sum;
  }
  // Between the smallest and the largest component quantile; in a gap between components the cdf is flat and any point of it may be given.
  quantile(p) {
    const z = normalQuantile(p);
    let low = Infinity, high = -Infinity;
    for (let j = 0; j < this.weights.length; ++j) {
      if (this.weights[j] === 0) continue;
      low = Math.min(low, this.means[j] + z * this.sds[j]);
      high = Math.max(high, this.means[j] + z * this.sds[j]);
    }
    return low < high ? solveMonotone((x) => this.cdf(x), (x) => this.density(x), p, low, high) : low;
  }
  mean() {
    return this.weights.reduce((sum, w, j) => sum + w * this.means[j], 0);
  }
  sd() {
    const mean = this.mean();
    return Math.sqrt(this.weights.reduce((sum, w, j) => sum + w * (this.sds[j] ** 2 + (this.means[j] - mean) ** 2), 0));
  }
}
