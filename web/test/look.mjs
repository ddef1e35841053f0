// Pictures of the example pages to look at: `node look.mjs DIR` writes light, dark and print PNGs of every page.
import { mkdirSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { cfhnPosterior, evaluation, oupPosterior } from "./fixtures.mjs";
import { pageText } from "./page.mjs";
import { reproduction } from "./reproduction_fixture.mjs";

const folder = process.argv[2] ?? "out";
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const [name, data] of [["posterior", oupPosterior()], ["posterior_12", cfhnPosterior()], ["evaluation", evaluation(20000)], ["reproduction", reproduction(20000)]]) {
  writeFileSync(`${folder}/${name}.html`, pageText(data));
  for (const scheme of ["light", "dark", "print"]) {
    const page = await browser.newPage({ viewport: { width: scheme === "print" ? 800 : 1280, height: 900 }, colorScheme: scheme === "dark" ? "dark" : "light" });
    page.on("console", (message) => console.log(name, message.type(), message.text()));
    page.on("pageerror", (error) => console.log(name, error.message));
    await page.goto(pathToFileURL(`${folder}/${name}.html`).href);
    if (scheme === "print") await page.emulateMedia({ media: "print" });
    await page.waitForTimeout(400);
    await page.screenshot({ path: `${folder}/${name}_${scheme}.png`, fullPage: true });
    if (scheme === "light" && ["posterior", "evaluation"].includes(name)) {  // the pictures of docs/
      const box = await page.evaluate((parts) => {
        const boxes = parts.map((part) => document.querySelector(part).getBoundingClientRect());
        return { x: 0, y: boxes[0].top + scrollY, width: innerWidth, height: boxes[1].bottom - boxes[0].top };
      }, name === "posterior" ? [".explorer", ".explorer"] : ['[data-section="estimates"]', '[data-section="z"]']);
      await page.screenshot({ path: `${folder}/docs_${name}.png`, fullPage: true, clip: box });
    }
    console.log(name, scheme, "drawn after", await page.getAttribute("#penn", "data-drawn"), "ms");
    await page.close();
  }
}
await browser.close();
