import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "vitest";
import { thoroughTest } from "../support/test-depth.ts";

const SCRIPT = fileURLToPath(new URL("../../scripts/crash.mjs", import.meta.url));

/** Two waves; `.ci/run` plays the short campaign, `npm run crash` the long one. */
const SLICE = ["--quick", "--kills", "24", "--runs", "11", "--minutes", "3", "--seed", "7"];

thoroughTest(
  "a slice of the crash campaign: workers die at four points under eleven agents, and nothing is lost, duplicated, paid again or left over [STEER-01.3, TMP-07.1]",
  async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, ...SLICE, "--json"]);
    const last = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    expect(Object.keys(last)).toEqual([
      "kills",
      "violations",
      "repaidStored",
      "unsafeTwice",
      "lost",
      "duplicated",
      "recoveryP50Ms",
      "recoveryP99Ms",
    ]);
    expect(last).toMatchObject({ violations: 0, repaidStored: 0, unsafeTwice: 0, lost: 0, duplicated: 0 });
    expect(last.kills).toBeGreaterThanOrEqual(24);
  },
  200_000,
);
