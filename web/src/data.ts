// SPDX-License-Identifier: MIT
// The data that the program writes into the page: src/report/html_data.c.

/** x, median, ends of its 95 % interval, number of invocations, each of them. */
export type Point = [
  number | null, number | null, number | null, number | null, number, number[],
];

export interface Knee {
  id: string;
  words: string;
  level: number;
  value: number | null;
  low: number | null;
  high: number | null;
  advertised: number | null;
}

export interface Curve {
  label: string;
  run: number;
  overlay: boolean;
  knees: Knee[];
  points: Record<string, Point[]>;
}

export interface Metric {
  name: string;
  unit: string;
  summary: string;
}

export interface ChartData {
  bench: string;
  inner: string;
  bytes: boolean;
  metrics: Metric[];
  curves: Curve[];
}

export interface PageData {
  format: string;
  format_version: number;
  charts: Record<string, ChartData>;
}

/**
 * As written: x once, invocations that are all alike as one number, a median or an end of an
 * interval as the place of its invocation, or as [number].
 */
type Written = number | [number] | null | undefined;
interface WrittenCurve extends Omit<Curve, "points"> {
  x: (number | null)[];
  metrics: Record<string, [number, number | number[], Written?, Written?, Written?][]>;
}

function value(w: Written, each: number[]): number | null {
  return typeof w === "number" ? each[w] ?? null : w?.[0] ?? null;
}

export function readData(): PageData {
  const data = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as PageData;
  for (const chart of Object.values(data.charts ?? {}))
    chart.curves = (chart.curves as unknown as WrittenCurve[]).map(({ x, metrics, ...rest }) => ({
      ...rest,
      points: Object.fromEntries(Object.entries(metrics).map(([name, list]) => [name,
        list.map(([n, all, v, low, high], i): Point => {
          const each = typeof all === "number" ? new Array<number>(n).fill(all) : all;
          return [x[i] ?? null, value(v, each), value(low, each), value(high, each), n, each];
        })])),
    }));
  return data;
}
