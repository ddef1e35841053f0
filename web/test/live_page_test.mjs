// The live page against a stand-in for `penn serve` that speaks the protocol of live_page.js.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { launch, watch } from "./browser.mjs";
import { oupPosterior } from "./fixtures.mjs";
import { pageText } from "./page.mjs";

let browser, server, address;
const asked = [];
let held = Promise.resolve();  // answers to simulations wait for it
before(async () => {
  browser = await launch();
  const { parameters } = oupPosterior().results[0];
  server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const answer = (status, value) => (response.writeHead(status, { "Content-Type": "application/json" }), response.end(JSON.stringify(value)));
    if (request.url === "/") return response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }), response.end(pageText({ kind: "live" }));
    asked.push([request.url, body]);
    if (request.url === "/api/models") return answer(200, { models: ["oup", "other"].map((name) => ({ name, title: "Ornstein-Uhlenbeck", parameters, length: [100, 2000], sampling: 0.1 })) });
    if (request.url.startsWith("/api/infer")) return body.includes("x") ? answer(400, { error: "data.csv:3:1: 'x' is not a number", hint: "one row per sample" }) : answer(200, oupPosterior());
    if (request.url.startsWith("/api/simulate")) return await held, answer(200, oupPosterior());
    answer(404, { error: "nothing here" });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  address = `http://127.0.0.1:${server.address().port}/`;
});
after(async () => {
  await browser.close();
  server.close();
});

test("a_csv_gives_a_posterior_a_bad_one_the_librarys_own_message", async () => {
  const page = await watch(await browser.newPage());
  await page.goto(address);
  const input = page.locator('input[type="file"]');
  await input.setInputFiles({ name: "good.csv", mimeType: "text/csv", buffer: Buffer.from("0.1\n0.2\n") });
  await page.waitForSelector('[data-answer="1"] figure[data-plot="corner"][data-drawn]');
  assert.deepEqual(asked.at(-1), ["/api/infer?model=oup&file=good.csv", "0.1\n0.2\n"]);
  assert.deepEqual(page.problems, []);
  await input.setInputFiles({ name: "bad.csv", mimeType: "text/csv", buffer: Buffer.from("0.1\n0.2\nx\n") });
  await page.waitForSelector(".error");
  assert.equal(await page.textContent(".error"), "data.csv:3:1: 'x' is not a number\nhint: one row per sample");
  assert.equal(await page.locator("figure").count(), 0, "the posterior of other data is gone");
  await page.close();
});

test("sliders_of_the_truth_ask_for_a_fresh_trajectory", async () => {
  const page = await watch(await browser.newPage());
  await page.goto(address);
  await page.waitForSelector("input[data-truth]");
  const before = asked.length;
  await page.focus('input[data-truth="H"]');
  await page.keyboard.press("Home");
  await page.waitForSelector('[data-answer="1"] figure[data-plot="corner"][data-drawn]');
  const [url, body] = asked[before];
  assert.equal(url, "/api/simulate?model=oup");
  const question = JSON.parse(body);
  assert.deepEqual(question.theta, [0.5, 0.5, 0.05, 0.5, 1.7]);
  assert.equal(question.length, 2000);
  await page.click("button.simulate");
  await page.waitForSelector('[data-answer="2"]');
  assert.notEqual(JSON.parse(asked.at(-1)[1]).seed, question.seed);
  assert.deepEqual(page.problems, []);
  assert.ok(page.requests.every((url) => url.startsWith(address)));
  await page.close();
});

test("an_answer_for_another_model_is_dropped", async () => {
  const page = await watch(await browser.newPage());
  await page.goto(address);
  await page.waitForSelector("button.simulate");
  let release;
  held = new Promise((done) => (release = done));
  await page.click("button.simulate");
  await page.selectOption("select", "1");
  const came = page.waitForResponse((response) => response.url().includes("api/simulate?model=oup"));
  release();
  await (await came).finished();
  await page.waitForFunction(() => !document.querySelector(".answer.busy"));
  assert.equal(await page.locator("figure").count(), 0);
  await page.click("button.simulate");
  await page.waitForSelector('[data-answer="1"] figure[data-plot="corner"][data-drawn]');
  assert.equal(asked.at(-1)[0], "/api/simulate?model=other");
  assert.deepEqual(page.problems, []);
  await page.close();
});

test("a_file_that_misses_its_box_does_not_replace_the_page_and_two_files_are_refused", async () => {
  const page = await watch(await browser.newPage());
  await page.goto(address);
  await page.waitForSelector(".drop");
  const drop = (selector, names) => page.evaluate(([selector, names]) => {
    const dataTransfer = new DataTransfer();
    for (const name of names) dataTransfer.items.add(new File(["0.1"], name));
    const event = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
    document.querySelector(selector).dispatchEvent(event);
    return event.defaultPrevented;
  }, [selector, names]);
  const before = asked.length;
  assert.ok(await drop("h1", ["a.csv"]));
  assert.ok(await drop(".drop", ["a.csv", "b.csv"]));
  assert.match(await page.textContent(".error"), /^2 files dropped/);
  assert.equal(asked.length, before);
  assert.ok(await drop(".drop", ["a.csv"]));
  await page.waitForSelector('[data-answer="1"]');
  await page.close();
});

test("answers_that_left_the_page_leave_the_memory", async () => {
  const page = await watch(await browser.newPage());
  await page.goto(address);
  await page.waitForSelector("button.simulate");
  const tools = await page.context().newCDPSession(page);
  const nodesAfter = async (answers) => {
    for (let i = Number(await page.getAttribute(".answer", "data-answer")) || 0; i < answers; ++i) {
      await page.click("button.simulate");
      await page.waitForSelector(`[data-answer="${i + 1}"]`);
    }
    await page.waitForTimeout(300);  // the drawing after a rest
    await tools.send("HeapProfiler.collectGarbage");
    return (await tools.send("Memory.getDOMCounters")).nodes;
  };
  const few = await nodesAfter(2), many = await nodesAfter(12);
  assert.ok(many < 1.5 * few, `${few} nodes after 2 answers, ${many} after 12`);
  await page.close();
});
