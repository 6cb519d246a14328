// SPDX-License-Identifier: MIT
// The browser: one for all tests, a page of its own for every use. What a page says, asks for
// or fails at is kept beside it.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");

// Of 108 letters at most: Chromium puts a socket below it.
export const folder = mkdtempSync(join(tmpdir().length < 60 ? tmpdir() : "/tmp", "page-"));
let browser;

export async function start() {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb"],
    env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder },
  });
}

export async function stop() {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** One for each way of looking: contexts take longer than pages. */
const contexts = new Map();
async function context(options) {
  const key = JSON.stringify(options);
  if (!contexts.has(key))
    contexts.set(key, await browser.newContext({
      viewport: { width: options.width ?? 1200, height: options.height ?? 900 },
      colorScheme: options.scheme ?? "light",
      javaScriptEnabled: options.script ?? true,
    }));
  return contexts.get(key);
}

/** Opens a file. What went wrong is in .errors, what was asked for in .requests. */
export async function open(file, options = {}) {
  const page = await (await context(options)).newPage();
  page.errors = [];
  page.requests = [];
  page.on("console", (m) => {
    if (["error", "warning"].includes(m.type())) page.errors.push(`${m.type()}: ${m.text()}`);
  });
  page.on("pageerror", (e) => page.errors.push(`exception: ${e.message}`));
  page.on("dialog", (d) => { page.errors.push(`dialog: ${d.message()}`); d.dismiss(); });
  page.on("request", (r) => page.requests.push(r.url()));
  page.on("popup", (p) => { page.errors.push(`a new window: ${p.url()}`); });
  if (options.script !== false) await page.addInitScript(watch);
  await page.goto(pathToFileURL(file).href);
  if (options.script !== false && options.ready !== false)
    await page.waitForSelector("html.ready", { state: "attached" });
  return page;
}

export async function close(page) {
  await page.close();
}

/* Runs in the page before anything else: what violates the policy, and what is drawn as text. */
function watch() {
  window.seen = { violations: [], texts: [] };
  document.addEventListener("securitypolicyviolation", (e) => {
    window.seen.violations.push(e.effectiveDirective);
  });
  const fillText = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    window.seen.texts.push(text);
    return fillText.call(this, text, ...rest);
  };
}

/** The charts as the script holds them. */
export function charts(page) {
  return page.evaluate(() => Object.entries(window.__pagetoll.charts).map(([id, h]) => ({
    id,
    ...h.chart,
    metric: h.metric(),
    shown: h.shown.map((s) => s.visible),
    drawn: h.plot().data.map((list) => [...list].map((v) => v === undefined ? "gap" : v)),
  })));
}
