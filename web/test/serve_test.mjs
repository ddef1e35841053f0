// `penn serve` itself in a real browser: a CSV in, a posterior out; the library's words about a bad one; sliders for the truth.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import { launch, plots, watch } from "./browser.mjs";

const { PENN_PROGRAM, PENN_TEST_MODEL } = process.env, skip = PENN_PROGRAM && PENN_TEST_MODEL ? false : "no program given";
const DATA = "0.1\n0.25\n-0.3\n0.4\n0.55\n0.61\n-0.7\n0.82\n-0.93\n0.14\n0.2\n0.31\n";
let browser, server, address;
before(async () => {
  if (skip) return;
  browser = await launch();
  server = spawn(PENN_PROGRAM, ["serve", "--port", "0", "--models", PENN_TEST_MODEL], { stdio: ["ignore", "pipe", "inherit"] });
  const line = await new Promise((done, fail) => (server.stdout.once("data", (data) => done(String(data))), server.once("exit", () => fail(new Error("penn serve ended")))));
  address = /http:\/\/\S+\//.exec(line)[0];
});
after(async () => {
  await browser?.close();
  server?.kill("SIGTERM");
});

async function open() {
  const page = await watch(await browser.newPage({ viewport: { width: 1280, height: 900 } }));
  await page.goto(address);
  await page.waitForSelector("input[data-truth]");
  await page.selectOption("select", { label: "tiny" });
  return page;
}
const posterior = (page, number) => page.waitForSelector(`[data-answer="${number}"] figure[data-plot="corner"][data-drawn]`);

test("a_dropped_csv_gives_a_drawn_posterior_and_a_bad_one_the_librarys_message", { skip }, async () => {
  const page = await open();
  await page.evaluate((text) => {  // a drop as the browser reports it
    const data = new DataTransfer();
    data.items.add(new File([text], "my bead.csv", { type: "text/csv" }));
    document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, DATA);
  await posterior(page, 1);
  assert.match(await page.textContent("[data-answer] h1"), /tiny: my bead\.csv/);
  assert.match(await page.textContent("[data-answer] .facts-line"), /^12 samples/);
  assert.deepEqual(page.problems, []);
  for (const plot of await plots(page)) assert.ok(plot.drawn && plot.visible && !plot.broken && plot.ink > 200, JSON.stringify(plot));
  const input = page.locator('input[type="file"]');
  await input.setInputFiles({ name: "bad.csv", mimeType: "text/csv", buffer: Buffer.from("0.1\n0.2\nabc\n") });
  await page.waitForSelector(".error");
  assert.match(await page.textContent(".error"), /^bad\.csv:3:1: 'abc' is not a number/);
  assert.equal(await page.locator("figure").count(), 0);
  await input.setInputFiles({ name: "two.csv", mimeType: "text/csv", buffer: Buffer.from(DATA.replaceAll("\n", ",1\n")) });
  await page.locator(".error", { hasText: "two.csv: 2 columns" }).waitFor();
  await page.fill('input[data-option="columns"]', "1");
  await page.keyboard.press("Enter");
  await posterior(page, 2);
  assert.equal(await page.locator(".error").count(), 0);
  assert.ok(page.requests.every((url) => url.startsWith(address)));
  await page.close();
});

test("a_slider_of_the_truth_gives_a_new_posterior_with_that_truth", { skip }, async () => {
  const page = await open(), result = () => page.evaluate(() => ({ truth: pennPage.result.truth, mean: pennPage.posterior.whole.mean(0), first: pennPage.result.trajectory.values[0][0] }));
  const slider = page.locator('input[data-truth="a"]');
  await slider.focus();
  await page.keyboard.press("End");
  await posterior(page, 1);
  const high = await result();
  assert.deepEqual(high.truth, [1]);
  await slider.focus();
  await page.keyboard.press("Home");
  await posterior(page, 2);
  const low = await result();
  assert.deepEqual(low.truth, [0]);
  assert.notEqual(low.mean, high.mean);
  await slider.focus();
  await page.keyboard.press("End");
  await posterior(page, 3);
  assert.deepEqual(await result(), high);  // the same seed: the noise stays, only the truth moves
  await page.click("button.simulate");
  await posterior(page, 4);
  assert.notEqual((await result()).first, high.first);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test("when_the_program_is_gone_the_page_says_so", { skip }, async () => {
  const page = await open();
  server.kill("SIGTERM");
  await new Promise((done) => server.once("exit", done));
  assert.equal(server.exitCode, 0);
  await page.click("button.simulate");
  await page.waitForSelector(".error");
  assert.match(await page.textContent(".error"), /does not answer\nhint: is `penn serve` still running\?/);
  await page.close();
});
