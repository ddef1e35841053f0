// The posterior report: {kind: "posterior", results: [...]}, one object per trajectory (see web/README.md for the fields).
import { element, saveText, select } from "./dom.js";
import { Explorer } from "./explorer.js";
import { Figure } from "./figure.js";
import { percent, count, short, withUncertainty } from "./numbers.js";
import { Posterior } from "./posterior_view.js";
import { drawFan, drawTrajectory, fanHeight, trajectoryHeight } from "./series_plot.js";
import { SummaryTable, notices, summaryCsv } from "./summary_table.js";

export function showPosterior(root, data) {
  if (!data.results?.length) throw new Error("no results in the data of this page");
  const body = element("div"), names = data.results.map((result, i) => result.name ?? `trajectory ${i + 1}`);
  const first = data.results[0];
  root.append(element("header", {}, element("h1", {}, data.title ?? `Posterior: ${first.model ?? "parameters"}`),
    data.results.length > 1 ? element("nav", { "aria-label": "trajectory" }, select("trajectory", names, 0, (i) => show(i))) : null), body);
  let page;
  const show = (i) => {
    body.replaceChildren();
    page = showResult(body, data.results[i], root.clientWidth || 1200, data.results.length > 1 ? names[i] : "");
    globalThis.pennPage = page;  // for tests and for the curious
  };
  show(0);
  return { page: () => page, show };
}

function showResult(body, result, width, name) {  // name: where there are several, so that a print says which it shows
  const posterior = new Posterior(result), facts = name ? [name] : [];
  if (result.sources?.length) facts.push(`combined from ${[...result.sources.slice(0, MOST_SOURCES), ...(result.sources.length > MOST_SOURCES ? [`${result.sources.length - MOST_SOURCES} more`] : [])].join(", ")}`);
  if (Number.isFinite(result.n)) facts.push(`${count(result.n)} samples`);
  if (Number.isFinite(result.sampling)) facts.push(`every ${short(result.sampling, 4)} time units`);
  if (result.version) facts.push(`penn ${result.version}`);
  body.append(element("p", { class: "facts-line" }, facts.join(" · ")), notices(result));

  const table = new SummaryTable(posterior), conditions = element("p", { class: "conditions", "aria-live": "polite" });
  const fileName = (result.name ?? result.model ?? "posterior").replace(/[^\w.-]+/g, "_");
  const explorer = new Explorer(posterior, width, (view) => {
    table.update(view);
    const held = [...view.fixed].map(([k, v]) => `${posterior.names[k]} = ${withUncertainty(v, posterior.distributions[k].sd())}`);
    conditions.textContent = held.length ? `Given ${held.join(", ")}.` : "";
  });
  body.append(element("section", {}, element("h2", {}, "Parameters"), conditions, table.node,
    element("p", { class: "row" },
      element("button", { type: "button", onclick: () => saveText(summaryCsv(explorer.view), "text/csv", `${fileName}.csv`) }, "Table as CSV"),
      element("button", { type: "button", onclick: () => saveText(JSON.stringify(result, null, 1), "application/json", `${fileName}.json`) }, "Posterior as JSON"))));
  const observed = observedSection(result, Math.min(width, 1180));
  if (observed) body.append(observed);
  body.append(element("h2", {}, "Explore"), explorer.node);
  explorer.refresh(false);
  if (result.predictive) body.append(predictiveSection(result, Math.min(width, 1180)));
  return { posterior, explorer, table, result };
}

// One trajectory; or those a combined result was made from, as a list in either field, in the order of its sources.
const MOST_SOURCES = 30, MOST_DRAWN = 12;
function observedSection(result, width) {
  const list = [result.trajectories ?? result.trajectory ?? []].flat().filter((trajectory) => trajectory?.values?.length), shown = list.slice(0, MOST_DRAWN), all = Math.max(list.length, result.sources?.length ?? 0);  // the program may send fewer than there were
  if (!shown.length) return null;
  if (list.length === 1) {
    const [trajectory] = list;
    return element("section", {}, new Figure({ title: "Observed trajectory", name: "trajectory", width, height: trajectoryHeight(trajectory), draw: (pen, w) => drawTrajectory(pen, w, trajectory) }).redraw().node);
  }
  const w = width > 900 ? Math.floor((width - 16) / 2) : width;
  return element("section", {}, element("h2", {}, "Observed trajectories"),
    all > shown.length ? element("p", { class: "note" }, `The first ${shown.length} of ${all}.`) : null,
    element("div", { class: "panels" }, shown.map((trajectory, i) => new Figure({ title: result.sources?.[i] ?? `trajectory ${i + 1}`, name: `trajectory_${i + 1}`, width: w, height: trajectoryHeight(trajectory), draw: (pen, pw) => drawTrajectory(pen, pw, trajectory) }).redraw().node)));
}

// What the library warns of (penn/answer/predictive.cc): beyond 98 % in the middle. Fewer than 50 simulations cannot show it: the outermost
// percentile of n is 50 / (n + 1).
const FAR_OUT = 0.01, FEWEST = 50;

function predictiveSection(result, width) {
  const { predictive } = result, trajectory = Array.isArray(result.trajectory) ? undefined : result.trajectory;
  const figure = predictive.t?.length && new Figure({
    title: "Posterior predictive", name: "predictive", width, height: fanHeight(predictive), draw: (pen, w) => drawFan(pen, w, predictive, trajectory),
    note: "Bands: 5 to 95 % and 25 to 75 % of trajectories simulated from the posterior; line: their median; grey: the observation.",
  }).redraw();
  // The percentile of a check is a fraction, that of a statistic (penn infer --json) a percentage.
  const list = predictive.checks ?? (predictive.statistics ?? []).map((s) => ({ ...s, percentile: s.percentile / 100 }));
  const spread = list.some((check) => Number.isFinite(check.low) && Number.isFinite(check.high));
  const few = predictive.simulated < FEWEST;
  const checks = list.map((check) => {
    const odd = !few && (check.percentile < FAR_OUT || check.percentile > 1 - FAR_OUT);
    return element("tr", { class: odd ? "odd" : "" }, element("th", { scope: "row" }, check.name), element("td", {}, short(check.observed, 4)), spread ? element("td", {}, `${short(check.low)} to ${short(check.high)}`) : null,
      element("td", {}, percent(check.percentile)), element("td", {}, odd ? "unlike the simulations" : few ? "too few simulations to tell" : "as simulated"));
  });
  return element("section", {}, element("h2", {}, "Does the posterior explain the observation?"), figure ? figure.node : null,
    checks.length ? element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ["statistic", "observed", ...(spread ? ["90 % of simulations"] : []), "simulations below", ""].map((h) => element("th", { scope: "col" }, h)))), element("tbody", {}, checks))) : null);
}
