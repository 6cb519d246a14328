// SPDX-License-Identifier: MIT
// The bundle in the repository is what its sources give, is small, and is what the page has.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { folder } from "./browser.mjs";
import { html } from "./runs.mjs";

const web = fileURLToPath(new URL("../../web/", import.meta.url));
const files = ["page.css", "page.js"];

test("web/dist is what web/src gives, byte for byte, wherever it is built", () => {
  const elsewhere = mkdtempSync(join(folder, "web-"));
  for (const f of ["src", "build.mjs", "package.json", "tsconfig.json"])
    cpSync(join(web, f), join(elsewhere, f), { recursive: true });
  symlinkSync(join(web, "node_modules"), join(elsewhere, "node_modules"));
  execFileSync("node", ["build.mjs", "out"], { cwd: elsewhere, stdio: "pipe" });
  assert.deepEqual(readdirSync(join(elsewhere, "out")).sort(), files);
  for (const f of files)
    assert.ok(readFileSync(join(elsewhere, "out", f)).equals(readFileSync(join(web, "dist", f))),
      `dist/${f} is not what src gives: run npm run build in web/`);
  rmSync(elsewhere, { recursive: true });
});

test("types are right", () => {
  execFileSync("node", [join(web, "node_modules/typescript/bin/tsc"), "--noEmit"],
    { cwd: web, stdio: "pipe" });
});

test("the bundle has at most 120 kB, and is in the page as it is", () => {
  const sizes = files.map((f) => readFileSync(join(web, "dist", f)));
  assert.ok(sizes.reduce((n, b) => n + b.length, 0) <= 120_000);
  const page = readFileSync(html("altix-2005"));
  for (const part of sizes) assert.ok(page.includes(part));
});
