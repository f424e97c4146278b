import fc, { asyncProperty, oneof } from "fast-check";
import { expect, test } from "vitest";
import { STEPS } from "../../src/core/machine/steps.ts";
import { must } from "../support/must.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { anyActions, playAll, settings } from "./actions.ts";
import type { Setting } from "./support/script.ts";
import { ALWAYS_ACCEPTED, TRANSITIONS } from "./transitions.ts";

/** The target phases of each phase and event. */
const table = new Map<string, ReadonlySet<string>>(
  Object.entries(TRANSITIONS).flatMap(([phase, events]) =>
    Object.entries(events).map(
      ([event, targets]) => [`${phase} ${event}`, new Set<string>(targets)] as const,
    ),
  ),
);
const isAlwaysAccepted = (event: string) => (ALWAYS_ACCEPTED as readonly string[]).includes(event);

/** Runs in which every user message is filtered. */
const filtering = settings.map((setting): Setting => ({ ...setting, judges: () => undefined }));

/** Runs whose sessions get their titles from the model. */
const titled = settings.map((setting): Setting => ({ ...setting, titles: "model" }));

/** Returns the rows that random runs use, and checks each of them against the table. */
async function walk(numRuns: number): Promise<ReadonlySet<string>> {
  const walked = new Set<string>();
  await fc.assert(
    asyncProperty(
      oneof(
        { arbitrary: settings, weight: 4 },
        { arbitrary: filtering, weight: 1 },
        { arbitrary: titled, weight: 1 },
      ),
      anyActions,
      async (setting, actions) => {
        for (const move of (await playAll({ ...setting, light: true }, actions)).seen.moves) {
          const [phase = "", event = "", target = ""] = move.split(" ");
          const row = `${phase} ${event}`;
          const known = table.get(row);
          const isKnown =
            known === undefined ? isAlwaysAccepted(event) && target === phase : known.has(target);
          must(isKnown, `${row} leads to ${target}`);
          walked.add(row);
        }
      },
    ),
    // A fixed seed, so that every execution uses the same rows.
    { numRuns, seed: 4 },
  );
  return walked;
}

test("each step's phase has transitions for its success and its failure", () => {
  for (const { phase, done, failed } of Object.values(STEPS)) {
    expect(Object.keys(TRANSITIONS[phase])).toEqual(expect.arrayContaining([done, failed]));
  }
});

test("the machine follows the transition table", async () => {
  expect(table.size).toBe(41);
  expect((await walk(400)).size).toBeGreaterThan(20);
}, 120_000);

thoroughTest(
  "every row of the transition table is used",
  async () => {
    const walked = await walk(4000);
    expect([...table.keys()].filter((row) => !walked.has(row))).toEqual([]);
  },
  120_000,
);
