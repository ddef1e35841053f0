// A page as the program writes it (penn/report/posterior_page.cc), by tests/web/write_page.cc. `node page.mjs DATA.json OUT.html`
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const programs = process.env.PENN_TEST_PROGRAMS ?? fileURLToPath(new URL("../../build/tests/web", import.meta.url));

export const pageText = (data) => execFileSync(`${programs}/write_page`, { input: typeof data === "string" ? data : JSON.stringify(data), maxBuffer: 1 << 28, encoding: "utf8" });

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(process.argv[3], pageText(readFileSync(process.argv[2], "utf8")));
