// The posterior in the page: q(theta) = sum_j w_j N(theta; mu_j, (U_j^T U_j)^-1), checked against penn/posterior/gaussian_mixture.h.
//   ln q = logsumexp_j [ ln w_j + sum_k ln u_kk - |U_j (theta - mu_j)|^2 / 2 - (M/2) ln 2 pi ]
// M = parameters, N = components. Everything is computed from the factors U_j: a covariance written in doubles has already lost
// cond(Sigma) * 1e-16 of a nearly singular component, so `factors` (N x M x M) are used when the JSON has them, else derived.
import { factorOfCovariance, inverseUpper, qrUpper } from "./linear.js";
import { NormalMixture } from "./normal.js";

const LOG_TWO_PI = Math.log(2 * Math.PI);

export function logSumExp(values) {
  let largest = -Infinity;
  for (const v of values) if (v > largest) largest = v;
  if (largest === -Infinity) return -Infinity;
  let sum = 0;
  for (const v of values) sum += Math.exp(v - largest);
  return largest + Math.log(sum);
}

export class Mixture {
  // logWeights (N) up to a constant; means N of (M); factors N of (M * M), upper triangular, positive diagonal.
  constructor(dimension, logWeights, means, factors) {
    const total = logSumExp(logWeights);
    this.dimension = dimension;
    this.components = means.length;
    this.logWeights = Array.from(logWeights, (w) => w - total);
    this.weights = this.logWeights.map(Math.exp);
    this.means = means;
    this.factors = factors;
    this.logDeterminants = factors.map((u) => {
      let sum = 0;
      for (let k = 0; k < dimension; ++k) sum += Math.log(u[k * dimension + k]);
      return sum;
    });
  }

  // {weights (N), means (N x M), covariances (N x M x M), optionally factors (N x M x M) and log_weights (N), in which null is ln 0}
  static fromJson(json) {
    const m = json.means[0].length;
    const flat = (rows) => Float64Array.from(rows.flat());
    const factors = json.factors ? json.factors.map(flat) : json.covariances.map((s) => factorOfCovariance(flat(s), m));
    return new Mixture(m, json.log_weights?.map((w) => w ?? -Infinity) ?? json.weights.map(Math.log), json.means.map((mu) => Float64Array.from(mu)), factors);
  }

  logDensity(theta) {
    const m = this.dimension;
    return logSumExp(
      this.factors.map((u, j) => {
        let square = 0;
        for (let r = 0; r < m; ++r) {
          let z = 0;
          for (let c = r; c < m; ++c) z += u[r * m + c] * (theta[c] - this.means[j][c]);
          square += z * z;
        }
        return this.logWeights[j] + this.logDeterminants[j] - 0.5 * square - 0.5 * m * LOG_TWO_PI;
      }),
    );
  }

  // Sigma_j = T T^T with T = U_j^-1; (M * M). Kept, since drawing needs all of them again and again.
  covarianceOf(j) {
    this.covariances ??= [];
    if (!this.covariances[j]) {
      const m = this.dimension, t = inverseUpper(this.factors[j], m), s = new Float64Array(m * m);
      for (let a = 0; a < m; ++a)
        for (let b = a; b < m; ++b) {
          let sum = 0;
          for (let k = b; k < m; ++k) sum += t[a * m + k] * t[b * m + k];
          s[a * m + b] = s[b * m + a] = sum;
        }
      this.covariances[j] = s;
    }
    return this.covariances[j];
  }

  mean() {
    const mean = new Float64Array(this.dimension);
    for (let j = 0; j < this.components; ++j) for (let k = 0; k < this.dimension; ++k) mean[k] += this.weights[j] * this.means[j][k];
    return mean;
  }

  // Total covariance, sum w_j [Sigma_j + (mu_j - mean)(mu_j - mean)^T]; (M * M)
  covariance() {
    const m = this.dimension, mean = this.mean(), total = new Float64Array(m * m);
    for (let j = 0; j < this.components; ++j) {
      const s = this.covarianceOf(j), mu = this.means[j];
      for (let a = 0; a < m; ++a)
        for (let b = 0; b < m; ++b) total[a * m + b] += this.weights[j] * (s[a * m + b] + (mu[a] - mean[a]) * (mu[b] - mean[b]));
    }
    return total;
  }

  // (M x M) as rows
  correlation() {
    const m = this.dimension, s = this.covariance();
    return Array.from({ length: m }, (_, a) => Array.from({ length: m }, (_, b) => (a === b ? 1 : s[a * m + b] / Math.sqrt(s[a * m + a] * s[b * m + b]))));
  }

  // Distribution of one parameter.
  marginal1d(k) {
    const m = this.dimension;
    return new NormalMixture(this.weights, this.means.map((mu) => mu[k]), this.means.map((_, j) => Math.sqrt(this.covarianceOf(j)[k * m + k])));
  }

  // Distribution of the named parameters, in that order.
  marginal(indices) {
    const m = this.dimension, rest = others(indices, m), a = rest.length, n = indices.length;
    const factors = this.factors.map((u) => {
      const v = reordered(u, m, rest, indices), block = new Float64Array(n * n);
      for (let r = 0; r < n; ++r) for (let c = r; c < n; ++c) block[r * n + c] = v[(a + r) * m + a + c];
      return block;
    });
    return new Mixture(n, this.logWeights, this.means.map((mu) => Float64Array.from(indices, (i) => mu[i])), factors);
  }

  // Distribution of the other parameters (in rising order) given theta[indices[i]] = values[i]. Weights change as logarithms, so the answer is
  // right between components hundreds of standard deviations apart.
  conditional(indices, values) {
    if (indices.length === 0) return this;
    const m = this.dimension, free = others(indices, m), a = free.length;
    const logWeights = [], means = [], factors = [];
    for (let j = 0; j < this.components; ++j) {
      const v = reordered(this.factors[j], m, free, indices);
      const offset = indices.map((index, i) => values[i] - this.means[j][index]);
      const along = (r) => offset.reduce((sum, d, i) => sum + v[r * m + a + i] * d, 0);
      let evidence = 0;
      for (let r = a; r < m; ++r) evidence += Math.log(v[r * m + r]) - 0.5 * along(r) ** 2;
      const block = new Float64Array(a * a), mean = new Float64Array(a);
      for (let r = a - 1; r >= 0; --r) {
        let sum = along(r);
        for (let c = r; c < a; ++c) block[r * a + c] = v[r * m + c];
        for (let c = r + 1; c < a; ++c) sum -= v[r * m + c] * mean[c];
        mean[r] = sum / v[r * m + r];  // the shift; turned into the mean below
      }
      for (let r = 0; r < a; ++r) mean[r] = this.means[j][free[r]] - mean[r];
      logWeights.push(this.logWeights[j] + evidence);
      means.push(mean);
      factors.push(block);
    }
    return new Mixture(a, logWeights, means, factors);
  }
}

export function others(indices, m) {
  return Array.from({ length: m }, (_, i) => i).filter((i) => !indices.includes(i));
}

// V of the QR of U with its columns in the order (first, last): |U d|^2 = |V_AA d_A + V_AB d_B|^2 + |V_BB d_B|^2.
function reordered(u, m, first, last) {
  const order = [...first, ...last], a = new Float64Array(m * m);
  for (let r = 0; r < m; ++r) for (let c = 0; c < m; ++c) a[r * m + c] = u[r * m + order[c]];
  const norms = order.map((_, c) => Math.sqrt(order.reduce((sum, _, r) => sum + a[r * m + c] ** 2, 0)));
  const v = qrUpper(a, m, m);
  // Columns that are multiples of each other to the last digit: what is left is rounding, of this size.
  for (let k = 0; k < m; ++k) if (!(v[k * m + k] > 0)) v[k * m + k] = 2 ** -52 * norms[k];
  return v;
}
