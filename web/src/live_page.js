// The live page of `penn serve`: pick a model, give it a CSV or draw a fresh trajectory, see the posterior (the same code as the report).
//   GET  api/models                       {models: [{name, title, parameters: [{name, label, low, high}], channels, length: [shortest, longest], usual_length, sampling: [low, high]}]}
//   POST api/infer?model=NAME             body: the CSV (or NPY) file                -> {kind: "posterior", results: [...]}
//        &file=NAME&columns=A,B&sampling=DT    optional: a name for messages; the options of `penn infer`
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
  const chooser = element("div"), message = element("div", { "aria-live": "polite" }), answer = element("div", { class: "answer", "data-answer": "none" });
  root.append(element("header", {}, element("h1", {}, data.title ?? "penn: parameters from one trajectory")), chooser, message, answer);
  let busy = false, next = null, shown = null, model = 0;  // model: counts the choices, so that an answer for an earlier one is dropped
  const clear = () => (answer.replaceChildren(element("p", { class: "note" }, "The posterior appears here.")), (shown = null));
  const complain = (error) => message.replaceChildren(element("p", { class: "error", role: "alert" }, error.message));
  const present = (posterior) => {
    const before = shown?.page().explorer;
    message.replaceChildren();
    answer.style.minHeight = `${answer.clientHeight}px`;  // else the page would be short for a moment, and scroll away from the slider
    answer.replaceChildren();
    shown = showPosterior(answer, posterior);
    answer.style.minHeight = "";
    const { explorer } = shown.page();
    if (before?.posterior.size === explorer.posterior.size && String(before.pair) !== String(explorer.pair)) explorer.choose(before.pair);
    answer.dataset.answer = String(Number(answer.dataset.answer === "none" ? 0 : answer.dataset.answer) + 1);
  };
  // One request at a time; of those that arrive meanwhile only the last is sent, so a slider never builds a queue.
  const run = async (request) => {
    if (busy) return (next = request);
    busy = true;
    answer.classList.add("busy");
    const asked = model;
    try {
      const posterior = await request();
      if (asked === model) present(posterior);
    } catch (error) {
      if (asked === model) complain(error), clear();  // what stood there belongs to other data
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
    const show = (i) => (++model, (next = null), message.replaceChildren(), clear(), panel.replaceChildren(modelPanel(models[i], run, complain)));
    chooser.append(element("div", { class: "row" }, select("model", models.map((m) => (m.title ? `${m.name}: ${m.title}` : m.name)), 0, show)), panel);
    show(0);
  }).catch(complain);
  for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (event) => event.preventDefault());  // a file that misses its box must not replace the page
  return { message, answer };
}

function modelPanel(model, run, complain) {
  const query = `?model=${encodeURIComponent(model.name)}`;
  const columns = element("input", { type: "text", size: 12, placeholder: "automatic", "aria-label": "columns", "data-option": "columns" });
  const sampling = element("input", { type: "text", inputmode: "decimal", size: 8, placeholder: "automatic", "aria-label": "time between samples", "data-option": "sampling" });
  let last = null;
  const infer = (file) => {
    last = file;
    const options = { file: file.name, columns: columns.value.trim(), sampling: sampling.value.trim() };
    const rest = Object.entries(options).filter(([, value]) => value).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`).join("");
    return run(async () => ask(`api/infer${query}${rest}`, { method: "POST", headers: { "Content-Type": "text/csv" }, body: await file.arrayBuffer() }));
  };
  for (const option of [columns, sampling]) option.addEventListener("change", () => last && infer(last));
  const input = element("input", { type: "file", accept: ".csv,.txt,.tsv,.dat,.npy,text/csv", "aria-label": "CSV file", onclick: () => (input.value = ""), onchange: () => input.files[0] && infer(input.files[0]) });
  const steps = [model.sampling ?? []].flat().map((x) => short(x, 4)), every = steps.length ? `, every ${[...new Set(steps)].join(" to ")} time units` : "";
  const drop = element("div", { class: "drop" }, element("p", {}, element("b", {}, "Your data. "), "Drop a CSV here, or choose one: "), input,
    element("p", { class: "note" }, `One row per sample: ${(model.channels ?? []).join(", ") || "the observed values"}${every}; a column named t is the time.`),
    element("div", { class: "row" }, element("label", { class: "select" }, "columns ", columns), element("label", { class: "select" }, "time between samples ", sampling)));
  drop.addEventListener("dragover", (event) => (event.preventDefault(), drop.classList.add("over")));
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const { files } = event.dataTransfer;
    if (files.length > 1) complain(new Error(`${files.length} files dropped, one trajectory at a time can be shown\nhint: \`penn infer MODEL FILE... --report page.html\` takes several`));
    else if (files[0]) infer(files[0]);
  });

  const theta = model.parameters.map((p) => (p.low + p.high) / 2), [shortest, longest] = [model.length].flat().length > 1 ? model.length : [model.length, model.length];
  let seed = 1;
  const length = element("input", { type: "number", min: shortest, max: longest, value: model.usual_length ?? longest ?? 1000, "aria-label": "number of samples" });
  const simulate = () => {
    const body = JSON.stringify({ theta, length: Number(length.value), seed });
    run(() => ask(`api/simulate${query}`, { method: "POST", headers: { "Content-Type": "application/json" }, body }));
  };
  const sliders = model.parameters.map((p, k) => {
    const value = element("output", {}, short(theta[k])), slider = element("input", { type: "range", min: 0, max: 1000, value: 500, "aria-valuetext": short(theta[k]), "aria-label": `true ${p.name}`, "data-truth": p.name });
    slider.addEventListener("input", () => {
      theta[k] = p.low + ((p.high - p.low) * slider.value) / 1000;
      value.textContent = short(theta[k]);
      slider.setAttribute("aria-valuetext", value.textContent);
      simulate();
    });
    return element("div", { class: "slider" }, element("span", { class: "label" }, labelNodes(parameterParts(p))), slider, value);
  });
  return element("div", { class: "live" }, drop, element("fieldset", {}, element("legend", {}, "Or simulate one with known parameters"), element("div", { class: "sliders" }, sliders),
    element("div", { class: "row" }, element("label", { class: "select" }, "samples ", length), element("button", { type: "button", class: "simulate", onclick: () => (++seed, simulate()) }, "Draw a fresh trajectory"))));
}
