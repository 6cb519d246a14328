// SPDX-License-Identifier: MIT
// Texts from outside do nothing but stand there.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { charts, close, open } from "./browser.mjs";
import { html, invented, lines, run } from "./runs.mjs";

const EVIL = [
  "<script>window.hit = 1</script>",
  "</script><script>window.hit = 2</script>",
  "\"><img src=x onerror=window.hit=3>",
  "' onmouseover='window.hit=4' x='",
  "<!--<script>",
  "]]></style><style>body{display:none}</style>",
  "&lt;b&gt; &amp; &#60;",
  "\u202etxet drawkcab\u202c \u2066 unclosed",
  "\u05d0\u05d1\u05d2 \u0627\u0644\u0639",
  "x".repeat(10000),
  "\u{1f600}".repeat(3000),
  "line\nbreak\ttab\u0007bell\u001b[31mred",
  "${window.hit=6} {{window.hit=7}}",
];

/** Every text of a run that people or kernels wrote, replaced. */
function poisoned(text) {
  const list = lines(run("chase"));
  const [header] = list;
  const swap = (o) => {
    for (const [k, v] of Object.entries(o ?? {})) if (typeof v === "string") o[k] = text;
  };
  Object.assign(header, { label: text, source: text, command: text, version: text });
  swap(header.fingerprint);
  swap(header.context);
  for (const f of header.findings ?? [])
    for (const k of ["id", "what", "effect", "remedy"]) f[k] = text;
  for (const m of list.filter((l) => l.type === "measure")) {
    m.setting.load = "none";
    m.setting.backing = text;
    m.setting[text.slice(0, 100)] = "a";
    m.reason = text;
    m.unproven = text;
    m.proof.words = text;
  }
  list.push({ ...list.find((l) => l.type === "measure"), verdict: "failed", reason: text,
    series: [], invocation: 9, setting: { page: text, pointers: 3 } });
  const footer = list.findIndex((l) => l.type === "footer");
  const [end] = list.splice(footer, 1);
  list.push({ ...end, stop_reason: text });
  return list;
}

test("hostile texts are inert, wherever they stand", async () => {
  for (const [i, text] of EVIL.entries()) {
    const file = invented(`evil-${i}`, poisoned(text));
    const page = await open(html(file));
    const what = JSON.stringify(text.slice(0, 40));
    assert.deepEqual(page.errors, [], what);
    assert.equal(page.requests.length, 1, what);
    assert.equal(await page.evaluate(() => window.hit), undefined, what);
    const found = await page.evaluate(() => ({
      scripts: document.scripts.length,
      styles: document.querySelectorAll("style, link[rel=stylesheet]").length,
      strange: [...document.querySelectorAll("*")].flatMap((e) => [...e.attributes]
        .filter((a) => a.name.startsWith("on") || a.name === "style"
          && !e.closest(".plot, .tip"))
        .map((a) => `${e.tagName} ${a.name}`)),
      images: document.images.length,
      visible: document.body.checkVisibility() && document.body.innerText.length > 500,
      violations: window.seen.violations,
    }));
    assert.deepEqual(found, { scripts: 2, styles: 1, strange: [], images: 0, visible: true,
      violations: [] }, what);
    assert.ok((await charts(page)).length > 0, `${what}: the chart is drawn`);
    await close(page);
  }
});

test("hostile texts are readable: as they were written, cut where they are long", async () => {
  for (const i of [0, 2, 6, 8]) {
    const page = await open(html(invented(`evil-${i}`, poisoned(EVIL[i]))));
    const body = await page.locator("body").innerText();
    assert.ok(body.includes(EVIL[i]), `${EVIL[i]} stands there`);
    await close(page);
  }
  const long = await open(html(invented("evil-9", poisoned(EVIL[9]))), { width: 360 });
  const sizes = await long.evaluate(() => [document.scrollingElement.scrollWidth,
    document.scrollingElement.clientWidth,
    Math.max(...[...document.querySelectorAll("bdi, text, title")].map((e) => e.textContent.length))]);
  assert.ok(sizes[0] <= sizes[1], "no wider than the window");
  assert.ok(sizes[2] <= 345, `${sizes[2]} characters in one place`);
  await close(long);
});

test("text from right to left turns nothing around it", async () => {
  const page = await open(html(invented("evil-7", poisoned(EVIL[7]))));
  // Whatever has the override in it is isolated: an element of its own direction.
  const bare = await page.evaluate(() => {
    const list = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let n = walk.nextNode(); n; n = walk.nextNode())
      if (/[\u202a-\u202e\u2066-\u2069\u0590-\u06ff]/.test(n.data)
        && !n.parentElement.closest("bdi, script, option, [dir=auto]"))
        list.push(`${n.parentElement.tagName}.${n.parentElement.className}: ${n.data.slice(0, 50)}`);
    return list;
  });
  assert.deepEqual(bare, []);
  await close(page);
});

test("nothing of a hostile run stands in the file as markup", () => {
  for (const [i, text] of EVIL.slice(0, 6).entries()) {
    const body = readFileSync(html(invented(`evil-${i}`, poisoned(text))), "utf8");
    assert.ok(!body.includes(text), text);
    assert.equal(body.split("<script").length, 3, text);
    assert.equal(body.split("<style").length, 2, text);
  }
});

test("runs with nothing in them make a page", async () => {
  const [header] = lines(run("chase"));
  const file = invented("empty", [{ ...header, findings: [], fingerprint: {}, context: {} }]);
  const page = await open(html(file));
  assert.deepEqual(page.errors, []);
  assert.match(await page.locator("#facts").innerText(), /No facts/);
  await close(page);
});
