// The posterior in the parameters' own units, checked against penn/posterior/posterior.h: a mixture in coordinates u, one for each parameter.
//   "linear": the parameter itself.
//   "probit": theta = low + (high - low) Phi(u): nothing lies outside the box, and all is still closed form.
import { Mixture, others } from "./mixture.js";
import { normalCdf, normalDensity, normalQuantile, probitCovariance, roughCdf } from "./normal.js";

const EDGE = 1e-7;  // fractions of the width closer to an edge count as this close: the edge itself lies at infinity
const FAR = -normalQuantile(EDGE);  // its |u|: 5.2

// theta <-> u of one parameter.
export class LinearAxis {
  isProbit = false;
  inside = () => true;
  to = (x) => x;
  from = (u) => u;
  roughFrom = (u) => u;
  slope = () => 1;
  rate = () => 1;
  // n equal cells over the window [x0, x1]: h their width, u their centres. xs: edges and centres in turn (2n + 1).
  nodes([x0, x1], _, n) {
    const h = (x1 - x0) / n, xs = Float64Array.from({ length: 2 * n + 1 }, (_, i) => x0 + 0.5 * i * h);
    return { even: true, n, x0, h, xs, u: xs.filter((_, i) => i % 2), rate: new Float64Array(n).fill(1), widths: new Float64Array(n).fill(h), cellAt: () => h };
  }
}
const LINEAR = new LinearAxis();

export class ProbitAxis {
  isProbit = true;
  constructor(low, high) {
    Object.assign(this, { low, high, width: high - low });
  }
  inside(x) {
    return x >= this.low && x <= this.high;
  }
  to(x) {
    return normalQuantile(Math.min(Math.max((x - this.low) / this.width, EDGE), 1 - EDGE));
  }
  from(u) {
    return this.low + this.width * normalCdf(u);
  }
  roughFrom(u) {  // for drawing
    return this.low + this.width * roughCdf(u);
  }
  slope(u) {  // d theta / d u
    return this.width * normalDensity(u);
  }
  rate(u) {  // d u / d theta; closer to an edge than EDGE it stops rising
    return 1 / this.slope(Math.min(FAR, Math.max(-FAR, u)));
  }
  // n cells over what the window shows of the box and of `distribution` (of this parameter): two thirds of them shared out evenly in theta, for the eye, one third
  // evenly in u, because a posterior can pile up at an edge within less than any cell that is even in theta. Nothing lies outside the box.
  nodes([x0, x1], distribution, n) {
    const { weights, means, sds } = distribution.mixture, clamp = (u) => Math.min(FAR, Math.max(-FAR, u));
    const edge = (x) => (x <= this.low ? -FAR : x >= this.high ? FAR : normalQuantile((x - this.low) / this.width));
    let from = Infinity, to = -Infinity;  // 4.3 deviations: 1e-5 of a component lies beyond
    weights.forEach((w, j) => w > 1e-5 && ((from = Math.min(from, means[j] - 4.3 * sds[j])), (to = Math.max(to, means[j] + 4.3 * sds[j]))));
    (from = clamp(Math.max(from, edge(x0)))), (to = clamp(Math.min(to, edge(x1))));
    if (!(to > from)) (from = Math.min(FAR - 0.01, edge(x0))), (to = Math.max(from + 0.01, edge(x1)));  // the distribution lies elsewhere
    const u = warped(from, to, 2 * n), xs = u.map((v) => this.from(v)), centres = u.filter((_, i) => i % 2);
    const cellAt = (v) => {
      let i = 0;
      while (i < n - 1 && u[2 * i + 2] < v) ++i;
      return u[2 * i + 2] - u[2 * i];
    };
    return { even: false, n, xs, u: centres, rate: centres.map((v) => this.rate(v)), widths: centres.map((_, i) => u[2 * i + 2] - u[2 * i]), cellAt };
  }
}

// from = u_0 < ... < u_steps = to with two thirds of the steps even in Phi(u) and one third even in u; that fraction is met at a few points only.
function warped(from, to, steps) {
  const points = 48, us = Float64Array.from({ length: points + 1 }, (_, i) => from + ((to - from) * i) / points), cdf = us.map(normalCdf);
  const fraction = us.map((u, i) => (2 / 3) * ((cdf[i] - cdf[0]) / (cdf[points] - cdf[0] || 1)) + (1 / 3) * (i / points)), last = fraction[points];
  let at = 0;
  return Float64Array.from({ length: steps + 1 }, (_, k) => {
    const wanted = (last * k) / steps;
    while (at < points - 1 && fraction[at + 1] < wanted) ++at;
    return k === steps ? to : us[at] + ((us[at + 1] - us[at]) * (wanted - fraction[at])) / (fraction[at + 1] - fraction[at]);
  });
}

// The distribution of one parameter in probit coordinates; in linear ones a NormalMixture does.
class ProbitMarginal {
  constructor(mixture, axis) {
    Object.assign(this, { mixture, axis });
  }
  density(x) {
    if (!this.axis.inside(x)) return 0;
    const u = this.axis.to(x);
    return this.mixture.density(u) / this.axis.slope(u);
  }
  cdf(x) {
    return x <= this.axis.low ? 0 : x >= this.axis.high ? 1 : this.mixture.cdf(normalQuantile((x - this.axis.low) / this.axis.width));
  }
  quantile(p) {
    return this.axis.from(this.mixture.quantile(p));
  }
  mean() {
    const { weights, means, sds } = this.mixture;
    return this.axis.low + this.axis.width * weights.reduce((sum, w, j) => sum + w * normalCdf(means[j] / Math.hypot(1, sds[j])), 0);
  }
  sd() {
    const { weights, means, sds } = this.mixture, centre = (this.mean() - this.axis.low) / this.axis.width;
    return this.axis.width * Math.sqrt(weights.reduce((sum, w, j) => {
      const v = sds[j] ** 2, a = means[j] / Math.sqrt(1 + v);
      return sum + w * (probitCovariance(a, a, v / (1 + v)) + (normalCdf(a) - centre) ** 2);
    }, 0));
  }
}

export class PosteriorDistribution {
  constructor(mixture, axes = new Array(mixture.dimension).fill(LINEAR)) {
    Object.assign(this, { mixture, axes, dimension: mixture.dimension, components: mixture.components, weights: mixture.weights });
  }
  // A result of `penn infer`: the mixture, "coordinates" (M, or absent: linear), and the box as {"box": {"low", "high"}} or with each parameter.
  static fromJson(json) {
    const mixture = Mixture.fromJson(json);
    return new PosteriorDistribution(mixture, Array.from({ length: mixture.dimension }, (_, k) => {
      const name = json.coordinates?.[k] ?? "linear";
      if (name !== "linear" && name !== "probit") throw new Error(`unknown coordinates "${name}": this page is of another version of penn`);
      return name === "linear" ? LINEAR : new ProbitAxis(json.box?.low[k] ?? json.parameters[k].low, json.box?.high[k] ?? json.parameters[k].high);
    }));
  }
  logDensity(theta) {
    if (!this.axes.every((axis, k) => axis.inside(theta[k]))) return -Infinity;
    const u = this.axes.map((axis, k) => axis.to(theta[k]));
    return this.mixture.logDensity(u) - this.axes.reduce((sum, axis, k) => sum + Math.log(axis.slope(u[k])), 0);
  }
  marginal1d(k) {
    const distribution = this.mixture.marginal1d(k);
    return this.axes[k].isProbit ? new ProbitMarginal(distribution, this.axes[k]) : distribution;
  }
  marginal(indices) {
    return new PosteriorDistribution(this.mixture.marginal(indices), indices.map((k) => this.axes[k]));
  }
  conditional(indices, values) {
    return new PosteriorDistribution(this.mixture.conditional(indices, indices.map((k, i) => this.axes[k].to(values[i]))), others(indices, this.dimension).map((k) => this.axes[k]));
  }
  mean() {
    return this.mixture.mean().map((x, k) => (this.axes[k].isProbit ? this.marginal1d(k).mean() : x));
  }
  // (M x M) as rows
  correlation() {
    const m = this.dimension, total = new Float64Array(m * m), mean = new Float64Array(m), centres = [];
    for (let j = 0; j < this.components; ++j) {
      const s = this.mixture.covarianceOf(j), scale = Array.from({ length: m }, (_, k) => Math.sqrt(1 + s[k * m + k])), a = scale.map((t, k) => this.mixture.means[j][k] / t);
      centres.push(a.map((x, k) => (this.axes[k].isProbit ? normalCdf(x) : this.mixture.means[j][k])));
      for (let k = 0; k < m; ++k) {
        mean[k] += this.weights[j] * centres[j][k];
        for (let l = k; l < m; ++l) {
          let c = s[k * m + l];
          if (this.axes[k].isProbit && this.axes[l].isProbit) c = probitCovariance(a[k], a[l], c / (scale[k] * scale[l]));
          else if (this.axes[k].isProbit) c *= normalDensity(a[k]) / scale[k];
          else if (this.axes[l].isProbit) c *= normalDensity(a[l]) / scale[l];
          total[k * m + l] += this.weights[j] * c;
        }
      }
    }
    for (let k = 0; k < m; ++k)
      for (let l = k; l < m; ++l) {
        for (let j = 0; j < this.components; ++j) total[k * m + l] += this.weights[j] * (centres[j][k] - mean[k]) * (centres[j][l] - mean[l]);
        total[l * m + k] = total[k * m + l];
      }
    return Array.from({ length: m }, (_, a) => Array.from({ length: m }, (_, b) => (a === b ? 1 : total[a * m + b] / Math.sqrt(total[a * m + a] * total[b * m + b]))));
  }
}
