import { afterAll, beforeAll, expect, test } from "vitest";
import { type Holdfast, HoldfastError, type StreamEvent } from "../../src/client/index.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { connectClient } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";

let stage: TestEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openTestEnvironment();
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

const LONG = "one two three four five six seven eight";

test("a session is read as small events, also those that ask for an approval", async () => {
  const { id, definition } = stage.session({
    replies: [
      { text: "First.", toolCalls: [{ id: "c1", name: "bash", arguments: { command: "echo out" } }] },
      { text: LONG, chunkSize: 4, holdUntil: "small" },
    ],
    agent: { name: "teller", tools: ["bash"], permissions: { otherwise: "ask" } },
  });
  const session = await holdfast.start({ agent: definition, session: id, prompt: "Go" });
  const seen: StreamEvent[] = [];
  for await (const event of session) {
    seen.push(event);
    if (event.type === "tool-approval-request") await session.approvals.approve(event.toolCallId);
    // The vendor has not finished its answer yet: it continues after a reader has seen the beginning.
    if (event.type === "text-delta" && event.text.startsWith("one")) stage.model.release("small");
  }
  const loopId = `${id}.anthropic.test-model.1`;
  const call = { loopId, toolCallId: "c1", toolName: "bash" };
  const input = { command: "echo out" };
  const { usage, outcome } = await session.result();
  const isPassing = (event: StreamEvent) => event.type === "progress" || "preliminary" in event;
  expect(joinTexts(seen.filter((event) => !isPassing(event)))).toMatchObject([
    { type: "start", loopId, agent: "teller", model: "test-model" },
    { type: "start-step", loopId, turn: 0 },
    { type: "text-delta", loopId, text: "First." },
    { type: "tool-call", ...call, input },
    { type: "tool-approval-request", toolCallId: "c1", toolName: "bash", input, call: { session: id } },
    {
      type: "tool-result",
      ...call,
      output: { content: [{ type: "text", text: expect.stringContaining("out") }] },
    },
    { type: "finish-step", loopId, turn: 0, finishReason: "toolUse" },
    { type: "start-step", loopId, turn: 1 },
    { type: "text-delta", loopId, text: LONG },
    { type: "finish-step", loopId, turn: 1, finishReason: "stop" },
    { type: "finish", loopId, outcome, totalUsage: usage },
  ]);
  const pieces = seen.filter(({ type }) => type === "text-delta");
  expect(pieces.length).toBeGreaterThan(2);
});

test("the text of a run is read while it is written, and after it has ended", async () => {
  const { id, definition } = stage.session({
    replies: [
      { text: "First.", toolCalls: [{ name: "bash", arguments: { command: "true" } }] },
      { text: LONG, chunkSize: 4, holdUntil: "text" },
    ],
    agent: { tools: ["bash"] },
  });
  const session = await holdfast.start({ agent: definition, session: id, prompt: "Go" });
  const pieces: string[] = [];
  for await (const piece of session.textStream) {
    pieces.push(piece);
    if (pieces.join("").includes("one")) stage.model.release("text");
  }
  expect(pieces.length).toBeGreaterThan(2);
  expect(pieces.join("")).toBe(`First.\n\n${LONG}`);
  const later: string[] = [];
  for await (const piece of holdfast.session(id).textStream) later.push(piece);
  expect(later).toEqual(["First.", `\n\n${LONG}`]);
});

test("a reader that leaves early ends its stream, and the run continues", async () => {
  const { id, definition } = stage.session({ replies: [{ text: LONG, chunkSize: 4, holdUntil: "early" }] });
  const session = await holdfast.start({ agent: definition, session: id, prompt: "Go" });
  for await (const event of session) if (event.type === "text-delta") break;
  stage.model.release("early");
  expect(await session.result()).toMatchObject({ text: LONG });
});

test("a result says what the run has used", async () => {
  const { id, definition } = stage.session({
    replies: [
      { usage: { input: 10, output: 5 }, toolCalls: [{ name: "bash", arguments: { command: "true" } }] },
      { usage: { input: 30, output: 6 }, text: "Done." },
    ],
    agent: { tools: ["bash"] },
  });
  const session = await holdfast.start({ agent: definition, session: id, prompt: "Go" });
  const result = await session.result();
  const { totals, loops } = await session.record();
  expect(result).toMatchObject({
    text: "Done.",
    turns: 2,
    usage: { input: 40, output: 11, totalTokens: 51 },
  });
  expect(result.costUsd).toBe(totals.costUsd);
  const [{ startedAt, endedAt = "" }] = loops as [(typeof loops)[number]];
  expect(result.durationMs).toBeGreaterThanOrEqual(Date.parse(endedAt) - Date.parse(startedAt));
});

test("the result of a failed run is an error that says what to do, and tryResult() has the outcome", async () => {
  const { id, definition } = stage.session({ replies: [{ fault: "auth" }] });
  const session = await holdfast.start({ agent: definition, session: id, prompt: "Go" });
  const failed = await session.tryResult();
  expect(failed).toMatchObject({ outcome: { type: "failed" }, turns: expect.any(Number) });
  const error = await session.result().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(HoldfastError);
  expect(error).toMatchObject({
    code: "run-failed",
    message: expect.stringMatching(new RegExp(`session ${id} failed .*holdfast continue ${id}`, "s")),
    facts: { session: id, outcome: failed.outcome, command: `holdfast continue ${id}` },
  });
  const text: string[] = [];
  for await (const piece of session.textStream) text.push(piece);
  expect(text).toEqual([]);
});

thoroughTest("a run that was stopped has a result", async () => {
  const { id, definition } = stage.session({ replies: [{ text: LONG, chunkSize: 4, holdUntil: "never" }] });
  const session = await holdfast.start({ agent: definition, session: id, prompt: "Go" });
  for await (const piece of session.textStream) if (piece !== "") break;
  await session.stop("enough");
  expect((await session.result()).outcome).toEqual({ type: "stopped", reason: "enough" });
});

/** Joins the pieces of a text. */
function joinTexts(events: readonly StreamEvent[]): readonly StreamEvent[] {
  const joined: StreamEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    if (last?.type === "text-delta" && event.type === "text-delta")
      joined.splice(-1, 1, { ...last, text: last.text + event.text });
    else joined.push(event);
  }
  return joined;
}
