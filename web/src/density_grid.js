// The density of two parameters on a grid, the levels of its highest-density regions, and their outlines.
import { contours } from "d3-contour";

// Density of (theta_a, theta_b) at the centres of nx x ny cells over [x0, x1] x [y0, y1]; values (ny * nx), row 0 at y0.
// A ridge narrower than a cell would fall between the centres and be drawn as beads; so a component whose smallest standard deviation, in
// any direction, is below one cell is widened to one cell. All others are exact. `exact` leaves the widening out.
export function densityGrid(law, a, b, xRange, yRange, nx, ny, exact = false) {
  const { mixture, axes } = law;
  return axes[a].isBox || axes[b].isBox ? boxedGrid(law, a, b, xRange, yRange, nx, ny, exact) : linearGrid(mixture, a, b, xRange, yRange, nx, ny, exact);
}

const REACH = 6.5;  // standard deviations: exp(-6.5^2 / 2) = 7e-10

// Of component j in (a, b): means, variance of x, slope of y on x, and the variance of y given x. hx, hy: a cell, in units of the coordinates.
function component(mixture, j, a, b, hx, hy, exact) {
  const m = mixture.dimension, s = mixture.covarianceOf(j), sxy = s[a * m + b];
  const widen = exact ? 0 : Math.max(0, 1 - smallestEigenvalue(s[a * m + a] / hx ** 2, s[b * m + b] / hy ** 2, sxy / (hx * hy)));
  const sxx = s[a * m + a] + widen * hx ** 2, syy = s[b * m + b] + widen * hy ** 2, slope = sxy / sxx;
  const rest = Math.max(syy - slope * sxy, 1e-14 * syy);  // forming it loses digits, which a picture does not need
  return { mx: mixture.means[j][a], my: mixture.means[j][b], sxx, slope, rest, front: mixture.weights[j] / (2 * Math.PI * Math.sqrt(sxx * rest)) };
}

function linearGrid(mixture, a, b, [x0, x1], [y0, y1], nx, ny, exact) {
  const values = new Float64Array(nx * ny), hx = (x1 - x0) / nx, hy = (y1 - y0) / ny;
  for (let j = 0; j < mixture.components; ++j) {
    if (mixture.weights[j] < 1e-12) continue;
    const { mx, my, sxx, slope, rest, front } = component(mixture, j, a, b, hx, hy, exact);
    const sdx = Math.sqrt(sxx), sdy = Math.sqrt(rest), factor = Math.exp((-hy * hy) / rest);
    const first = Math.max(0, Math.floor((mx - REACH * sdx - x0) / hx)), last = Math.min(nx - 1, Math.ceil((mx + REACH * sdx - x0) / hx));
    for (let c = first; c <= last; ++c) {
      const dx = x0 + (c + 0.5) * hx - mx, middle = my + slope * dx, column = front * Math.exp((-0.5 * dx * dx) / sxx);
      if (column < 1e-300) continue;
      const low = Math.max(0, Math.floor((middle - REACH * sdy - y0) / hy)), high = Math.min(ny - 1, Math.ceil((middle + REACH * sdy - y0) / hy));
      // exp(-(dy + hy)^2 / 2 rest) = exp(-dy^2 / 2 rest) * ratio, and the ratio itself falls by the same factor at every step: no more exp.
      const dy = y0 + (low + 0.5) * hy - middle;
      let value = column * Math.exp((-0.5 * dy * dy) / rest), ratio = Math.exp((-hy * (dy + 0.5 * hy)) / rest);
      if (hy > 10 * sdy) {  // only without widening: a step of many deviations, where ratios overflow
        for (let r = low; r <= high; ++r) values[r * nx + c] += column * Math.exp((-0.5 * (y0 + (r + 0.5) * hy - middle) ** 2) / rest);
        continue;
      }
      for (let r = low; r <= high; ++r) {
        values[r * nx + c] += value;
        value *= ratio;
        ratio *= factor;
      }
    }
  }
  return values;
}

// The same where one or both have box coordinates, in which even cells of theta are uneven in u: the density of u at their centres, times du/dx du/dy.
function boxedGrid({ mixture, axes }, a, b, [x0, x1], [y0, y1], nx, ny, exact) {
  const values = new Float64Array(nx * ny), x = axes[a].cells(x0, x1, nx), y = axes[b].cells(y0, y1, ny);
  const cell = (axis, u, h) => h / axis.slope(Math.min(4, Math.max(-4, u)));  // where the component lies
  for (let j = 0; j < mixture.components; ++j) {
    if (mixture.weights[j] < 1e-12) continue;
    const { mx, my, sxx, slope, rest, front } = component(mixture, j, a, b, cell(axes[a], mixture.means[j][a], (x1 - x0) / nx), cell(axes[b], mixture.means[j][b], (y1 - y0) / ny), exact);
    const sdx = Math.sqrt(sxx), reachY = REACH * Math.sqrt(rest), half = -0.5 / rest;
    for (let c = 0; c < nx; ++c) {
      const dx = x.u[c] - mx;
      if (x.rate[c] === 0 || Math.abs(dx) > REACH * sdx) continue;
      const middle = my + slope * dx, column = front * x.rate[c] * Math.exp((-0.5 * dx * dx) / sxx);
      for (let r = firstAbove(y.u, middle - reachY); r < ny && y.u[r] <= middle + reachY; ++r) values[r * nx + c] += column * Math.exp(half * (y.u[r] - middle) ** 2);
    }
  }
  for (let r = 0; r < ny; ++r) for (let c = 0; c < nx; ++c) values[r * nx + c] *= y.rate[r];
  return values;
}

// The first index with values[i] >= limit; values rise.
function firstAbove(values, limit) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

const smallestEigenvalue = (xx, yy, xy) => (xx + yy) / 2 - Math.hypot((xx - yy) / 2, xy);

// Levels: the region {density >= level} is the smallest with the given probability. Mass is counted cell by cell; what lies outside the
// grid counts as less dense than everything inside. A level that the grid does not reach is 0.
export function highestDensityLevels(values, cellArea, probabilities) {
  let total = 0;
  for (const v of values) total += v;
  const least = (1e-6 * total) / values.length;  // cells that hold nothing to speak of need no sorting
  const sorted = values.filter((v) => v > least).sort();  // rising
  total = Math.max(1, total * cellArea);  // coarse cells can sum to a little more than 1
  const levels = new Array(probabilities.length).fill(0);
  const order = probabilities.map((p, i) => [p, i]).sort((x, y) => x[0] - y[0]);
  let mass = 0, at = sorted.length;
  for (const [p, i] of order) {
    while (at > 0 && mass < p * total) mass += sorted[--at] * cellArea;
    levels[i] = mass >= p * total * (1 - 1e-9) ? (sorted[at] ?? 0) : 0;
  }
  return levels;
}

export const massOf = (values, cellArea) => cellArea * values.reduce((sum, v) => sum + v, 0);

// The regions {density >= level} as multi-polygons in cells, one per level; a level of 0 is the whole window, so that regions stay nested.
// Contours of the logarithm: it is nearly quadratic between cells where the density itself falls by orders of magnitude.
export function regionShapes(values, levels, cells) {
  let largest = 0;
  for (const v of values) largest = Math.max(largest, v);
  if (!(largest > 0)) return levels.map(() => []);
  const floor = Math.log(largest) - 40, logs = new Float64Array(values.length), maker = contours().size([cells, cells]);
  for (let i = 0; i < values.length; ++i) logs[i] = values[i] > 0 ? Math.max(floor, Math.log(values[i])) : floor;
  const window = [[[[0, 0], [cells, 0], [cells, cells], [0, cells], [0, 0]]]];
  return levels.map((level) => (level > 0 ? maker.contour(logs, Math.log(level)).coordinates : window));
}
