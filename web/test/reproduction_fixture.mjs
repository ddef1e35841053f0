// An example of what `penn reproduce` hands to its pages: one panel of every type, and an index.
import { cfhnPosterior, evaluation, generator, oupPosterior } from "./fixtures.mjs";

const base64 = (values) => Buffer.from(Float32Array.from(values).buffer).toString("base64");

// A correlated Gaussian on a grid: its highest-density regions are ellipses with known areas.
export function gaussianDensity(cells = 64) {
  const [x0, x1, y0, y1] = [-0.3, 1.3, 0, 1], values = [];
  for (let r = 0; r < cells; ++r)
    for (let c = 0; c < cells; ++c) {
      const u = (x0 + ((c + 0.5) * (x1 - x0)) / cells - 0.5) / 0.2, v = (y0 + ((r + 0.5) * (y1 - y0)) / cells - 0.45) / 0.1, rho = 0.6;
      values.push(Math.exp(-(u * u - 2 * rho * u * v + v * v) / (2 * (1 - rho * rho))) / (2 * Math.PI * 0.02 * Math.sqrt(1 - rho * rho)));
    }
  return { type: "density", title: "(b) exact (1)", parameters: [{ name: "lg_tau", label: "lg τ", low: -0.5, high: 1.5 }, { name: "D", label: "D", low: 0.01, high: 1 }], range: [x0, x1, y0, y1], truth: [0.6, 0.5], estimate: [0.5, 0.45], values: { shape: [cells, cells], float32: base64(values) } };
}

export function reproduction(n = 3000) {
  const random = generator(3), oup = oupPosterior().results, cfhn = cfhnPosterior(300).results[0], scores = evaluation(n), m = scores.parameters.length;
  const curve = (end, count = 40) => Array.from({ length: count }, (_, i) => [7500 * (i + 1), end + 4 / (1 + 0.4 * i) + 0.02 * random.normal()]);
  const neurons = { t0: 0, sampling: 0.2, channels: ["x1", "x2"], values: [0, 1].map((c) => Array.from({ length: 700 }, (_, i) => Number((2 * Math.sin(0.09 * i + 2.4 * c) + 0.2 * random.normal()).toFixed(4)))) };
  const panels = {
    trajectory: [{ type: "trajectory", title: "(a) 600 samples", note: "lg τ = 0.6, α = 1.97, x = -0.5", overlay: false, trajectory: oup[0].trajectory }, { type: "trajectory", title: "TRAJ-2 opposite", note: "", overlay: true, trajectory: neurons }],
    pair: [[3, 1], [4, 2]].map(([x, y]) => ({ type: "pair", title: `(e) pair ${x}, ${y}`, posterior: "oup (e)", x, y, threshold: 0.005 })).concat({ type: "pair", title: "(c) c₁, D₁", posterior: "cfhn", x: 4, y: 10, threshold: 0.01 }, { type: "pair", title: "(c) fixed axes", posterior: "oup (g)", x: 0, y: 1, threshold: 0.005, range: [-0.2, 0.8, 0, 0.9] }),
    density: [gaussianDensity()],
    estimates: scores.parameters.map((_, k) => ({ type: "estimates", evaluation: "oup", k })),
    error_map: [{ type: "error_map", evaluation: "oup", k: 1, x: 4, y: 2 }, { type: "error_map", evaluation: "oup", k: 0, x: 0, y: 3 }],
    z: [{ type: "z", title: "(a) drift", evaluation: "oup", columns: [0, 1, 2] }, { type: "z", title: "(b) noise", evaluation: "oup", columns: [3, 4] }],
    qq: scores.parameters.map((_, k) => ({ type: "qq", evaluation: "oup", k })),
    matrix: [{ type: "matrix", title: "mean", parameters: scores.parameters, matrix: scores.correlation_mean, diverging: true }, { type: "matrix", title: "SD", parameters: scores.parameters, matrix: scores.correlation_sd, diverging: false }],
    loss: [{ type: "loss", title: "oup", curve: scores.curve }],
    curves: [{ type: "curves", title: "Validation loss", x: "trajectories seen", y: "validation NLL", curves: [1, 2, 10, 20].map((N, i) => ({ name: `N = ${N}`, points: curve(-5.4 - 0.35 * i) })) }],
    blocks: [{ type: "blocks", title: "oup", blocks: [["trajectory Z", ["z₁ … zₙ", "n × 1", "n = 1000"]], ["encoder", ["LSTM, 4 layers of 50", "mean over time"]], ["decoder", ["6 residual blocks", "of width 100", "to y: K = 210"]], ["surjection", ["softmax: weights", "means", "softplus: diagonals"]], ["mixture Φ", ["N = 10 components", "M = 5 parameters", "full covariances"]]].map(([title, lines]) => ({ title, lines })) }],
    table: [{ type: "table", head: ["", "N", "NLL"], rows: [{ cells: ["ours", "10", "-6.512 / 1.950"], paper: false }, { cells: ["ours", "20", "-0.00, -0.05"], paper: false }, { cells: ["paper", "10", "-6.495 / 1.974"], paper: true }] }],
  };
  return {
    kind: "reproduction", item: "fig0", number: "Figure 0", title: "every kind of panel", caption: "One panel of every type.", version: "0.1.0", command: "penn reproduce fig0 -o gallery",
    headline: { what: "NLL, mean / SD", ours: "-6.512 / 1.950", paper: "-6.495 / 1.974" }, notes: ["Ours: 3000 fresh trajectories."],
    models: [{ name: "oup", minutes: 61.2, trajectories: 4123000, steps: 16105, lengths: [100, 5000], validation_nll: -6.51, components: 10, covariance: "full", preset: "fast", dataset: 0 }, { name: "oup-trajectories-1000", minutes: 10, trajectories: 500000, steps: 2000, lengths: [1000, 1000], validation_nll: -1.9, components: 10, covariance: "full", preset: "fast", dataset: 1000 }],
    evaluations: { oup: { n, parameters: scores.parameters, truth: scores.truth, estimate: scores.estimate, sd: scores.sd } }, posteriors: { "oup (e)": oup[0], "oup (g)": oup[1], cfhn },
    sections: Object.entries(panels).map(([type, list]) => ({ heading: type, note: type === "table" ? "Mean / SD." : "", panels: list })), size: m,
  };
}

export const reproductionIndex = () => ({
  kind: "reproduction", item: "index", number: "", title: "The paper, redrawn", caption: "2 of 3 pages are here.", version: "0.1.0",
  sections: [{ heading: "", note: "", panels: [{ type: "index", rows: [
    { number: "Figure 3", title: "OUP: estimates against truth", link: "fig3.html", headline: { what: "NLL, mean / SD", ours: "-6.512 / 1.950", paper: "-6.495 / 1.974" } },
    { number: "Figure 4", title: "OUP: eight trajectories", link: "fig4.html", headline: { what: "trajectories", ours: "8", paper: "8" } },
    { number: "Figure 14", title: "airfoil: estimates", problem: "there is no model 'airfoil'\nhint: make it with: penn train airfoil" }] }] }],
});
