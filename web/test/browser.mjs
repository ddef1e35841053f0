// A real browser for the tests: pages from disk, with everything they say and ask for on record.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { pageText } from "./page.mjs";

export const folder = mkdtempSync(join(tmpdir(), "penn_web_"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

// Opens `data` as a page; page.problems collects errors, page.requests every address asked for besides the page itself.
export async function open(browser, name, data, options = {}) {
  const file = join(folder, `${name}.html`), text = pageText(data);
  writeFileSync(file, text);
  const page = await watch(await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options }));
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector("#penn[data-drawn], #penn .error");
  page.bytes = Buffer.byteLength(text);
  return page;
}

export async function watch(page) {
  page.problems = [];
  page.requests = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && page.problems.push(message.text()));
  page.on("pageerror", (error) => page.problems.push(error.message));
  page.on("request", (request) => request.isNavigationRequest() || /^(data|blob):/.test(request.url()) || page.requests.push(request.url()));
  return page;
}

// Every plot of the page: its name, whether it was drawn, and how much ink it holds (letters of the paths of an SVG, coloured
// pixels of a canvas).
export const plots = (page) => page.evaluate(() => Array.from(document.querySelectorAll("figure"), (figure) => {
  const canvas = figure.querySelector("canvas"), svg = figure.querySelector("svg");
  let ink = 0;
  for (const mark of svg?.querySelectorAll("path, rect, circle") ?? []) ink += mark.getAttribute("d")?.length ?? 20;
  if (canvas) {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    for (let i = 3; i < pixels.length; i += 4) if (pixels[i] > 0) ++ink;
  }
  return { name: figure.dataset.plot, drawn: figure.dataset.drawn === "true", ink, broken: /NaN|undefined|Infinity/.test(svg?.outerHTML ?? ""), visible: figure.getBoundingClientRect().width > 50 };
}));

// What a click saves.
export async function download(page, click) {
  const [saved] = await Promise.all([page.waitForEvent("download"), click()]);
  const path = join(folder, saved.suggestedFilename());
  await saved.saveAs(path);
  return path;
}
