// A figure or table of the paper, redrawn: {kind: "reproduction", number, title, caption, sections: [{heading, note, panels}], ...} (web/README.md).
// The plots are those of the two reports; this page only arranges them.
import { drawKey } from "./density_marks.js";
import { element } from "./dom.js";
import { Evaluation } from "./evaluation_data.js";
import { drawErrorMap, drawEstimates, drawLoss, drawPooledZ, drawQq } from "./evaluation_plots.js";
import { Figure } from "./figure.js";
import { drawHeatMap, heatMapHeight } from "./heat_map.js";
import { parameterParts } from "./labels.js";
import { count, fixedDecimals, short } from "./numbers.js";
import { SvgPen } from "./pen.js";
import { Posterior } from "./posterior_view.js";
import { blocksHeight, drawBlocks, drawCurves, drawDensity, drawSmallPair } from "./reproduction_plots.js";
import { drawOverlay, drawTrajectory, trajectoryHeight } from "./series_plot.js";

export function showReproduction(root, data) {
  const width = Math.min(root.clientWidth || 1200, 1180), figures = [], page = { data, figures, width, posteriors: {}, evaluations: {} };
  const heading = data.number ? `${data.number}: ${data.title}` : data.title;
  root.append(element("header", {}, element("h1", {}, heading)), element("p", {}, prose(data.caption ?? "")), ...[headline(data.headline)].filter(Boolean));
  let pairs = null;  // sections of two pairs stand side by side
  for (const [s, section] of (data.sections ?? []).entries()) {
    const body = section.panels.map((panel, i) => PANELS[panel.type]?.(panel, page, `${s + 1}_${i + 1}`, section.panels.filter((other) => other.type === panel.type).length) ?? unknown(panel));
    const isPairs = section.panels.length === 2 && section.panels.every((panel) => panel.type === "pair");
    if (isPairs && !pairs) root.append((pairs = element("div", { class: "side-by-side" })));
    if (!isPairs) pairs = null;
    (pairs ?? root).append(element("section", {}, section.heading ? element("h2", {}, section.heading) : null, section.note ? element("p", { class: "note" }, prose(section.note)) : null, pairKey(section, page, pairs ? (width - 16) / 2 : width), element("div", { class: "panels" }, body)));
  }
  if (data.notes?.length) root.append(element("section", { class: "notices notes" }, element("div", { class: "verdict" }, element("h2", {}, "Notes"), element("ul", {}, data.notes.map((text) => element("li", {}, prose(text)))))));
  if (data.models?.length) root.append(modelTable(data.models));
  const made = [data.command ? ["made by ", element("code", {}, data.command), " · "] : null, data.version ? `penn ${data.version}` : null];
  root.append(element("p", { class: "facts-line made" }, made.flat().filter(Boolean), data.item !== "index" && data.item ? [" · ", element("a", { href: "index.html" }, "all pages")] : null));
  globalThis.pennPage = page;
  return page;
}

// What the marks of a section's plots of pairs mean, once for the section.
function pairKey({ panels }, page, width) {
  const pairs = panels.filter((panel) => panel.type === "pair"), drawn = [...pairs, ...panels.filter((panel) => panel.type === "density")];
  if (!drawn.length) return null;
  const posteriors = pairs.map((panel) => posteriorOf(page, panel.posterior)), w = Math.min(width, 940), pen = new SvgPen(w, 10, (name) => `var(--${name})`, "key");
  const truth = drawn.length > pairs.length || posteriors.some((posterior) => posterior.result.truth);
  pen.height = drawKey(pen, 2, 14, { truth, components: pairs.length > 0, prior: posteriors.some((posterior) => posterior.parameters[0].high > posterior.parameters[0].low), across: w - 4 }) + 6;
  const node = element("div", { class: "plot pair-key" });
  node.style.width = `${w}px`;
  node.innerHTML = pen.markup(false);
  return node;
}

const unknown = (panel) => element("p", { class: "error", role: "alert" }, `unknown kind of panel "${panel.type}"`);

// Prose with its symbols: D_Lévy with a subscript, a real minus before a number.
const prose = (text) => signs(text).split(/(\p{L}+_\p{L}+)/u).map((part, i) => (i % 2 ? [part.split("_")[0], element("sub", {}, part.split("_")[1])] : part)).flat();

// A real minus before a number, and none before zero.
const signs = (text) => String(text).replace(/(^|[\s(/\u00b1])-(0(?:\.0+)?)(?![\d.])/g, "$1$2").replace(/(^|[\s(/\u00b1])-(?=[\d.])/g, "$1−");

function headline(line) {
  if (!line?.ours) return null;
  return element("dl", { class: "facts" }, [[line.what, null], ["ours", line.ours], line.paper ? ["paper", line.paper] : null].filter(Boolean).map(([name, value]) => element("div", {}, element("dt", {}, prose(name)), value ? element("dd", {}, prose(value)) : null)));
}

function modelTable(models) {
  const range = ([low, high]) => (low === high ? String(low) : `${low} to ${high}`);
  return element("section", {}, element("h2", {}, "Models"), element("div", { class: "scroll" }, element("table", {},
    element("thead", {}, element("tr", {}, ["model", "preset", "components", "training", "trajectories", "length", "validation NLL"].map((h) => element("th", { scope: "col" }, h)))),
    element("tbody", {}, models.map((m) => element("tr", {}, element("th", { scope: "row" }, m.name), [m.preset ?? "", `${m.components}, ${m.covariance}`, `${short(m.minutes)} min`,
      m.dataset > 0 ? `a set of ${count(m.dataset)}` : count(m.trajectories), range(m.lengths), fixedDecimals(m.validation_nll, 3)].map((text) => element("td", {}, text))))))));
}

const figure = (page, options) => {
  const parts = options.title.split(/(?<=\p{L})_(?=\p{L})|(?<=_\p{L}+)(?!\p{L})/u);  // "D_Lévy, x" -> D, Lévy, ", x"
  const heading = options.heading ?? (options.title.includes("_") ? parts.map((text, i) => ({ text, sub: i % 2 === 1 })) : undefined);
  const made = new Figure({ ...options, heading }).redraw();
  made.node.style.width = `min(100%, ${options.width}px)`;  // a long note must not widen it
  page.figures.push(made);
  return made.node;
};
// Width of one of `columns` panels in a row; five fit where there are five or ten of them.
const rowOf = (total) => (total % 5 === 0 ? 5 : 4);
const small = (page, columns = 4) => Math.max(220, Math.min(page.width, Math.floor((page.width - 16 * (columns - 1)) / columns)));
const evaluationOf = (page, key) => (page.evaluations[key] ??= new Evaluation(page.data.evaluations[key]));
const posteriorOf = (page, key) => (page.posteriors[key] ??= new Posterior(page.data.posteriors[key]));

// One function per type of panel: the panel's data, the page, a name for files -> a node.
const PANELS = {
  trajectory(panel, page, name, total) {
    const w = panel.overlay || total === 1 ? page.width : Math.min(page.width, 582), { trajectory } = panel;
    const height = panel.overlay ? 220 : trajectoryHeight(trajectory);
    return figure(page, { title: panel.title, name: `trajectory_${name}`, width: w, height, note: panel.note ? prose(panel.note) : null, draw: (pen, pw, ph) => (panel.overlay ? drawOverlay(pen, pw, ph, trajectory) : drawTrajectory(pen, pw, trajectory)) });
  },
  pair(panel, page, name, total) {
    const posterior = posteriorOf(page, panel.posterior), w = small(page, rowOf(total));
    return figure(page, { title: panel.title, name: `pair_${name}`, width: w, height: w + 6, draw: (pen, pw, ph) => drawSmallPair(pen, pw, ph, posterior, panel) });
  },
  density(panel, page, name, total) {
    const w = small(page, rowOf(total));
    return figure(page, { title: panel.title, name: `density_${name}`, width: w, height: w + 6, draw: (pen, pw, ph) => drawDensity(pen, pw, ph, panel) });
  },
  estimates(panel, page, name, total) {
    const evaluation = evaluationOf(page, panel.evaluation), w = small(page, rowOf(total));
    return figure(page, { title: `${evaluation.names[panel.k]}: estimate against truth`, heading: evaluation.labels[panel.k], name: `estimates_${name}`, width: w, height: w + 4, draw: (pen, pw, ph) => drawEstimates(pen, pw, ph, evaluation, panel.k) });
  },
  error_map(panel, page, name) {
    const evaluation = evaluationOf(page, panel.evaluation), w = small(page, 3);
    return figure(page, { title: `Error of ${evaluation.names[panel.k]}`, heading: [{ text: "error of " }, ...evaluation.labels[panel.k]], name: `error_${name}`, width: w, height: Math.round(0.82 * w), draw: (pen, pw, ph) => drawErrorMap(pen, pw, ph, evaluation, panel.k, panel.x, panel.y) });
  },
  z(panel, page, name) {
    const evaluation = evaluationOf(page, panel.evaluation);
    return figure(page, { title: panel.title, name: `z_${name}`, width: small(page, 2), height: 280, draw: (pen, pw, ph) => drawPooledZ(pen, pw, ph, evaluation, panel.columns) });
  },
  qq(panel, page, name, total) {
    const evaluation = evaluationOf(page, panel.evaluation), w = small(page, rowOf(total));
    return figure(page, { title: `${evaluation.names[panel.k]}: Q-Q plot`, heading: evaluation.labels[panel.k], name: `qq_${name}`, width: w, height: w, draw: (pen, pw, ph) => drawQq(pen, pw, ph, evaluation, panel.k) });
  },
  matrix(panel, page, name) {
    const labels = panel.parameters.map(parameterParts), w = Math.min(small(page, 2), Math.max(300, 56 * labels.length + 60));
    return figure(page, { title: `Correlation, ${panel.title}`, name: `matrix_${name}`, width: w, height: heatMapHeight(w, labels), draw: (pen, pw) => drawHeatMap(pen, pw, labels, panel.matrix, { diverging: panel.diverging, limit: panel.diverging ? 1 : 0.6 }) });
  },
  loss(panel, page, name) {
    return figure(page, { title: panel.title, name: `loss_${name}`, width: small(page, 3), height: 250, draw: (pen, pw, ph) => drawLoss(pen, pw, ph, panel.curve) });
  },
  curves(panel, page, name) {
    return figure(page, { title: panel.title, name: `curves_${name}`, width: small(page, 2), height: 300, draw: (pen, pw, ph) => drawCurves(pen, pw, ph, panel) });
  },
  blocks(panel, page, name) {
    return figure(page, { title: panel.title, name: `blocks_${name}`, width: page.width, height: blocksHeight(page.width, panel), draw: (pen, pw) => drawBlocks(pen, pw, panel) });
  },
  table(panel) {
    return element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, panel.head.map((h) => element("th", { scope: "col" }, prose(h))))),
      element("tbody", {}, panel.rows.map((row) => element("tr", { class: row.paper ? "of-paper" : "" }, row.cells.map((cell, i) => (i ? element("td", {}, prose(cell)) : element("th", { scope: "row" }, prose(cell)))))))));
  },
  index(panel) {
    const rows = panel.rows.map((row) => {
      const what = [element("th", { scope: "row" }, row.link ? element("a", { href: row.link }, row.number) : row.number), element("td", {}, row.title)];
      if (!row.link) return element("tr", { class: "missing" }, what, element("td", { colspan: 3 }, row.problem));
      const line = row.headline ?? {};
      if (row.problem) what[1].append(element("p", { class: "note" }, row.problem));
      return element("tr", {}, what, [line.what, line.ours, line.paper].map((text) => element("td", {}, prose(text ?? ""))));
    });
    return element("div", { class: "scroll" }, element("table", { class: "index" }, element("thead", {}, element("tr", {}, ["", "what", "main number", "ours", "paper"].map((h) => element("th", { scope: "col" }, h)))), element("tbody", {}, rows)));
  },
};
