// SPDX-License-Identifier: MIT
// The browser's part of page-speed: opens a page again and again and times it.
import { statSync, writeFileSync } from "node:fs";
import { charts, close, folder, open, start, stop } from "../page/browser.mjs";

const MOST_MS = 1000;
const points = 10_000;

/** From the call to the frame after the last chart: two frames, as the first may not be painted. */
async function once(file) {
  const begin = performance.now();
  const page = await open(file, file.endsWith("empty.html") ? { ready: false } : {});
  await page.evaluate(() => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(done));
  }));
  const ms = performance.now() - begin;
  const inside = await page.evaluate(() => performance.now());
  return { page, ms, inside };
}

const middle = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const line = (name, list) => console.log(
  `${name.padEnd(44)}least ${Math.min(...list).toFixed(0)} ms, median ${middle(list).toFixed(0)} ms`);

await start();
const empty = `${folder}/empty.html`;
writeFileSync(empty, "<!DOCTYPE html><title>empty</title>");
const taken = { empty: [], page: [], inside: [] };
let drawn = 0;
for (let i = 0; i <= Number(process.env.TIMES); i++) {
  const nothing = await once(empty);
  await close(nothing.page);
  const whole = await once(process.env.PAGE);
  const [chart] = await charts(whole.page);
  drawn = chart.curves.reduce((n, c) => n + c.points[chart.metric].length, 0);
  if (whole.page.errors.length)
    throw new Error(whole.page.errors.join());
  await close(whole.page);
  if (!i) continue; // the first starts processes of the browser
  taken.empty.push(nothing.ms);
  taken.page.push(whole.ms);
  taken.inside.push(whole.inside);
}
await stop();
console.log(`${drawn} points, ${(statSync(process.env.PAGE).size / 1e6).toFixed(1)} MB`);
line("from the call of the browser to all drawn", taken.page);
line("from its opening to all charts drawn", taken.inside);
line("an empty page, from the call", taken.empty);
const right = drawn >= points && middle(taken.inside) < MOST_MS;
console.log(right ? "right" : "WRONG");
process.exit(right ? 0 : 1);
