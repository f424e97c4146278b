import { expect, test } from "vitest";
import { AgentEventReader } from "../../src/client/read/agent-event-reader.ts";
import { RecordedEventReader, type RecordedItem } from "../../src/client/read/recorded-event-reader.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import type { EvaluationRecord } from "../../src/store/transcript/evaluation.ts";
import type { LoopRecord } from "../../src/store/transcript/loop.ts";
import { answer, delta, EditableTranscript, NO_USAGE } from "./editable-transcript.ts";

function follow(book: EditableTranscript): RecordedEventReader {
  return new RecordedEventReader(async () => book.transcript, "s");
}

async function begin(
  recorded: RecordedEventReader,
  from: "loop" | "session" | "now",
  since?: Date,
): Promise<void> {
  for await (const _ of recorded.begin(from, since));
}

async function news(recorded: RecordedEventReader): Promise<string[]> {
  const items: RecordedItem[] = [];
  for await (const item of recorded.readNew()) items.push(item);
  return items.map((item) => {
    if (item.type === "group") return item.event.type;
    return `${item.event.loopId}:${item.event.sequence}:${item.event.body.type}`;
  });
}

/** An evaluation of two branches with a judge. */
function evaluation(id: string, of: Partial<EvaluationRecord> = {}): EvaluationRecord {
  const branch = (number: number) => ({
    loopId: `${id}.${number}`,
    definitionHash: "h",
    agentName: "a",
    model: "m",
  });
  return {
    id,
    session: "s",
    strategy: "judge",
    startedAtMs: 2_000,
    at: { branch: "main", position: 0 },
    branches: [branch(1), branch(2)],
    judgeLoopId: `${id}.3`,
    ...of,
  };
}

function closed(id: string): Partial<EvaluationRecord> {
  return {
    endedAtMs: 3_000,
    closed: {
      decision: { selected: 0, decidedBy: "strategy", reason: "" },
      loopIds: [`${id}.1`, `${id}.2`],
      selectedLoopId: `${id}.1`,
      evaluationUsage: NO_USAGE,
    },
  };
}

test("every event arrives once, across loops, with the message that it names", async () => {
  const book = new EditableTranscript();
  const recorded = follow(book);
  await begin(recorded, "session", undefined);
  expect(await news(recorded)).toEqual([]);
  book.addLoop("one");
  book.messages.push(answer(0, "one"));
  book.addEvent("one", { type: "AgentStart", kind: { type: "initial" } });
  book.addEvent("one", { type: "MessageEnd", position: 0 });
  const items: RecordedItem[] = [];
  for await (const item of recorded.readNew()) items.push(item);
  expect(items[1]).toMatchObject({ type: "event", message: { role: "assistant" } });
  book.addEvent("one", {
    type: "AgentEnd",
    from: 0,
    to: 1,
    usage: NO_USAGE,
    outcome: { type: "answered", stopReason: "stop" },
  });
  book.addLoop("two");
  book.addEvent("two", { type: "AgentStart", kind: { type: "default" } });
  expect(await news(recorded)).toEqual(["one:2:AgentEnd", "two:0:AgentStart"]);
  expect(await news(recorded)).toEqual([]);
});

test("a loop that ended before the open run began is not sent to a reader that follows that run", async () => {
  const book = new EditableTranscript();
  book.addLoop("old", { status: "completed", endedAtMs: 1_000 });
  book.addEvent("old", { type: "AgentStart", kind: { type: "initial" } });
  const recorded = follow(book);
  await begin(recorded, "loop", new Date(2_000));
  book.addLoop("new");
  book.addEvent("new", { type: "AgentStart", kind: { type: "default" } });
  expect(await news(recorded)).toEqual(["new:0:AgentStart"]);
  expect(await recorded.isOpen(delta("old", 0, { type: "text", text: "x" }))).toBe(false);
});

test("with no run open, the newest loop is sent completely", async () => {
  const book = new EditableTranscript();
  book.addLoop("first", { status: "completed", endedAtMs: 1_000 });
  book.addLoop("last", { status: "completed", endedAtMs: 2_000 });
  book.addEvent("last", { type: "AgentStart", kind: { type: "default" } });
  const recorded = follow(book);
  await begin(recorded, "loop", undefined);
  expect(await news(recorded)).toEqual(["last:0:AgentStart"]);
});

test("from now on: the active loop continues after what is recorded", async () => {
  const book = new EditableTranscript();
  book.addLoop("one");
  book.addEvent("one", { type: "AgentStart", kind: { type: "initial" } });
  const recorded = follow(book);
  await begin(recorded, "now", new Date(0));
  book.addEvent("one", { type: "TurnStart", turn: 0, trigger: "user" });
  expect(await news(recorded)).toEqual(["one:1:TurnStart"]);
});

test("live output is sent until the message that it belongs to is recorded", async () => {
  const book = new EditableTranscript();
  const recorded = follow(book);
  await begin(recorded, "session", undefined);
  const text = async (turn: number) => recorded.isOpen(delta("one", turn, { type: "text", text: "x" }));
  const output = async (toolCallId: string) =>
    recorded.isOpen(delta("one", 0, { type: "tool-output", toolCallId, toolName: "bash", text: "x" }));
  expect(await text(0)).toBe(true);
  book.addLoop("one");
  book.messages.push(answer(0, "one"));
  book.addEvent("one", { type: "TurnStart", turn: 0, trigger: "user" });
  book.addEvent("one", { type: "MessageEnd", position: 0 });
  await news(recorded);
  expect(await text(0)).toBe(false);
  expect(await text(1)).toBe(true);
  expect(await output("a")).toBe(true);
  book.addEvent("one", {
    type: "ToolExecutionEnd",
    toolCallId: "a",
    toolName: "bash",
    position: 1,
    isError: false,
  });
  await news(recorded);
  expect(await output("a")).toBe(false);
  expect(await output("b")).toBe(true);
});

test("the loops of an evaluation are watched together, between its brackets, and the warning precedes the judge [PAR-12.1, PAR-13.2]", async () => {
  const book = new EditableTranscript();
  const open = (loopId: string, facts: Partial<LoopRecord> = {}) => {
    book.addLoop(loopId, facts);
    book.addEvent(loopId, { type: "AgentStart", kind: { type: "initial" } });
  };
  open("old", { status: "completed", endedAtMs: 1_000 });
  book.evaluations = [evaluation("e")];
  open("e.1", { evaluation: "e", startedAtMs: 2_100 });
  open("e.2", { evaluation: "e", startedAtMs: 2_100 });
  const recorded = follow(book);
  await begin(recorded, "loop", new Date(1_900));
  expect(await news(recorded)).toEqual(["ParallelLoopStart", "e.1:0:AgentStart", "e.2:0:AgentStart"]);
  book.evaluations = [evaluation("e", { warning: "too large" })];
  expect(await news(recorded)).toEqual([]);
  open("e.3", { evaluation: "e", startedAtMs: 2_200 });
  expect(await news(recorded)).toEqual(["ProgressMessage", "e.3:0:AgentStart"]);
  book.evaluations = [evaluation("e", { warning: "too large", ...closed("e") })];
  open("new");
  expect(await news(recorded)).toEqual(["ParallelLoopEnd", "new:0:AgentStart"]);
  expect(await news(recorded)).toEqual([]);
});

test("a reader of the newest loop receives nothing of an earlier evaluation, however that ended", async () => {
  const book = new EditableTranscript();
  book.evaluations = [evaluation("e", closed("e")), evaluation("cut-off")];
  book.addLoop("e.1", { evaluation: "e", startedAtMs: 2_100, endedAtMs: 2_500 });
  book.addLoop("cut-off.1", {
    evaluation: "cut-off",
    startedAtMs: 2_600,
    status: "aborted",
    endedAtMs: 4_000,
  });
  book.addLoop("new", { startedAtMs: 5_000 });
  book.addEvent("new", { type: "AgentStart", kind: { type: "initial" } });
  const recorded = follow(book);
  await begin(recorded, "loop", new Date(4_900));
  expect(await news(recorded)).toEqual(["new:0:AgentStart"]);
});

test("a reader that begins with new events learns which branches are active, not what they have done", async () => {
  const book = new EditableTranscript();
  book.evaluations = [evaluation("e")];
  for (const loopId of ["e.1", "e.2"]) {
    book.addLoop(loopId, { evaluation: "e", startedAtMs: 2_100 });
    book.addEvent(loopId, { type: "AgentStart", kind: { type: "initial" } });
  }
  const recorded = follow(book);
  await begin(recorded, "now", new Date(1_900));
  expect(await news(recorded)).toEqual([]);
  book.addEvent("e.1", { type: "TurnStart", turn: 0, trigger: "user" });
  expect(await news(recorded)).toEqual(["e.1:1:TurnStart"]);
  book.evaluations = [evaluation("e", closed("e"))];
  expect(await news(recorded)).toEqual(["ParallelLoopEnd"]);
});

test("an event before a revert has the messages of the branch that the model left", async () => {
  const book = new EditableTranscript();
  const result: AgentMessage = {
    role: "toolResult",
    toolCallId: "a",
    toolName: "bash",
    content: [{ type: "text", text: "of the left branch" }],
    isError: false,
    timestamp: 0,
  };
  book.messages.push(answer(0, "one"), result);
  book.otherBranches.set("revert-1", [answer(1, "one"), answer(2, "one")]);
  book.branches = [{ id: "main" }, { id: "revert-1", parent: { branch: "main", position: 0 } }];
  book.addLoop("one", { branch: "revert-1" });
  book.addEvent("one", { type: "TurnEnd", turn: 0, position: 0, results: 1, usage: NO_USAGE });
  book.addEvent("one", { type: "RevertApplied", category: "failure", target: 0, applied: true });
  book.addEvent("one", { type: "TurnEnd", turn: 1, position: 0, results: 0, usage: NO_USAGE });
  const reader = new AgentEventReader(async () => book.transcript, "s");
  const ends: unknown[] = [];
  for await (const item of follow(book).readNew()) {
    const event = item.type === "event" ? await reader.complete(item) : item.event;
    if (event.type === "TurnEnd")
      ends.push({ answer: event.message.turnId?.turnIndex, of: event.toolResults });
  }
  expect(ends).toEqual([
    { answer: 0, of: [result] },
    { answer: 1, of: [] },
  ]);
});
