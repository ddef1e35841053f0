// Corner plot, large view and sliders: one state (pair, values held fixed, axes, weight threshold), all plots drawn from it.
import { cornerLayout, cornerPanelAt, drawCorner } from "./corner_plot.js";
import { element, labelNodes, select } from "./dom.js";
import { Figure } from "./figure.js";
import { drawHeatMap, heatMapHeight } from "./heat_map.js";
import { percent, withUncertainty } from "./numbers.js";
import { drawLargePair, drawPairKey } from "./pair_plot.js";
import { View } from "./posterior_view.js";
import { SvgPen } from "./pen.js";

const COARSE = { corner: 18, large: 64 };  // cells of a grid while a slider moves
const FINE = { corner: 40, large: 128 };  // and at rest

export class Explorer {
  // onView(view): called after every change, for the table
  constructor(posterior, width, onView) {
    this.posterior = posterior;
    this.onView = onView;
    this.fixed = new Map();
    this.box = false;
    this.threshold = 0.05;
    this.cells = FINE;
    this.pair = strongestPair(posterior);
    this.view = posterior.whole;
    const size = posterior.size, cornerWidth = Math.min(width, size === 1 ? 420 : Math.max(460, 150 * size + 70)), large = Math.min(560, width);
    const options = (cells, rest) => ({ box: this.box, threshold: this.threshold, cells, rest, chosen: this.pair });
    this.corner = new Figure({
      title: "All parameters", name: "corner", canvas: true, width: cornerWidth, height: cornerLayout(size, cornerWidth).height,
      draw: (pen, w, _, screen) => drawCorner(pen, w, this.view, { ...options(screen ? this.cells.corner : 64, FINE.corner), chosen: screen ? this.pair : null }),
      note: "Click a panel, or focus the plot and use the arrow keys, to see it large.",
    });
    this.large = new Figure({
      title: "Chosen pair", name: "pair", canvas: true, width: large, height: Math.round(0.88 * large),
      draw: (pen, w, h, screen) => drawLargePair(pen, w, h, this.view, this.pair, options(screen ? this.cells.large : 160, FINE.large)),
    });
    const heat = Math.min(width, Math.max(260, 46 * size + 60), 620);
    this.heat = new Figure({
      title: "Correlation", name: "correlation", width: heat, height: heatMapHeight(heat, posterior.labels),
      draw: (pen, w) => drawHeatMap(pen, w, posterior.labels, this.correlation(), { muted: [...this.fixed.keys()] }),
    });
    this.buildControls();
    this.listen();
  }

  // (M x M) in the order of all parameters; rows of fixed ones hold NaN
  correlation() {
    const inner = this.view.joint.correlation(), at = this.view.position;
    return at.map((i) => at.map((j) => (i < 0 || j < 0 ? NaN : inner[i][j])));
  }

  buildControls() {
    const { posterior } = this, names = posterior.names;
    this.selects = [0, 1].map((which) => select(which ? "vertical" : "horizontal", names, this.pair[which], (k) => this.choose(which ? [this.pair[0], k] : [k, this.pair[1]])));
    this.sliders = posterior.parameters.map((parameter, k) => {
      const [low, high] = posterior.slideRange(k), input = element("input", { type: "range", min: 0, max: 1000, step: 1, "aria-label": `hold ${names[k]} fixed`, "data-parameter": parameter.name });
      input.value = Math.round((1000 * (posterior.whole.mean(k) - low)) / (high - low));
      input.addEventListener("input", () => this.hold(k, low + ((high - low) * input.value) / 1000));
      const value = element("output", {}, "free"), free = element("button", { type: "button", class: "free", "aria-label": `free ${names[k]}`, onclick: () => this.free(k) }, "free");
      const row = element("div", { class: "slider" }, element("span", { class: "label" }, labelNodes(posterior.labels[k])), input, value, free);
      return { input, value, free, row };
    });
    const threshold = element("input", { type: "range", min: 0, max: 0.5, step: 0.01, value: this.threshold, "aria-label": "smallest weight of a component that is drawn" });
    const shown = element("output", {}, percent(this.threshold));
    threshold.addEventListener("input", () => {
      this.threshold = Number(threshold.value);
      shown.textContent = percent(this.threshold);
      this.schedule();
    });
    const box = element("input", { type: "checkbox", onchange: () => ((this.box = box.checked), this.schedule()) });
    this.key = element("div", { class: "key plot" });
    this.hint = element("p", { class: "note hint", "aria-live": "polite" });
    this.controls = element("div", { class: "controls" },
      element("div", { class: "row" }, this.selects),
      element("fieldset", {}, element("legend", {}, "Hold parameters fixed"),
        element("p", { class: "note" }, posterior.size > 1 ? "Every plot then shows the posterior of the others, given these values." : "There is only one."),
        this.sliders.map((slider) => slider.row),
        this.hint,
        element("button", { type: "button", class: "all-free", onclick: () => this.freeAll() }, "Free all")),
      element("div", { class: "row" }, element("label", { class: "select" }, "components above ", threshold, " ", shown), element("label", { class: "select" }, box, " show the whole prior box")),
      this.key);
    this.node = element("section", { class: "explorer" }, element("div", { class: "pair" }, this.large.node, this.controls), element("div", { class: "overview" }, this.corner.node, posterior.size > 1 ? this.heat.node : null));
  }

  listen() {
    const canvas = this.corner.plot, size = this.posterior.size;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", "corner plot of all parameters; arrow keys choose a pair");
    const panel = (event) => {
      const bounds = canvas.getBoundingClientRect(), scale = this.corner.width / bounds.width;
      return cornerPanelAt(cornerLayout(size, this.corner.width), size, (event.clientX - bounds.left) * scale, (event.clientY - bounds.top) * scale);
    };
    canvas.addEventListener("click", (event) => panel(event) && this.choose(panel(event), true));
    canvas.addEventListener("mousemove", (event) => (canvas.style.cursor = panel(event) ? "pointer" : ""));
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      const [a, b] = [Math.min(...this.pair), Math.max(...this.pair)];
      const column = Math.min(size - 1, Math.max(0, a + step[0])), row = Math.min(size - 1, Math.max(0, b + step[1]));
      if (row >= column) this.choose([column, row]);
    });
  }

  choose(pair, scroll = false) {
    this.pair = pair;
    this.left = null;
    for (const k of pair) this.fixed.delete(k);  // what is shown large cannot be held fixed
    this.refresh(false);
    if (scroll && this.large.node.getBoundingClientRect().top < 0) this.large.node.scrollIntoView({ block: "start" });
  }
  // What is held fixed leaves the large view, which then shows the other parameter alone, until it is free again.
  hold(k, value) {
    this.fixed.set(k, value);
    if (this.pair.includes(k)) {
      const next = this.pair.find((other) => other !== k) ?? this.posterior.parameters.findIndex((_, other) => !this.fixed.has(other));
      this.left ??= this.pair;
      this.pair = [next, next];
    }
    this.schedule();
  }
  free(k) {
    this.fixed.delete(k);
    this.rejoin();
    this.refresh(false);
    this.sliders[k].input.focus();  // the button that had it is hidden now
  }
  freeAll() {
    this.fixed.clear();
    this.rejoin();
    this.refresh(false);
  }
  rejoin() {
    if (this.left?.every((k) => !this.fixed.has(k))) (this.pair = this.left), (this.left = null);
  }

  // While something moves: at most one drawing per frame on coarse grids; fine grids when it rests.
  schedule() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.refresh(true);
    });
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.refresh(false), 250);
  }

  refresh(moving) {
    const start = performance.now();
    this.cells = moving ? COARSE : FINE;
    const same = this.fixed.size === this.view.fixed.size && [...this.fixed].every(([k, v]) => this.view.fixed.get(k) === v);
    if (!same) this.view = this.fixed.size ? new View(this.posterior, new Map(this.fixed)) : this.posterior.whole;
    this.large.redraw();
    this.corner.redraw();
    if (!same || !this.heat.node.dataset.drawn) this.heat.redraw();
    this.updateControls();
    this.onView(this.view);
    this.lastRefresh = performance.now() - start;  // milliseconds; the test prints it
  }

  updateControls() {
    const { posterior } = this;
    this.large.plot.setAttribute("aria-label", `density of ${[...new Set(this.pair)].map((k) => posterior.names[k]).join(" and ")}`);
    this.selects.forEach((label, which) => (label.querySelector("select").value = this.pair[which]));
    this.sliders.forEach(({ input, value, free, row }, k) => {
      const held = this.fixed.has(k), shown = this.pair.includes(k), distribution = posterior.whole.distribution(k);
      input.disabled = !held && this.fixed.size === posterior.size - 1;  // the only one left to show
      free.hidden = !held;
      row.classList.toggle("held", held);
      value.textContent = held ? withUncertainty(this.fixed.get(k), distribution.sd()) : shown ? "shown" : "free";
      input.setAttribute("aria-valuetext", value.textContent);
      value.title = held ? `${percent(distribution.cdf(this.fixed.get(k)))} of the posterior lies below` : "";
    });
    const held = this.left?.filter((k) => this.fixed.has(k)).map((k) => posterior.names[k]);
    this.hint.textContent = held ? `${[...new Set(held)].join(" and ")} held fixed: the large view shows ${posterior.names[this.pair[0]]} alone, until you free ${held.length > 1 ? "them" : "it"}.`
      : posterior.size > 1 ? "Holding a parameter of the large view leaves the other one there alone." : "";
    const pen = new SvgPen(220, 10, (name) => `var(--${name})`, "key");
    pen.height = drawPairKey(pen, this.view, this.pair) + 8;
    this.key.innerHTML = pen.markup(false);
  }
}

// The pair worth looking at first: the largest correlation.
function strongestPair(posterior) {
  const r = posterior.distribution.correlation();
  let best = [0, posterior.size > 1 ? 1 : 0];
  for (let b = 1; b < posterior.size; ++b) for (let a = 0; a < b; ++a) if (Math.abs(r[a][b]) > Math.abs(r[best[0]][best[1]]) || best[0] === best[1]) best = [a, b];
  return best;
}
