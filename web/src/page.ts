// SPDX-License-Identifier: MIT
// What the page does beyond its tables: curves, a switch of themes, and open details in print.
import { Chart, type Handle } from "./chart";
import { readData } from "./data";

const charts: Chart[] = [];
const handles: Record<string, Handle> = {};

function themes(): void {
  const tools = document.getElementById("tools");
  if (!tools) return;
  const root = document.documentElement;
  const b = document.createElement("button");
  const isDark = () => root.dataset.theme === "dark"
    || (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  const name = () => { b.textContent = isDark() ? "Light theme" : "Dark theme"; };
  b.type = "button";
  b.id = "theme";
  name();
  b.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
    charts.forEach((c) => c.redraw());
  });
  tools.append(b);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    name();
    charts.forEach((c) => c.redraw());
  });
}

/** Whether a closed part is worth its paper: not the second table of a benchmark, nor a long one. */
function isForPaper(d: HTMLDetailsElement): boolean {
  return d.querySelectorAll("tr").length <= 80 && !d.querySelector("pre")
    && !(d.parentElement?.classList.contains("twins") && d.previousElementSibling);
}

/** Paper is light, and cannot be opened. */
function printing(): void {
  let closed: HTMLDetailsElement[] = [];
  let theme: string | undefined;
  const root = document.documentElement;
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open])")]
      .filter(isForPaper);
    closed.forEach((d) => { d.open = true; });
    theme = root.dataset.theme;
    root.dataset.theme = "light";
    charts.forEach((c) => c.redraw());
  });
  addEventListener("afterprint", () => {
    closed.forEach((d) => { d.open = false; });
    if (theme === undefined) delete root.dataset.theme;
    else root.dataset.theme = theme;
    charts.forEach((c) => c.redraw());
  });
}

/** Long tables stand as text until they are opened: parsing them all would keep the page waiting. */
function longTables(): void {
  document.querySelectorAll<HTMLDetailsElement>("details.twin").forEach((d) => {
    d.addEventListener("toggle", () => {
      const text = d.querySelector("noscript");
      if (!text || !d.open) return;
      text.outerHTML = text.textContent ?? ""; // escaped by the program, as if it stood here
      charts.forEach((c) => c.tables());
    });
  });
}

themes();
longTables();
for (const [id, data] of Object.entries(readData().charts ?? {})) {
  const figure = document.getElementById(id);
  if (!figure) continue;
  figure.textContent = "";
  figure.parentElement?.querySelectorAll<HTMLDetailsElement>("details.twin")
    .forEach((d) => { d.open = false; });
  const chart = new Chart(figure, data);
  charts.push(chart);
  handles[id] = chart.handle();
}
printing();
(window as unknown as { __pagetoll: unknown }).__pagetoll = { charts: handles };
document.documentElement.classList.add("ready");
