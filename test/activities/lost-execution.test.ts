import { hostname } from "node:os";
import { expect, test } from "vitest";
import { buildUnknownOutcome, isDead, yieldToHolder } from "../../src/activities/tool/lost-execution.ts";
import { getShortHostId } from "../../src/platform/process/host-id.ts";
import type { LostExecution } from "../../src/store/transcript/step.ts";
import type { WorkerProcess } from "../../src/store/transcript/worker-process.ts";
import { identifyProcess } from "../../src/worker/failover/process-identity.ts";
import { step } from "../transcript/sample-writes.ts";

const alive = identifyProcess({ namespace: "n", taskQueue: "q" });
const elsewhere: WorkerProcess = { ...alive, id: "other:7:123@0123abcd", host: "0123abcd" };
const signedIn = {
  listProcesses: async (host: string) => [alive, elsewhere].filter((one) => one.host === host),
};

test("a process is dead if it no longer runs on this host or has unregistered on another one; otherwise it is alive", async () => {
  expect(await isDead(alive.id, signedIn)).toBe(false);
  expect(await isDead(`${hostname()}:${process.pid}:1@${getShortHostId()}`, signedIn)).toBe(true);
  expect(await isDead(elsewhere.id, signedIn)).toBe(false);
  expect(await isDead("other:8:123@0123abcd", signedIn)).toBe(true);
  expect(await isDead("a name of its own", signedIn)).toBe(false);
});

test("the model is informed of a worker's death only if the worker died", () => {
  const lost = { generation: 0, process: "p", startedAtMs: 0 };
  const textOf = (died: boolean) => {
    const [part] = buildUnknownOutcome(lost, died, "nothing was running any more", []).output.content;
    return part?.type === "text" ? part.text : "";
  };
  expect(textOf(true)).toContain("then its worker died; nothing was running any more");
  expect(textOf(false)).toContain("then its worker stopped working on it; nothing was running any more");
});

const idle = { isRunning: () => false };

/** The process that holds a step, poll by poll; the last one applies from then on. */
function held(...by: (string | undefined)[]) {
  let looks = 0;
  const findClaimHolder = async (): Promise<LostExecution | undefined> => {
    const process = by[Math.min(looks++, by.length - 1)];
    return process === undefined ? undefined : { generation: 0, process, startedAtMs: 1 };
  };
  return { store: { ...signedIn, findClaimHolder }, looks: () => looks };
}

test("a process that takes over waits while another living process holds the step, until that one releases it", async () => {
  const { store, looks } = held(elsewhere.id, elsewhere.id, undefined);
  await yieldToHolder(step({ process: alive.id }), idle, store, new AbortController().signal);
  expect(looks()).toBe(3);
});

test.each([
  ["a dead one", "other:8:123@0123abcd"],
  ["this one", alive.id],
  ["nobody", undefined],
])("if %s holds the step, there is no wait", async (_, process) => {
  const { store, looks } = held(process);
  await yieldToHolder(step({ process: alive.id }), idle, store, new AbortController().signal);
  expect(looks()).toBe(1);
});

test("a process that takes over from itself waits while its first execution still works on the call", async () => {
  const { store, looks } = held(alive.id);
  const work = [true, true, false];
  const own = { isRunning: () => work.shift() ?? false };
  await yieldToHolder(step({ process: alive.id }), own, store, new AbortController().signal);
  expect(looks()).toBe(3);
});

test("the wait ends when the step is cancelled", async () => {
  const { store } = held(elsewhere.id);
  await yieldToHolder(step({ process: alive.id }), idle, store, AbortSignal.timeout(50));
});
