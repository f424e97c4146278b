import { expect, test } from "vitest";
import type { ActResult, SandboxProfile, SelfTestResult } from "../../../src/platform/sandbox/self-test.ts";
import { SelfTests } from "../../../src/tools/sandbox/self-tests.ts";

const PROFILE: SandboxProfile = {
  plan: {
    mode: "workspace",
    workspace: "/work",
    isReadOnly: false,
    cwd: "/work",
    home: "/home/me",
    holdfastHome: "/home/me/.holdfast",
    readable: [],
    writable: [],
    env: {},
    protectedPaths: [],
    hiddenPaths: [],
    tmpfsBytes: 1024 * 1024,
  },
  programs: { bwrap: "/usr/bin/bwrap", setsid: "/usr/bin/setsid", prlimit: "/usr/bin/prlimit" },
};
const IN_OTHER_FOLDER = { ...PROFILE, plan: { ...PROFILE.plan, workspace: "/other", cwd: "/other" } };
const STRICT = { ...PROFILE, plan: { ...PROFILE.plan, mode: "strict" as const } };

function report(...acts: readonly Partial<ActResult>[]): SelfTestResult {
  const filled = acts.map(
    (act): ActResult => ({
      name: "mount",
      forbidden: "Mount a file system",
      outcome: "prevented",
      detail: "",
      durationMs: 1,
      ...act,
    }),
  );
  return { acts: filled, ok: filled.every(({ outcome }) => outcome === "prevented") };
}

/** Self-tests with these results, one after the other; the last one for ever. */
function createTests(...results: readonly SelfTestResult[]) {
  let runs = 0;
  const tests = new SelfTests(async () => {
    runs += 1;
    return results[Math.min(runs, results.length) - 1] as SelfTestResult;
  });
  return { tests, countRuns: () => runs };
}

test("each profile is tested once, whatever the workspace, and the first call gets the result", async () => {
  const { tests, countRuns } = createTests(report({}));
  const results = await Promise.all([
    tests.admit(PROFILE),
    tests.admit(PROFILE),
    tests.admit(IN_OTHER_FOLDER),
  ]);
  expect(results.map((result) => result?.ok)).toEqual([true, undefined, undefined]);
  expect(countRuns()).toBe(1);
  await tests.admit(STRICT);
  expect(countRuns()).toBe(2);
});

test("nothing runs in a profile where a forbidden act has succeeded, until a test passes", async () => {
  const escaped = report({}, { outcome: "succeeded", detail: "The call succeeded" });
  const { tests, countRuns } = createTests(escaped, escaped, report({}));
  const refusal = "its self-test failed. Succeeded: Mount a file system (The call succeeded).";
  await expect(tests.admit(PROFILE)).rejects.toThrow(refusal);
  await expect(tests.admit(PROFILE)).rejects.toThrow(refusal);
  expect(countRuns()).toBe(2);
  expect(await tests.admit(PROFILE)).toMatchObject({ ok: true });
});

test("nothing runs where acts could not be tried, and one reason is named once", async () => {
  const untried = { outcome: "not-tried", detail: "no place" } as const;
  const { tests, countRuns } = createTests(report(untried, { ...untried, name: "ptrace" }));
  await expect(tests.admit(PROFILE)).rejects.toThrow("Could not be tried: mount, ptrace: no place");
  expect(countRuns()).toBe(3);
});

test("an act that is judged by time is tried again, because a busy host can be too slow", async () => {
  const slow = report({ name: "fork-bomb", outcome: "succeeded" });
  const { tests, countRuns } = createTests(slow, slow, report({}));
  expect(await tests.admit(PROFILE)).toMatchObject({ ok: true });
  expect(countRuns()).toBe(3);
  const other = createTests(slow);
  await expect(other.tests.admit(PROFILE)).rejects.toThrow("self-test failed");
  expect(other.countRuns()).toBe(3);
});
