// SPDX-License-Identifier: MIT
// Themes, narrow windows, paper.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { charts, close, folder, open } from "./browser.mjs";
import { html, published, run, tool } from "./runs.mjs";

/** Colours as the page has them: background, texts of several kinds, the first line. */
function colours(page) {
  return page.evaluate(() => {
    const painter = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgb = (c) => {
      painter.clearRect(0, 0, 1, 1);
      painter.fillStyle = c;
      painter.fillRect(0, 0, 1, 1);
      return [...painter.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const of = (selector, what) => {
      const e = document.querySelector(selector);
      return e ? rgb(getComputedStyle(e)[what]) : null;
    };
    const [handle] = Object.values(window.__pagetoll.charts);
    const u = handle?.plot();
    const stroke = u?.series[1].stroke;
    return {
      paper: of("body", "backgroundColor"), ink: of("body", "color"), soft: of("small", "color"),
      link: of("summary", "color"), button: of("button", "color"),
      warning: of("p.warning", "color"), warningPaper: of("p.warning", "backgroundColor"),
      line: u ? rgb(typeof stroke === "function" ? stroke(u, 1) : stroke) : null,
    };
  });
}

/** Contrast by WCAG 2.1. */
function contrast(a, b) {
  const light = (rgb) => rgb.map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
}

function readable(c, which) {
  for (const text of ["ink", "soft", "link"])
    assert.ok(contrast(c[text], c.paper) >= 4.5, `${which}: ${text} ${contrast(c[text], c.paper)}`);
  if (c.warning) assert.ok(contrast(c.warning, c.warningPaper) >= 4.5, `${which}: warning`);
  assert.ok(contrast(c.line, c.paper) >= 3, `${which}: line ${contrast(c.line, c.paper)}`);
}

const sum = (rgb) => rgb.reduce((a, b) => a + b, 0);

test("light and dark as the system wants, readable in both, switched by a button", async () => {
  const light = await open(html(run("chase")), { scheme: "light" });
  const dark = await open(html(run("chase")), { scheme: "dark" });
  const [l, d] = [await colours(light), await colours(dark)];
  assert.ok(sum(l.paper) > 600 && sum(d.paper) < 150, "paper");
  readable(l, "light");
  readable(d, "dark");
  assert.notDeepEqual(l.line, d.line, "curves have colours for each");
  await dark.emulateMedia({ colorScheme: "light" });
  await dark.waitForFunction(() => document.getElementById("theme").textContent.startsWith("Dark"));
  assert.deepEqual(await colours(dark), l, "the page follows the system");
  await light.locator("#theme").click();
  assert.deepEqual(await colours(light), d, "the button switches");
  await light.locator("#theme").click();
  assert.deepEqual(await colours(light), l, "and back");
  assert.deepEqual([...light.errors, ...dark.errors], []);
  await close(light);
  await close(dark);
});

test("360 pixels wide: nothing makes the page wider, and charts are as wide as it is", async () => {
  for (const names of [...published.map((n) => [n]), [run("chase")], [run("chase"), run("again")]]) {
    const page = await open(html(...names), { width: 360, height: 640 });
    await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
    const wide = await page.evaluate(() => ({
      page: document.scrollingElement.scrollWidth,
      room: document.scrollingElement.clientWidth,
      outside: [...document.querySelectorAll("main *")].filter((e) => e.checkVisibility()
        && !e.closest(".scroll, .live, .u-wrap, svg") && e.getBoundingClientRect().right > 361)
        .map((e) => `${e.tagName}.${e.className}`),
    }));
    assert.ok(wide.page <= wide.room, `${names}: ${wide.page} of ${wide.room}`);
    assert.deepEqual(wide.outside, [], names.join());
    for (const { id } of await charts(page)) {
      const box = await page.locator(`#${id} canvas`).boundingBox();
      assert.ok(box.width >= 240 && box.x >= 0 && box.x + box.width <= 360, JSON.stringify(box));
    }
    await close(page);
  }
});

test("a window that changes its width takes the charts with it", async () => {
  const page = await open(html(run("chase")), { width: 1200 });
  const [{ id }] = await charts(page);
  for (const width of [400, 1000]) {
    await page.setViewportSize({ width, height: 800 });
    await page.waitForFunction(([chart, w]) => {
      const box = document.querySelector(`#${chart} canvas`).getBoundingClientRect();
      return box.right <= w && box.width > w / 2;
    }, [id, width], { timeout: 5000 });
  }
  await close(page);
});

test("on paper: light, with every chart, every heading and the tables", async () => {
  const page = await open(html(run("chase"), run("fill")), { scheme: "dark" });
  const axes = await page.evaluate(() => Object.entries(window.__pagetoll.charts).map(([id, h]) =>
    ({ id, ticks: h.plot().axes[0]._values.filter((t) => t) })));
  assert.equal(axes.length, 2);
  const headings = await page.locator("h1, h2, h3").evaluateAll((list) =>
    list.map((e) => e.firstChild.textContent.trim()));
  const pdf = await page.pdf({ format: "A4", printBackground: false });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  const file = join(folder, "page.pdf");
  writeFileSync(file, pdf);
  const pages = Number(/^Pages:\s+(\d+)/m.exec(tool("pdfinfo", [file]))?.[1]);
  assert.ok(pages >= 2 && pages < 40, `${pages} pages`);
  const words = tool("pdftotext", ["-layout", file, "-"]).replace(/\s+/g, " ");
  // Chromium prints a canvas as what was drawn: the numbers at its axes are text, all of them or,
  // as paper is narrower, some.
  for (const { id, ticks } of axes)
    assert.ok([1, 2, 4].some((by) => words.includes(ticks.filter((_t, i) => i % by === 0).join(" "))),
      `${id} is not printed: "${ticks}"`);
  for (const h of headings) assert.ok(words.includes(h.replace(/\s+/g, " ")), `"${h}" is not printed`);
  const row = await page.locator("details.twin table").first().evaluate((t) =>
    t.tBodies[0].rows[0].cells[1].textContent);
  assert.ok(words.includes(row), `the table's ${row} is not printed`);
  const c = await colours(page);
  assert.ok(sum(c.paper) < 150, "the screen is dark again");
  assert.equal(await page.locator("details.twin[open]").count(), 0, "and tables are closed again");
  await close(page);
});

test("in print the switch of themes and hidden curves' keys are gone, charts are light", async () => {
  const page = await open(html(run("chase")), { scheme: "dark" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await page.locator("#theme").isVisible(), false);
  assert.equal(await page.locator(".legend button[aria-pressed=false]").first().isVisible(), false);
  const c = await colours(page);
  assert.ok(sum(c.ink) < 300 && contrast(c.line, [255, 255, 255]) >= 3, JSON.stringify(c));
  await close(page);
});
