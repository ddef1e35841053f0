// What the pages call: penn.show(data) draws {kind: "posterior" | "evaluation" | "live" | "reproduction" | "simulation"} into the element with id "penn". A page that carries
// its data in <script type="application/json" id="penn-data"> is drawn as soon as this script runs.
import { element } from "./dom.js";
import { showEvaluation } from "./evaluation_page.js";
import { followColorScheme } from "./figure.js";
import { showLive } from "./live_page.js";
import { DARK, LIGHT, cssVariables } from "./palette.js";
import { showPosterior } from "./posterior_page.js";
import { showReproduction } from "./reproduction_page.js";
import { showSimulation } from "./simulation_page.js";
import style from "./style.css";

const PAGES = { posterior: showPosterior, evaluation: showEvaluation, live: showLive, reproduction: showReproduction, simulation: showSimulation };

export function show(data, root = document.getElementById("penn")) {
  if (!document.getElementById("penn-style")) {
    const colors = `:root { color-scheme: light dark; ${cssVariables(LIGHT)} }\n@media screen and (prefers-color-scheme: dark) { :root { ${cssVariables(DARK)} } }\n`;
    const sheet = element("style", { id: "penn-style" });
    sheet.textContent = colors + style;
    document.head.append(sheet);
    followColorScheme();
  }
  root.classList.add("penn");
  root.replaceChildren();
  try {
    const page = PAGES[data.kind];
    if (!page) throw new Error(`unknown kind of page "${data.kind}"; known: ${Object.keys(PAGES).join(", ")}`);
    const shown = page(root, data);
    root.dataset.drawn = String(Math.round(performance.now()));  // milliseconds since the page was opened
    return shown;
  } catch (error) {
    root.append(element("p", { class: "error", role: "alert" }, `This page could not be drawn: ${error.message}`));
    console.error(error);
    return null;
  }
}

const data = document.getElementById("penn-data");
if (data) show(JSON.parse(data.textContent));
