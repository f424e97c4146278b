import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { testIf } from "../support/skipping.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openCampaignEnvironment, VARIED_SCENARIOS } from "./support/campaign.ts";

const { play, stage } = openCampaignEnvironment();

const SHIFT = fileURLToPath(new URL("./support/shift-clock.mjs", import.meta.url));
/** From Debian's package `libfaketime`: moves the clock of the whole process, including the SDK's native part. */
const LIBRARY = readdirSync("/usr/lib")
  .map((folder) => join("/usr/lib", folder, "faketime", "libfaketimeMT.so.1"))
  .find((file) => existsSync(file));

/** The clocks that can be moved here, and how their tests are declared. */
const CLOCKS =
  LIBRARY === undefined
    ? ([
        ["the clock", testIf(false, "libfaketime is not installed (Debian: apt-get install libfaketime)")],
        ["JavaScript's clock", thoroughTest],
      ] as const)
    : ([["the clock", thoroughTest]] as const);

/** A worker whose clock is offset by the content of a file, `+0` at first. */
function movable(file: string): Record<string, string> {
  if (LIBRARY === undefined) return { NODE_OPTIONS: `--import ${SHIFT}`, SHIFT_CLOCK: file };
  return {
    LD_PRELOAD: LIBRARY,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    // Without it, an event loop that waits for a point in time would wait an hour too long.
    FAKETIME_DONT_RESET: "1",
  };
}

for (const [name, what, steps] of [
  ["clock-on", "an hour on, and back", ["+3600", "+0"]],
  ["clock-back", "an hour back, and two on", ["-3600", "+3600"]],
] as const) {
  for (const [clock, declareTest] of CLOCKS)
    declareTest(
      `${clock} of a worker steps ${what} while agents work, and the worker is killed: nothing is lost, nothing is done twice`,
      async () => {
        const file = join(stage().folder, `${name}.txt`);
        writeFileSync(file, "+0");
        const { violations, kills } = await play({
          name,
          workers: [["store:before:40"]],
          scenarios: [...VARIED_SCENARIOS],
          env: movable(file),
          during: async () => {
            for (const step of steps) {
              await sleep(1500);
              writeFileSync(file, step);
            }
          },
        });
        expect(violations).toEqual([]);
        expect(kills).toHaveLength(1);
      },
      120_000,
    );
}
