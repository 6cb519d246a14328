// SPDX-License-Identifier: MIT
// What the page draws and says is what the program exports: every point, knee, cell and verdict.
import assert from "node:assert/strict";
import { test } from "node:test";
import { charts, close, open } from "./browser.mjs";
import { assertNear, ends, near, read } from "./numbers.mjs";
import { html, invented, json, lines, pagetoll, published, run, shown } from "./runs.mjs";

/** The page's numbers have six digits. */
const same = (a, b) => a === b || (typeof a === "number" && typeof b === "number"
  && Math.abs(a - b) <= 5.001e-6 * Math.abs(b));

/** Numbers, or lists of them: the same ones, in whatever order. */
function assertSame(page, doc, where) {
  const order = (x, y) => {
    for (let i = 0; i < x.length; i++)
      if (!same(x[i], y[i])) return (x[i] ?? -Infinity) - (y[i] ?? -Infinity);
    return 0;
  };
  const lists = [page, doc].map((l) => l.map((v) => [].concat(v)).sort(order));
  assert.equal(page.length, doc.length, `${where}: how many`);
  lists[0].forEach((p, i) => {
    assert.ok(p.length === lists[1][i].length && p.every((v, k) => same(v, lists[1][i][k])),
      `${where}: ${JSON.stringify(p)} is not ${JSON.stringify(lists[1][i])}`);
  });
}

/** The median, and the least: what a benchmark's estimator takes from samples. */
function statistic(values, estimator) {
  const v = [...values].sort((a, b) => a - b);
  const middle = v.length / 2;
  return estimator === "min" ? v[0]
    : v.length % 2 ? v[Math.floor(middle)] : (v[middle - 1] + v[middle]) / 2;
}

/** Each invocation's value, anew from the samples. */
function invocations(point, estimate) {
  return point.measures.filter((m) => m.verdict === "ok").flatMap((m) => {
    const s = m.series.find((x) => x.metric === estimate.metric);
    if (!s?.values?.length) return [];
    return [statistic(s.values, estimate.estimator)];
  });
}

/** All points of a chart's benchmark as the page should have them. */
function expected(doc, chart, metric) {
  return doc.points.filter((p) => p.bench === chart.bench && chart.inner in p.setting)
    .map((p) => {
      const e = p.estimates.find((x) => x.metric === metric);
      return [p.setting[chart.inner], e.value, e.ci95_low, e.ci95_high, e.n_invocations];
    });
}

test("every point of every chart is a point of the JSON export, and all of them are", async () => {
  let n = 0;
  for (const name of [...published, run("chase"), run("fill")]) {
    const page = await open(html(name));
    for (const chart of await charts(page)) {
      for (const metric of chart.metrics) {
        const own = chart.curves.filter((c) => !c.overlay).flatMap((c) => c.points[metric.name]);
        assertSame(own.map((p) => p.slice(0, 5)), expected(json(name), chart, metric.name),
          `${name} ${chart.bench} ${metric.name}`);
        n += own.length;
      }
    }
    await close(page);
  }
  assert.ok(n >= 80, `${n} points were compared`);
});

test("points stand in the curve of their setting", async () => {
  const page = await open(html("altix-2005"));
  const [chart] = await charts(page);
  assert.deepEqual(chart.curves.map((c) => c.label), ["page-tables=local", "page-tables=remote"]);
  for (const where of ["local", "remote"]) {
    const curve = chart.curves.find((c) => c.label.endsWith(where));
    const doc = json("altix-2005").points.filter((p) => p.setting["page-tables"] === where);
    assertSame(curve.points.ref_ns.map((p) => [p[0], p[1]]),
      doc.map((p) => [p.setting.pointers, p.estimates[0].value]), where);
  }
  await close(page);
});

test("dots are the invocations, each the statistic of its samples", async () => {
  const page = await open(html(run("chase")));
  const [chart] = await charts(page);
  const doc = json(run("chase"));
  for (const p of chart.curves[0].points.ref_ns) {
    const point = doc.points.find((q) => q.setting.pointers === p[0]);
    const e = point.estimates.find((x) => x.metric === "ref_ns");
    assert.equal(p[5].length, 6, `dots at ${p[0]}`);
    assertSame(p[5], invocations(point, e), `dots at ${p[0]}`);
  }
  await close(page);
});

test("what is drawn is what the data say, at the place that the axes give", async () => {
  for (const name of ["altix-2005", run("chase")]) {
    const page = await open(html(name));
    for (const chart of await charts(page)) {
      const [x, ...ys] = chart.drawn;
      assert.deepEqual(x, [...x].sort((a, b) => a - b));
      chart.curves.forEach((c, i) => {
        if (!chart.shown[i]) return;
        for (const p of c.points[chart.metric])
          assert.equal(ys[i][x.indexOf(p[0])], p[1]);
      });
      // Every shown curve has its colour on the canvas at each of its points.
      const missing = await page.evaluate((id) => {
        const { plot, shown, metric } = window.__pagetoll.charts[id];
        const u = plot();
        const painter = document.createElement("canvas").getContext("2d");
        const list = [];
        shown.forEach((s, i) => {
          if (!s.visible) return;
          const stroke = u.series[i + 1].stroke;
          painter.fillStyle = typeof stroke === "function" ? stroke(u, i + 1) : stroke;
          painter.fillRect(0, 0, 1, 1);
          const want = painter.getImageData(0, 0, 1, 1).data;
          for (const p of s.curve.points[metric()]) {
            const px = Math.round(u.valToPos(p[0], "x", true));
            const py = Math.round(u.valToPos(p[1], "y", true));
            const { data } = u.ctx.getImageData(px - 4, py - 4, 9, 9);
            let found = false;
            for (let k = 0; k < data.length; k += 4)
              found ||= data[k + 3] > 200
                && Math.abs(data[k] - want[0]) + Math.abs(data[k + 1] - want[1])
                  + Math.abs(data[k + 2] - want[2]) < 40;
            if (!found) list.push([i, p[0], p[1]]);
          }
        });
        return list;
      }, chart.id);
      // Curves that lie on each other hide one another.
      const hidden = chart.shown.filter(Boolean).length > 1 ? 20 : 0;
      assert.ok(missing.length <= hidden, `not drawn: ${JSON.stringify(missing)}`);
    }
    await close(page);
  }
});

/** Whether the curve's label, as far as it goes, is the fact's condition. */
function holds(fact, curve) {
  const said = Object.fromEntries(curve.label.split(/[ ,]+/).map((t) => t.split("=")));
  return Object.entries(fact.where).every(([k, v]) => said[k] === undefined || said[k] === String(v));
}

const KNEES = ["tlb.entries", "curve.knee", "walk.entries", "cache.capacity"];

test("knees of curves are the facts, with interval and claim, and their values are drawn", async () => {
  let n = 0;
  for (const name of ["altix-2005", run("chase"), run("fill")]) {
    const { facts } = shown(name);
    const page = await open(html(name));
    const texts = await page.evaluate(() => window.seen.texts);
    const found = new Set();
    for (const chart of await charts(page)) {
      for (const curve of chart.curves.filter((c) => !c.overlay)) {
        for (const k of curve.knees) {
          const fact = facts.find((f) => f.id === k.id && (f.where.level ?? 0) === k.level
            && same(k.value, f.value) && same(k.low, f.ci95_low) && same(k.high, f.ci95_high)
            && same(k.advertised, f.advertised) && holds(f, curve));
          assert.ok(fact, `${name}: ${JSON.stringify(k)} is no fact`);
          found.add(fact);
          if (k.value === null) continue;
          assert.ok(texts.some((t) => {
            const value = t.match(/: (.*)$/)?.[1] ?? "";
            return value && near(value, k.value);
          }), `${name}: ${k.value} is not drawn: ${[...new Set(texts)].join("; ")}`);
          n++;
        }
      }
    }
    for (const f of facts.filter((x) => KNEES.includes(x.id) && x.value !== null))
      assert.ok(found.has(f), `${name}: ${f.id} ${JSON.stringify(f.where)} is on no curve`);
    await close(page);
  }
  assert.ok(n >= 4, `${n} knees`);
});

test("facts as sentences have the values, units and intervals of the export", async () => {
  for (const name of ["altix-2005", run("chase"), run("fill")]) {
    const { facts } = shown(name);
    const page = await open(html(name));
    const said = await page.locator("#facts li[data-fact]").evaluateAll((list) =>
      list.map((e) => [e.dataset.fact, e.textContent]));
    assert.ok(said.length > 0);
    for (const [id, text] of said) {
      const candidates = facts.filter((f) => f.id === id && f.value !== null);
      assert.ok(candidates.some((f) => {
        const interval = ends(text);
        const numbers = text.replace(/\[[^\]]*\]/g, " ")
          .match(/[-0-9][0-9.]*(e[-+]?[0-9]+)?( ?[a-zA-Z\u00b5%]+)?/g) ?? [];
        return numbers.some((t) => near(t, f.value) || near(t, f.value, "Hz"))
          && (interval === null || f.ci95_low === null
            || intervalIs(interval, f, numbers));
      }), `${id}: "${text}" is no fact: ${JSON.stringify(candidates)}`);
    }
    await close(page);
  }
});

/** Ends without a unit have the value's. */
function intervalIs([low, high], fact, numbers) {
  return numbers.some((t) => {
    const r = read(t);
    const unit = t.replace(/^[-0-9.e+]*/, "");
    return r && near(t, fact.value) && near(`${low}${unit}`, fact.ci95_low)
      && near(`${high}${unit}`, fact.ci95_high);
  });
}

/** A table's rows as texts, without what explains missing values. */
function cells(locator) {
  return locator.evaluate((table) => [...table.tBodies[0].rows].map((r) =>
    [...r.cells].map((c) => [...c.childNodes].filter((n) => !/^why$/.test(n.className)
        && n.nodeName !== "SUP")
      .map((n) => n.textContent).join("").trim())));
}

test("the table twin of each chart has its points, and no others", async () => {
  for (const name of ["altix-2005", run("chase"), run("fill")]) {
    const page = await open(html(name));
    for (const chart of await charts(page)) {
      const section = page.locator("section.bench", { has: page.locator(`#${chart.id}`) });
      for (const metric of chart.metrics) {
        const twin = section.locator(`details.twin[data-metric="${metric.name}"] table`);
        assert.equal(await twin.count(), 1, metric.name);
        const xs = [...new Set(chart.curves.flatMap((c) => c.points[metric.name].map((p) => p[0])))]
          .sort((a, b) => a - b);
        const rows = await cells(twin);
        assert.equal(rows.length, xs.length);
        rows.forEach((row, i) => {
          assertNear(row[0], xs[i], `${name} row ${i}`);
          chart.curves.forEach((curve, k) => {
            const [value, interval, n] = row.slice(1 + 3 * k, 4 + 3 * k);
            const where = `${name} ${metric.name} ${curve.label} at ${xs[i]}`;
            const p = curve.points[metric.name].find((q) => q[0] === xs[i]);
            assertNear(value, p ? p[1] : null, where, metric.unit);
            assert.equal(n, p ? String(p[4]) : "", where);
            const both = ends(interval);
            assert.equal(both !== null, Boolean(p) && p[2] !== null, `${where}: ${interval}`);
            const unit = value.replace(/^[-0-9.e+]*/, "");
            if (both) {
              assertNear(both[0] + unit, p[2], `${where} low`);
              assertNear(both[1] + unit, p[3], `${where} high`);
            }
          });
        });
      }
    }
    await close(page);
  }
});

/** A machine with four nodes, each value its own. */
function nodes() {
  const [header, ...rest] = lines(run("chase"));
  const one = rest.find((l) => l.type === "measure");
  const list = [0, 1, 2, 3].flatMap((data) => [0, 1, 2, 3].map((tables) => ({
    ...one, invocation: 0, setting: { ...one.setting, data, "page-tables": tables },
    series: [{ ...one.series[0], values: [10 + 7 * data + 1.3 * tables] }],
  })));
  return invented("nodes", [header, ...list, rest.at(-1)]);
}

test("a matrix has a cell for every pair, with its value", async () => {
  const name = nodes();
  const page = await open(html(name));
  const doc = json(name);
  const maps = page.locator("details.matrix");
  assert.ok(await maps.count() > 0);
  let n = 0;
  for (let i = 0; i < await maps.count(); i++) {
    const table = maps.nth(i).locator("table");
    const columns = await table.locator("thead th").allTextContents();
    for (const row of await cells(table)) {
      row.slice(1).forEach((text, k) => {
        if (text.trim() === "") return;
        const points = doc.points.filter((p) => String(p.setting.data) === row[0]
          && String(p.setting["page-tables"]) === columns[k + 1]);
        assert.equal(points.length, 1);
        assertNear(text, points[0].estimates[0].value, `${row[0]} to ${columns[k + 1]}`, "ns");
        n++;
      });
    }
  }
  assert.equal(n, 16);
  await close(page);
});

test("a profile has its rows, with their values", async () => {
  const name = "prefault-profile-2002";
  const page = await open(html(name));
  const text = await page.locator("section.bench").first().innerText();
  const { rows } = json(name).points[0].measures[0].series[0];
  const most = rows.filter(([symbol]) => symbol !== "total").sort((a, b) => b[2] - a[2]).slice(0, 10);
  for (const [symbol, , ticks] of most)
    assert.match(text, new RegExp(`${symbol}\\s+${ticks}\\b`));
  assert.ok(await page.locator("svg.bar rect").count() >= 10, "bars");
  await close(page);
});

const VERDICTS = { difference: "no verdict", missing: "one side only" };

test("a comparison has the verdicts of compare, fact by fact, and the differences on top", async () => {
  const [a, b] = [run("chase"), run("again")];
  const doc = JSON.parse(pagetoll(["compare", "--format", "json", a, b], [0, 1, 125]));
  const page = await open(html(a, b));
  const section = page.locator("section.comparison");
  assert.equal(await section.count(), 1);
  const order = await page.evaluate(() => document.querySelector("section.comparison")
    .compareDocumentPosition(document.getElementById("facts")) & Node.DOCUMENT_POSITION_FOLLOWING);
  assert.ok(order, "it stands before the facts");
  const tables = section.locator("table.compared");
  assert.ok(await tables.count() > 0);
  const seen = [];
  for (let i = 0; i < await tables.count(); i++) seen.push(...await cells(tables.nth(i)));
  for (const f of doc.facts) {
    const row = seen.find((r) => r[0].startsWith(f.id) && near(r[1], f.a) && near(r[2], f.b));
    assert.ok(row, `${f.id} ${f.a} ${f.b} has no row`);
    assert.ok(row.at(-1).includes(VERDICTS[f.outcome] ?? f.outcome),
      `${f.id}: ${row.at(-1)}, not ${f.outcome}`);
  }
  const counted = await section.locator("p.counts").allTextContents();
  assert.ok(counted.some((t) => t.startsWith(`${doc.facts.length} fact`)), counted.join());
  await close(page);
});

test("two runs share a chart, each curve with its run's name", async () => {
  const page = await open(html(run("chase"), run("again")));
  const [chart] = await charts(page);
  const own = chart.curves.filter((c) => !c.overlay);
  assert.equal(own.length, 2);
  assert.deepEqual(own.map((c) => c.run), [0, 1]);
  assert.ok(own[0].label !== own[1].label);
  assert.equal((await charts(page)).filter((c) => c.bench === "tlb.chase").length, 1);
  await close(page);
});
