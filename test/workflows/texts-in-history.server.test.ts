import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { steerSignal } from "../../src/workflows/messages.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { listTexts } from "./support/list-texts.ts";
import { openTestEnvironment, TEST_KEY, type TestEnvironment } from "./support/test-environment.ts";
import type { SessionOptions, TestSession } from "./support/test-session.ts";
import { recordWarnings } from "./support/warnings.ts";

// An application's functions, scripts and models that produce far too much text, with a key in it.

const KEY = "sk-live-LEAKMARKER0123456789";
/** Longer than what a pattern can go through without a pause. */
const FLOOD = `${KEY} ${"y".repeat(10_000_000)}`;
const throws = (): never => {
  throw new Error(FLOOD);
};
const no = () => ({ type: "no" as const, reason: FLOOD });

/** In characters; text for the model has this many bytes. */
const LONGEST = 2048;

const { log, warnings } = recordWarnings();
let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment({
    log,
    hooks: {
      floods: { "before-loop": no, "before-tool": no, "after-turn": throws },
      ends: { "before-turn": () => ({ type: "end", text: FLOOD }) },
    },
    filters: {
      warns: () => ({ type: "warn", warning: FLOOD }),
      rejects: () => ({ type: "reject", reason: FLOOD }),
      throws,
      late: (text) => (text === "late" ? { type: "reject", reason: FLOOD } : { type: "pass" }),
    },
    registered: { transforms: { throws }, compactions: { throws } },
  });
  writeFileSync(
    join(stage.home, "floods.py"),
    `import sys\nsys.stderr.write('${KEY}' + 'e' * 50000000)\nsys.exit(1)`,
  );
});
afterAll(() => stage.close());

/** Everything that Temporal, the loop's events and the log hold of a session. */
async function crossed(session: TestSession): Promise<readonly string[]> {
  const { events } = await session.handle.fetchHistory();
  const { raw } = await session.handle.describe();
  return listTexts([events, raw, await session.readEvents(), warnings]);
}

const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: args }] });
const look = call("list_files", { path: "." });
const done = { text: "Done." };
const long = "m".repeat(900);

const CASES: Readonly<Record<string, SessionOptions>> = {
  "a hook's reason before a call, and its failure behind a turn": {
    replies: [look, done],
    agent: { tools: ["list_files"], hooks: { "before-tool": ["floods"], "after-turn": ["floods"] } },
  },
  "what a script prints": {
    replies: [look, done],
    agent: { tools: ["list_files"], hooks: { "before-tool": [{ command: "./floods.py" }] } },
  },
  "a hook's reason before a loop": { agent: { hooks: { "before-loop": ["floods"] } } },
  "a hook's last words": { agent: { hooks: { "before-turn": ["ends"] } } },
  "a filter's warnings": { replies: [done], agent: { inputFilters: ["warns", "warns"] } },
  "a filter's rejection": { agent: { inputFilters: ["rejects"] } },
  "a filter's failure": { agent: { inputFilters: ["throws"] } },
  "a context transform's failure": { agent: { transformContext: ["throws"] } },
  "a compaction strategy's failure": {
    replies: [done],
    agent: {
      systemPrompt: "words ".repeat(300),
      context: { maxContextTokens: 400, systemPromptTokens: 10, compaction: { strategy: "throws" } },
    },
  },
  "a model's memo, summary, and name of a tool that is not there": {
    replies: [
      look,
      call("prun_with_memo", { tokens: 10, memo: `${KEY} ${long}${long}` }),
      call("revert_to_state", { category: "failure", step: KEY, summary: `${KEY} ${long}` }),
      call(`${KEY}${long}${long}${long}`, {}),
      done,
    ],
    agent: { tools: ["list_files", "prun", "revert_to_state"] },
  },
  "the id of a call": {
    replies: [{ toolCalls: [{ id: "i".repeat(5000), name: "list_files", arguments: { path: "." } }] }, done],
    agent: { tools: ["list_files"] },
  },
  "what does not fit an output": {
    replies: [call("final_answer", { [KEY]: "y".repeat(100_000) }), call("final_answer", { a: KEY })],
    agent: {
      limits: { maxTotalTokens: null },
      output: {
        type: "json-schema",
        schema: { type: "object", properties: { a: { type: "number" } }, additionalProperties: false },
      },
    },
  },
};

thoroughTest.each(Object.entries(CASES))(
  "%s enters history short and without a key [DBG-03.2]",
  async (_what, options) => {
    const session = stage.session(options);
    await session.start("Go");
    await session.readResult().catch(() => undefined);
    const texts = await crossed(session);
    expect(texts.filter((text) => text.length > LONGEST).map((text) => text.slice(0, 80))).toEqual([]);
    expect(texts.filter((text) => text.includes("LEAKMARKER") || text.includes(TEST_KEY))).toEqual([]);
    expect(listTexts(await session.readEntries()).filter((text) => text.includes(TEST_KEY))).toEqual([]);
  },
);

test("so does a filter's reason about steering, and the run ends with it [PHI-08.3, DBG-03.2]", async () => {
  const session = stage.session({
    replies: [{ text: "First.", holdUntil: "first" }],
    agent: { inputFilters: ["late"] },
  });
  await session.start("Go");
  await stage.model.waitForHold("first");
  await session.handle.signal(steerSignal, { id: "s1", text: "late" });
  stage.model.release("first");
  expect((await session.readResult()).outcome.type).toBe("rejected");
  const texts = await crossed(session);
  expect(texts.filter((text) => text.length > LONGEST || text.includes("LEAKMARKER"))).toEqual([]);
});

thoroughTest("names of unknown tools are shortened", async () => {
  const names = Array.from({ length: 40 }, (_, index) => `no-${index}-${"n".repeat(400)}`);
  const session = stage.session({ replies: [done], agent: { tools: names } });
  await session.run("Go");
  const { events } = await session.handle.fetchHistory();
  const opened = events?.find(({ activityTaskCompletedEventAttributes: one }) => one != null);
  const told = listTexts(opened).filter((text) => text.startsWith("Unknown tool"));
  expect(told).toHaveLength(16);
  expect(Math.max(...told.map((text) => Buffer.byteLength(text)))).toBe(256);
});
