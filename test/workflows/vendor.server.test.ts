import { afterAll, beforeAll, expect, test } from "vitest";
import type { FaultRule } from "../../src/testing/model-server/fault.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import { recordWarnings } from "./support/warnings.ts";

let stage: TestEnvironment;

const { log, warnings } = recordWarnings();

beforeAll(async () => {
  stage = await openTestEnvironment({ log });
});
afterAll(() => stage.close());

thoroughTest(
  "a 429 is retried after exactly the delay that the vendor requested, and an operator sees it wait (RTY-04, design 3.12)",
  async () => {
    const session = stage.session({
      faults: [{ fault: "rate-limited", retryAfterMs: 2000, message: "slow down please" }],
      replies: [{ text: "Now." }],
    });
    await session.start("Go");
    const pending = await eventually(async () => {
      const { raw } = await session.handle.describe();
      return raw.pendingActivities?.find(({ attempt }) => attempt === 2);
    });
    expect(pending.activityType?.name).toBe("call-model");
    expect(pending.lastFailure?.applicationFailureInfo?.type).toBe("provider/rate-limited");
    expect(pending.lastFailure?.message).toContain("slow down please");
    expect(await session.readResult()).toMatchObject({ text: "Now." });
    const [first, second] = session.listRequests();
    const waited = (second?.atMs ?? 0) - (first?.closedAtMs ?? 0);
    expect(waited).toBeGreaterThanOrEqual(1990);
    expect(waited).toBeLessThan(3000);
  },
);

thoroughTest(
  "a vendor that requests no delay at all is called again within the server's own second (RTY-04)",
  async () => {
    const session = stage.session({
      faults: [{ fault: "rate-limited", retryAfterMs: 0, times: 3 }],
      replies: [{ text: "Now." }],
      agent: { retry: { maxRetries: 3, initialDelayMs: 30_000 } },
    });
    expect(await session.run("Go")).toMatchObject({ text: "Now." });
    expect(session.listRequests()).toHaveLength(4);
  },
);

const PERMANENT: readonly (readonly [FaultRule, string])[] = [
  [{ fault: "server-error", status: 500 }, "api"],
  [{ fault: "auth" }, "auth"],
  [{ fault: "html", status: 502 }, "api"],
  [{ fault: "html", status: 200 }, "api"],
  [{ fault: "http", status: 404, body: '{"error":{"message":"model: test-model"}}' }, "api"],
];

for (const [fault, expected] of PERMANENT) {
  const name = "status" in fault ? `${fault.fault} ${fault.status}` : fault.fault;
  thoroughTest(
    `${name} is not retried: the run fails as ${expected} (RTY-03.2, OVF-01.3-4) [PROV-07.5]`,
    async () => {
      const session = stage.session({ faults: [{ ...fault, times: 9 }] });
      await session.start("Go");
      const { type, readResult } = await session.readFailure();
      expect(type).toBe("holdfast/run-failed");
      expect(readResult?.outcome).toMatchObject({ type: "failed", fault: expected });
      expect(session.listRequests()).toHaveLength(1);
      expect((await session.readEntries()).at(-1)?.message).toMatchObject({ stopReason: "error" });
      expect((await session.readEventTypes()).at(-1)).toBe("AgentEnd");
    },
  );
}

const FLOOD = "x".repeat(20_000_000);
const FLOODS = {
  "20 MB of text": { text: FLOOD },
  "20 MB of arguments": { toolCalls: [{ name: "list_files", arguments: { path: FLOOD } }] },
  "20 MB in one event": { text: FLOOD, chunkSize: FLOOD.length },
};

for (const [what, reply] of Object.entries(FLOODS)) {
  thoroughTest(
    `${what} are aborted: the model was called once, the run gives the reason, and the worker continues (RTY-03.2)`,
    async () => {
      const session = stage.session({
        replies: [{ chunkSize: 100_000, ...reply }],
        agent: { tools: ["list_files"], retry: { initialDelayMs: 10 } },
      });
      await session.start("Go");
      const { readResult, message } = await session.readFailure();
      expect(readResult?.outcome).toMatchObject({ type: "failed", fault: "api" });
      expect(message).toMatch(/when Holdfast ended it, and the limit is \d+; a smaller maxTokens/);
      expect(session.listRequests()).toHaveLength(1);
      const other = stage.session({ replies: [{ text: "Short." }] });
      expect(await other.run("Go")).toMatchObject({ text: "Short." });
    },
  );
}

for (const fault of [
  { fault: "cut" },
  { fault: "cut", inCharacter: true, reply: { text: "Grüße 🎉 ".repeat(20) } },
] as const) {
  thoroughTest(
    `a stream cut ${"inCharacter" in fault ? "in the middle of a character" : "in the middle"} is requested again, and only the complete answer is stored (RTY-03.1) [LOOP-22.4]`,
    async () => {
      const session = stage.session({
        faults: [fault],
        replies: [{ text: "Whole ü." }],
        agent: { retry: { initialDelayMs: 10 } },
      });
      expect(await session.run("Go")).toMatchObject({ text: "Whole ü." });
      expect(session.listRequests().map(({ outcome }) => outcome)).toEqual(["faulted", "answered"]);
      expect(await session.readConversation()).toEqual(["user: Go", "assistant: Whole ü."]);
    },
  );
}

thoroughTest(
  "when every attempt failed, the outcome gives the vendor's message; the session continues afterwards (LOOP-24.2-3, RTY-05.1, RTY-05.3) [TMP-06]",
  async () => {
    const session = stage.session({
      faults: [
        {
          fault: "rate-limited",
          retryAfterMs: 10,
          message: "quota gone",
          times: 3,
          headers: { "request-id": "req-77" },
        },
      ],
      replies: [{ text: "Back." }, { text: "Back." }],
      agent: { retry: { maxRetries: 2, initialDelayMs: 10 } },
    });
    await session.start("Go");
    const { readResult, message } = await session.readFailure();
    expect(session.listRequests()).toHaveLength(3);
    expect(readResult?.outcome).toMatchObject({ type: "failed", fault: "rate-limited" });
    expect(message).toContain("quota gone");
    expect(message).toContain("req-77");
    const last = (await session.readEntries()).at(-1)?.message;
    expect(last).toMatchObject({ role: "assistant", stopReason: "error" });
    expect((last as { errorMessage?: string }).errorMessage).toContain("quota gone");
    expect(await session.run("Again")).toMatchObject({ text: "Back." });
    expect(session.listRequests().at(-1)?.validationError).toBeUndefined();
    expect(session.listSeenMessages(3).at(-1)).toBe("user: Again");
  },
);

test("a limit ends the run with a text that stays in the conversation (LIM-03.2-3, LOOP-12.2-3) [TEST-06.5]", async () => {
  const again = { toolCalls: [{ name: "list_files", arguments: { path: "." } }] };
  const session = stage.session({
    replies: [again, again, again],
    agent: { tools: ["list_files"], limits: { maxTurns: 2 } },
  });
  expect(await session.run("Go")).toMatchObject({
    outcome: { type: "limit-reached", reason: "Max turns reached (2/2)" },
  });
  expect(session.listRequests()).toHaveLength(2);
  expect((await session.readConversation()).at(-1)).toBe("user: [Agent stopped: Max turns reached (2/2)]");
});

thoroughTest(
  "each retry is logged as a warning with attempt, maximum, delay and error; the last failure announces none [RTY-06.1-2]",
  async () => {
    const session = stage.session({
      faults: [{ fault: "rate-limited", retryAfterMs: 150, message: "slow down please", times: 3 }],
      agent: { retry: { maxRetries: 2 } },
    });
    await session.start("Go");
    await session.readFailure();
    expect(session.listRequests()).toHaveLength(3);
    const lines = warnings.filter(({ facts }) => facts["session"] === session.id);
    expect(lines.map(({ facts }) => facts)).toEqual(
      [1, 2].map((attempt) => ({
        session: session.id,
        attempt,
        max: 2,
        delayMs: 150,
        fault: "provider/rate-limited",
        error: expect.stringContaining("slow down please"),
      })),
    );
    expect(lines.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^Provider error \(attempt 1\/2\), retrying in 0\.1s: .*slow down please/),
      expect.stringMatching(/^Provider error \(attempt 2\/2\), retrying in 0\.1s: .*slow down please/),
    ]);
  },
);
