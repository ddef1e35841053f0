// The page's algebra against penn/posterior (tests/web/mixture_values.cc) and against theory. Run by run.sh.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { densityGrid, highestDensityLevels, levelsByDraws, pairParts } from "../src/density_grid.js";
import { Mixture } from "../src/mixture.js";
import { LinearAxis, PosteriorDistribution } from "../src/posterior_distribution.js";
import { Posterior, PROBABILITIES, View } from "../src/posterior_view.js";
import { generator } from "./fixtures.mjs";
import { NormalMixture, erfc, normalCdf, normalQuantile, probitCovariance, roughCdf } from "../src/normal.js";

const cases = JSON.parse(execFileSync(`${process.env.PENN_TEST_PROGRAMS}/mixture_values`, { maxBuffer: 1 << 28 }));
const near = (actual, expected, tolerance, what) =>
  assert.ok(Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected)), `${what}: ${actual}, expected ${expected}`);

const linear = (mixture) => new PosteriorDistribution(mixture), even = (range, n) => new LinearAxis().nodes(range, null, n);

for (const json of cases) {
  test(`values_equal_those_of_the_library_in_${json.kind}_coordinates_at_condition_${json.condition}`, () => {
    const q = PosteriorDistribution.fromJson(json);
    json.points.forEach((theta, i) => near(q.logDensity(theta), json.log_density[i], 1e-6, `ln q at point ${i}`));
    for (const part of json.parts) {
      near(q.marginal(part.pair).logDensity(part.pair.map((k) => part.theta[k])), part.marginal, 1e-6, "pair");
      const free = q.dimension - part.fixed.length, conditional = q.conditional(part.fixed, part.values);
      assert.equal(conditional.dimension, free);
      const rest = part.theta.filter((_, k) => !part.fixed.includes(k));
      near(conditional.logDensity(rest), part.conditional, 1e-6, "conditional");
      conditional.mean().forEach((x, k) => near(x, part.conditional_mean[k], 1e-6, "mean of the conditional"));
    }
    json.line.forEach((expected, k) => {
      const distribution = q.marginal1d(k);
      near(Math.log(distribution.density(expected.x)), expected.log_density, 1e-6, "marginal");
      near(distribution.cdf(expected.x), expected.cdf, 1e-9, "cdf");
      near(distribution.sd(), expected.sd, 1e-9, "sd");
      for (const [p, x] of expected.quantiles) near(distribution.quantile(p), x, 1e-7 * expected.sd, `quantile ${p}`);
    });
    q.mean().forEach((x, k) => near(x, json.mean[k], 1e-10, "mean"));
    q.correlation().forEach((row, a) => row.forEach((x, b) => near(x, json.correlation[a][b], 1e-9, "correlation")));
  });

  if (json.kind !== "linear") continue;
  // Without factors the covariances are all there is, and writing them in doubles has cost condition * 1e-16 of the quadratic form.
  test(`covariances_alone_lose_no_more_than_their_rounding_at_condition_${json.condition}`, () => {
    const q = Mixture.fromJson({ ...json, factors: undefined });
    const tolerance = Math.max(1e-9, 100 * json.condition * 2 ** -52);  // 12 x 12 entries, units of a few standard deviations
    let worst = 0;
    json.points.forEach((theta, i) => (worst = Math.max(worst, Math.abs(q.logDensity(theta) - json.log_density[i]))));
    console.log(`  condition ${json.condition}: largest difference of ln q from covariances alone ${worst.toExponential(1)}`);
    assert.ok(worst < tolerance, `${worst}`);
  });
}

test("a_singular_covariance_is_accepted_with_the_smallest_ridge", () => {
  const q = Mixture.fromJson({ weights: [1], means: [[0, 0]], covariances: [[[1, 1], [1, 1]]] });
  assert.ok(Number.isFinite(q.logDensity([1, 1])));
  near(q.marginal1d(0).sd(), 1, 1e-12, "sd");
  assert.throws(() => Mixture.fromJson({ weights: [1], means: [[0, 0]], covariances: [[[1, 2], [2, 1]]] }), /not positive definite/);
});

test("a_log_weight_of_null_is_that_of_a_weight_of_zero", () => {  // JSON has no -Infinity
  const q = Mixture.fromJson({ weights: [1, 0], log_weights: [0, null], means: [[0.3], [0.8]], covariances: [[[0.001]], [[0.001]]] });
  assert.deepEqual([...q.weights], [1, 0]);
  near(q.mean()[0], 0.3, 1e-15, "mean");
});

test("conditional_weights_hold_hundreds_of_deviations_away", () => {
  const q = Mixture.fromJson({ weights: [0.5, 0.5], means: [[-500, 0], [500, 10]], covariances: [[[1, 0], [0, 1]], [[1, 0], [0, 1]]] });
  near(q.conditional([0], [-0.01]).mean()[0], 10 / (1 + Math.exp(10)), 1e-9, "mean");  // log odds 1000 * 0.01
});

test("normal_distribution_has_its_known_values", () => {
  near(normalCdf(1.959963984540054), 0.975, 1e-13, "Phi");
  near(erfc(5) / 1.5374597944280349e-12, 1, 1e-12, "erfc(5)");
  for (const x of [2.5 - 1e-15, 2.5 + 1e-15]) near(erfc(x) / 4.069520174449589e-4, 1, 1e-12, "where series and fraction meet");
  for (const z of [-8, -3, -1, 0.3, 2.5, 5]) near(normalQuantile(normalCdf(z)), z, 1e-9, "inverse");
  for (const z of [-6, -1, -0.1, 0, 0.4, 3]) near(roughCdf(z), normalCdf(z), 1e-7, "rough");
  for (const rho of [-0.9, 0.1, 0.5]) near(probitCovariance(0, 0, rho), Math.asin(rho) / (2 * Math.PI), 1e-12, "covariance of probabilities");
  const distribution = new NormalMixture([0.3, 0.7], [-1, 2], [0.5, 0.1]);
  for (const p of [1e-6, 0.1, 0.29, 0.3, 0.31, 0.9]) near(distribution.cdf(distribution.quantile(p)), p, 1e-9, "cdf of quantile");
});

// For one Gaussian the region of probability p is an ellipse at squared radius -2 ln(1 - p), where the density is
// (1 - p) of the peak. 400 x 400 cells over +-5 SD: a level off by
// a ring of a few cells, 0.001 in probability. (The mean lies off the grid: on it, whole rings of cells have equal values.)
test("highest_density_levels_of_a_gaussian_are_the_known_ones", () => {
  const q = Mixture.fromJson({ weights: [1], means: [[1.0123, 1.9876]], covariances: [[[4, 1.2], [1.2, 1]]] });
  const x = even([-9, 11], 400), y = even([-3, 7], 400), values = densityGrid(linear(q), 0, 1, x, y, true), area = (20 / 400) * (10 / 400);
  const peak = 1 / (2 * Math.PI * Math.sqrt(4 - 1.44));
  const p = [0.5, 0.68, 0.95], axis = new LinearAxis();
  highestDensityLevels(values, area, p).forEach((level, i) => near(1 - level / peak, p[i], 0.001, `level ${p[i]}`));
  levelsByDraws(pairParts(linear(q), 0, 1, x, y, true), axis, axis, p, 1024).forEach((level, i) => near(1 - level / peak, p[i], 0.001, `level ${p[i]} by draws`));
});

// {q >= peak * (1 - p)} has the probability p for every Gaussian of two dimensions, whatever part of it a window shows.
test("a_window_cuts_regions_but_does_not_change_their_levels", () => {
  const box = (name) => ({ name, low: 0, high: 1 }), r = 0.97 * 0.25 * 0.25, s = 0.25 * 0.25;
  const posterior = new Posterior({ parameters: [box("a"), box("b"), box("c")], weights: [1], means: [[0.8, 0.8, 0.8]], covariances: [[[s, 0, r], [0, s, 0], [r, 0, s]]] });
  const held = new View(posterior, new Map([[2, 1.4]]));  // a follows c out of the window
  for (const [view, peak] of [[posterior.whole, 1 / (2 * Math.PI * s)], [held, 1 / (2 * Math.PI * s * Math.sqrt(1 - 0.97 ** 2))]])
    for (const prior of [false, true]) {
      const { levels, shapes } = view.panel(0, 1, prior, 128);
      levels.forEach((level, i) => near(1 - level / peak, PROBABILITIES[i], 0.01, `level of ${PROBABILITIES[i]}`));
      if (view !== held) for (const shape of shapes) assert.ok(shape.length > 0, "every region is drawn");
    }
});

// Draws of (theta_a, theta_b), with the density there by the distribution itself, and polygons of a panel in units of theta: what is drawn holds what it says.
// 8000 draws: a deviation of 0.0056 at 0.5, so 0.02 is far beyond it; outlines are cut at 40 or 128 cells, components of these are no narrower.
const PILED = {
  "at one edge": { weights: [0.7, 0.3], means: [[3, 0.2], [1.5, -0.5]], covariances: [[[2, 0.4], [0.4, 0.3]], [[0.5, 0], [0, 0.2]]] },
  "in a corner, from far outside": { weights: [1], means: [[-2.5, 3]], covariances: [[[4, -2], [-2, 3]]] },
  "at both edges of both": { weights: [0.5, 0.5], means: [[0.3, 0], [-0.5, 0.4]], covariances: [[[9, 1], [1, 6]], [[6, -2], [-2, 9]]] },
  "in the middle": { weights: [0.6, 0.4], means: [[0.2, -0.1], [-0.3, 0.2]], covariances: [[[0.04, 0.01], [0.01, 0.05]], [[0.02, -0.01], [-0.01, 0.02]]] },
};
const within = (ring, x, y) => {
  let inside = false;
  for (let i = 1, [bx, by] = ring[0]; i < ring.length; ++i) {
    const [ax, ay] = ring[i];
    if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) inside = !inside;
    (bx = ax), (by = ay);
  }
  return inside;
};
for (const [name, mixture] of Object.entries(PILED)) for (const coordinates of [["probit", "probit"], ["probit", "linear"], ["linear", "probit"]]) for (const cells of coordinates[0] === coordinates[1] ? [40, 128] : [40])
  test(`regions_hold_their_fraction_of_draws_piled_up_${name.replaceAll(/\W+/g, "_")}_in_${coordinates.join("_")}_coordinates_at_${cells}_cells`, () => {
    const posterior = new Posterior({ parameters: [{ name: "a", low: 1, high: 3 }, { name: "b", low: -50, high: 50 }], coordinates, ...mixture }), { distribution } = posterior, random = generator(7);
    const panel = posterior.whole.panel(0, 1, false, cells), [x0, x1] = posterior.range(0, false), [y0, y1] = posterior.range(1, false), n = 8000, fraction = [0, 0, 0], held = [0, 0, 0];
    const polygons = panel.shapes.map((shape) => shape.map((polygon) => polygon.map((ring) => ring.map(([x, y]) => [x0 + (x / cells) * (x1 - x0), y0 + (y / cells) * (y1 - y0)]))));
    for (let s = 0; s < n; ++s) {
      const j = random.uniform() < mixture.weights[0] ? 0 : 1, [[xx, xy], [, yy]] = mixture.covariances[j] ?? mixture.covariances[0], mean = mixture.means[j] ?? mixture.means[0], z = [random.normal(), random.normal()];
      const u = [mean[0] + Math.sqrt(xx) * z[0], mean[1] + (xy / Math.sqrt(xx)) * z[0] + Math.sqrt(yy - (xy * xy) / xx) * z[1]], density = Math.exp(distribution.mixture.logDensity(u)) * distribution.axes[0].rate(u[0]) * distribution.axes[1].rate(u[1]);
      // the outline ends 1e-7 of the width from an edge of the box and cuts corners: a draw nearer than 1e-6 counts as lying there
      const theta = distribution.axes.map((axis, k) => axis.from(u[k])), inset = [2e-6, 1e-4].map((h, k) => (distribution.axes[k].isProbit ? Math.min(distribution.axes[k].high - h, Math.max(distribution.axes[k].low + h, theta[k])) : theta[k]));
      panel.levels.forEach((level, i) => {
        if (density >= level) ++fraction[i];
        if (polygons[i].some((polygon) => within(polygon[0], ...inset) && polygon.slice(1).every((hole) => !within(hole, ...inset)))) ++held[i];
      });
    }
    PROBABILITIES.forEach((p, i) => {
      near(fraction[i] / n, p, 0.02, `fraction of draws above the level of ${p}`);
      near(held[i] / n, p, cells < 100 ? 0.05 : 0.03, `fraction of draws inside the outline of ${p}`);
    });
    distribution.axes.forEach((axis, k) => {
      for (const point of polygons.flat(3)) if (axis.isProbit) assert.ok(point[k] > axis.low - 1e-9 * axis.width && point[k] < axis.high + 1e-9 * axis.width, `${point} lies outside the box`);
    });
  });

// A wide component of little weight beside a narrow one: where it meets the edges its density exceeds any level, within less than a pixel, and holds nothing.
test("edges_that_hold_nothing_are_not_outlined", () => {
  const posterior = new Posterior({ parameters: [{ name: "a", low: 0, high: 1 }, { name: "b", low: 0, high: 1 }], coordinates: ["probit", "probit"], weights: [0.95, 0.05], means: [[0, 0], [0, 0]], covariances: [[[0.01, 0], [0, 0.01]], [[0.03, 0], [0, 1.6]]] });
  const { shapes } = posterior.whole.panel(0, 1, true, 128);
  assert.deepEqual(shapes.map((shape) => shape.length), [1, 1, 1]);
});

test("the_grid_is_the_pair_density", () => {
  for (const [json, a, b, xs, ys] of [[cases[0], 3, 7, [0, 10], [0, 1]], [cases[3], 4, 8, [1, 1.1], [5, 5.1]]]) {
    const q = PosteriorDistribution.fromJson(json), x = q.axes[a].nodes(xs, q.marginal1d(a), 20), y = q.axes[b].nodes(ys, q.marginal1d(b), 20);
    const grid = densityGrid(q, a, b, x, y, true), pair = q.marginal([a, b]);
    let largest = 0;
    for (let r = 0; r < 20; ++r)
      for (let c = 0; c < 20; ++c) {
        const exact = Math.exp(pair.logDensity([x.xs[2 * c + 1], y.xs[2 * r + 1]]));
        const rate = x.rate[c] * y.rate[r];  // as densities of u: near an edge those of theta are thousands of times as large, and so is what lies beyond 6.5 deviations
        largest = Math.max(largest, exact / rate);
        assert.ok(Math.abs(grid[r * 20 + c] - exact) / rate < 1e-6 * (1 + exact / rate), `${grid[r * 20 + c]} ${exact}`);
      }
    assert.ok(largest > 0.1, "the grid holds something");
  }
});

test("outside_the_box_and_at_its_edge", () => {
  const flat = { coordinates: ["probit", "probit"], box: { low: [0, 2], high: [1, 6] }, weights: [1], means: [[0, 0]], covariances: [[[1, 0], [0, 1]]] };
  const q = PosteriorDistribution.fromJson(flat);
  for (const theta of [[0.001, 2.1], [0.5, 5.9999]]) near(q.logDensity(theta), -Math.log(4), 1e-9, "flat");
  assert.equal(q.logDensity([1.1, 3]), -Infinity);
  assert.equal(q.marginal1d(0).density(-0.1), 0);
  near(q.marginal1d(1).sd(), 4 / Math.sqrt(12), 1e-9, "sd");
  const x = q.axes[0].nodes([-0.5, 1.5], q.marginal1d(0), 40), y = q.axes[1].nodes([0, 8], q.marginal1d(1), 40);
  for (const [nodes, low, high] of [[x, 0, 1], [y, 2, 6]]) assert.ok(nodes.xs.every((t, i) => t >= low && t <= high && (i === 0 || t > nodes.xs[i - 1])) && nodes.xs.at(-1) - nodes.xs[0] > 0.9999 * (high - low), `${nodes.xs}`);
  densityGrid(q, 0, 1, x, y).forEach((v) => near(v, 0.25, 1e-9, "grid"));
  assert.throws(() => PosteriorDistribution.fromJson({ ...flat, coordinates: ["probit", "polar"] }), /another version/);
});

test("a_ridge_narrower_than_a_cell_keeps_its_mass", () => {
  const q = Mixture.fromJson({ weights: [1], means: [[0, 0]], covariances: [[[1, 1 - 1e-9], [1 - 1e-9, 1]]] });
  const values = densityGrid(linear(q), 0, 1, even([-5, 5], 32), even([-5, 5], 32)), total = values.reduce((a, b) => a + b) * (10 / 32) ** 2;
  near(total, 1, 0.02, "mass");
  // no beads: along the diagonal the density never falls below the mean of its neighbours by more than a hair
  for (let k = 8; k < 24; ++k) assert.ok(values[k * 33] > 0.98 * Math.sqrt(values[(k - 1) * 33] * values[(k + 1) * 33]));
  const side = values[16 * 33 + 1] / values[16 * 33];  // half a cell off the ridge in each axis: exp(-1/4)
  assert.ok(side > 0.7 && side < 0.85, `${side}`);
});
