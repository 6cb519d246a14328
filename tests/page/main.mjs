// SPDX-License-Identifier: MIT
// Every test of the page. One browser and one set of runs serve all of them.
import { after, before } from "node:test";
import { start, stop } from "./browser.mjs";

before(start);
after(stop);

await import("./open.mjs");
await import("./values.mjs");
await import("./use.mjs");
await import("./look.mjs");
await import("./hostile.mjs");
await import("./bundle.mjs");
