import { expect, test } from "vitest";
import { type News, Recorded } from "../../src/client/recorded.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import type { EventBody, LoopEvent } from "../../src/schema/record.ts";
import type { Delta, DeltaBody } from "../../src/stream/stream.ts";
import type { EvaluationRecord } from "../../src/transcript/evaluation.ts";
import type { LoopRecord } from "../../src/transcript/loop.ts";
import type { Transcript } from "../../src/transcript/transcript.ts";

const NO_USAGE = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

function answer(turnIndex: number, loopId: string): AgentMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text: `answer ${turnIndex}` }],
    stopReason: "stop",
    model: "m",
    provider: "p",
    usage: NO_USAGE,
    timestamp: 0,
    turnId: { loopId, turnIndex },
  };
}

/** A transcript that is written to by the test. */
class Book {
  readonly records: LoopRecord[] = [];
  readonly written = new Map<string, LoopEvent[]>();
  readonly messages: AgentMessage[] = [];
  evaluations: EvaluationRecord[] = [];

  loop(loopId: string, facts: Partial<LoopRecord> = {}): void {
    this.records.push({
      loopId,
      session: "s",
      kind: { type: "initial" },
      definitionHash: "h",
      model: "m",
      branch: "main",
      from: 0,
      status: "running",
      startedAtMs: 0,
      ...facts,
    });
    this.written.set(loopId, []);
  }

  event(loopId: string, body: EventBody): void {
    const events = this.written.get(loopId)!;
    events.push({ loopId, sequence: events.length, atMs: 0, body });
  }

  get transcript(): Transcript {
    return {
      loops: async () => this.records,
      evaluations: async () => this.evaluations,
      events: async (loopId: string, from: number) => this.written.get(loopId)!.slice(from),
      entries: async (_session: string, _branch: string, from: number, to: number) =>
        this.messages
          .map((message, position) => ({ position, message, origin: "model" as const, tokens: 0 }))
          .slice(from, to),
    } as unknown as Transcript;
  }

  recorded(): Recorded {
    return new Recorded(async () => this.transcript, "s");
  }
}

async function begin(recorded: Recorded, from: "loop" | "session" | "now", since?: Date): Promise<void> {
  for await (const _ of recorded.begin(from, since));
}

async function news(recorded: Recorded): Promise<string[]> {
  const items: News[] = [];
  for await (const item of recorded.news()) items.push(item);
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
      decision: { selected: 0, by: "strategy", reason: "" },
      loopIds: [`${id}.1`, `${id}.2`],
      selectedLoopId: `${id}.1`,
      evaluationUsage: NO_USAGE,
    },
  };
}

function delta(loopId: string, turn: number, body: DeltaBody): Delta {
  return {
    session: "s",
    run: "r",
    loopId,
    turn,
    command: 1,
    call: 0,
    generation: 1,
    attempt: 1,
    sequence: 0,
    atMs: 0,
    body,
  };
}

test("every event comes once, across loops, with the message that it names", async () => {
  const book = new Book();
  const recorded = book.recorded();
  await begin(recorded, "session", undefined);
  expect(await news(recorded)).toEqual([]);
  book.loop("one");
  book.messages.push(answer(0, "one"));
  book.event("one", { type: "AgentStart", kind: { type: "initial" } });
  book.event("one", { type: "MessageEnd", position: 0 });
  const items: News[] = [];
  for await (const item of recorded.news()) items.push(item);
  expect(items[1]).toMatchObject({ type: "event", message: { role: "assistant" } });
  book.event("one", {
    type: "AgentEnd",
    from: 0,
    to: 1,
    usage: NO_USAGE,
    outcome: { type: "answered", stopReason: "stop" },
  });
  book.loop("two");
  book.event("two", { type: "AgentStart", kind: { type: "default" } });
  expect(await news(recorded)).toEqual(["one:2:AgentEnd", "two:0:AgentStart"]);
  expect(await news(recorded)).toEqual([]);
});

test("a loop that ended before the open run began is not shown to who follows that run", async () => {
  const book = new Book();
  book.loop("old", { status: "completed", endedAtMs: 1_000 });
  book.event("old", { type: "AgentStart", kind: { type: "initial" } });
  const recorded = book.recorded();
  await begin(recorded, "loop", new Date(2_000));
  book.loop("new");
  book.event("new", { type: "AgentStart", kind: { type: "default" } });
  expect(await news(recorded)).toEqual(["new:0:AgentStart"]);
  expect(await recorded.isOpen(delta("old", 0, { type: "text", text: "x" }))).toBe(false);
});

test("with no run open, the newest loop is shown whole", async () => {
  const book = new Book();
  book.loop("first", { status: "completed", endedAtMs: 1_000 });
  book.loop("last", { status: "completed", endedAtMs: 2_000 });
  book.event("last", { type: "AgentStart", kind: { type: "default" } });
  const recorded = book.recorded();
  await begin(recorded, "loop", undefined);
  expect(await news(recorded)).toEqual(["last:0:AgentStart"]);
});

test("from now on: the loop that runs goes on behind what is recorded", async () => {
  const book = new Book();
  book.loop("one");
  book.event("one", { type: "AgentStart", kind: { type: "initial" } });
  const recorded = book.recorded();
  await begin(recorded, "now", new Date(0));
  book.event("one", { type: "TurnStart", turn: 0, trigger: "user" });
  expect(await news(recorded)).toEqual(["one:1:TurnStart"]);
});

test("live output is shown until what it is a part of is recorded", async () => {
  const book = new Book();
  const recorded = book.recorded();
  await begin(recorded, "session", undefined);
  const text = async (turn: number) => recorded.isOpen(delta("one", turn, { type: "text", text: "x" }));
  const output = async (toolCallId: string) =>
    recorded.isOpen(delta("one", 0, { type: "tool-output", toolCallId, toolName: "bash", text: "x" }));
  expect(await text(0)).toBe(true);
  book.loop("one");
  book.messages.push(answer(0, "one"));
  book.event("one", { type: "TurnStart", turn: 0, trigger: "user" });
  book.event("one", { type: "MessageEnd", position: 0 });
  await news(recorded);
  expect(await text(0)).toBe(false);
  expect(await text(1)).toBe(true);
  expect(await output("a")).toBe(true);
  book.event("one", {
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

test("the loops of an evaluation are watched together, between its brackets, and the warning comes before the judge [PAR-12, PAR-13]", async () => {
  const book = new Book();
  const open = (loopId: string, facts: Partial<LoopRecord> = {}) => {
    book.loop(loopId, facts);
    book.event(loopId, { type: "AgentStart", kind: { type: "initial" } });
  };
  open("old", { status: "completed", endedAtMs: 1_000 });
  book.evaluations = [evaluation("e")];
  open("e.1", { evaluation: "e", startedAtMs: 2_100 });
  open("e.2", { evaluation: "e", startedAtMs: 2_100 });
  const recorded = book.recorded();
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

test("who watches the newest loop is told nothing of an evaluation before it, however that ended", async () => {
  const book = new Book();
  book.evaluations = [evaluation("e", closed("e")), evaluation("cut-off")];
  book.loop("e.1", { evaluation: "e", startedAtMs: 2_100, endedAtMs: 2_500 });
  book.loop("cut-off.1", { evaluation: "cut-off", startedAtMs: 2_600, status: "aborted", endedAtMs: 4_000 });
  book.loop("new", { startedAtMs: 5_000 });
  book.event("new", { type: "AgentStart", kind: { type: "initial" } });
  const recorded = book.recorded();
  await begin(recorded, "loop", new Date(4_900));
  expect(await news(recorded)).toEqual(["new:0:AgentStart"]);
});

test("who begins with what comes now is told of branches that are at work, not of what they have done", async () => {
  const book = new Book();
  book.evaluations = [evaluation("e")];
  for (const loopId of ["e.1", "e.2"]) {
    book.loop(loopId, { evaluation: "e", startedAtMs: 2_100 });
    book.event(loopId, { type: "AgentStart", kind: { type: "initial" } });
  }
  const recorded = book.recorded();
  await begin(recorded, "now", new Date(1_900));
  expect(await news(recorded)).toEqual([]);
  book.event("e.1", { type: "TurnStart", turn: 0, trigger: "user" });
  expect(await news(recorded)).toEqual(["e.1:1:TurnStart"]);
  book.evaluations = [evaluation("e", closed("e"))];
  expect(await news(recorded)).toEqual(["ParallelLoopEnd"]);
});
