// Bundles src/ and the d3 modules it uses into dist/penn.js, which is committed: building penn needs no npm. `--check` only compares.
import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
// ASCII output (the default): cmake/embed_file.cmake writes the bytes as char.
const result = await build({
  entryPoints: [here("src/main.js")], outfile: here("dist/penn.js"), bundle: true, minify: true, format: "iife", globalName: "penn", target: "es2022",
  loader: { ".css": "text" }, legalComments: "none", write: !process.argv.includes("--check"),
  banner: { js: "/* penn pages; built from web/src by `npm run build`. Contains parts of D3, (c) Mike Bostock, ISC licence. */" },
});
if (process.argv.includes("--check") && result.outputFiles[0].text !== readFileSync(here("dist/penn.js"), "utf8")) {
  console.error("web/dist/penn.js is not what web/src makes; run `npm run build` in web/ and commit it");
  process.exit(1);
}
