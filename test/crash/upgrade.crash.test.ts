import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { resolveBuiltFile } from "../../src/testing/built-file.ts";
import { TEST_KEY_NAME } from "../../src/testing/test-agent.ts";
import { eventually } from "../support/eventually.ts";
// @ts-expect-error: a plain module, which the campaign reads too.
import { isNormalTaskFailure } from "../support/normal-task-failures.mjs";
import { thoroughTest } from "../support/test-depth.ts";
import { connectClient } from "../workflows/support/test-client.ts";
import { TEST_KEY } from "../workflows/support/test-environment.ts";
import { type CrashEnvironment, openCrashEnvironment } from "./support/crash-environment.ts";

// Runs that live through an upgrade (design 3.15): with rule sets, and with Temporal's worker versioning.

let stage: CrashEnvironment;
let holdfast: Holdfast;

beforeAll(async () => {
  stage = await openCrashEnvironment();
  holdfast = await connectClient(stage, { rotateAfterEvents: 30 });
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

const SCRIPT = fileURLToPath(new URL("./support/version-worker.mjs", import.meta.url));

/** This release, and one with one more rule set. */
function bundles(): { readonly now: string; readonly next: string } {
  const now = resolveBuiltFile("workflow-bundle.js");
  const code = readFileSync(now, "utf8");
  // The bundle shortens the names of constants, not those of functions.
  const newest = /function chooseRuleSet\(\w+\s*=\s*(\w+)\)/.exec(code)?.[1];
  const definition = new RegExp(`(?<=[\\s,]${newest}\\s*=\\s*)\\d+`);
  const changed = code.replace(definition, (rules) => `${Number(rules) + 1}`);
  expect(changed).not.toBe(code);
  const next = join(stage.home, "next-bundle.js");
  writeFileSync(next, changed);
  return { now, next };
}

async function worker(bundle: string): Promise<ChildProcess> {
  const { address, namespace, home, taskQueue } = stage;
  const child = spawn(process.execPath, [SCRIPT, address, namespace, home, taskQueue, bundle], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, [TEST_KEY_NAME]: TEST_KEY },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  if (child.stdout !== null) await once(child.stdout, "data");
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}

const REPLIES = { replies: ["One.", "Two.", "Three.", "Four.", "Five."].map((text) => ({ text })) };

async function startResting(): Promise<string> {
  const session = stage.session(REPLIES);
  await holdfast.start({
    session: session.id,
    agent: session.definition,
    prompt: "Begin",
    mode: "interactive",
  });
  await resting(session.id, 1);
  return session.id;
}

async function resting(session: string, turns: number) {
  return await eventually(
    async () => {
      const status = await holdfast.session(session).status();
      return status.source === "run" && status.status === "waiting" && status.turns === turns
        ? status
        : undefined;
    },
    { what: `${turns} turns of ${session}`, timeoutMs: 20_000 },
  );
}

async function prompted(session: string, turns: number) {
  await holdfast.session(session).prompt("And on");
  return await resting(session, turns);
}

async function failedTasks(session: string): Promise<number> {
  const { events } = await stage.client.workflow.getHandle(session).fetchHistory();
  return (events ?? []).filter(
    ({ workflowTaskFailedEventAttributes: failed }) => failed != null && !isNormalTaskFailure(failed.cause),
  ).length;
}

thoroughTest(
  "a run continues under the rules that it was started with, and is upgraded when it continues as new, not before",
  async () => {
    const { now, next } = bundles();
    const first = await worker(now);
    const old = await startResting();
    const { ruleSet = 0, runId } = await holdfast.session(old).status();
    expect(ruleSet).toBeGreaterThan(0);

    const second = await worker(next);
    await end(first, "SIGTERM");
    expect(await resting(old, 1)).toMatchObject({ ruleSet, runId });
    const fresh = await startResting();
    expect(await resting(fresh, 1)).toMatchObject({ ruleSet: ruleSet + 1 });
    expect(await failedTasks(old)).toBe(0);
    await prompted(old, 2);
    const raised = await eventually(
      async () => {
        const status = await holdfast.session(old).status();
        return status.runId !== runId && status.ruleSet !== undefined ? status : undefined;
      },
      { what: "the next run of the session" },
    );
    expect(raised).toMatchObject({ ruleSet: ruleSet + 1 });
    await prompted(old, 3);

    await end(second, "SIGKILL");
    await worker(next);
    expect(await resting(fresh, 1)).toMatchObject({ ruleSet: ruleSet + 1 });
    await prompted(fresh, 2);
    for (const session of [old, fresh]) expect(await failedTasks(session)).toBe(0);
  },
);

const DEPLOYMENT = "upgrades";

/** Does what `temporal worker deployment set-current-version` does. */
async function setCurrent(buildId: string): Promise<void> {
  const { workflowService } = stage.client;
  const set = () =>
    workflowService.setWorkerDeploymentCurrentVersion({
      namespace: stage.namespace,
      deploymentName: DEPLOYMENT,
      buildId,
      identity: "test",
    });
  await eventually(() => set().then(() => true), {
    what: `version ${buildId}`,
    timeoutMs: 30_000,
    everyMs: 300,
  });
}

async function versionOf(session: string): Promise<string | undefined> {
  const { raw } = await stage.client.workflow.getHandle(session).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? undefined;
}

thoroughTest(
  "worker versioning, pinned: a run stays with its version until it continues as new, and moves then",
  async () => {
    const version = (buildId: string) =>
      stage.startWorker({
        env: {
          HOLDFAST_BUILD_ID: buildId,
          HOLDFAST_DEPLOYMENT: DEPLOYMENT,
          HOLDFAST_VERSIONING: "pinned",
        },
      });
    const first = await version("v1");
    await setCurrent("v1");
    const old = await startResting();
    expect(await versionOf(old)).toBe("v1");

    await version("v2");
    await setCurrent("v2");
    const fresh = await startResting();
    expect(await versionOf(fresh)).toBe("v2");
    expect(await versionOf(old)).toBe("v1");
    await prompted(old, 2);
    await eventually(async () => (await versionOf(old)) === "v2", { what: "the move to v2" });
    expect(await first.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    await prompted(old, 3);
    await prompted(fresh, 2);
    for (const session of [old, fresh]) expect(await failedTasks(session)).toBe(0);
  },
);
