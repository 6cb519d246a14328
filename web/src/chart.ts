// SPDX-License-Identifier: MIT
// One chart: median line, interval band, a dot for every invocation, knees with their values, the
// processor's claims as ticks. Values are read by pointer or by keyboard, snapped to points.
import uPlot from "uplot";
import type { ChartData, Curve, Point } from "./data";
import * as format from "./format";

const SHOWN_AT_FIRST = 8;
const DASHES: number[][] = [[], [7, 4], [2, 3], [10, 3, 2, 3]];

interface Shown {
  curve: Curve;
  visible: boolean;
  colour: number;
  dash: number[];
}

/** What a test reads: the numbers as drawn. */
export interface Handle {
  chart: ChartData;
  plot: () => uPlot;
  shown: Shown[];
  metric: () => string;
}

function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function element<K extends keyof HTMLElementTagNameMap>(
  tag: K, parent: HTMLElement, className: string, text = "",
): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  e.className = className;
  e.textContent = text;
  parent.append(e);
  return e;
}

export class Chart {
  private plot!: uPlot;
  private metric = 0;
  private shown: Shown[];
  private current = 0; // curve that the keyboard reads
  private readonly place: HTMLElement;
  private readonly tip: HTMLElement;
  private readonly live: HTMLElement;
  private zoomed = false;

  constructor(private readonly figure: HTMLElement, private readonly data: ChartData) {
    let own = 0;
    this.shown = data.curves.map((curve, i) => {
      own += curve.overlay ? 0 : 1;
      return {
        curve,
        visible: !curve.overlay && own <= SHOWN_AT_FIRST,
        colour: i % 8,
        dash: curve.overlay ? [2, 3] : DASHES[Math.floor(i / 8 + curve.run) % 4] ?? [],
      };
    });
    figure.setAttribute("role", "group");
    figure.setAttribute("aria-label", `Curve of ${data.bench}: ${data.metrics[0]?.summary ?? ""}`);
    this.head();
    this.place = element("div", figure, "plot");
    this.place.tabIndex = 0;
    this.place.setAttribute("role", "application");
    this.place.setAttribute("aria-label",
      `Chart of ${data.bench}. Arrow keys read points, up and down change the curve, escape resets`
      + " the zoom. The table below has the same data.");
    this.tip = element("div", this.place, "tip");
    this.tip.hidden = true;
    this.legend();
    this.live = element("div", figure, "live");
    this.live.setAttribute("aria-live", "polite");
    this.place.addEventListener("keydown", (e) => this.key(e));
    this.place.addEventListener("blur", () => this.hide());
    this.tables();
    this.draw();
    new ResizeObserver(() => this.resize()).observe(this.place);
  }

  handle(): Handle {
    return {
      chart: this.data,
      plot: () => this.plot,
      shown: this.shown,
      metric: () => this.name(),
    };
  }

  private name(): string {
    return this.data.metrics[this.metric]?.name ?? "";
  }

  private unit(): string {
    return this.data.metrics[this.metric]?.unit ?? "";
  }

  private points(s: Shown): Point[] {
    return s.curve.points[this.name()] ?? [];
  }

  private head(): void {
    const head = element("div", this.figure, "chart-head");
    if (this.data.metrics.length > 1) {
      const label = element("label", head, "", "Show ");
      const select = element("select", label, "metric");
      this.data.metrics.forEach((m, i) => {
        const option = element("option", select, "", m.name);
        option.value = String(i);
      });
      select.addEventListener("change", () => {
        this.metric = Number(select.value);
        this.hide();
        this.draw();
      });
    } else {
      element("span", head, "metric", this.data.metrics[0]?.name);
    }
    element("span", head, "unit");
  }

  /** What the axis has: "time per reference, ns". */
  private title(): string {
    const m = this.data.metrics[this.metric];
    return [m?.summary, m?.unit].filter(Boolean).join(", ");
  }

  private legend(): void {
    if (this.shown.length < 2) return;
    const list = element("div", this.figure, "legend");
    for (const s of this.shown) {
      const b = element("button", list, s.curve.overlay ? "key overlay" : "key");
      b.type = "button";
      b.setAttribute("aria-pressed", String(s.visible));
      const ns = "http://www.w3.org/2000/svg";
      const svg = document.createElementNS(ns, "svg");
      svg.setAttribute("width", "26");
      svg.setAttribute("height", "10");
      const line = document.createElementNS(ns, "line");
      for (const [k, v] of [["x1", "0"], ["x2", "26"], ["y1", "5"], ["y2", "5"],
        ["stroke-dasharray", s.dash.join(" ") || "none"], ["class", `c${s.colour}`]] as const)
        line.setAttribute(k, v);
      svg.append(line);
      b.append(svg);
      element("bdi", b, "", (s.curve.overlay ? "published: " : "") + s.curve.label);
      if (!Object.values(s.curve.points).flat().some((p) => p[1] !== null))
        element("small", b, "", "(nothing valid: see the table)");
      b.addEventListener("click", () => {
        s.visible = !s.visible;
        this.tables();
        b.setAttribute("aria-pressed", String(s.visible));
        this.hide();
        this.draw();
      });
    }
  }

  /** Published columns of the tables come and go with their curves. */
  tables(): void {
    const own = !this.shown.some((s) => s.curve.overlay && s.visible);
    this.figure.parentElement?.querySelectorAll("table.n")
      .forEach((t) => t.classList.toggle("own", own));
  }

  /** The union of all horizontal values, and each curve's median there. */
  private aligned(): uPlot.AlignedData {
    const all = new Set<number>();
    for (const s of this.shown)
      if (s.visible)
        for (const p of this.points(s)) if (p[0] !== null) all.add(p[0]);
    const x = [...all].sort((a, b) => a - b);
    const at = new Map(x.map((v, i) => [v, i]));
    const ys = this.shown.map((s) => {
      const y: (number | null | undefined)[] = new Array(x.length).fill(undefined);
      if (s.visible)
        for (const p of this.points(s)) if (p[0] !== null) y[at.get(p[0]) ?? 0] = p[1];
      return y;
    });
    return [x, ...ys] as uPlot.AlignedData;
  }

  private visiblePoints(): Point[] {
    return this.shown.filter((s) => s.visible).flatMap((s) => this.points(s));
  }

  private isLog(values: number[], from: number): boolean {
    let low = Infinity;
    let high = -Infinity;
    for (const v of values) {
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
    return low > 0 && high / low >= from;
  }

  private draw(): void {
    this.plot?.destroy();
    const pts = this.visiblePoints();
    const numbers = (list: (number | null | undefined)[]) =>
      list.filter((v): v is number => typeof v === "number");
    const logX = this.isLog(numbers(pts.map((p) => p[0])), 8);
    const ys = numbers(pts.flatMap((p) => [p[1], p[2], p[3], ...p[5]]));
    const logY = this.isLog(ys, 2.5);
    const low = ys.reduce((a, b) => Math.min(a, b), Infinity);
    const high = ys.reduce((a, b) => Math.max(a, b), -Infinity);
    const bytes = this.data.bytes;
    const narrow = this.place.clientWidth < 480;
    const ink = css("--ink");
    const grid = { stroke: css("--grid"), width: 1 };
    const font = "12px system-ui, sans-serif";
    const unit = this.unit();
    const label = this.figure.querySelector(".unit");
    if (label) label.textContent = this.title();
    // Differences of both signs over several decades: logarithmic away from zero.
    const size = ys.map(Math.abs).filter((v) => v > 0).sort((a, b) => a - b);
    const small = 10 ** Math.floor(Math.log10(size[Math.floor(size.length / 4)] ?? 1));
    const asinhY = !logY && low <= 0 && size.length > 3 && Math.max(-low, high) / small > 300;
    const options: uPlot.Options = {
      width: Math.max(240, this.place.clientWidth),
      height: narrow ? 260 : 360,
      padding: [8 + 14 * this.rows, 26, 0, 0],
      legend: { show: false },
      cursor: {
        drag: { x: true, y: false },
        points: { size: 8 },
        focus: { prox: 24 },
        hover: { skip: [] }, // no point of another place than the tip's
      },
      scales: {
        x: logX ? { time: false, distr: 3, log: 2 } : { time: false },
        y: {
          distr: logY ? 3 : asinhY ? 4 : 1,
          log: 10,
          asinh: small,
          range: () => logY ? [low / 1.15, high * 1.15]
            : asinhY ? [low < 0 ? low * 1.5 : 0, high * 1.5]
            : ys.length ? [Math.min(0, low), Math.max(0, high) * 1.08 || 1] : [0, 1],
        },
      },
      axes: [
        { stroke: ink, grid, ticks: grid, font, labelFont: font, label: this.data.inner,
          labelSize: 18, size: 34,
          space: narrow ? 44 : 56,
          values: (_u, v) => v.map((t) => t === null ? "" : format.inner(t, bytes)) },
        { stroke: ink, grid, ticks: grid, font, size: narrow ? 46 : 62,
          splits: logY ? () => ticks(low / 1.15, high * 1.15)
            : asinhY ? () => signed(low, high, small) : undefined,
          filter: logY || asinhY ? (_u, v) => v : undefined,
          values: (_u, v) => v.map((t) => t === null ? "" : format.tick(t, unit)) },
      ],
      series: [
        {},
        ...this.shown.map((s) => ({
          label: s.curve.label,
          show: s.visible,
          stroke: css(`--c${s.colour}`),
          width: 2,
          dash: s.dash,
          spanGaps: true,
          points: { show: pts.length <= 400, size: 5 },
        })),
      ],
      hooks: {
        drawAxes: [(u) => this.under(u)],
        draw: [(u) => this.knees(u)],
        setCursor: [(u) => this.hover(u)],
        setSelect: [(u) => { this.zoomed = u.select.width > 0; }],
      },
    };
    this.plot = new uPlot(options, this.aligned(), this.place);
  }

  /** Labels of knees stand in rows above the chart, so that none covers another. */
  private rows = 1;

  private needRows(n: number): void {
    if (n === this.rows) return;
    this.rows = n;
    queueMicrotask(() => this.draw());
  }

  private resize(): void {
    const width = Math.max(240, this.place.clientWidth);
    if (Math.abs(width - this.plot.width) > 1)
      this.plot.setSize({ width, height: this.plot.height });
  }

  redraw(): void {
    this.draw();
  }

  /** Bands and dots, below the lines. */
  private under(u: uPlot): void {
    const g = u.ctx;
    g.save();
    g.beginPath();
    g.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    g.clip();
    for (const s of this.shown) {
      if (!s.visible) continue;
      const colour = css(`--c${s.colour}`);
      const points = this.points(s);
      g.fillStyle = colour;
      g.globalAlpha = 0.18;
      this.band(u, points);
      g.globalAlpha = 0.45;
      const r = 1.6 * devicePixelRatio;
      for (const p of points) {
        if (p[0] === null) continue;
        const x = u.valToPos(p[0], "x", true);
        for (const v of p[5]) {
          g.fillRect(x - r, u.valToPos(v, "y", true) - r, 2 * r, 2 * r);
        }
      }
    }
    g.restore();
  }

  private band(u: uPlot, points: Point[]): void {
    const g = u.ctx;
    const flush = (part: Point[]) => {
      if (part.length < 2) return;
      g.beginPath();
      for (const p of part)
        g.lineTo(u.valToPos(p[0] as number, "x", true), u.valToPos(p[3] as number, "y", true));
      for (const p of part.slice().reverse())
        g.lineTo(u.valToPos(p[0] as number, "x", true), u.valToPos(p[2] as number, "y", true));
      g.closePath();
      g.fill();
    };
    let part: Point[] = [];
    for (const p of points) {
      if (p[0] !== null && p[2] !== null && p[3] !== null) {
        part.push(p);
      } else {
        flush(part);
        part = [];
      }
    }
    flush(part);
  }

  /** Inferred knees, each once, with the value; claims as triangles at the axis. */
  private knees(u: uPlot): void {
    const g = u.ctx;
    const ratio = devicePixelRatio;
    const seen = new Set<string>();
    const bottom = u.bbox.top + u.bbox.height;
    const ends: number[] = []; // of the labels of each row
    const inside = (x: number) => x >= u.bbox.left && x <= u.bbox.left + u.bbox.width;
    // Bends are those of times; tables and events have none.
    const marks = this.shown.filter((s) => s.visible && ["ns", "cycles"].includes(this.unit()))
      .flatMap((s) => s.curve.knees.map((k) => ({ k, s })))
      .sort((a, b) => (a.k.value ?? 0) - (b.k.value ?? 0));
    g.save();
    g.font = `${11 * ratio}px system-ui, sans-serif`;
    g.textAlign = "left";
    g.textBaseline = "alphabetic";
    for (const { k, s } of marks) {
      const id = `${k.id} ${k.level} ${k.value}`;
      if (seen.has(id)) continue;
      seen.add(id);
      if (k.value !== null) {
        const x = u.valToPos(k.value, "x", true);
        if (inside(x)) {
          g.strokeStyle = g.fillStyle = css(`--c${s.colour}`);
          this.interval(u, k.low, k.high);
          g.setLineDash([4 * ratio, 4 * ratio]);
          g.lineWidth = ratio;
          g.beginPath();
          g.moveTo(x, u.bbox.top);
          g.lineTo(x, bottom);
          g.stroke();
          g.setLineDash([]);
          const text = `${k.words} ${k.level}: ${format.inner(+k.value.toPrecision(4),
            this.data.bytes)}`;
          const width = g.measureText(text).width;
          const left = Math.max(u.bbox.left,
            Math.min(x - width / 2, u.bbox.left + u.bbox.width - width));
          let row = 0;
          while ((ends[row] ?? -Infinity) + 8 * ratio > left) row++;
          ends[row] = left + width;
          g.fillStyle = css("--ink");
          g.fillText(text, left, u.bbox.top - (5 + 14 * row) * ratio);
        }
      }
      if (k.advertised !== null) {
        const x = u.valToPos(k.advertised, "x", true);
        if (inside(x)) {
          const d = 5 * ratio;
          g.fillStyle = css("--ink");
          g.beginPath();
          g.moveTo(x, bottom - 2 * d);
          g.lineTo(x - d, bottom);
          g.lineTo(x + d, bottom);
          g.closePath();
          g.fill();
        }
      }
    }
    g.restore();
    this.needRows(Math.min(6, Math.max(1, ends.length)));
  }

  /** The interval of a bend, as a pale column. */
  private interval(u: uPlot, low: number | null, high: number | null): void {
    if (low === null || high === null) return;
    const right = u.bbox.left + u.bbox.width;
    const [a, b] = [low, high].map((v) =>
      Math.min(right, Math.max(u.bbox.left, u.valToPos(v, "x", true)))) as [number, number];
    u.ctx.globalAlpha = 0.1;
    u.ctx.fillRect(a, u.bbox.top, b - a, u.bbox.height);
    u.ctx.globalAlpha = 1;
  }

  private words(s: Shown, x: number): string | null {
    const p = this.points(s).find((q) => q[0] === x);
    if (!p || p[1] === null) return null;
    const unit = this.unit();
    const interval = p[2] !== null && p[3] !== null
      ? `[${format.value(p[2], unit)}, ${format.value(p[3], unit)}]` : "no interval";
    return `${format.value(p[1], unit)} ${interval}, n ${p[4]}`;
  }

  private hover(u: uPlot): void {
    const i = u.cursor.idx;
    const x = i === null || i === undefined ? undefined : u.data[0][i];
    if (x === undefined || (u.cursor.left ?? -1) < 0) {
      this.tip.hidden = true;
      return;
    }
    this.tip.textContent = "";
    element("b", this.tip, "", `${this.data.inner} ${format.inner(x, this.data.bytes)}`);
    let n = 0;
    for (const s of this.shown) {
      const text = s.visible ? this.words(s, x) : null;
      if (text === null || n++ >= 10) continue;
      const line = element("div", this.tip, `t${s.colour}`);
      element("i", line, "");
      const words = element("span", line, "");
      element("bdi", words, "", s.curve.label);
      words.append(`: ${text}`);
    }
    this.tip.hidden = n === 0;
    const room = this.place.clientWidth;
    const at = (u.valToPos(x, "x") ?? 0) + u.bbox.left / devicePixelRatio;
    const width = this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, at + 14 + width > room ? Math.min(at - width - 14,
      room - width) : at + 14)}px`;
  }

  private hide(): void {
    this.tip.hidden = true;
    this.plot?.setCursor({ left: -10, top: -10 }, false);
  }

  /** Puts the cursor on a point of the curve that the keyboard reads, and says it. */
  private read(index: number): void {
    const x = this.plot.data[0][index];
    const s = this.shown[this.current];
    if (x === undefined || !s) return;
    const y = this.plot.data[this.current + 1]?.[index];
    this.plot.setCursor({
      left: this.plot.valToPos(x, "x"),
      top: typeof y === "number" ? this.plot.valToPos(y, "y") : 10,
    });
    this.live.textContent = `${s.curve.label}, ${this.data.inner} `
      + `${format.inner(x, this.data.bytes)}: ${this.words(s, x) ?? "not measured"}`;
  }

  private key(e: KeyboardEvent): void {
    const n = this.plot.data[0].length;
    const at = this.tip.hidden ? -1 : this.plot.cursor.idx ?? -1;
    const step = (by: number) => {
      const visible = this.shown.map((s, i) => s.visible ? i : -1).filter((i) => i >= 0);
      const k = visible.indexOf(this.current);
      this.current = visible[(k + by + visible.length) % visible.length] ?? 0;
    };
    switch (e.key) {
      case "ArrowRight": this.read(Math.min(n - 1, at + 1)); break;
      case "ArrowLeft": this.read(at < 0 ? n - 1 : Math.max(0, at - 1)); break;
      case "Home": this.read(0); break;
      case "End": this.read(n - 1); break;
      case "ArrowDown": step(1); this.read(Math.max(0, at)); break;
      case "ArrowUp": step(-1); this.read(Math.max(0, at)); break;
      case "Escape":
        this.hide();
        if (this.zoomed) this.draw();
        this.zoomed = false;
        break;
      default: return;
    }
    e.preventDefault();
  }
}

/** Round numbers of each decade, the fewer the more decades there are. */
function ticks(low: number, high: number): number[] {
  const list: number[] = [];
  const decades = Math.log10(high / low);
  const steps = decades < 1 ? [1, 1.5, 2, 3, 4, 5, 7] : decades < 3 ? [1, 2, 5] : [1];
  for (let d = Math.floor(Math.log10(low)); d <= Math.log10(high); d++)
    for (const m of steps) {
      const v = m * 10 ** d;
      if (v >= low && v <= high) list.push(v);
    }
  return list;
}

/** Zero, and the decades to both sides of it, without the one in which the axis is linear. */
function signed(low: number, high: number, small: number): number[] {
  const list = [0];
  for (let v = 10 * small; v <= Math.max(high, -low) * 1.5; v *= 10) {
    if (v <= high * 1.5) list.push(v);
    if (v <= -low * 1.5) list.unshift(-v);
  }
  return list;
}
