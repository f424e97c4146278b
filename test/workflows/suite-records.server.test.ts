import { afterAll, beforeAll, expect } from "vitest";
import type { Reply } from "../../src/testing/model-server/reply.ts";
import type { TestAgentOptions } from "../../src/testing/test-agent.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import { TestSuite } from "./support/test-suite.ts";

let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

const schema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] };

const ANSWERS: readonly (readonly [string, Reply, TestAgentOptions])[] = [
  ["a text", { text: "four" }, {}],
  ["a text with usage", { text: "four", usage: { input: 7, output: 3, cacheRead: 2 } }, {}],
  [
    "thinking",
    { thinking: "two and two", text: "four" },
    { thinking: "low", model: { reasoning: true, maxTokens: 16_000 } },
  ],
  ["an answer that its length has cut", { text: "fou", stop: "length" }, {}],
  ["a refusal", { text: "no", stop: "refusal" }, {}],
  [
    "a structured output",
    // A run sends a key for the vendor's cache, which the server's estimate of the tokens would count.
    { text: '{"sum": 4}', usage: { input: 7, output: 3 } },
    { output: { type: "json-schema", schema }, model: { api: "openai_completions" } },
  ],
];

thoroughTest.each(ANSWERS)("the record of a cell with %s is that of a run", async (_, reply, options) => {
  const suite = new TestSuite(stage);
  suite.script({ sum: reply });
  const agent = suite.agent(options);
  const { cells } = await suite.run({
    configurations: [{ agent }],
    cases: suite.cases("sum"),
    scorers: [],
  });
  expect(cells).toMatchObject([{ kind: "answer" }]);
  const cell = cells[0]?.result?.session ?? "";
  const [loop] = await stage.transcript.readLoops(cell);
  const definition = await stage.transcript.readDefinition(loop?.definitionHash ?? "");
  const { answers: _answers, ...asRun } = definition!;
  const run = `${suite.mark}-run`;
  await stage.client.workflow
    .start("agent", {
      workflowId: run,
      taskQueue: stage.taskQueue,
      args: [{ definition: asRun, prompt: { text: suite.ask("sum"), id: `${run}-1` } }],
    })
    .then((handle) => handle.result())
    .catch(() => undefined);
  expect(await readRecord(cell)).toEqual(await readRecord(run));
});

async function readRecord(session: string): Promise<unknown> {
  const { transcript } = stage;
  const loops = await transcript.readLoops(session);
  const record = {
    session: await transcript.readSession(session),
    loops,
    entries: await transcript.readEntries(session, "main", 0, 1000),
    events: await Promise.all(loops.map(({ loopId }) => transcript.readEvents(loopId, 0))),
    branches: await transcript.readBranches(session),
  };
  return replaceIds(JSON.parse(JSON.stringify(record).replaceAll(session, "SESSION")));
}

/** Replaces what differs between any two runs: times, hashes of definitions, and ids that are chosen at random. */
function replaceIds(value: unknown, key = ""): unknown {
  if (
    /(AtMs|timestamp|durationMs|Hash|agentId|responseId|queueWaitMs|firstTokenMs)$/i.test(key) &&
    value !== undefined
  )
    return `<${key}>`;
  if (Array.isArray(value)) return value.map((one) => replaceIds(one));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaceIds(one, name)]));
}
