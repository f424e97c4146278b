import { readFileSync } from "node:fs";
import fc, { oneof, property } from "fast-check";
import { expect, test } from "vitest";
import { thorough } from "../support/depth.ts";
import { anyActions, playAll, settings } from "./actions.ts";
import type { Setting } from "./play.ts";

const source = readFileSync(new URL("../../src/core/apply.ts", import.meta.url), "utf8");
const ROW = /^\/\/ {3}([a-z-]+) +([a-z-]+) +((?:[a-z-]+ ?)+)$/gm;

/** By phase and event: the phases behind it. */
const table = new Map(
  [...source.matchAll(ROW)].map(([, phase, event, targets = ""]) => [
    `${phase} ${event}`,
    new Set(targets.trim().split(" ")),
  ]),
);

/** Accepted in every phase. */
const ALWAYS = [
  "steered",
  "followed-up",
  "queue-mode-set",
  "queues-cleared",
  "compaction-asked",
  "update-asked",
  "stop-requested",
  "rotation-due",
  "time-passed",
  "limits-raised",
  "approval-answered",
];

/** Runs in which every word of a person is asked about. */
const filtering = settings.map((setting): Setting => ({ ...setting, judges: () => undefined }));

/** The rows that random runs take, each of them checked against the table. */
function walk(numRuns: number): ReadonlySet<string> {
  const walked = new Set<string>();
  fc.assert(
    property(
      oneof({ arbitrary: settings, weight: 4 }, { arbitrary: filtering, weight: 1 }),
      anyActions,
      (setting, actions) => {
        for (const move of playAll({ ...setting, light: true }, actions).moves) {
          const [phase = "", event = "", target = ""] = move.split(" ");
          const row = `${phase} ${event}`;
          const known = table.get(row);
          if (known === undefined) expect([ALWAYS.includes(event), target], row).toEqual([true, phase]);
          else expect([...known], row).toContain(target);
          walked.add(row);
        }
      },
    ),
    // A fixed seed: which rows are walked must not be a matter of luck.
    { numRuns, seed: 4 },
  );
  return walked;
}

test("the machine moves as the table above `apply` says", () => {
  expect(table.size).toBe(39);
  expect(walk(400).size).toBeGreaterThan(20);
});

thorough(
  "every row of the table above `apply` is walked",
  () => {
    const walked = walk(4000);
    expect([...table.keys()].filter((row) => !walked.has(row))).toEqual([]);
  },
  120_000,
);
