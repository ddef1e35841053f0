// What the plots of one trajectory look at: the posterior, given the parameters that are held fixed. Panels are computed when they are
// first drawn and kept, so that choosing another pair costs nothing and a slider only what is visible.
import { gridOf, levelsByDraws, pairParts, regionShapes } from "./density_grid.js";
import { parameterParts, plainLabel } from "./labels.js";
import { others } from "./mixture.js";
import { PosteriorDistribution } from "./posterior_distribution.js";

export const PROBABILITIES = [0.95, 0.68, 0.5];  // outer to inner
const POINTS = 36, ANGLES = Array.from({ length: POINTS }, (_, k) => (2 * Math.PI * k) / POINTS), COSINES = ANGLES.map(Math.cos), SINES = ANGLES.map(Math.sin);

export class Posterior {
  constructor(result) {
    this.result = result;
    this.distribution = PosteriorDistribution.fromJson(result);
    this.parameters = result.parameters.map((p) => (typeof p === "string" ? { name: p } : p));
    this.size = this.parameters.length;
    this.labels = this.parameters.map(parameterParts);
    this.names = this.labels.map(plainLabel);
    this.distributions = this.parameters.map((_, k) => this.distribution.marginal1d(k));
    this.whole = new View(this, new Map());
  }
  // What an axis shows: nearly all of the posterior and the truth; or the whole prior box.
  range(k, box) {
    const { low, high } = this.parameters[k], truth = this.result.truth?.[k];
    if (box && Number.isFinite(low) && Number.isFinite(high)) return [low - 0.02 * (high - low), high + 0.02 * (high - low)];
    this.ranges ??= [];
    if (!this.ranges[k]) {
      let from = this.distributions[k].quantile(0.001), to = this.distributions[k].quantile(0.999);
      if (Number.isFinite(truth)) (from = Math.min(from, truth)), (to = Math.max(to, truth));
      const margin = 0.06 * (to - from), edge = high > low ? 0.15 * (high - low) : Infinity;  // far outside the box there is nothing to see
      const distribution = this.distributions[k], cut = [Math.max(from - margin, (low ?? 0) - edge), Math.min(to + margin, (high ?? 0) + edge)];
      // A posterior that lies mostly outside is shown where it is, tails cut: panels without a contour would say nothing.
      const isCut = !(cut[1] > cut[0]) || distribution.cdf(cut[1]) - distribution.cdf(cut[0]) < 0.9;
      this.ranges[k] = isCut ? [distribution.quantile(0.01) - margin / 10, distribution.quantile(0.99) + margin / 10] : cut;
    }
    return this.ranges[k];
  }
  // Values a slider may hold fixed: where the posterior lies, and never outside the box.
  slideRange(k) {
    const axis = this.distribution.axes[k], { low, high } = this.parameters[k], [from, to] = this.range(k, false);
    if (axis.isProbit) return [this.distributions[k].quantile(0.001), this.distributions[k].quantile(0.999)];
    const inside = [Math.max(from, low ?? from), Math.min(to, high ?? to)];
    return inside[1] > inside[0] ? inside : [from, to];
  }
}

// fixed: Map from parameter to value.
export class View {
  constructor(posterior, fixed) {
    this.posterior = posterior;
    this.fixed = fixed;
    const indices = [...fixed.keys()].sort((a, b) => a - b);
    this.joint = fixed.size ? posterior.distribution.conditional(indices, indices.map((k) => fixed.get(k))) : posterior.distribution;
    this.position = new Array(posterior.size).fill(-1);  // of a parameter in this.joint; -1: fixed
    others(indices, posterior.size).forEach((k, i) => (this.position[k] = i));
    this.distributions = [];
    this.panels = new Map();
  }
  distribution(k) {
    return this.position[k] < 0 ? null : (this.distributions[k] ??= this.joint.marginal1d(this.position[k]));
  }
  // The density of one parameter at xs, kept for the grid asked for last.
  line(k, xs) {
    this.lines ??= [];
    const kept = this.lines[k];
    if (kept && kept.xs.length === xs.length && kept.xs[0] === xs[0] && kept.xs.at(-1) === xs.at(-1)) return kept.ys;
    this.lines[k] = { xs, ys: xs.map((x) => this.distribution(k).density(x)) };
    return this.lines[k].ys;
  }
  mean(k) {
    this.means ??= this.joint.mean();
    return this.position[k] < 0 ? this.fixed.get(k) : this.means[this.position[k]];
  }
  // {values, levels, shapes (one multi-polygon per probability, in cells of the window), x, y (nodes of the values), cells}
  panel(a, b, box, cells) {
    const xRange = this.posterior.range(a, box), yRange = this.posterior.range(b, box), key = [a, b, cells, ...xRange, ...yRange].join();
    if (!this.panels.has(key)) this.panels.set(key, this.computePanel(a, b, xRange, yRange, cells));
    return this.panels.get(key);
  }
  computePanel(a, b, xRange, yRange, cells) {
    const i = this.position[a], j = this.position[b], x = this.nodes(a, xRange, cells), y = this.nodes(b, yRange, cells), parts = pairParts(this.joint, i, j, x, y);
    const values = gridOf(parts, x, y), levels = levelsByDraws(parts, this.joint.axes[i], this.joint.axes[j], PROBABILITIES, cells < 40 ? 96 : 1024);
    let shapes = regionShapes(values, levels, cells, cells);
    if (!x.even || !y.even) {
      shapes = withoutSlivers(shapes, values, x, y);
      placeInWindow(shapes, x, y, xRange, yRange, cells);
    }
    return { values, levels, shapes, x, y, cells };
  }
  // Where the density of parameter k is computed, kept for the window asked for last.
  nodes(k, range, cells) {
    this.kept ??= [];
    const kept = this.kept[k];
    if (kept && kept.cells === cells && kept.range[0] === range[0] && kept.range[1] === range[1]) return kept.nodes;
    const nodes = this.joint.axes[this.position[k]].nodes(range, this.distribution(k), cells);
    this.kept[k] = { cells, range, nodes };
    return nodes;
  }
  // Components above a weight, with the outline of their 1-sigma ellipse in two parameters: POINTS times x, y. In probit coordinates it is the image of an ellipse.
  ellipses(a, b, threshold) {
    const i = this.position[a], j = this.position[b], { mixture: q, axes } = this.joint, m = q.dimension, result = [];
    for (let n = 0; n < q.components; ++n) {
      if (q.weights[n] < threshold) continue;
      // centre + cos t (ux, uy) + sin t (0, vy): the image of a circle under the lower Cholesky factor
      const s = q.covarianceOf(n), ux = Math.sqrt(s[i * m + i]), uy = s[i * m + j] / ux, vy = Math.sqrt(Math.max(0, s[j * m + j] - uy * uy)), outline = new Float64Array(2 * POINTS);
      for (let k = 0; k < POINTS; ++k) {
        const x = q.means[n][i] + COSINES[k] * ux, y = q.means[n][j] + COSINES[k] * uy + SINES[k] * vy;
        outline[2 * k] = axes[i].roughFrom(x);
        outline[2 * k + 1] = axes[j].roughFrom(y);
      }
      result.push({ number: n + 1, weight: q.weights[n], outline });
    }
    return result;
  }
}

// Outlines in cells of uneven nodes, moved to where these lie in a window of even cells.
function placeInWindow(shapes, x, y, xRange, yRange, cells) {
  const place = ({ xs, n }, [low, high]) => (at) => {
    const i = Math.min(2 * n - 1, Math.floor(2 * at)), theta = xs[i] + (xs[i + 1] - xs[i]) * (2 * at - i);
    return (cells * (theta - low)) / (high - low);
  };
  const placeX = place(x, xRange), placeY = place(y, yRange);
  for (const shape of shapes) for (const polygon of shape) for (const ring of polygon) for (const point of ring) (point[0] = placeX(point[0])), (point[1] = placeY(point[1]));
}

// Where a wide component meets an edge of the box its density rises without limit within less than a pixel: outlines of such places, which hold next to
// nothing, would be lines along the edge. A polygon is left out when even the rectangle around it holds less than SLIVER of the posterior.
const SLIVER = 0.002;
function withoutSlivers(shapes, values, x, y) {
  const mass = (polygon) => {
    let x0 = Infinity, x1 = 0, y0 = Infinity, y1 = 0, sum = 0;
    for (const [px, py] of polygon[0]) (x0 = Math.min(x0, px)), (x1 = Math.max(x1, px)), (y0 = Math.min(y0, py)), (y1 = Math.max(y1, py));
    const last = (n, at) => Math.min(n - 1, Math.ceil(at) - 1);
    for (let r = Math.floor(y0); r <= last(y.n, y1); ++r)
      for (let c = Math.floor(x0); c <= last(x.n, x1) && sum < SLIVER; ++c) sum += (values[r * x.n + c] / (x.rate[c] * y.rate[r])) * x.widths[c] * y.widths[r];
    return sum;
  };
  return shapes.map((shape) => (shape.length > 1 ? shape.filter((polygon) => mass(polygon) >= SLIVER) : shape));
}
