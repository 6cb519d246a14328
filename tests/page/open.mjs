// SPDX-License-Identifier: MIT
// The page opens from a file, asks for nothing, and its policy holds.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { charts, close, folder, open } from "./browser.mjs";
import { html, invented, lines, published, run } from "./runs.mjs";

const pages = () => [
  ...published.map((name) => [name]),
  [run("chase")], [run("fill")], [run("chase"), run("again")], ["altix-2005", run("chase")],
];

test("opens from file:// without a word in the console, a violation or another request", async () => {
  for (const names of pages()) {
    const file = html(...names);
    const page = await open(file);
    assert.deepEqual(page.requests, [pathToFileURL(file).href], names.join());
    assert.deepEqual(page.errors, [], names.join());
    assert.deepEqual(await page.evaluate(() => window.seen.violations), [], names.join());
    assert.ok(await page.title(), "a title");
    assert.equal(await page.locator("h1").count(), 1);
    await close(page);
  }
});

/** A run of one curve with this many points. */
export function many(n) {
  const [header, ...rest] = lines(run("chase"));
  const one = rest.find((l) => l.type === "measure");
  const points = Array.from({ length: n }, (_v, i) => ({
    ...one, invocation: 0, setting: { ...one.setting, pointers: i + 1 },
    series: [{ ...one.series[0], values: [1 + i / 100] }],
  }));
  return invented(`many-${n}`, [header, ...points, rest.at(-1)]);
}

test("a chart of 600 points is drawn as one of five is", async () => {
  const page = await open(html(many(600)));
  assert.deepEqual(page.errors, []);
  const [chart] = await charts(page);
  assert.equal(chart.drawn[1].length, 600);
  assert.equal(chart.drawn[1][599], 6.99);
  await close(page);
});

test("a long table is made when it is opened, the same as without JavaScript", async () => {
  const file = html(many(2000));
  const page = await open(file);
  const twin = page.locator("details.twin").first();
  assert.equal(await twin.locator("tr").count(), 0);
  await twin.locator("summary").click();
  await twin.locator("tbody tr").nth(1999).waitFor({ state: "attached" });
  const text = (p) => p.locator("details.twin").first().locator("table").textContent();
  const made = await text(page);
  assert.deepEqual(page.errors, []);
  await close(page);
  const plain = await open(file, { script: false });
  assert.equal(await text(plain), made);
  await close(plain);
});

test("is one document: nothing in it names another file", async () => {
  const page = await open(html(run("chase"), run("again")));
  const outside = await page.evaluate(() =>
    [...document.querySelectorAll("[src], [href], [data-src], object, embed, iframe, base, form")]
      .map((e) => e.getAttribute("src") ?? e.getAttribute("href") ?? e.tagName)
      .filter((u) => !u.startsWith("#") && u !== "data:,"));
  assert.deepEqual(outside, []);
  await close(page);
});

/** The page with this put in at its end, as an attacker who got a text through would. */
function infected(what) {
  const text = readFileSync(html(run("chase")), "utf8");
  assert.equal(text.split("</body>").length, 2, "one end of the body");
  const file = join(folder, "infected.html");
  writeFileSync(file, text.replace("</body>", () => `${what}</body>`));
  return file;
}

test("its policy lets no injected script run, and no style", async () => {
  const page = await open(infected(
    "<script>window.hit = 1</script><img src=x onerror='window.hit = 2'>"
    + "<a id=away href='javascript:window.hit=3'>x</a><style>body { color: red }</style>"
    + "<p id=styled style='color: rgb(1, 2, 3)'>x</p>"
    + "<script src='data:text/javascript,window.hit=4'></script>"));
  await page.locator("#away").dispatchEvent("click");
  await page.evaluate(() => { setTimeout("window.hit = 5", 0); });
  await page.waitForTimeout(50);
  assert.equal(await page.evaluate(() => window.hit), undefined);
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).color),
    "rgb(255, 0, 0)");
  assert.notEqual(await page.evaluate(() =>
    getComputedStyle(document.getElementById("styled")).color), "rgb(1, 2, 3)");
  const violations = new Set(await page.evaluate(() => window.seen.violations));
  for (const kind of ["script-src-elem", "script-src-attr", "style-src-elem", "style-src-attr",
    "img-src"])
    assert.ok(violations.has(kind), `${kind} was violated and said`);
  await close(page);
});

test("its policy lets nothing out: no request, frame, form or base", async () => {
  let asked = 0;
  const server = createServer((_q, a) => { asked++; a.end("x"); });
  await new Promise((done) => { server.listen(0, "127.0.0.1", done); });
  server.unref(); // a failure ends the tests, too
  const there = `http://127.0.0.1:${server.address().port}`;
  const page = await open(infected(
    `<base href='${there}/'><img src='${there}/i'><iframe src='${there}/f'></iframe>`
    + `<link rel=stylesheet href='${there}/s'><object data='${there}/o'></object>`
    + `<form id=f action='${there}/form'><input name=a></form>`));
  await page.evaluate(async (to) => {
    await fetch(`${to}/fetch`).catch(() => {});
    try { navigator.sendBeacon(`${to}/beacon`, "x"); } catch { /* refused */ }
    try { new WebSocket(to.replace("http", "ws")); } catch { /* refused */ }
    document.getElementById("f").submit();
  }, there);
  await page.waitForTimeout(100);
  assert.equal(asked, 0);
  assert.match(page.url(), /^file:/);
  assert.equal(await page.evaluate(() => document.querySelector("#facts") !== null), true);
  const violations = new Set(await page.evaluate(() => window.seen.violations));
  for (const kind of ["connect-src", "img-src", "frame-src", "form-action", "base-uri"])
    assert.ok(violations.has(kind), `${kind} was violated and said`);
  await close(page);
  server.closeAllConnections();
  await new Promise((done) => { server.close(done); });
});

test("without JavaScript facts, tables and bars are there, and what is missing is said", async () => {
  const page = await open(html(run("chase")), { script: false });
  assert.ok(await page.locator("#facts li").count() > 0);
  assert.ok(await page.locator("details.twin table td").first().isVisible(), "a table is open");
  assert.match(await page.locator("noscript").first().innerText(), /JavaScript/);
  await close(page);
});
