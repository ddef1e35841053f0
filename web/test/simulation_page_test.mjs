// The page of `penn simulate --page` in a real browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, open, plots } from "./browser.mjs";
import { simulation } from "./fixtures.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser.close());

test("every_trajectory_is_drawn_with_its_parameters_without_errors_or_requests", async () => {
  const data = simulation(4), page = await open(browser, "simulation", data), all = await plots(page);
  assert.deepEqual(all.map((plot) => plot.name), ["trajectory_1", "trajectory_2", "trajectory_3", "trajectory_4"]);
  for (const plot of all) assert.ok(plot.drawn && plot.visible && !plot.broken && plot.ink > 2000, JSON.stringify(plot));
  assert.equal(await page.textContent("h1"), "A bead in a trap");
  assert.match(await page.textContent(".facts-line"), /bead · 4 simulated trajectories of 400 samples · penn 0\.0/);
  assert.equal((await page.locator(".values").nth(1).textContent()).trim(), "lg τ 0.25 DLévy 2");
  assert.equal(await page.locator("svg").first().getAttribute("aria-label"), "Trajectory 1: lg τ = 0.125, D_Lévy = 1");
  assert.deepEqual(page.problems, []);
  assert.deepEqual(page.requests, []);
  await page.close();
});

// The line of channel x follows its values: sin(t) at its first maximum is a quarter period from the left border and at the top.
test("the_line_has_the_values_of_the_data", async () => {
  const data = simulation(1), n = 401;
  data.trajectories[0].trajectory = { t0: 0, sampling: (2 * Math.PI) / (n - 1), channels: ["x"], values: [Array.from({ length: n }, (_, i) => Math.sin((2 * Math.PI * i) / (n - 1)))] };
  const page = await open(browser, "sine", data), width = await page.evaluate(() => pennPage.figures[0].width);
  const d = await page.evaluate(() => Array.from(document.querySelectorAll("figure svg path")).at(-1).getAttribute("d"));
  const points = d.match(/-?[\d.]+,-?[\d.]+/g).map((p) => p.split(",").map(Number)), top = points.reduce((a, b) => (b[1] < a[1] ? b : a)), bottom = points.reduce((a, b) => (b[1] > a[1] ? b : a));
  const inner = width - 70, height = 132 / 1.1;  // 5 % of the range are left free on both sides
  assert.ok(Math.abs(top[0] - (62 + inner / 4)) < inner / 400 + 0.01, `${top}`);
  assert.ok(Math.abs(bottom[0] - (62 + (3 * inner) / 4)) < inner / 400 + 0.01, `${bottom}`);
  assert.ok(Math.abs(bottom[1] - top[1] - height) < 0.02, `${bottom[1] - top[1]} expected ${height}`);
  await page.close();
});

test("tiny_huge_and_constant_values_have_coordinates", async () => {
  const data = simulation(5);
  [0, 1e-30, 1e-15, 1, 1e30].forEach((size, i) => (data.trajectories[i].trajectory.values = [data.trajectories[i].trajectory.values[0].map((v) => v * size), data.trajectories[i].trajectory.values[0].map(() => size)]));
  const page = await open(browser, "sizes", data);
  for (const plot of await plots(page)) assert.ok(plot.drawn && !plot.broken, JSON.stringify(plot));
  assert.deepEqual(page.problems, []);
  await page.close();
});

test("nothing_is_wider_than_a_narrow_screen", async () => {
  const page = await open(browser, "narrow_simulation", simulation(2), { viewport: { width: 420, height: 800 } });
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 420);
  await page.close();
});

test("texts_of_the_data_stay_texts_and_thinning_is_said", async () => {
  const data = { ...simulation(1), title: "<img src=x onerror=alert(1)>" };
  data.trajectories[0].trajectory.thinned = "the smallest and the largest of every 5 samples";
  const page = await open(browser, "texts", data);
  assert.equal(await page.textContent("h1"), data.title);
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.textContent(".note"), "Drawn: the smallest and the largest of every 5 samples.");
  await page.close();
});
