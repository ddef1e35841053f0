// Pictures to look at, light, dark, narrow and print, as PNG:
//   node look.mjs DIR                  of every example page
//   node look.mjs DIR PAGE.html...     of pages that `penn` wrote; also the parts of a report that docs/ shows
import { mkdirSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { cfhnPosterior, evaluation, oupPosterior, simulation } from "./fixtures.mjs";
import { pageText } from "./page.mjs";
import { reproduction } from "./reproduction_fixture.mjs";

const [folder = "out", ...given] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const pages = given.length ? given : [["posterior", oupPosterior()], ["posterior_12", cfhnPosterior()], ["evaluation", evaluation(20000)], ["reproduction", reproduction(20000)], ["simulation", simulation(4)]].map(([name, data]) => {
  writeFileSync(`${folder}/${name}.html`, pageText(data));
  return `${folder}/${name}.html`;
});
const parts = [["report", ".explorer", ".explorer"], ["evaluation", '[data-section="estimates"]', '[data-section="z"]']];  // name, first, last

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const file of pages) {
  const name = basename(file, ".html");
  for (const scheme of ["light", "dark", "narrow", "print"]) {
    const page = await browser.newPage({ viewport: { width: { print: 800, narrow: 420 }[scheme] ?? 1280, height: 900 }, colorScheme: scheme === "dark" ? "dark" : "light" });
    page.on("console", (message) => console.log(name, message.type(), message.text()));
    page.on("pageerror", (error) => console.log(name, error.message));
    await page.goto(pathToFileURL(file).href);
    if (scheme === "print") await page.emulateMedia({ media: "print" });
    await page.waitForTimeout(400);
    await page.screenshot({ path: `${folder}/${name}_${scheme}.png`, fullPage: true });
    for (const [part, first, last] of scheme === "light" ? parts : []) {
      const clip = await page.evaluate(([first, last]) => {
        const [top, bottom] = [first, last].map((selector) => document.querySelector(selector)?.getBoundingClientRect());
        return top && bottom && { x: 0, y: top.top + scrollY, width: innerWidth, height: bottom.bottom - top.top };
      }, [first, last]);
      if (clip) await page.screenshot({ path: `${folder}/${name}_docs_${part}.png`, fullPage: true, clip });
    }
    console.log(name, scheme, "drawn after", await page.getAttribute("#penn", "data-drawn"), "ms");
    await page.close();
  }
}
await browser.close();
