// Simulated trajectories: {kind: "simulation", system, title, n, parameters, trajectories: [{theta, trajectory}], version} (web/README.md).
import { element, labelNodes } from "./dom.js";
import { Figure } from "./figure.js";
import { parameterParts, plainLabel } from "./labels.js";
import { count, short } from "./numbers.js";
import { drawTrajectory, trajectoryHeight } from "./series_plot.js";

export function showSimulation(root, data) {
  if (!data.trajectories?.length) throw new Error("no trajectories in the data of this page");
  const full = Math.min(root.clientWidth || 1200, 1180), several = data.trajectories.length > 1;
  const width = several && full > 900 ? Math.floor((full - 16) / 2) : full, labels = data.parameters.map(parameterParts);
  const thinned = data.trajectories.map(({ trajectory }) => trajectory.thinned).find(Boolean);
  const facts = [data.system, `${data.trajectories.length} simulated ${several ? "trajectories" : "trajectory"} of ${count(data.n)} samples`, `penn ${data.version}`];
  const figures = data.trajectories.map(({ theta, trajectory }, i) => {
    const title = `Trajectory ${i + 1}: ${theta.map((value, k) => `${plainLabel(labels[k])} = ${short(value, 4)}`).join(", ")}`;
    const figure = new Figure({ title, heading: [{ text: `Trajectory ${i + 1}` }], name: `trajectory_${i + 1}`, width, height: trajectoryHeight(trajectory), draw: (pen, w) => drawTrajectory(pen, w, trajectory) }).redraw();
    figure.node.append(element("p", { class: "values" }, theta.map((value, k) => element("span", {}, element("b", {}, labelNodes(labels[k])), ` ${short(value, 4)}`)).flatMap((node) => [node, " "])));
    return figure;
  });
  root.append(element("header", {}, element("h1", {}, data.title)), element("p", { class: "facts-line" }, facts.filter(Boolean).join(" · ")),
    ...(thinned ? [element("p", { class: "note" }, `Drawn: ${thinned}.`)] : []), element("div", { class: "panels" }, figures.map((figure) => figure.node)));
  globalThis.pennPage = { data, figures };
  return globalThis.pennPage;
}
