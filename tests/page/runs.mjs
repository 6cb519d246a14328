// SPDX-License-Identifier: MIT
// Runs and their pages, made by the program, each once.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder } from "./browser.mjs";

const environment = {
  ...process.env, LC_ALL: "C.UTF-8", PAGETOLL_DATA: join(folder, "data"),
  PAGETOLL_RUN: join(folder, "run"),
};

/** What the program prints; an exception with its words when its status is not among these. */
export function pagetoll(words, statuses = [0]) {
  const r = spawnSync(process.env.PAGETOLL, words, {
    env: environment, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"],
  });
  if (!statuses.includes(r.status))
    throw new Error(`pagetoll ${words.join(" ")}: status ${r.status}: ${r.stderr}`);
  return r.stdout;
}

export const published = ["altix-2005", "kernel-text-replication-2006", "migration-cost-2005",
  "page-table-levels-2005", "prefault-profile-2002", "prefault-times-2002"];

const kept = new Map();
function once(name, make) {
  if (!kept.has(name)) kept.set(name, make());
  return kept.get(name);
}

const measured = {
  chase: ["tlb.chase", "page=4k", "pointers=1,8,16,64,512,2048"],
  again: ["tlb.chase", "page=4k", "pointers=1,8,16,64,512,2048"],
  fill: ["cache.chase", "page=base", "working-set=4k,16k,64k,256k"],
};

/** A run measured here: six invocations, so that there are intervals. */
export function run(name) {
  return once(`run ${name}`, () => {
    const file = join(folder, `${name}.pagetoll.jsonl`);
    pagetoll(["run", "--preset", "quick", "--invocations", "6", "--quiet", "--label", name, "-o",
      file, ...measured[name]]);
    return file;
  });
}

/** A run from these lines, objects. */
export function invented(name, lines) {
  const file = join(folder, `${name}.pagetoll.jsonl`);
  writeFileSync(file, lines.map((l) => `${JSON.stringify(l)}\n`).join(""));
  return file;
}

export function lines(file) {
  return readFileSync(file, "utf8").trimEnd().split("\n").map((l) => JSON.parse(l));
}

/** The page of runs: names as the program takes them. */
export function html(...runs) {
  return once(`page ${runs.join(" ")}`, () => {
    const file = join(folder, `page-${kept.size}.html`);
    pagetoll(["report", ...runs, "-o", file]);
    if (!existsSync(file)) throw new Error("no page was written");
    return file;
  });
}

export function json(runName) {
  return once(`json ${runName}`, () => JSON.parse(pagetoll(["export", "--format", "json", runName])));
}

export function shown(runName) {
  return JSON.parse(pagetoll(["show", "--format", "json", runName]));
}

export function tool(program, words) {
  return execFileSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}
