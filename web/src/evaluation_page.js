// The evaluation report: {kind: "evaluation", parameters, truth, estimate, sd, pit, coverage, ...} (fields: web/README.md).
import { csvText, element, labelNodes, saveText, select } from "./dom.js";
import { Evaluation, deviation, mean } from "./evaluation_data.js";
import { drawCoverage, drawErrorMap, drawEstimates, drawLoss, drawQq, drawRankDifference, drawRanks, drawZScores } from "./evaluation_plots.js";
import { Figure } from "./figure.js";
import { drawHeatMap, heatMapHeight } from "./heat_map.js";
import { modelName } from "./labels.js";
import { count, fixedDecimals, percent, short, withUncertainty } from "./numbers.js";

export function showEvaluation(root, data) {
  const evaluation = new Evaluation(data), { labels, names, parameters } = evaluation, width = root.clientWidth || 1200;
  data = evaluation.data;
  const facts = [`${count(evaluation.count)} trajectories${Number.isFinite(data.length) ? ` of ${count(data.length)} samples` : ""}`], gap = data.exact?.gap;
  if (data.data) facts.push(`from ${data.data}`);
  else if (Number.isFinite(data.seed)) facts.push(`seed ${data.seed}`);
  if (data.nll) facts.push(`NLL ${short(data.nll.mean, 4)} (SD ${short(data.nll.sd, 3)})`);
  if (Number.isFinite(data.exact?.nll?.mean)) facts.push(`exact posterior ${short(data.exact.nll.mean, 4)}`);
  if (Number.isFinite(gap?.mean)) facts.push(`${withUncertainty(gap.mean, gap.error)}${gap.error > 0 ? ` ± ${withUncertainty(gap.error, gap.error)}` : ""} nats behind the exact posterior`);
  if (data.version) facts.push(`penn ${data.version}`);
  root.append(element("header", {}, element("h1", {}, data.title ?? `Evaluation: ${modelName(data.model)}`)), element("p", { class: "facts-line" }, facts.join(" · ")));
  const verdict = [data.verdict ?? []].flat();
  if (verdict.length) root.append(element("section", { class: "notices" }, element("div", { class: data.failed ? "warnings" : "verdict" }, element("h2", {}, "Verdict"), element("ul", {}, verdict.map((text) => element("li", {}, text))))));
  const figures = [];
  // One small plot per parameter.
  const series = (heading, note, name, height, draw) => {
    const list = parameters.map((p, k) => new Figure({ title: `${heading}: ${names[k]}`, heading: labels[k], name: `${name}_${p.name}`, width: 236, height, draw: (pen, w, h) => draw(pen, w, h, evaluation, k) }).redraw());
    figures.push(...list);
    root.append(element("section", { "data-section": name }, element("h2", {}, heading), element("p", { class: "note" }, note), element("div", { class: "grid" }, list.map((f) => f.node))));
  };
  const complete = evaluation.truth && evaluation.estimate;
  if (complete && evaluation.sd) root.append(accuracyTable(evaluation));
  if (complete) {
    series("Estimate against truth", "Shade: number of trajectories. Lines: 5, 25, 50, 75, 95 % quantiles of the estimate at a true value. Dashed: estimate = truth.", "estimates", 240, drawEstimates);
    root.append(errorMap(evaluation, figures, width));
  }
  if (complete && evaluation.sd) {
    series("z-scores", "(estimate − truth) / SD; the grey curve is N(0, 1), which calibrated posteriors of Gaussian shape follow.", "z", 190, drawZScores);
    series("Q-Q plots", "Quantiles of the z-scores against those of N(0, 1). Band: 99 % at each point.", "qq", 240, drawQq);
  }
  if (evaluation.rankCounts(0))
    series("Ranks of the truth", "Flat when the posterior is calibrated; heaped in the middle: too wide; at the ends: too narrow; tilted: biased. Band: 99 % for each bin.", "ranks", 190, drawRanks);
  if (evaluation.pit)
    series("Ranks, cumulative", "Fraction of ranks below minus the fraction expected. Band: 95 % for the whole curve.", "rank_difference", 190, drawRankDifference);
  const levels = evaluation.levels();
  if (levels) series("Coverage", `Fraction of truths inside the central interval of a level. Above the diagonal: too wide; below: too narrow. Band: 99 % at each level.${evaluation.pit && evaluation.markedLevels().length ? " Dots: the levels that the verdict is about." : ""}`, "coverage", 236, (pen, w, h, e, k) => drawCoverage(pen, w, h, e, k, levels));
  if (evaluation.jointCoverage()) root.append(jointTable(evaluation));
  const matrices = [["correlation_mean", "Correlation, mean over trajectories", true], ["correlation_sd", "Correlation, SD over trajectories", false]].filter(([key]) => data[key]);
  if (matrices.length) {
    const w = Math.min(width, Math.max(280, 46 * evaluation.size + 60), 580);
    const list = matrices.map(([key, title, diverging]) => new Figure({ title, name: key, width: w, height: heatMapHeight(w, labels), draw: (pen, pw) => drawHeatMap(pen, pw, labels, data[key], { diverging, limit: diverging ? 1 : 0.6 }) }).redraw());
    figures.push(...list);
    root.append(element("section", {}, element("h2", {}, "Couplings between parameters"), element("div", { class: "overview" }, list.map((f) => f.node))));
  }
  if (data.curve?.length) {
    const figure = new Figure({ title: "Loss", name: "loss", width: Math.min(width, 760), height: 320, draw: (pen, w, h) => drawLoss(pen, w, h, data.curve) }).redraw();
    figures.push(figure);
    root.append(element("section", {}, element("h2", {}, "Training"), figure.node));
  }
  globalThis.pennPage = { evaluation, figures };
  return globalThis.pennPage;
}

function accuracyTable(evaluation) {
  const rows = evaluation.parameters.map((parameter, k) => {
    const error = evaluation.error(k), z = evaluation.z(k), { low, high } = parameter;
    const at = (evaluation.levels() ?? []).findIndex((level) => Math.abs(level - 0.9) < 1e-9);
    const within = at >= 0 ? evaluation.coverage(k, evaluation.levels())[at] : NaN;
    return { name: parameter.name, k, error: mean(error), errorSd: deviation(error), sd: mean(evaluation.sd[k]), relative: mean(error) / (high - low), zMean: mean(z), zSd: deviation(z), within };
  });
  const signed = (x) => fixedDecimals(x, 2), heads = ["mean |error|", "SD of |error|", "fraction of the box", "mean posterior SD", "mean z", "SD of z", "90 % interval holds"];
  const csv = () => csvText([["parameter", "mae", "mae_sd", "mae_of_box", "posterior_sd", "z_mean", "z_sd", "coverage90"], ...rows.map((r) => [r.name, r.error, r.errorSd, r.relative, r.sd, r.zMean, r.zSd, r.within])]);
  const numbers = () => csvText([["trajectory", ...["truth", "estimate", "sd"].flatMap((what) => evaluation.parameters.map((p) => `${what}_${p.name}`))],
    ...Array.from({ length: evaluation.count }, (_, i) => [i + 1, ...["truth", "estimate", "sd"].flatMap((what) => evaluation[what].map((column) => column[i]))])]);
  return element("section", {}, element("h2", {}, "Accuracy"),
    element("div", { class: "scroll" }, element("table", { class: "summary" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "parameter"), heads.map((h) => element("th", { scope: "col" }, h)))),
      element("tbody", {}, rows.map((r) => element("tr", {}, element("th", { scope: "row" }, labelNodes(evaluation.labels[r.k])),
        [short(r.error), short(r.errorSd), percent(r.relative), short(r.sd), signed(r.zMean), r.zSd.toFixed(2), percent(r.within, 1)].map((text) => element("td", {}, text))))))),
    element("p", { class: "row" }, element("button", { type: "button", onclick: () => saveText(csv(), "text/csv", "accuracy.csv") }, "Table as CSV"),
      element("button", { type: "button", onclick: () => saveText(numbers(), "text/csv", "trajectories.csv") }, "All trajectories as CSV"),
      element("button", { type: "button", onclick: () => saveText(JSON.stringify(evaluation.data), "application/json", "evaluation.json") }, "Everything as JSON")));
}

// All parameters at once: how often the truth lies in the region of highest density that holds a fraction of the posterior.
function jointTable(evaluation) {
  const list = evaluation.jointCoverage(), { joint } = evaluation.data, row = (name, cells) => element("tr", {}, element("th", { scope: "row" }, name), cells);
  return element("section", { "data-section": "joint" }, element("h2", {}, "Joint regions"),
    element("p", { class: "note" }, "All parameters at once: fraction of truths inside the region of highest posterior density that holds a given fraction of the posterior."),
    element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ["fraction of the posterior", ...list.map((c) => percent(c.level))].map((h) => element("th", { scope: "col" }, h)))),
      element("tbody", {}, row("truths inside", list.map((c) => element("td", { class: c.fraction < c.band[0] || c.fraction > c.band[1] ? "failed" : "" }, percent(c.fraction, 1)))),
        row("when calibrated (99 %)", list.map((c) => element("td", {}, `${percent(c.band[0], 1)} to ${percent(c.band[1], 1)}`)))))),
    joint.findings?.length ? element("p", { class: joint.failed ? "failed" : "note" }, joint.findings.join(" ")) : null);
}

// What to show first: the parameter whose error varies most with a true value, over that value and the next most telling one.
function telling(evaluation) {
  const bins = 8, size = evaluation.size;
  let best = { unevenness: -1 };
  for (let k = 0; k < size; ++k) {
    const error = evaluation.error(k);
    const unevenness = evaluation.truth.map((truth, a) => {
      const [low, high] = evaluation.box(a), sums = new Float64Array(bins), counts = new Float64Array(bins);
      for (let i = 0; i < truth.length; ++i) {
        const b = Math.min(bins - 1, Math.max(0, Math.floor((bins * (truth[i] - low)) / (high - low))));
        sums[b] += error[i];
        ++counts[b];
      }
      const means = Array.from(sums, (s, b) => s / counts[b]).filter(Number.isFinite);
      return deviation(means) / mean(means);
    });
    const order = unevenness.map((_, a) => a).sort((x, y) => unevenness[y] - unevenness[x]);
    if (unevenness[order[0]] > best.unevenness) best = { k, a: order[0], b: order[1] ?? order[0], unevenness: unevenness[order[0]] };
  }
  return best;
}

// The error of one parameter over the true values of two, all three chosen by the reader.
function errorMap(evaluation, figures, width) {
  const state = telling(evaluation);
  const figure = new Figure({ title: "Error map", name: "error_map", width: Math.min(width, 640), height: 470, draw: (pen, w, h) => drawErrorMap(pen, w, h, evaluation, state.k, state.a, state.b) });
  const choose = (key) => (value) => ((state[key] = value), figure.redraw());
  figures.push(figure.redraw());
  return element("section", { "data-section": "error_map" }, element("h2", {}, "Where is the error large?"),
    element("div", { class: "row" }, select("error of", evaluation.names, state.k, choose("k")), select("over true", evaluation.names, state.a, choose("a")), select("and", evaluation.names, state.b, choose("b"))), figure.node);
}
