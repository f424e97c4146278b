import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import { z } from "zod";
import type { Step } from "../../src/store/transcript/step.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

/** Longer than the server waits for a heartbeat. */
const BUSY_MS = 7000;

/** What another execution of the call does at the store while the first one runs. */
let looks = 0;
let isTaken = false;
let goOn = (): void => undefined;
const comeAgain = new Promise<void>((resolve) => {
  goOn = resolve;
});

const block = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS);

function watched(inner: Transcript): Transcript {
  return new Proxy(inner, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => {
        if (name === "findClaimHolder") looks += 1;
        if (name === "claim" && (given[0] as Step).kind === "busy") {
          isTaken = (given[0] as Step).generation > 0 && looks < 2;
        }
        if (looks === 2 || isTaken) goOn();
        if (name === "claim" && (given[0] as Step).kind === "patient" && (given[0] as Step).generation === 0)
          block();
        return value.apply(target, given);
      };
    },
  });
}

let executions = 0;
const busy = defineTool({
  name: "busy",
  description: "Keeps its whole process busy",
  inputSchema: z.object({}),
  execute: async () => {
    executions += 1;
    block();
    await comeAgain;
    return "done after all";
  },
});

let patientExecutions = 0;
const patient = defineTool({
  name: "patient",
  description: "Ends early when it is cancelled",
  inputSchema: z.object({}),
  execute: async (_, { signal }) => {
    patientExecutions += 1;
    await sleep(3000, undefined, { signal });
    return "done in time";
  },
});

let stalledExecutions = 0;
const stalled = defineTool({
  name: "stalled",
  description: "Keeps its process busy, then ends early when it is cancelled",
  inputSchema: z.object({}),
  execute: async (_, { signal }) => {
    stalledExecutions += 1;
    block();
    await sleep(3000, undefined, { signal });
    return "done all the same";
  },
});

let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [busy, patient, stalled], wrap: watched });
});
afterAll(() => stage.close());

thoroughTest(
  "a call whose process was too busy for heartbeats keeps its result when it is dispatched to the same process again",
  async () => {
    const session = stage.session({
      replies: [{ toolCalls: [{ name: "busy", arguments: {} }] }, { text: "Good." }],
      agent: { tools: ["busy"] },
    });
    expect(await session.run("Go")).toMatchObject({ text: "Good." });
    expect((await session.readConversation())[2]).toBe("toolResult: done after all");
    expect(executions).toBe(1);
  },
);

thoroughTest(
  "a call does not begin when its process was stalled until Temporal dispatched it again",
  async () => {
    const session = stage.session({
      replies: [{ toolCalls: [{ name: "patient", arguments: {} }] }, { text: "Good." }],
      agent: { tools: ["patient"] },
    });
    expect(await session.run("Go")).toMatchObject({ text: "Good." });
    expect((await session.readConversation())[2]).toBe("toolResult: done in time");
    expect(patientExecutions).toBe(1);
    const { events = [] } = await session.handle.fetchHistory();
    const dispatches = (events ?? []).filter(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === "patient",
    );
    // The one that was lost, one that waited in the queue during the stall, and the one that ran.
    expect(dispatches.length).toBeLessThanOrEqual(3);
  },
);

thoroughTest(
  "a call that Temporal dispatched again because of late heartbeats is not cancelled: the next execution takes its result",
  async () => {
    const session = stage.session({
      replies: [{ toolCalls: [{ name: "stalled", arguments: {} }] }, { text: "Good." }],
      agent: { tools: ["stalled"] },
    });
    expect(await session.run("Go")).toMatchObject({ text: "Good." });
    expect((await session.readConversation())[2]).toBe("toolResult: done all the same");
    expect(stalledExecutions).toBe(1);
  },
);
