// SPDX-License-Identifier: MIT
// Numbers as people read them, the same as in the tables: three significant digits, sizes binary.

function digits(v: number, n: number): string {
  if (v === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(v)));
  return v.toFixed(Math.max(0, Math.min(12, n - 1 - magnitude)));
}

export function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  let v = bytes;
  while (Math.abs(v) >= 1024 && i + 1 < units.length) {
    v /= 1024;
    i++;
  }
  const text = Number.isInteger(v) ? String(v) : digits(v, 3);
  return `${text} ${units[i]}`;
}

export function value(v: number, unit: string): string {
  if (unit === "bytes") return size(v);
  const a = Math.abs(v);
  if (unit === "ns" && a >= 1e5) {
    const [d, u] = a >= 1e9 ? [1e9, "s"] as const : a >= 1e6 ? [1e6, "ms"] as const
      : [1e3, "\u00b5s"] as const;
    return `${digits(v / d, 3)} ${u}`;
  }
  return `${digits(v, 3)}${unit ? ` ${unit}` : ""}`;
}

export function inner(v: number, bytes: boolean): string {
  return bytes ? size(v) : Number.isInteger(v) ? String(v) : digits(v, 4);
}

/** Short, for axes. */
export function tick(v: number, unit: string): string {
  if (unit === "bytes") return size(v);
  const a = Math.abs(v);
  if (unit === "ns" && a >= 1e4) {
    const [d, u] = a >= 1e9 ? [1e9, "s"] as const : a >= 1e6 ? [1e6, "ms"] as const
      : [1e3, "\u00b5s"] as const;
    return `${+(v / d).toPrecision(3)} ${u}`;
  }
  if (a >= 1e6) return `${+(v / 1e6).toPrecision(3)}M`;
  if (a >= 1e4) return `${+(v / 1e3).toPrecision(3)}k`;
  return String(+v.toPrecision(4));
}
