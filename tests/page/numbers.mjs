// SPDX-License-Identifier: MIT
// Reads numbers as people see them, and says whether they are a value, to the digits that they show.
import assert from "node:assert/strict";

const FACTORS = {
  ns: ["ns", 1], "\u00b5s": ["ns", 1e3], us: ["ns", 1e3], ms: ["ns", 1e6], s: ["ns", 1e9],
  Hz: ["Hz", 1], kHz: ["Hz", 1e3], MHz: ["Hz", 1e6], GHz: ["Hz", 1e9],
  B: ["bytes", 1], KiB: ["bytes", 1024], MiB: ["bytes", 2 ** 20], GiB: ["bytes", 2 ** 30],
  TiB: ["bytes", 2 ** 40], bytes: ["bytes", 1],
  k: ["", 1024], m: ["", 2 ** 20], g: ["", 2 ** 30], "%": ["percent", 1],
};

/** "12.3 \u00b5s" as the least and the most that it may stand for; null: no number. */
export function read(text) {
  const m = /^([-\u2212+]?[0-9]+(?:\.([0-9]+))?(?:e([-+]?[0-9]+))?)\s*(.*)$/.exec(text.trim());
  if (!m) return null;
  const [unit, factor] = FACTORS[m[4]] ?? [m[4], 1];
  const value = Number(m[1].replace("\u2212", "-"));
  // Three digits are shown at least; longer whole numbers are rounded at their third.
  const whole = m[1].replace(/[^0-9.].*$/, "");
  const last = m[2] !== undefined ? 10 ** (Number(m[3] ?? 0) - m[2].length)
    : 10 ** Math.max(0, /^0*$/.test(whole.slice(3)) ? whole.length - 3 : 0);
  return { value: value * factor, slack: 0.5001 * last * factor, unit };
}

/** Whether the text is this value; "\u2013" and the empty text are no value. */
export function near(text, value, unit = null) {
  const t = text.trim();
  if (value === null || value === undefined) return t === "\u2013" || t === "";
  const r = read(t);
  return r !== null && Math.abs(r.value - value) <= r.slack + Math.abs(value) * 1e-9
    && (unit === null || r.unit === "" || r.unit === unit);
}

export function assertNear(text, value, where, unit = null) {
  assert.ok(near(text, value, unit), `${where}: "${text}" is not ${value} ${unit ?? ""}`);
}

/** "[1.2, 3.4]" as two texts. */
export function ends(text) {
  const m = /\[([^,\]]+),\s*([^\]]+)\]/.exec(text);
  return m ? [m[1], m[2]] : null;
}
