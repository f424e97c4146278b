import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DefaultLogger, Runtime } from "@temporalio/worker";
import { afterAll, expect, test } from "vitest";
import { resolveBuiltFile } from "../../src/testing/built-file.ts";
import { ReplayMismatchError, replayHistories } from "../../src/testing/replay.ts";
import { thoroughTest } from "../support/test-depth.ts";

Runtime.install({
  logger: new DefaultLogger("ERROR"),
  // The tests receive the log of the planted changes; nobody else needs it.
  telemetryOptions: { logging: { filter: "OFF" } },
});

const recorded = fileURLToPath(new URL("./recorded", import.meta.url));
const files = readdirSync(recorded).sort();
const scratch = mkdtempSync(join(tmpdir(), "holdfast-replay-"));
afterAll(() => rmSync(scratch, { recursive: true }));

/** The bundle with one planted change. */
function changedBundle(name: string, from: RegExp, to: string): string {
  const code = readFileSync(resolveBuiltFile("workflow-bundle.js"), "utf8");
  const changed = code.replace(from, to);
  expect(changed, `${from} is not in the bundle: plant another change`).not.toBe(code);
  const file = join(scratch, `${name}.js`);
  writeFileSync(file, changed);
  return file;
}

async function mismatches(bundle: string): Promise<{ names: string[]; message: string }> {
  const error: unknown = await replayHistories(recorded, { bundle }).catch((thrown) => thrown);
  if (!(error instanceof ReplayMismatchError)) throw new Error("every history replayed", { cause: error });
  return { names: error.mismatches.map(({ name }) => name), message: error.message };
}

test("every recorded run replays against the current workflow (design 3.15) [TMP-02]", async () => {
  expect(await replayHistories(recorded)).toEqual(files.map((file) => file.replace(/\.json$/, "")));
});

test("the recordings cover every shape of run, and stay small", () => {
  for (const shape of [
    "one-turn",
    "tools",
    "steered",
    "stopped",
    "failed",
    "continued-as-new",
    "interactive",
    "approved",
    "approval-timers",
    "compacted",
    "overflowed",
    "limits-raised",
    "limit-continued",
    "moved",
    "hooked",
    "filtered",
    "pruned",
    "reverted",
    "structured",
    "compacted-at-rest",
    "sub-agent-stopped",
    "pipeline",
    "pipeline-resumed",
    "pipeline-failed",
    "fan-out",
    "fan-out-stopped",
    "reducer-stopped",
    "autonomous",
    "autonomous-as-new",
    "supervisor",
    "supervisor-stopped",
    "evaluation",
    "evaluation-short",
    "evaluation-stopped",
    "strategy-stopped",
    "exploration",
    "suite",
    "suite-part-answer",
    "suite-part-agent",
    "suite-paused",
    "suite-stopped",
    "suite-as-new-1",
  ]) {
    expect(files).toContain(`${shape}.json`);
  }
  for (const file of files) {
    expect(statSync(join(recorded, file)).size, file).toBeLessThan(100 * 1024);
    expect(readFileSync(join(recorded, file), "utf8"), file).not.toMatch(/sk-recorded|\/home\/|\/root\//);
  }
});

thoroughTest("replay detects a change in the driver: an activity of another name", async () => {
  const bundle = changedBundle("driver", /activity:\s*"call-model"/, 'activity: "call-modell"');
  const { names, message } = await mismatches(bundle);
  expect(names).toContain("one-turn");
  expect(message).toMatch(/RULES/);
  expect(message).toMatch(/patched\(\)/);
});

thoroughTest(
  "replay detects a change in the machine, by exactly those runs that the change affects",
  async () => {
    const bundle = changedBundle("machine", /case\s*"parallel":\s*return \w+;/, 'case "parallel": return 1;');
    const { names } = await mismatches(bundle);
    expect(names).toContain("tools");
    expect(names).not.toContain("one-turn");
  },
);
