// A page as the program writes it (penn/report/posterior_page.cc): the data and the bundle in one file. `node page.mjs DATA.json OUT.html`
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export function pageText(data) {
  const script = readFileSync(new URL("../dist/penn.js", import.meta.url), "utf8").replaceAll("</script", "<\\/script");
  const json = (typeof data === "string" ? data : JSON.stringify(data)).replaceAll("<", "\\u003c");
  return `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'"><title>penn</title></head><body>\n` +
    `<div id="penn"></div>\n<script type="application/json" id="penn-data">${json}</script>\n<script>${script}</script>\n</body></html>\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(process.argv[3], pageText(readFileSync(process.argv[2], "utf8")));
