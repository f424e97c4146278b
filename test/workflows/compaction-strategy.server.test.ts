import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { CompactionRequest, CompactionStrategy } from "../../src/hooks/compaction-strategy.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import { listRequestMessages } from "./support/test-session.ts";

/** The inputs of the strategies. */
let asked: CompactionRequest[] = [];

const bounds = ({ entries }: CompactionRequest) => {
  const positions = entries.map(({ position }) => position);
  return { from: positions[0] ?? 0, to: (positions.at(-1) ?? 0) + 1 };
};

const compactions: Record<string, CompactionStrategy> = {
  headline: (request) => {
    asked.push(request);
    return [{ ...bounds(request), form: { summary: `Headline of ${request.entries.length} entries` } }];
  },
  asks: async (request) => {
    asked.push(request);
    const { focus = "nothing" } = request;
    const summary = await request.ask({
      instructions: "Be brief.",
      text: `Dwell on ${focus}.`,
      maxTokens: 50,
    });
    return [{ ...bounds(request), form: { summary } }];
  },
  empties: (request) => {
    asked.push(request);
    return [];
  },
  forgets: (request) => {
    asked.push(request);
    return [{ from: 0, to: 1, form: "whole" }];
  },
  throws: async (request) => {
    asked.push(request);
    await request.ask({ instructions: "Be brief.", text: "Anything." });
    throw new Error("out of ideas");
  },
};

let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment({ registered: { compactions } });
});
afterAll(() => stage.close());
beforeEach(() => {
  asked = [];
});

const LONG = "All work and no play makes a long day. ".repeat(60);
const usage = { input: 0, output: 0 };
const turn = { text: LONG, toolCalls: [{ name: "list_files", arguments: { path: "." } }], usage };

function growing(strategy: string, faults: { fault: "overflow"; onTurn: number }[] = [], turns = 5) {
  return stage.session({
    replies: [...Array.from({ length: turns - 1 }, () => turn), { text: "Done.", usage }],
    faults,
    agent: {
      tools: ["list_files"],
      context: {
        maxContextTokens: 3000,
        systemPromptTokens: 100,
        compaction: { maxSummaryTokens: 700, strategy, focusMessage: "the prices" },
      },
      model: { cost: { input: 1000, output: 1000 } },
      limits: { maxTurns: 8 },
    },
  });
}

const requestsWithText = (session: ReturnType<typeof growing>, text: string) =>
  session.listRequests().filter(({ body }) => JSON.stringify(body).includes(text));

thoroughTest(
  "an application's strategy by its name: the model receives its text, the record stays complete [CMP-10.1, CTX-10.3, TMP-10.1]",
  async () => {
    const session = growing("headline");
    // The scripted model counts the answers in a request, and so restarts after each headline.
    await session.run("Go");
    expect(asked[0]).toMatchObject({ reason: "size", focus: "the prices", maxTextTokens: 700 });
    expect(asked[0]?.budget).toBeGreaterThan(1000);
    const [first] = requestsWithText(session, "Headline of");
    expect(listRequestMessages(first)[0]).toBe(`user: Headline of ${asked[0]?.entries.length} entries`);
    expect(JSON.stringify(first?.body)).not.toContain("All work");
    expect(await session.readEventTypes()).toContain("CompactionEnded");
    const answers = (await session.readConversation()).filter((line) =>
      line.startsWith("assistant: All work"),
    );
    expect(answers).toHaveLength(session.listRequests().length);
  },
);

thoroughTest(
  "a strategy that returns an empty list: the model receives the messages that it answers and no other history, the record stays complete [CTX-16.2, CMP-10.1]",
  async () => {
    const session = growing("empties");
    await session.run("Go");
    const gone = asked[0]?.entries.length ?? 0;
    const [first] = requestsWithText(session, "Context compacted");
    expect(gone).toBeGreaterThan(2);
    expect(listRequestMessages(first)).toEqual([
      `user: [Context compacted: ${gone} messages removed]`,
      "user: Go",
    ]);
    const answers = (await session.readConversation()).filter((line) =>
      line.startsWith("assistant: All work"),
    );
    expect(answers).toHaveLength(session.listRequests().length);
  },
);

thoroughTest(
  "a strategy may ask the agent's model for text, and its tokens count [CMP-10.3, CMP-14.1]",
  async () => {
    const session = growing("asks");
    await session.run("Go");
    const [first] = requestsWithText(session, "Dwell on the prices.");
    expect(JSON.stringify(first?.body?.["system"])).toContain("Be brief.");
    expect(first?.body).toMatchObject({ max_tokens: 50 });
    expect(await session.readEventTypes()).toContain("CompactionEnded");
  },
);

thoroughTest.each([
  ["forgets", 'The compaction strategy "forgets" leaves out the entry at 1'],
  ["throws", 'The compaction strategy "throws" failed: out of ideas'],
])(
  "a strategy's %s is rejected: the view is unchanged, and the history gives the reason [CMP-10.2]",
  async (name, why) => {
    const session = growing(name);
    expect(await session.run("Go")).toMatchObject({ text: "Done." });
    expect(asked.length).toBeGreaterThan(0);
    expect(await session.readEventTypes()).not.toContain("CompactionStarted");
    const last = session.listRequests().at(-1);
    expect(listRequestMessages(last).filter((line) => line.startsWith("assistant: All work"))).toHaveLength(
      4,
    );
    const { events } = await session.handle.fetchHistory();
    const results = (events ?? []).flatMap(
      (event) => event.activityTaskCompletedEventAttributes?.result?.payloads ?? [],
    );
    expect(results.map(({ data }) => Buffer.from(data ?? []).toString()).join("\n")).toContain(
      JSON.stringify(why).slice(1, -1),
    );
  },
);

test("when the vendor reports that the context does not fit, the loop ends with the strategy's error [CMP-10.2]", async () => {
  const session = growing("forgets", [{ fault: "overflow", onTurn: 1 }]);
  await session.start("Go");
  const { readResult } = await session.readFailure();
  expect(readResult?.outcome).toMatchObject({ type: "failed", fault: "compaction" });
  expect(readResult?.outcome.type === "failed" && readResult.outcome.message).toContain(
    'The compaction strategy "forgets" leaves out the entry at 1',
  );
});

test("an unknown strategy name is an error that lists the worker's strategies [TMP-10.2]", async () => {
  const session = growing("headlines");
  await session.start("Go");
  const { message } = await session.readFailure();
  expect(message).toContain(
    'no compaction strategy "headlines"; it has block, summary, tiered, asks, empties, forgets, headline, throws',
  );
  expect(await stage.transcript.readLoops(session.id)).toEqual([]);
});
