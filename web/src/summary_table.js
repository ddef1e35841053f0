// The table of parameters: estimate, uncertainty, interval, contraction, truth; it follows the values held fixed. And the notices above it.
import { csvText, element, labelNodes } from "./dom.js";
import { fixedDecimals, percent, short, withUncertainty } from "./numbers.js";

const QUANTILES = [0.05, 0.5, 0.95];

// One row per parameter, numbers only: for the table and for the CSV file.
export function summaryRows(view, quantiles = QUANTILES) {
  const { posterior } = view, { result } = posterior;
  return posterior.parameters.map((parameter, k) => {
    const distribution = view.distribution(k), sd = distribution ? distribution.sd() : 0, truth = result.truth?.[k];
    const prior = (parameter.high - parameter.low) ** 2 / 12;
    return {
      name: parameter.name, fixed: !distribution, mean: view.mean(k), sd, quantiles: quantiles.map((p) => (distribution ? distribution.quantile(p) : view.mean(k))),
      contraction: distribution ? (view.fixed.size === 0 && Array.isArray(result.contraction) ? result.contraction[k] : 1 - sd * sd / prior) : NaN,
      truth, z: distribution && Number.isFinite(truth) ? (view.mean(k) - truth) / sd : NaN,
    };
  });
}

export function summaryCsv(view) {
  const probabilities = [0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975], truth = Boolean(view.posterior.result.truth);
  return csvText([
    ["parameter", "mean", "sd", ...probabilities.map((p) => `q${100 * p}`), "contraction", ...(truth ? ["truth", "z"] : []), "held_fixed"],
    ...summaryRows(view, probabilities).map((row) => [row.name, row.mean, row.sd, ...row.quantiles, Number.isFinite(row.contraction) ? row.contraction : "", ...(truth ? [row.truth, row.z] : []), row.fixed ? 1 : 0]),
  ]);
}

export class SummaryTable {
  constructor(posterior) {
    const truth = Boolean(posterior.result.truth);
    this.truth = truth;
    this.cells = posterior.parameters.map(() => Array.from({ length: truth ? 8 : 6 }, () => element("td")));
    const heads = ["estimate", "SD", "median", "90 % interval", "prior box", "contraction", ...(truth ? ["truth", "z"] : [])];
    this.node = element("div", { class: "scroll" }, element("table", { class: "summary" },
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "parameter"), heads.map((h) => element("th", { scope: "col" }, h)))),
      element("tbody", {}, posterior.parameters.map((_, k) => element("tr", {}, element("th", { scope: "row", title: posterior.parameters[k].name }, labelNodes(posterior.labels[k])), this.cells[k])))));
  }
  update(view) {
    summaryRows(view).forEach((row, k) => {
      const { low, high } = view.posterior.parameters[k], cells = this.cells[k], prior = high > low ? `${short(low)} to ${short(high)}` : "–", show = (x) => withUncertainty(x, row.sd);
      const texts = row.fixed
        ? [short(row.mean, 4), "held fixed", "", "", prior, ""]
        : [show(row.mean), show(row.sd), show(row.quantiles[1]), `${show(row.quantiles[0])} to ${show(row.quantiles[2])}`, prior, percent(Math.max(row.contraction, 0))];
      if (this.truth) texts.push(show(row.truth), Number.isFinite(row.z) ? fixedDecimals(row.z, 1) : "");
      texts.forEach((text, i) => (cells[i].textContent = text));
      cells[0].className = row.fixed ? "is-fixed" : "is-estimate";
      if (this.truth) cells[6].className = "is-truth";
      cells[5].style.setProperty("--fraction", row.fixed ? 0 : Math.min(1, Math.max(0, row.contraction || 0)));
      cells[5].classList.add("bar");
    });
  }
}

const sentences = (list) => element("ul", { class: list.length > 7 ? "long" : "" }, list.map((text) => element("li", {}, text)));  // never folded: a list that is closed is lost on paper
const listOf = (value) => (Array.isArray(value) ? value : value ? [value] : []);

// Verdict and warnings, in the library's own words; trust in numbers.
export function notices(result) {
  const warnings = listOf(result.warnings), verdict = listOf(result.verdict), facts = [];
  const typicality = typeof result.typicality === "object" ? result.typicality?.value : result.typicality;
  const outside = typeof result.outside_mass === "object" ? result.outside_mass?.value : result.outside_mass;
  if (Number.isFinite(typicality)) facts.push(["typicality", percent(typicality), "fraction of training trajectories at least as unusual as this one"]);
  if (Number.isFinite(outside) && !result.coordinates?.every((c) => c === "probit")) facts.push(["outside the prior box", percent(outside), "mass of the mixture where the prior has none"]);
  const modes = listOf(result.modes);
  if (modes.length) facts.push(["modes", modes.map((mode) => percent(mode.mass ?? mode.weight)).join(", "), "separate explanations and their fraction of the posterior"]);
  return element("section", { class: "notices", "aria-label": "verdict and warnings" },
    warnings.length ? element("div", { class: "warnings", role: "alert" }, element("h2", {}, warnings.length > 1 ? "Warnings" : "Warning"), sentences(warnings)) : null,
    verdict.length ? element("div", { class: "verdict" }, element("h2", {}, "Verdict"), sentences(verdict)) : null,
    facts.length ? element("dl", { class: "facts" }, facts.map(([name, value, meaning]) => element("div", { title: meaning }, element("dt", {}, name), element("dd", {}, value)))) : null);
}
