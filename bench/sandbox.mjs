import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxSettings } from "../dist/schema/sandbox.js";
import { createRunCommand } from "../dist/tools/sandbox/run-command.js";
import { Sandboxes } from "../dist/tools/sandbox/sandboxes.js";
import { computeQuantile, round } from "./environment.mjs";

const ROUNDS = 150;

/** The variants, one after the other in each round, so that a slower minute of the machine slows all of them. */
const VARIANTS = {
  off: { mode: "off" },
  workspace: { mode: "workspace" },
  strict: { mode: "strict" },
  network: { mode: "workspace", network: { allow: ["example.com:443"] } },
};

/** Measures the duration of `true` as a call of a tool runs it, and tries the forbidden acts of the self-test. */
export async function measure({ log, quick }) {
  const [workspace, holdfastHome] = await Promise.all([createFolder(), createFolder()]);
  try {
    const sandboxes = new Sandboxes({
      fallback: SandboxSettings.parse({ mode: "workspace" }),
      holdfastHome,
      environment: {},
    });
    const durations = Object.fromEntries(Object.keys(VARIANTS).map((name) => [name, []]));
    const rounds = quick ? 5 : ROUNDS;
    for (let at = -1; at < rounds; at += 1) {
      for (const [name, settings] of Object.entries(VARIANTS)) {
        const durationMs = await run(sandboxes, SandboxSettings.parse(settings), workspace);
        // The first round probes the host and tries the forbidden acts.
        if (at >= 0) durations[name].push(durationMs);
      }
      if (at > 0 && at % 50 === 0) log(`${at} of ${rounds} rounds`);
    }
    const added = (name) =>
      round(computeQuantile(durations[name], 0.5) - computeQuantile(durations.off, 0.5));
    const tests = [];
    for (const mode of ["workspace", "strict"]) {
      const from = performance.now();
      const { acts } = await sandboxes.test({ settings: SandboxSettings.parse({ mode }), workspace });
      tests.push({ acts, durationMs: performance.now() - from });
    }
    const acts = tests.flatMap((test) => test.acts);
    return {
      offP50Ms: round(computeQuantile(durations.off, 0.5)),
      addedP50Ms: added("workspace"),
      addedStrictP50Ms: added("strict"),
      addedNetworkP50Ms: added("network"),
      acts: acts.length,
      succeeded: acts.filter(({ outcome }) => outcome === "succeeded").length,
      notTried: acts.filter(({ outcome }) => outcome === "not-tried").length,
      selfTestMs: round(Math.max(...tests.map(({ durationMs }) => durationMs))),
    };
  } finally {
    for (const folder of [workspace, holdfastHome]) await rm(folder, { recursive: true, force: true });
  }
}

async function createFolder() {
  return await realpath(await mkdtemp(join(tmpdir(), "holdfast-bench-")));
}

let calls = 0;

async function run(sandboxes, settings, workspace) {
  calls += 1;
  const runCommand = createRunCommand({
    openSandbox: () => sandboxes.open({ settings, workspace }),
    workspace,
    idempotencyKey: `bench-${process.pid}-${calls}`,
    signal: new AbortController().signal,
    onSpawned: async () => {},
  });
  const from = performance.now();
  const { exitCode } = await runCommand({ command: "true" });
  if (exitCode !== 0) throw new Error(`true ended with exit code ${exitCode}`);
  return performance.now() - from;
}
