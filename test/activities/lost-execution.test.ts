import { hostname } from "node:os";
import { expect, test } from "vitest";
import { giveWay, hasDied, unknownOutcome } from "../../src/activities/tool/lost-execution.ts";
import { hostMark } from "../../src/platform/process/host-id.ts";
import type { LostExecution } from "../../src/store/transcript/step.ts";
import type { WorkerProcess } from "../../src/store/transcript/worker-process.ts";
import { thisProcess } from "../../src/worker/failover/process-identity.ts";
import { step } from "../transcript/story.ts";

const alive = thisProcess({ namespace: "n", taskQueue: "q" });
const elsewhere: WorkerProcess = { ...alive, id: "other:7:123@0123abcd", host: "0123abcd" };
const signedIn = { processes: async (host: string) => [alive, elsewhere].filter((one) => one.host === host) };

test("a process is dead when it runs no more on this host, or has signed out on another one; else it lives", async () => {
  expect(await hasDied(alive.id, signedIn)).toBe(false);
  expect(await hasDied(`${hostname()}:${process.pid}:1@${hostMark()}`, signedIn)).toBe(true);
  expect(await hasDied(elsewhere.id, signedIn)).toBe(false);
  expect(await hasDied("other:8:123@0123abcd", signedIn)).toBe(true);
  expect(await hasDied("a name of its own", signedIn)).toBe(false);
});

test("the model is told that a worker died only of one that did", () => {
  const lost = { generation: 0, process: "p", startedAtMs: 0 };
  const textOf = (died: boolean) => {
    const [part] = unknownOutcome(lost, died, "nothing was running any more", []).output.content;
    return part?.type === "text" ? part.text : "";
  };
  expect(textOf(true)).toContain("then its worker died; nothing was running any more");
  expect(textOf(false)).toContain("then its worker stopped working on it; nothing was running any more");
});

const idle = { isAtWork: () => false };

/** Who holds a step, look by look; the last one for good. */
function held(...by: (string | undefined)[]) {
  let looks = 0;
  const holder = async (): Promise<LostExecution | undefined> => {
    const process = by[Math.min(looks++, by.length - 1)];
    return process === undefined ? undefined : { generation: 0, process, startedAtMs: 1 };
  };
  return { store: { ...signedIn, holder }, looks: () => looks };
}

test("who takes over waits while another living process holds the step, until that one gives it back", async () => {
  const { store, looks } = held(elsewhere.id, elsewhere.id, undefined);
  await giveWay(step({ process: alive.id }), idle, store, new AbortController().signal);
  expect(looks()).toBe(3);
});

test.each([
  ["a dead one", "other:8:123@0123abcd"],
  ["this one", alive.id],
  ["nobody", undefined],
])("where %s holds the step, nobody is waited for", async (_, process) => {
  const { store, looks } = held(process);
  await giveWay(step({ process: alive.id }), idle, store, new AbortController().signal);
  expect(looks()).toBe(1);
});

test("who takes over from its own process waits while that one still works on the call", async () => {
  const { store, looks } = held(alive.id);
  const work = [true, true, false];
  const own = { isAtWork: () => work.shift() ?? false };
  await giveWay(step({ process: alive.id }), own, store, new AbortController().signal);
  expect(looks()).toBe(3);
});

test("the wait ends with the step", async () => {
  const { store } = held(elsewhere.id);
  await giveWay(step({ process: alive.id }), idle, store, AbortSignal.timeout(50));
});
