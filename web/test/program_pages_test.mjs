// Reports as the program itself writes them, from a shipped model: every panel is there and drawn.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { folder, launch, plots, watch } from "./browser.mjs";

const penn = (...words) => execFileSync(process.env.PENN_PROGRAM ?? fileURLToPath(new URL("../../build/penn", import.meta.url)), words, { stdio: "pipe" });
const data = join(folder, "data");
let browser;
before(async () => {
  browser = await launch();
  penn("simulate", "soup", "-n", "3", "--length", "400", "--csv", "-o", data);
});
after(() => browser.close());

async function openReport(name) {
  const page = await watch(await browser.newPage({ viewport: { width: 1280, height: 900 } }));
  await page.goto(pathToFileURL(join(folder, name)).href);
  await page.waitForSelector("#penn[data-drawn], #penn .error");
  assert.equal(await page.locator(".error").count(), 0);
  const all = await plots(page);
  for (const plot of all) assert.ok(plot.drawn && plot.visible && !plot.broken && plot.ink > 60, JSON.stringify(plot));
  assert.deepEqual(page.problems, []);
  assert.deepEqual(page.requests, []);
  return { page, names: all.map((plot) => plot.name), text: await page.textContent("#penn") };
}

const csv = () => readdirSync(data).filter((name) => name.endsWith(".csv") && !name.startsWith("theta")).map((name) => join(data, name));

test("the_report_of_one_trajectory", async () => {
  penn("infer", "soup", csv()[0], "--predictive", "60", "--report", join(folder, "one.html"));
  const { page, names, text } = await openReport("one.html");
  for (const panel of ["trajectory", "pair", "correlation"]) assert.ok(names.some((name) => name.startsWith(panel)), `${panel} in ${names}`);
  assert.match(text, /lg τ/);
  await page.close();
});

test("the_report_of_combined_trajectories_shows_all_of_them_and_their_names", async () => {
  penn("infer", "soup", ...csv(), "--combine", "--report", join(folder, "combined.html"));
  const { page, names, text } = await openReport("combined.html");
  assert.equal(names.filter((name) => name.startsWith("trajectory")).length, 3, `${names}`);
  for (const file of csv()) assert.ok(text.includes(file.split("/").pop()), file);
  await page.close();
});

test("the_report_of_an_evaluation_has_every_section", async () => {
  try {
    penn("evaluate", "soup", "-n", "300", "--length", "400", "--report", join(folder, "evaluation.html"));
  } catch (error) {
    assert.equal(error.status, 3);  // the calibration failed, which may be by chance
  }
  const { page, names, text } = await openReport("evaluation.html");
  for (const section of ["estimates", "z", "qq", "ranks", "rank_difference", "coverage"]) assert.equal(names.filter((name) => name.match(`^${section}_[^_]+$`) || name.match(`^${section}_(lg_tau|D)$`)).length, 2, `${section} in ${names}`);
  for (const name of ["error_map", "correlation_mean", "correlation_sd", "loss"]) assert.ok(names.includes(name), name);
  assert.match(text, /400 samples/);
  assert.match(text, /exact posterior/);
  await page.close();
});
