// The density of two parameters on a grid, the levels of its highest-density regions, and their outlines.
import { contours } from "d3-contour";

// Density of (theta_a, theta_b) at the nodes x, y (posterior_distribution.js: axis.nodes); values (y.n * x.n), row 0 lowest.
// A ridge narrower than a cell would fall between the nodes and be drawn as beads; so a component whose smallest standard deviation, in
// any direction, is below one cell is widened to one cell. All others are exact. `exact` leaves the widening out.
export function densityGrid(distribution, a, b, x, y, exact = false) {
  return gridOf(pairParts(distribution, a, b, x, y, exact), x, y);
}

// The components as they are drawn, in (a, b).
export function pairParts({ mixture }, a, b, x, y, exact = false) {
  const parts = [];
  for (let j = 0; j < mixture.components; ++j)
    if (mixture.weights[j] >= 1e-12) parts.push(component(mixture, j, a, b, x.cellAt(mixture.means[j][a]), y.cellAt(mixture.means[j][b]), exact));
  return parts;
}

export const gridOf = (parts, x, y) => (x.even && y.even ? evenGrid(parts, x, y) : unevenGrid(parts, x, y));

const REACH = 6.5;  // standard deviations: exp(-6.5^2 / 2) = 7e-10

// Of component j in (a, b): means, variance of x, slope of y on x, and the variance of y given x. hx, hy: a cell, in units of the coordinates.
function component(mixture, j, a, b, hx, hy, exact) {
  const m = mixture.dimension, s = mixture.covarianceOf(j), sxy = s[a * m + b];
  const widen = exact ? 0 : Math.max(0, 1 - smallestEigenvalue(s[a * m + a] / hx ** 2, s[b * m + b] / hy ** 2, sxy / (hx * hy)));
  const sxx = s[a * m + a] + widen * hx ** 2, syy = s[b * m + b] + widen * hy ** 2, slope = sxy / sxx;
  const rest = Math.max(syy - slope * sxy, 1e-14 * syy);  // forming it loses digits, which a picture does not need
  return { weight: mixture.weights[j], mx: mixture.means[j][a], my: mixture.means[j][b], sxx, slope, rest, front: mixture.weights[j] / (2 * Math.PI * Math.sqrt(sxx * rest)) };
}

function evenGrid(parts, { x0, h: hx, n: nx }, { x0: y0, h: hy, n: ny }) {
  const values = new Float64Array(nx * ny);
  for (const { mx, my, sxx, slope, rest, front } of parts) {
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

// The same where the nodes are uneven in the mixture's coordinates u (probit coordinates): the density of u there, times du/dx du/dy.
function unevenGrid(parts, x, y) {
  const nx = x.n, ny = y.n, values = new Float64Array(nx * ny);
  for (const { mx, my, sxx, slope, rest, front } of parts) {
    const sdx = Math.sqrt(sxx), reachY = REACH * Math.sqrt(rest), half = -0.5 / rest;
    for (let c = 0; c < nx; ++c) {
      const dx = x.u[c] - mx;
      if (Math.abs(dx) > REACH * sdx) continue;
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

// Levels: the region {density >= level} is the smallest with the given probability, so the level is a quantile of the density at draws from the
// posterior itself: no window, and no pile at an edge of the box narrower than any cell, changes it. The draws are even instead of random:
// radii at equal steps of probability, each turned by the golden angle from the last, so a thousand of them place a level to half a percent, and a hundred (while a slider moves) to two.
export function levelsByDraws(parts, axisX, axisY, probabilities, draws) {
  const kept = parts.filter((part) => part.weight > 1e-4), counts = kept.map(({ weight }) => Math.max(4, Math.round(draws * weight)));
  const size = counts.reduce((a, b) => a + b, 0), densities = new Float64Array(size), masses = new Float64Array(size), flat = isFlat(axisX) && isFlat(axisY);
  let at = 0, total = 0;
  kept.forEach(({ weight, mx, my, sxx, slope, rest }, j) => {
    const { across, along } = evenDraws(counts[j]), sdx = Math.sqrt(sxx), sdy = Math.sqrt(rest);
    total += weight;
    for (let i = 0; i < counts[j]; ++i) {
      const dx = sdx * across[i], x = mx + dx, y = my + slope * dx + sdy * along[i];
      let sum = 0;
      for (let k = 0; k < parts.length; ++k) {
        const part = parts[k], ex = x - part.mx, ey = y - part.my - part.slope * ex, square = (ex * ex) / part.sxx + (ey * ey) / part.rest;
        if (square < 60) sum += part.front * Math.exp(-0.5 * square);
      }
      densities[at] = flat ? sum : sum * axisX.rate(x) * axisY.rate(y);
      masses[at++] = weight / counts[j];
    }
  });
  const order = Uint32Array.from(densities, (_, i) => i).sort((i, k) => densities[k] - densities[i]);  // falling
  return probabilities.map((p) => {
    let mass = 0, n = 0;
    while (n < size - 1 && mass + masses[order[n]] < p * total) mass += masses[order[n++]];
    const fraction = (p * total - mass) / masses[order[n]], here = densities[order[n]], before = densities[order[Math.max(0, n - 1)]];
    return before * (here / before) ** Math.min(1, Math.max(0, fraction));
  });
}

const isFlat = (axis) => !axis.isProbit, GOLDEN = Math.PI * (3 - Math.sqrt(5)), KEPT = new Map();
function evenDraws(count) {
  if (!KEPT.has(count)) {
    const radius = Float64Array.from({ length: count }, (_, i) => Math.sqrt(-2 * Math.log(1 - (i + 0.5) / count)));
    KEPT.set(count, { across: radius.map((r, i) => r * Math.cos(GOLDEN * i)), along: radius.map((r, i) => r * Math.sin(GOLDEN * i)) });
  }
  return KEPT.get(count);
}

// The same of a density that is given on a grid of equal cells and nowhere else. Mass is counted cell by cell; what lies outside the
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

// The regions {density >= level} as multi-polygons in cells, one per level; a level of 0 is all that holds any density, so that regions stay nested.
// Contours of the logarithm: it is nearly quadratic between cells where the density itself falls by orders of magnitude.
export function regionShapes(values, levels, nx, ny) {
  let largest = 0;
  for (const v of values) largest = Math.max(largest, v);
  if (!(largest > 0)) return levels.map(() => []);
  const floor = Math.log(Math.min(largest, ...levels.filter((level) => level > 0))) - 40, logs = new Float64Array(values.length), maker = contours().size([nx, ny]);
  for (let i = 0; i < values.length; ++i) logs[i] = values[i] > 0 ? Math.max(floor, Math.log(values[i])) : floor;
  return levels.map((level) => maker.contour(logs, level > 0 ? Math.max(floor + 1e-3, Math.log(level)) : floor + 1e-3).coordinates);
}
