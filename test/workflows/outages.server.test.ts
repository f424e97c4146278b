import { randomUUID } from "node:crypto";
import { ApplicationFailure } from "@temporalio/common";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { eventually } from "../../src/testing/eventually.ts";
import { hostMark } from "../../src/tools/process/host-id.ts";
import { readStartTime } from "../../src/tools/process/process-group.ts";
import { defineTool } from "../../src/tools/tool.ts";
import type { Step } from "../../src/transcript/step.ts";
import { StoreError } from "../../src/transcript/store-error.ts";
import type { Transcript } from "../../src/transcript/transcript.ts";
import { openStage, type Stage } from "./support/temporal.ts";

// The store goes away around an `unsafe` call whose worker lives (decision 0024).

type Method = keyof Transcript;
type Asked = {
  readonly store: Transcript;
  /** Asks the store itself, on behalf of another process perhaps. */
  readonly ask: (process?: string) => Promise<unknown>;
  readonly step: Step;
};

/** Answers in place of the store, from the moment at which the call is claimed. */
type Answers = { readonly [Name in Method]?: (asked: Asked, nth: number) => Promise<unknown> };

let answers: Answers = {};
let claimed: Step | undefined;
let times: Partial<Record<PropertyKey, number>> = {};

function failing(store: Transcript): Transcript {
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      const answer = answers[name as Method];
      return (...given: unknown[]) => {
        const ask = (process?: string) => {
          const [step, ...rest] = given;
          const asked = process === undefined ? given : [{ ...(step as Step), process }, ...rest];
          return value.apply(target, asked) as Promise<unknown>;
        };
        if (name === "claim" && (given[0] as Step).kind === "pay") claimed = given[0] as Step;
        if (claimed === undefined || answer === undefined) return ask();
        times[name] = (times[name] ?? 0) + 1;
        return answer({ store, ask, step: claimed }, times[name]);
      };
    },
  });
}

const away = () => new StoreError("unreachable", "The store is away");

let payments = 0;
const pay = defineTool({
  name: "pay",
  description: "Pays",
  parameters: z.object({}),
  replay: "unsafe",
  execute: async (_, { memo }) => {
    payments += 1;
    await memo?.set("paid");
    return `paid, ${await memo?.get()}`;
  },
});

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ tools: [pay], wrap: failing });
});
afterAll(() => stage.close());
beforeEach(() => {
  answers = {};
  claimed = undefined;
  times = {};
  payments = 0;
});

/** What the model is told of the call, and how often its step was claimed. */
async function paid(given: Answers): Promise<{ told: string | undefined; executions: number | undefined }> {
  answers = given;
  const session = stage.session({
    replies: [{ toolCalls: [{ name: "pay", arguments: {} }] }, { text: "Good." }],
    agent: { tools: ["pay"] },
  });
  expect(await session.run("Go")).toMatchObject({ text: "Good." });
  const steps = await stage.transcript.steps(session.id);
  return {
    told: (await session.conversation())[2],
    executions: steps.find(({ kind }) => kind === "pay")?.executions,
  };
}

const PAID = "toolResult: paid, paid";

test("a claim whose answer is lost belongs to the process that asked for it: the call runs once, and no worker died", async () => {
  const { told, executions } = await paid({
    claim: async ({ ask }, nth) => {
      const answer = await ask();
      if (nth <= 2) throw away();
      return answer;
    },
  });
  expect(told).toBe(PAID);
  expect(payments).toBe(1);
  expect(executions).toBe(3);
});

test("a store that goes away between the claim and the call is waited for under the same claim", async () => {
  const { told, executions } = await paid({
    writers: async ({ ask }, nth) => {
      if (nth <= 3) throw away();
      return await ask();
    },
  });
  expect(told).toBe(PAID);
  expect(payments).toBe(1);
  expect(executions).toBe(1);
});

test("a store that goes away under a call is waited for, and is no result of the tool", async () => {
  const failTwice = async ({ ask }: Asked, nth: number) => {
    if (nth <= 2) throw away();
    return await ask();
  };
  const { told, executions } = await paid({ setNote: failTwice, note: failTwice, store: failTwice });
  expect(told).toBe(PAID);
  expect(payments).toBe(1);
  expect(executions).toBe(1);
});

test("a worker that shuts down before it began a call gives the step back, so that whoever takes it over runs the call", async () => {
  const { told, executions } = await paid({
    claim: async ({ store, ask, step }, nth) => {
      if (nth > 1) {
        await eventually(async () => (await store.holder(step)) === undefined, {
          what: "the step given back",
        });
      }
      return await ask();
    },
    writers: async ({ ask }, nth) => {
      if (nth === 1) throw ApplicationFailure.nonRetryable("The worker shut down", "handed-back");
      return await ask();
    },
  });
  expect(told).toBe(PAID);
  expect(payments).toBe(1);
  expect(executions).toBe(2);
});

const processWith = (pid: number, startTime: string) => `${randomUUID()}:${pid}:${startTime}@${hostMark()}`;

test.each([
  ["lives", "stopped working on it", processWith(process.ppid, readStartTime(process.ppid))],
  ["runs no more", "died", processWith(process.ppid, "1")],
])("of an execution whose process %s, the model is told that its worker %s", async (_, fate, holder) => {
  const { told } = await paid({
    claim: async ({ ask }) => {
      await ask(holder);
      return await ask();
    },
  });
  expect(told).toContain("The outcome of this call is unknown.");
  expect(told).toContain(`then its worker ${fate};`);
  expect(payments).toBe(0);
});
