import { randomUUID } from "node:crypto";
import { ApplicationFailure } from "@temporalio/common";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { getShortHostId } from "../../src/platform/process/host-id.ts";
import { readStartTime } from "../../src/platform/process/process-group.ts";
import type { Step } from "../../src/store/transcript/step.ts";
import { StoreError } from "../../src/store/transcript/store-error.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

// The store becomes unavailable around an `unsafe` call whose worker lives (decision 0024).

type Method = keyof Transcript;
type Asked = {
  readonly store: Transcript;
  /** Asks the store itself, on behalf of another process if one is given. */
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
  inputSchema: z.object({}),
  replay: "unsafe",
  execute: async (_, { memo }) => {
    payments += 1;
    await memo?.set("paid");
    return `paid, ${await memo?.get()}`;
  },
});

let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [pay], wrap: failing });
});
afterAll(() => stage.close());
beforeEach(() => {
  answers = {};
  claimed = undefined;
  times = {};
  payments = 0;
});

/** The model's text about the call, and how often its step was claimed. */
async function paid(given: Answers): Promise<{ told: string | undefined; executions: number | undefined }> {
  answers = given;
  const session = stage.session({
    replies: [{ toolCalls: [{ name: "pay", arguments: {} }] }, { text: "Good." }],
    agent: { tools: ["pay"] },
  });
  expect(await session.run("Go")).toMatchObject({ text: "Good." });
  const steps = await stage.transcript.readSteps(session.id);
  return {
    told: (await session.readConversation())[2],
    executions: steps.find(({ kind }) => kind === "pay")?.executions,
  };
}

const PAID = "toolResult: paid, paid";

thoroughTest(
  "a claim whose reply is lost belongs to the process that made it: the call runs once, and no worker died",
  async () => {
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
  },
);

thoroughTest(
  "a store that becomes unavailable between the claim and the call is waited for under the same claim",
  async () => {
    const { told, executions } = await paid({
      readContinuation: async ({ ask }, nth) => {
        if (nth <= 3) throw away();
        return await ask();
      },
    });
    expect(told).toBe(PAID);
    expect(payments).toBe(1);
    expect(executions).toBe(1);
  },
);

test("a store that becomes unavailable during a call is waited for, and does not affect the tool's result", async () => {
  const failTwice = async ({ ask }: Asked, nth: number) => {
    if (nth <= 2) throw away();
    return await ask();
  };
  const { told, executions } = await paid({ setNote: failTwice, readNote: failTwice, store: failTwice });
  expect(told).toBe(PAID);
  expect(payments).toBe(1);
  expect(executions).toBe(1);
});

test("a worker that shuts down before it began a call releases the step, so that the next worker runs the call", async () => {
  const { told, executions } = await paid({
    claim: async ({ store, ask, step }, nth) => {
      if (nth > 1) {
        await eventually(async () => (await store.findClaimHolder(step)) === undefined, {
          what: "the step given back",
        });
      }
      return await ask();
    },
    readContinuation: async ({ ask }, nth) => {
      if (nth === 1) throw ApplicationFailure.nonRetryable("The worker shut down", "released");
      return await ask();
    },
  });
  expect(told).toBe(PAID);
  expect(payments).toBe(1);
  expect(executions).toBe(2);
});

const processWith = (pid: number, startTime: string) =>
  `${randomUUID()}:${pid}:${startTime}@${getShortHostId()}`;

test.each([
  ["lives", "stopped working on it", processWith(process.ppid, readStartTime(process.ppid))],
  ["runs no more", "died", processWith(process.ppid, "1")],
])("of an execution whose process %s, the model learns that its worker %s", async (_, fate, holder) => {
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
