// SPDX-License-Identifier: MIT
// Builds dist/page.js and dist/page.css (or into the folder given); the same sources give the same
// bytes. `npm ci` first.
import { build } from "esbuild";
import { readFileSync } from "node:fs";

const out = process.argv[2] ?? "dist";
const licence = readFileSync("node_modules/uplot/LICENSE", "utf8").trim().replace(/\r/g, "");
await build({
  entryPoints: { page: "src/page.ts" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  charset: "ascii",
  legalComments: "none",
  banner: { js: `/* Contains uPlot.\n${licence} */` },
  logLevel: "warning",
});
await build({
  entryPoints: { page: "src/page.css" },
  outdir: out,
  bundle: true,
  minify: true,
  charset: "ascii",
  target: "es2020",
  legalComments: "none",
  logLevel: "warning",
});
