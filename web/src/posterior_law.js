// The posterior in the parameters' own units, the twin of penn/density/posterior.h: a mixture in coordinates u, one for each parameter.
//   "linear": the parameter itself.
//   "box": theta = low + (high - low) Phi(u): nothing lies outside the box, and all is still closed form.
import { Mixture, others } from "./mixture.js";
import { normalCdf, normalDensity, normalQuantile, probitCovariance, roughCdf } from "./normal.js";

const EDGE = 1e-7;  // shares of the width closer to an edge count as this close: the edge itself lies at infinity

// theta <-> u of one parameter.
export class LinearAxis {
  isBox = false;
  inside = () => true;
  to = (x) => x;
  from = (u) => u;
  roughFrom = (u) => u;
  slope = () => 1;
  cells(x0, x1, n) {
    return { u: Float64Array.from({ length: n }, (_, i) => x0 + ((i + 0.5) * (x1 - x0)) / n), rate: new Float64Array(n).fill(1) };
  }
}
const LINEAR = new LinearAxis();

export class BoxAxis {
  isBox = true;
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
  // u and du/dx at the centres of n cells from x0 to x1, kept: a slider asks for the same again and again. Outside the box du/dx is 0.
  cells(x0, x1, n) {
    const key = `${x0} ${x1} ${n}`;
    this.kept ??= new Map();
    if (!this.kept.has(key)) {
      if (this.kept.size > 64) this.kept.clear();
      const u = new Float64Array(n), rate = new Float64Array(n);
      for (let i = 0; i < n; ++i) {
        const x = x0 + ((i + 0.5) * (x1 - x0)) / n;
        u[i] = this.to(x);
        rate[i] = this.inside(x) ? 1 / this.slope(u[i]) : 0;
      }
      this.kept.set(key, { u, rate });
    }
    return this.kept.get(key);
  }
}

// The law of one parameter in box coordinates; in linear ones a NormalMixture does.
class BoxedLaw {
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

export class PosteriorLaw {
  constructor(mixture, axes = new Array(mixture.dimension).fill(LINEAR)) {
    Object.assign(this, { mixture, axes, dimension: mixture.dimension, components: mixture.components, weights: mixture.weights });
  }
  // A result of `penn infer`: the mixture, "coordinates" (M, or absent: linear), and the box as {"box": {"low", "high"}} or with each parameter.
  static fromJson(json) {
    const mixture = Mixture.fromJson(json);
    return new PosteriorLaw(mixture, Array.from({ length: mixture.dimension }, (_, k) => {
      const name = json.coordinates?.[k] ?? "linear";
      if (name !== "linear" && name !== "box") throw new Error(`unknown coordinates "${name}": this page is of another version of penn`);
      return name === "linear" ? LINEAR : new BoxAxis(json.box?.low[k] ?? json.parameters[k].low, json.box?.high[k] ?? json.parameters[k].high);
    }));
  }
  logDensity(theta) {
    if (!this.axes.every((axis, k) => axis.inside(theta[k]))) return -Infinity;
    const u = this.axes.map((axis, k) => axis.to(theta[k]));
    return this.mixture.logDensity(u) - this.axes.reduce((sum, axis, k) => sum + Math.log(axis.slope(u[k])), 0);
  }
  marginal1d(k) {
    const law = this.mixture.marginal1d(k);
    return this.axes[k].isBox ? new BoxedLaw(law, this.axes[k]) : law;
  }
  marginal(indices) {
    return new PosteriorLaw(this.mixture.marginal(indices), indices.map((k) => this.axes[k]));
  }
  conditional(indices, values) {
    return new PosteriorLaw(this.mixture.conditional(indices, indices.map((k, i) => this.axes[k].to(values[i]))), others(indices, this.dimension).map((k) => this.axes[k]));
  }
  mean() {
    return this.mixture.mean().map((x, k) => (this.axes[k].isBox ? this.marginal1d(k).mean() : x));
  }
  // (M x M) as rows
  correlation() {
    const m = this.dimension, total = new Float64Array(m * m), mean = new Float64Array(m), centres = [];
    for (let j = 0; j < this.components; ++j) {
      const s = this.mixture.covarianceOf(j), scale = Array.from({ length: m }, (_, k) => Math.sqrt(1 + s[k * m + k])), a = scale.map((t, k) => this.mixture.means[j][k] / t);
      centres.push(a.map((x, k) => (this.axes[k].isBox ? normalCdf(x) : this.mixture.means[j][k])));
      for (let k = 0; k < m; ++k) {
        mean[k] += this.weights[j] * centres[j][k];
        for (let l = k; l < m; ++l) {
          let c = s[k * m + l];
          if (this.axes[k].isBox && this.axes[l].isBox) c = probitCovariance(a[k], a[l], c / (scale[k] * scale[l]));
          else if (this.axes[k].isBox) c *= normalDensity(a[k]) / scale[k];
          else if (this.axes[l].isBox) c *= normalDensity(a[l]) / scale[l];
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
