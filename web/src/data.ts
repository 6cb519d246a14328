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

export function readData(): PageData {
  return JSON.parse(document.getElementById("data")?.textContent ?? "{}") as PageData;
}
