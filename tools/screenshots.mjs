// SPDX-License-Identifier: MIT
// The browser's part of screenshots: the top of the page in light, its first chart read at a point in dark.
import { join } from "node:path";
import { charts, close, open, start, stop } from "../tests/page/browser.mjs";

const image = (name) => join(process.env.IMAGES, name);

await start();
const light = await open(process.env.PAGE, { width: 1000, height: 720 });
await light.screenshot({ path: image("report.png") });
await close(light);

const dark = await open(process.env.PAGE, { width: 1000, height: 620, scheme: "dark" });
const [{ id }] = await charts(dark);
const section = dark.locator("section.bench", { has: dark.locator(`#${id}`) });
await section.evaluate((e) => scrollTo(0, e.getBoundingClientRect().top + scrollY - 12));
const at = await dark.evaluate((chart) => {
  const { plot, shown, metric } = window.__pagetoll.charts[chart];
  const u = plot();
  const points = shown.find((s) => s.visible).curve.points[metric()];
  const p = points[Math.floor(points.length * 0.3)];
  const box = u.over.getBoundingClientRect();
  return [box.left + u.valToPos(p[0], "x"), box.top + u.valToPos(p[1], "y")];
}, id);
await dark.mouse.move(...at);
await dark.waitForTimeout(200);
await dark.screenshot({ path: image("report-chart.png") });
await close(dark);
await stop();
