// The pages of `penn reproduce` in a real browser: every kind of panel, and the index.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { folder, launch, open, plots, watch } from "./browser.mjs";
import { gaussianDensity, reproduction, reproductionIndex } from "./reproduction_fixture.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

test("every_kind_of_panel_is_drawn_without_errors_or_requests", async () => {
  const data = reproduction(20000), page = await open(browser, "reproduction", data), all = await plots(page);
  const wanted = data.sections.flatMap((section) => section.panels).filter((panel) => panel.type !== "table");
  assert.equal(all.length, wanted.length);
  for (const plot of all) assert.ok(plot.drawn && plot.visible && !plot.broken && plot.ink > 200, JSON.stringify(plot));
  for (const type of ["trajectory", "pair", "density", "estimates", "error", "z", "qq", "matrix", "loss", "curves", "blocks"]) assert.ok(all.some((plot) => plot.name.startsWith(`${type}_`)), type);
  assert.equal(await page.locator(".error").count(), 0);
  assert.match(await page.textContent("h1"), /^Figure 0: /);
  assert.match(await page.textContent("dl.facts"), /ours.?−6\.512 \/ 1\.950.*paper.?−6\.495 \/ 1\.974/s);
  assert.equal(await page.locator("td", { hasText: "0.05" }).first().textContent(), "0.00, −0.05");
  assert.match(await page.textContent("code"), /^penn reproduce fig0 -o gallery$/);
  assert.deepEqual(page.problems, []);
  assert.deepEqual(page.requests, []);
  await page.close();
});

// Untrained models: the pages are the program's own, with everything a trained model would show but sense.
test("every_page_of_the_program_is_drawn_without_errors_or_requests", { timeout: 240000 }, async () => {
  const programs = process.env.PENN_TEST_PROGRAMS ?? fileURLToPath(new URL("../../build/tests/web", import.meta.url)), models = join(folder, "models"), gallery = join(folder, "gallery");
  const penn = process.env.PENN_PROGRAM ?? fileURLToPath(new URL("../../build/penn", import.meta.url));
  execFileSync(join(programs, "write_models"), [models, gallery]);
  execFileSync(penn, ["reproduce", "all", "-o", gallery, "--models", models, "-n", "300"], { stdio: "pipe" });
  const files = readdirSync(gallery).filter((name) => name.endsWith(".html"));
  assert.equal(files.length, 23);
  const page = await watch(await browser.newPage({ viewport: { width: 1280, height: 900 } }));
  for (const file of files) {
    await page.goto(pathToFileURL(join(gallery, file)).href);
    await page.waitForSelector("#penn[data-drawn], #penn .error");
    assert.equal(await page.locator(".error").count(), 0, file);
    for (const plot of await plots(page)) assert.ok(plot.drawn && plot.visible && !plot.broken && plot.ink > 200, `${file} ${JSON.stringify(plot)}`);
    assert.ok((await page.locator("figure, table").count()) > 0, file);
  }
  assert.deepEqual(page.problems, []);
  assert.deepEqual(page.requests, []);
  await page.goto(pathToFileURL(join(gallery, "index.html")).href);
  assert.equal(await page.locator("table a").count(), 22);
  await page.close();
});

test("every_section_with_plots_of_pairs_has_one_key_of_their_marks", async () => {
  const data = reproduction(300), two = data.sections.find((section) => section.heading === "pair").panels.slice(0, 2);
  data.sections.push({ heading: "two", note: "", panels: two }, { heading: "two more", note: "", panels: two });  // these stand side by side
  const page = await open(browser, "keys_of_pairs", data);
  const keys = await page.evaluate(() => Array.from(document.querySelectorAll("section"), (section) => [section.querySelector("h2")?.textContent, Array.from(section.querySelectorAll(".pair-key"), (key) => Array.from(key.querySelectorAll("text"), (t) => t.textContent))]).filter(([, list]) => list.length));
  const marks = ["50 % of the posterior", "68 %", "95 %", "estimate (mean)", "truth"], all = [...marks, "component, 1 sigma", "prior (uniform in its box)"];
  assert.deepEqual(keys, [["pair", [all]], ["density", [marks]], ["two", [all]], ["two more", [all]]]);
  const cut = await page.evaluate(() => Array.from(document.querySelectorAll(".pair-key svg")).filter((svg) => Array.from(svg.querySelectorAll("text")).some((t) => t.getBoundingClientRect().right > svg.getBoundingClientRect().right + 1 || t.getBoundingClientRect().bottom > svg.getBoundingClientRect().bottom + 1)).length);
  assert.equal(cut, 0);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test("nothing_is_wider_than_a_narrow_screen", async () => {
  const page = await open(browser, "narrow", reproduction(500), { viewport: { width: 420, height: 800 } });
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 420);
  await page.close();
});

test("labels_of_a_plot_neither_overlap_nor_reach_beyond_it", async () => {
  const page = await open(browser, "labels", reproduction(2000));
  const overlaps = await page.evaluate(() => Array.from(document.querySelectorAll("figure"), (figure) => {
    const boxes = Array.from(figure.querySelectorAll("svg text"), (t) => ({ text: t.textContent, ...t.getBoundingClientRect().toJSON() }));
    return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.4 * Math.min(a.height, b.height)).map((b) => `${figure.dataset.plot}: ${a.text} / ${b.text}`));
  }).flat());
  assert.deepEqual(overlaps, []);
  const cut = await page.evaluate(() => Array.from(document.querySelectorAll("figure svg"), (svg) => {
    const box = svg.getBoundingClientRect();
    return Array.from(svg.querySelectorAll("text")).filter((t) => t.getBoundingClientRect().right > box.right + 1 || t.getBoundingClientRect().left < box.left - 1).map((t) => `${svg.closest("figure").dataset.plot}: ${t.textContent}`);
  }).flat());
  assert.deepEqual(cut, []);
  await page.close();
});

// N(mean, Sigma) in two dimensions: the region with probability p has area 2 pi sqrt|Sigma| ln(1 / (1 - p)).
test("regions_of_a_gridded_density_have_the_gaussian_area", async () => {
  const panel = gaussianDensity(96), page = await open(browser, "area", { kind: "reproduction", number: "", title: "area", sections: [{ heading: "", panels: [panel] }] });
  const areas = await page.evaluate(() => {
    const svg = document.querySelector("figure svg"), axes = Array.from(svg.querySelectorAll("path")), shapes = axes.filter((p) => p.getAttribute("fill-opacity") === "0.2");
    return shapes.map((shape) => {
      const points = shape.getAttribute("d").match(/-?[\d.]+,-?[\d.]+/g).map((p) => p.split(",").map(Number));
      return Math.abs(points.reduce((sum, [x, y], i) => sum + x * points[(i + 1) % points.length][1] - points[(i + 1) % points.length][0] * y, 0)) / 2;
    });
  });
  const box = await page.evaluate(() => pennPage.figures[0].width), pixels = ((box - 70) / 1.6) * ((box + 6 - 50) / 1);  // per unit area
  const determinant = 0.2 * 0.1 * Math.sqrt(1 - 0.36);
  [0.95, 0.68, 0.5].forEach((p, i) => {
    const expected = 2 * Math.PI * determinant * Math.log(1 / (1 - p)) * pixels;
    assert.ok(Math.abs(areas[i] / expected - 1) < 0.02, `${p}: ${areas[i]} expected ${expected}`);
  });
  await page.close();
});

test("the_index_links_what_is_there_and_says_why_the_rest_is_not", async () => {
  const page = await open(browser, "index", reproductionIndex());
  assert.deepEqual(await page.locator("table a").evaluateAll((links) => links.map((a) => a.getAttribute("href"))), ["fig3.html", "fig4.html"]);
  assert.match(await page.textContent("tr.missing"), /penn train airfoil/);
  assert.match(await page.textContent("tbody tr:first-child"), /−6\.512 \/ 1\.950.*−6\.495 \/ 1\.974/);
  assert.deepEqual(page.problems, []);
  assert.deepEqual(page.requests, []);
  await page.close();
});

test("a_panel_of_an_unknown_type_says_so", async () => {
  const page = await open(browser, "unknown", { kind: "reproduction", title: "x", sections: [{ heading: "", panels: [{ type: "hologram" }] }] });
  assert.match(await page.textContent(".error"), /hologram/);
  await page.close();
});
