import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { describeIf } from "../../support/skipping.ts";
import { isThorough } from "../../support/test-depth.ts";
import { eventually } from "../../tools/processes.ts";
import { HOST, NO_SANDBOX } from "./host.ts";
import { createWorkspace, runScript } from "./run-sandbox.ts";

const CALLS = isThorough ? 1_000 : 40;
const AT_ONCE = 4;

const count = () => ({
  descriptors: readdirSync("/proc/self/fd").length,
  mounts: readFileSync("/proc/self/mountinfo", "latin1").split("\n").length,
  children: readFileSync(`/proc/self/task/${process.pid}/children`, "latin1").split(" ").length,
});

describeIf(HOST.able, NO_SANDBOX)("many calls in a sandbox", () => {
  test("leave no descriptor, mount or process", async () => {
    const workspace = await createWorkspace();
    const run = async () => {
      const { ending } = await runScript("sleep 0 & true", workspace);
      expect(ending).toEqual({ type: "ran", exitCode: 0 });
    };
    await Promise.all(Array.from({ length: AT_ONCE }, run));
    const before = count();
    for (let call = 0; call < CALLS; call += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, run));
    // The shell of the next sandbox waits, with its pipes; it may have been there before.
    const spare = 10;
    await eventually(
      count,
      ({ descriptors, mounts, children }) =>
        descriptors <= before.descriptors + spare &&
        mounts === before.mounts &&
        children <= before.children + 1,
    );
  });
});
