// The evaluation report in a real browser, and its numbers against theory.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Evaluation, binomialBand, columnsOf, histogram2d, normalQq, quantile, quantileLines } from "../src/evaluation_data.js";
import { normalCdf, normalQuantile } from "../src/normal.js";
import { download, launch, open, plots } from "./browser.mjs";
import { evaluation, generator } from "./fixtures.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

test("every_section_is_drawn_for_twenty_thousand_trajectories", async () => {
  const page = await open(browser, "evaluation", evaluation(20000));
  const all = await plots(page), names = all.map((plot) => plot.name);
  for (const section of ["estimates", "z", "qq", "ranks", "rank_difference", "coverage"]) assert.equal(names.filter((name) => name.startsWith(`${section}_`) && !name.startsWith("rank_difference_") || (section === "rank_difference" && name.startsWith("rank_difference_"))).length, 5, section);
  for (const name of ["error_map", "correlation_mean", "correlation_sd", "loss"]) assert.ok(names.includes(name), name);
  for (const plot of all) assert.ok(plot.drawn && plot.visible && !plot.broken && plot.ink > 450, JSON.stringify(plot));
  console.log(`  evaluation of 20,000: ${(page.bytes / 1e6).toFixed(2)} MB, drawn ${await page.getAttribute("#penn", "data-drawn")} ms after opening`);
  assert.deepEqual(page.problems, []);
  assert.deepEqual(page.requests, []);
  await page.close();
});

test("choosing_other_parameters_redraws_the_error_map", async () => {
  const page = await open(browser, "error_map", evaluation(2000)), map = () => page.innerHTML('figure[data-plot="error_map"] .plot');
  const first = await map();
  await page.locator('[data-section="error_map"] select').nth(1).selectOption("0");
  const second = await map();
  assert.notEqual(second, first);
  assert.match(second, /true /);
  const svg = readFileSync(await download(page, () => page.click('figure[data-plot="error_map"] button:has-text("SVG")')), "utf8");
  assert.equal(await page.evaluate((xml) => new DOMParser().parseFromString(xml, "image/svg+xml").querySelectorAll("parsererror").length, svg), 0);
  await page.close();
});

test("the_table_names_the_narrow_parameter", async () => {
  const page = await open(browser, "accuracy", evaluation(20000));
  const rows = await page.locator(".summary tbody tr").allTextContents(), sd = await page.locator(".summary tbody tr td:nth-child(7)").allTextContents();
  assert.equal(rows.length, 5);
  sd.forEach((text, k) => assert.ok(Math.abs(Number(text) - (k === 4 ? 1.4 : 1)) < 0.03, text));  // 20,000 draws: 0.005
  await page.close();
});

// penn evaluate --json: flat lists, ranks and coverage per parameter, correlations as pairs, no ranks of single trajectories.
test("the_object_of_penn_evaluate_is_drawn_as_well", async () => {
  const plain = evaluation(400, false), flat = (table) => table.flat();
  const object = {
    kind: "evaluation", penn: "0.1.0", model: "oup", count: 400, nll: { mean: -6.4, sd: 2, error: 0.1 }, failed: false, verdict: ["Calibrated."],
    parameters: plain.parameters.map((p) => ({ name: p.name, ranks: new Array(20).fill(20), coverage: [0.5, 0.8, 0.9, 0.95].map((level) => ({ level, fraction: level })) })),
    correlations: plain.parameters.flatMap((p, a) => plain.parameters.slice(a + 1).map((q) => ({ first: p.name, second: q.name, mean: 0.3, sd: 0.1 }))),
    trajectories: { truth: flat(plain.truth), mean: flat(plain.estimate), sd: flat(plain.sd) },
  };
  const page = await open(browser, "program", object), all = await plots(page);
  assert.deepEqual([...new Set(all.map((plot) => plot.name.replace(/_(lg_tau|D_fgn|H|D_levy|alpha)$/, "")))], ["estimates", "error_map", "z", "qq", "ranks", "coverage", "correlation_mean", "correlation_sd"]);
  for (const plot of all) assert.ok(plot.drawn && !plot.broken && plot.ink > 450, JSON.stringify(plot));
  assert.match(await page.textContent(".facts-line"), /^400 trajectories · NLL −6\.4 \(SD 2\) · penn 0\.1\.0$/);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test("length_seed_joint_coverage_and_the_gap_to_the_exact_posterior_are_told", async () => {
  const object = { ...evaluation(400), length: 1000, seed: 7, data: "", exact: { nll: { mean: -3.7592, sd: 1.28 }, gap: { mean: 0.0223, sd: 0.21, error: 0.0047 } },
    joint: { coverage: [[0.5, 0.497], [0.8, 0.801], [0.9, 0.85], [0.95, 0.952]].map(([level, fraction]) => ({ level, fraction })), ranks: [], failed: true, findings: ["90 % regions hold 85 %."] } };
  const page = await open(browser, "told", object);
  assert.match(await page.textContent(".facts-line"), /^400 trajectories of 1,000 samples · seed 7 · NLL −6\.48 \(SD 1\.97\) · exact posterior −3\.759 · 0\.0223 ± 0\.0047 nats behind the exact posterior · penn/);
  const joint = page.locator('[data-section="joint"]');
  assert.deepEqual(await joint.locator("tbody tr:first-child td").allTextContents(), ["49.7 %", "80.1 %", "85 %", "95.2 %"]);
  assert.deepEqual(await joint.locator("td.failed").allTextContents(), ["85 %"]);  // 400 trajectories: 90 % +- 3.9 %
  assert.match(await joint.textContent(), /90 % regions hold 85 %\./);
  assert.deepEqual(page.problems, []);
  await page.close();
  const file = await open(browser, "told_file", { ...object, data: "set/" });
  assert.match(await file.textContent(".facts-line"), /samples · from set\/ · NLL/);  // a seed says nothing about data that were given
  await file.close();
});

// Ranks u of a posterior that is too narrow by 1.4: P(|2u - 1| <= p) = 2 Phi(Phi^-1((1 + p) / 2) / 1.4) - 1. 20,000 draws: 0.0035.
test("the_coverage_curve_is_the_fraction_within_central_intervals_at_every_level", async () => {
  const whole = new Evaluation(evaluation(20000)), curve = whole.coverageCurve(4);
  assert.deepEqual([curve[0][0], curve.at(-1)], [0, [1, 1]]);
  for (const [p, fraction] of curve.slice(1, -1)) assert.ok(Math.abs(fraction - (2 * normalCdf(normalQuantile((1 + p) / 2) / 1.4) - 1)) < 0.013, `${p} ${fraction}`);
  const given = [0.5, 0.8, 0.9, 0.95], own = (data) => ({ ...data, parameters: data.parameters.map((p) => ({ ...p, coverage: given.map((level) => ({ level, fraction: level })) })) });
  const circles = (page) => page.locator('figure[data-plot="coverage_alpha"] circle').count(), path = (page) => page.locator('figure[data-plot="coverage_alpha"] path[stroke="var(--posterior)"]').getAttribute("d");
  const page = await open(browser, "coverage", own(evaluation(2000))), without = await open(browser, "coverage_points", own({ ...evaluation(2000), pit: undefined }));
  for (const each of [page, without]) assert.equal(await circles(each), 4);
  assert.equal((await path(page)).split("L").length, 201);
  assert.equal((await path(without)).split("L").length, 4);
  for (const each of [page, without]) await each.close();
});

test("plain_lists_and_base64_are_the_same_numbers", () => {
  const packed = evaluation(50, true), plain = evaluation(50, false), m = 5;
  for (const name of ["truth", "sd"]) columnsOf(packed[name], m).forEach((column, k) => column.forEach((x, i) => assert.ok(Math.abs(x - plain[name][i][k]) < 1e-3 * Math.abs(x) + 1e-6)));
  assert.throws(() => columnsOf({ shape: [3, 5], float32: "AAAA" }, 5), /does not fit/);
});

// Uniform truth, estimate = truth + 0.1 N(0, 1): quantile p of the estimate at a truth t is t + 0.1 Phi^-1(p). 24 bins of 800: 0.01.
test("quantile_lines_follow_the_distribution_of_the_estimate", () => {
  const random = generator(1), truth = Float64Array.from({ length: 20000 }, () => random.uniform()), estimate = truth.map((t) => t + 0.1 * random.normal());
  const { x, lines } = quantileLines(truth, estimate, [0, 1], [0.25, 0.5, 0.95]);
  assert.equal(x.length, 24);
  [-0.67449, 0, 1.64485].forEach((z, i) => x.forEach((t, b) => assert.ok(Math.abs(lines[i][b] - t - 0.1 * z) < (i === 2 ? 0.025 : 0.016), `${lines[i][b]} at ${t}`)));
});

test("bands_quantiles_and_maps_are_the_known_ones", () => {
  assert.equal(quantile([3, 1, 2, 5, 4], 0.25), 2);
  const [low, high] = binomialBand(10000, 0.5, 0.05);
  assert.ok(Math.abs(high - 0.5098) < 1e-4 && Math.abs(low - 0.4902) < 1e-4);
  const map = histogram2d([0.1, 0.1, 1, 1.1], [0.1, 0.1, 0.9, 0.9], [0, 1], [0, 1], 2, [1, 3, 5, 9]);
  assert.deepEqual([...map.values], [2, NaN, NaN, 5]);
  const random = generator(2), z = Float64Array.from({ length: 20000 }, random.normal);
  const outside = normalQq(z).filter((p) => p.z < p.low || p.z > p.high).length / normalQq(z).length;
  assert.ok(outside < 0.05, `${outside} of the points leave a band of 99 %`);
  assert.ok(normalQq(z.map((x) => 1.2 * x)).filter((p) => p.z < p.low || p.z > p.high).length > 60);
});
