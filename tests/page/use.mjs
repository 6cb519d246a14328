// SPDX-License-Identifier: MIT
// Pointer and keyboard: what they read is the point that is there, with its unit.
import assert from "node:assert/strict";
import { test } from "node:test";
import { charts, close, open } from "./browser.mjs";
import { assertNear, near } from "./numbers.mjs";
import { html, run } from "./runs.mjs";

/** Where points of a chart stand in the window. */
function places(page, id) {
  return page.evaluate((chart) => {
    const { plot, shown, metric } = window.__pagetoll.charts[chart];
    const u = plot();
    u.over.scrollIntoView({ block: "center" });
    const box = u.over.getBoundingClientRect();
    const inside = (x) => Math.min(box.right - 1, Math.max(box.left + 1, x));
    return shown.flatMap((s) => s.visible ? s.curve.points[metric()].map((p) => ({
      x: inside(box.left + u.valToPos(p[0], "x")), y: box.top + u.valToPos(p[1], "y"), at: p[0],
      value: p[1], label: s.curve.label,
    })) : []);
  }, id);
}

function inside(page, id, x) {
  return page.evaluate(([chart, at]) => {
    const box = window.__pagetoll.charts[chart].plot().over.getBoundingClientRect();
    return at > box.left && at < box.right;
  }, [id, x]);
}

/** Texts of the tip: its head, and for each curve "label: value". */
async function tip(page, id) {
  // Charts follow the pointer once a frame.
  await page.evaluate(() => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(done));
  }));
  const t = page.locator(`#${id} .tip`);
  return await t.isVisible() ? t.innerText() : "";
}

/** The part of a text that is said of a curve. */
function of(text, label) {
  return text.split("\n").map((l) => l.trim()).find((l) => l.startsWith(`${label}:`))
    ?.slice(label.length + 1).trim() ?? "";
}

test("the pointer reads the nearest point, with its unit, interval and count", async () => {
  for (const name of ["altix-2005", run("chase"), run("fill")]) {
    const page = await open(html(name));
    for (const chart of await charts(page)) {
      const unit = chart.metrics[0].unit;
      const all = await places(page, chart.id);
      for (const p of all) {
        for (const aside of p.at % 20 ? [0, 3] : [-3]) {
          if (!await inside(page, chart.id, p.x + aside)) continue;
          await page.mouse.move(p.x + aside, p.y);
          const text = await tip(page, chart.id);
          // The cursor stands on whole pixels, and nearest is by value.
          const away = (q) => Math.abs(q.x - p.x - aside);
          const nearest = all.filter((q) => q.label === p.label && away(q) <= Math.min(
            ...all.filter((o) => o.label === p.label).map(away)) + 2);
          const value = of(text, p.label).split(/[[,(]| no /)[0];
          assert.ok(nearest.some((q) => near(value, q.value, unit)),
            `${name} at ${p.at} ${aside}: "${text}"`);
          assert.ok(value.trim().match(/[^0-9.\s]$/), `no unit: "${value}"`);
          assert.match(of(text, p.label), /\[|no interval/);
          assert.match(of(text, p.label), /n [0-9]+/);
        }
        const head = (await tip(page, chart.id)).split("\n")[0];
        assert.ok(head.startsWith(chart.inner), head);
      }
      await page.mouse.move(1, 1);
      assert.equal(await tip(page, chart.id), "", "it goes with the pointer");
    }
    await close(page);
  }
});

test("the tip stays inside the window", async () => {
  const page = await open(html(run("chase")), { width: 360 });
  const [chart] = await charts(page);
  for (const p of await places(page, chart.id)) {
    await page.mouse.move(p.x, p.y);
    const box = await page.locator(`#${chart.id} .tip`).boundingBox();
    assert.ok(box && box.x >= 0 && box.x + box.width <= 360, JSON.stringify(box));
  }
  await close(page);
});

test("the tab key reaches every chart and button, in their order", async () => {
  const page = await open(html(run("chase")));
  const wanted = await page.evaluate(() =>
    [...document.querySelectorAll(".plot, button, select, summary, a[href]")]
      .filter((e) => e.checkVisibility()).length);
  const reached = new Set();
  let order = true;
  await page.evaluate(() => { window.before = null; });
  for (let i = 0; i < 400; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const e = document.activeElement;
      if (!e || e === document.body) return null;
      const all = [...document.querySelectorAll("*")];
      const visible = e.matches(":focus-visible");
      const style = getComputedStyle(e);
      return { index: all.indexOf(e), visible, name: e.className || e.tagName,
        counts: e.matches(".plot, button, select, summary, a[href]"),
        outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1 };
    });
    if (!at || reached.has(at.index)) break;
    assert.ok(at.visible && at.outline, `${at.name} shows that it has the focus`);
    reached.add(at.index);
    order &&= [...reached].at(-2) === undefined || [...reached].at(-2) < at.index;
  }
  assert.ok(order, "in the order of the page");
  assert.ok(reached.size >= wanted, `${reached.size} of ${wanted}`);
  const plots = await page.evaluate(() => [...document.querySelectorAll("*")]
    .map((e, i) => e.matches(".plot") ? i : -1).filter((i) => i >= 0));
  assert.ok(plots.length > 0);
  for (const i of plots) assert.ok(reached.has(i), "a chart is not reached");
  await close(page);
});

test("arrows walk over the points of a chart, and each is said", async () => {
  for (const name of ["altix-2005", run("chase")]) {
    const page = await open(html(name));
    const [chart] = await charts(page);
    const unit = chart.metrics[0].unit;
    const said = page.locator(`#${chart.id} [aria-live]`);
    const points = chart.curves[0].points[chart.metric];
    await page.locator(`#${chart.id} .plot`).focus();
    for (const p of points) {
      await page.keyboard.press("ArrowRight");
      const text = await said.textContent();
      assert.ok(text.startsWith(chart.curves[0].label), text);
      assertNear(text.match(/: ([^[]*?)( \[| no )/)?.[1] ?? "", p[1], `${name} at ${p[0]}: ${text}`,
        unit);
      assert.match(await tip(page, chart.id), new RegExp(chart.inner));
    }
    await page.keyboard.press("Home");
    assert.ok((await said.textContent()).includes(`${chart.inner} ${points[0][0]}:`));
    await page.keyboard.press("End");
    assert.ok((await said.textContent()).includes(`${chart.inner} ${points.at(-1)[0]}:`));
    await page.keyboard.press("ArrowLeft");
    assert.ok((await said.textContent()).includes(`${chart.inner} ${points.at(-2)[0]}:`));
    if (chart.shown.filter(Boolean).length > 1) {
      await page.keyboard.press("ArrowDown");
      assert.ok((await said.textContent()).startsWith(chart.curves[1].label));
    }
    await page.keyboard.press("Escape");
    assert.equal(await tip(page, chart.id), "");
    await close(page);
  }
});

test("a drag zooms, the escape key and a double click show all again", async () => {
  const page = await open(html("altix-2005"));
  const [chart] = await charts(page);
  const scale = () => page.evaluate((id) => {
    const { min, max } = window.__pagetoll.charts[id].plot().scales.x;
    return [min, max];
  }, chart.id);
  const all = await scale();
  const drag = async () => {
    const p = await places(page, chart.id);
    await page.mouse.move(p[4].x, p[4].y + 20);
    await page.mouse.down();
    await page.mouse.move(p[10].x, p[10].y + 20, { steps: 4 });
    await page.mouse.up();
    const part = await scale();
    assert.ok(part[0] > all[0] && part[1] < all[1], `${part}`);
  };
  await drag();
  await page.locator(`#${chart.id} .plot`).focus();
  await page.keyboard.press("Escape");
  assert.deepEqual(await scale(), all);
  await drag();
  const [p] = (await places(page, chart.id)).slice(6);
  await page.mouse.dblclick(p.x, p.y);
  assert.deepEqual(await scale(), all);
  await close(page);
});

test("legend: a curve goes and comes; published curves come on request", async () => {
  const page = await open(html(run("chase")));
  const [chart] = await charts(page);
  const keys = page.locator(`#${chart.id} .legend button`);
  assert.equal(await keys.count(), chart.curves.length);
  const overlay = chart.curves.findIndex((c) => c.overlay);
  assert.ok(overlay > 0, "altix-2005 is there to be laid over");
  assert.equal(chart.shown[overlay], false);
  await keys.nth(overlay).click();
  assert.equal(await keys.nth(overlay).getAttribute("aria-pressed"), "true");
  const [with2] = await charts(page);
  assert.deepEqual(with2.drawn[overlay + 1].filter((v) => typeof v === "number"),
    chart.curves[overlay].points.ref_ns.map((p) => p[1]));
  await keys.nth(0).focus();
  await page.keyboard.press("Space");
  assert.equal(await keys.nth(0).getAttribute("aria-pressed"), "false");
  assert.equal((await charts(page))[0].shown[0], false);
  await close(page);
});

test("the metric is chosen, and chart, unit and tip follow", async () => {
  const page = await open(html(run("chase")));
  const [chart] = await charts(page);
  const select = page.locator(`#${chart.id} select`);
  assert.deepEqual(await select.locator("option").allTextContents(),
    chart.metrics.map((m) => m.name));
  await select.selectOption({ label: "ref_cycles" });
  const [now] = await charts(page);
  assert.equal(now.metric, "ref_cycles");
  assert.deepEqual(now.drawn[1], chart.curves[0].points.ref_cycles.map((p) => p[1]));
  const [p] = await places(page, chart.id);
  await page.mouse.move(p.x, p.y);
  assert.match(of(await tip(page, chart.id), p.label), /cycles/);
  await close(page);
});
