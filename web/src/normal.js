// The normal distribution on the line, and mixtures of normals: cdf(x) = sum_j w_j Phi((x - mu_j) / sd_j).

// erfc by a continued fraction for large arguments and the series of erf for small ones: relative error below 1e-12.
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

// Phi to 1e-7, several times as fast: for lines that are only drawn. Hastings' approximation of the tail (Abramowitz and Stegun 26.2.17).
export function roughCdf(z) {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const tail = normalDensity(z) * t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return z > 0 ? 1 - tail : tail;
}

// Phi^-1: Hastings' rational guess (26.2.23, off by 4.5e-4), then Halley's steps, each of which cubes the error.
export function normalQuantile(p) {
  if (!(p > 0)) return p === 0 ? -Infinity : NaN;
  if (!(p < 1)) return p === 1 ? Infinity : NaN;
  if (p === 0.5) return 0;
  if (p > 0.5) return -normalQuantile(1 - p);
  const t = Math.sqrt(-2 * Math.log(p));
  let z = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  for (let i = 0; i < 2; ++i) {
    const error = (normalCdf(z) - p) / normalDensity(z);
    z -= error / (1 + 0.5 * z * error);
  }
  return z;
}

// Nodes and weights of Gauss and Legendre on [-1, 1]: roots of P_n by Newton's method.
function gaussLegendre(n) {
  return Array.from({ length: n }, (_, i) => {
    let x = Math.cos((Math.PI * (i + 0.75)) / (n + 0.5)), slope = 1;
    for (let step = 0; step < 100; ++step) {
      let p = 1, before = 0;
      for (let k = 1; k <= n; ++k) [p, before] = [((2 * k - 1) * x * p - (k - 1) * before) / k, p];
      slope = (n * (x * p - before)) / (x * x - 1);
      x -= p / slope;
      if (Math.abs(p / slope) < 1e-15) break;
    }
    return [x, 2 / ((1 - x * x) * slope * slope)];
  });
}
const FEW = gaussLegendre(8), MANY = gaussLegendre(32);

// Cov(Phi(x), Phi(y)) for x, y jointly normal: Phi_2(a, b; rho) - Phi(a) Phi(b), as in penn/posterior/posterior.cc.
export function probitCovariance(a, b, rho) {
  const half = 0.5 * Math.asin(Math.min(1, Math.max(-1, rho)));
  let sum = 0;
  for (const [x, weight] of Math.abs(rho) < 0.2 ? FEW : MANY) {
    const s = Math.sin(half * (1 + x));
    sum += weight * Math.exp(-(a * a + b * b - 2 * a * b * s) / (2 * (1 - s * s)));
  }
  return (sum * half) / (2 * Math.PI);
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
