// The live page of `penn serve`: pick a model, give it a CSV or draw a fresh trajectory, see the posterior (the same code as the report).
//   GET  api/models                       {models: [{name, title, parameters: [{name, label, low, high}], length: [shortest, longest], sampling}]}
//   POST api/infer?model=NAME             body: the CSV text                         -> {kind: "posterior", results: [...]}
//   POST api/simulate?model=NAME          body: {theta: [M], length, seed}           -> the same, with `truth`
// An answer other than 2xx is {error: message, hint} and is shown in the library's own words.
import { element, labelNodes, select } from "./dom.js";
import { parameterParts } from "./labels.js";
import { short } from "./numbers.js";
import { showPosterior } from "./posterior_page.js";

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("the program does not answer\nhint: is `penn serve` still running?");
  }
  const text = await response.text();
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Error(`answer ${response.status} is not JSON: ${text.slice(0, 200)}`);
  }
  if (!response.ok) throw new Error([answer.error ?? `answer ${response.status}`, answer.hint ? `hint: ${answer.hint}` : ""].filter(Boolean).join("\n"));
  return answer;
}

export function showLive(root, data) {
  const chooser = element("div"), message = element("div", { "aria-live": "polite" }), answer = element("div", { "data-answer": "none" });
  root.append(element("header", {}, element("h1", {}, data.title ?? "penn: parameters from one trajectory")), chooser, message, answer);
  let busy = false, next = null;
  // One request at a time; of those that arrive meanwhile only the last is sent, so a slider never builds a queue.
  const run = async (request) => {
    if (busy) return (next = request);
    busy = true;
    answer.classList.add("busy");
    try {
      const posterior = await request();
      message.replaceChildren();
      answer.replaceChildren();
      showPosterior(answer, posterior);
      answer.dataset.answer = String(Number(answer.dataset.answer === "none" ? 0 : answer.dataset.answer) + 1);
    } catch (error) {
      message.replaceChildren(element("p", { class: "error", role: "alert" }, error.message));
      answer.replaceChildren();  // what stood there belongs to other data
    }
    answer.classList.remove("busy");
    busy = false;
    const waiting = next;
    next = null;
    if (waiting) run(waiting);
  };
  ask("api/models").then(({ models }) => {
    if (!models.length) throw new Error("no models\nhint: train one with `penn train SYSTEM`");
    const panel = element("div");
    const show = (i) => panel.replaceChildren(modelPanel(models[i], run));
    chooser.append(element("div", { class: "row" }, select("model", models.map((m) => (m.title ? `${m.name}: ${m.title}` : m.name)), 0, show)), panel);
    show(0);
  }).catch((error) => message.replaceChildren(element("p", { class: "error", role: "alert" }, error.message)));
  return { message, answer };
}

function modelPanel(model, run) {
  const query = `?model=${encodeURIComponent(model.name)}`;
  const infer = async (file) => run(async () => ask(`api/infer${query}`, { method: "POST", headers: { "Content-Type": "text/csv" }, body: await file.text() }));
  const input = element("input", { type: "file", accept: ".csv,.txt,text/csv", "aria-label": "CSV file", onchange: () => input.files[0] && infer(input.files[0]) });
  const drop = element("div", { class: "drop" }, element("p", {}, element("b", {}, "Your data. "), "Drop a CSV here, or choose one: "), input);
  drop.addEventListener("dragover", (event) => (event.preventDefault(), drop.classList.add("over")));
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files[0]) infer(event.dataTransfer.files[0]);
  });

  const theta = model.parameters.map((p) => (p.low + p.high) / 2), [shortest, longest] = [model.length].flat().length > 1 ? model.length : [model.length, model.length];
  let seed = 1;
  const length = element("input", { type: "number", min: shortest, max: longest, value: longest ?? 1000, "aria-label": "number of samples" });
  const simulate = () => {
    const body = JSON.stringify({ theta, length: Number(length.value), seed });
    run(() => ask(`api/simulate${query}`, { method: "POST", headers: { "Content-Type": "application/json" }, body }));
  };
  const sliders = model.parameters.map((p, k) => {
    const value = element("output", {}, short(theta[k])), slider = element("input", { type: "range", min: 0, max: 1000, value: 500, "aria-label": `true ${p.name}`, "data-truth": p.name });
    slider.addEventListener("input", () => {
      theta[k] = p.low + ((p.high - p.low) * slider.value) / 1000;
      value.textContent = short(theta[k]);
      simulate();
    });
    return element("div", { class: "slider" }, element("span", { class: "label" }, labelNodes(parameterParts(p))), slider, value);
  });
  return element("div", { class: "live" }, drop, element("fieldset", {}, element("legend", {}, "Or simulate one with known parameters"), sliders,
    element("div", { class: "row" }, element("label", { class: "select" }, "samples ", length), element("button", { type: "button", class: "simulate", onclick: () => (++seed, simulate()) }, "Draw a fresh trajectory"))));
}
