import { expect, test } from "vitest";
import { Recorded } from "../../src/client/recorded.ts";
import type { WatchItem } from "../../src/client/watch.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import type { EventBody, LoopEvent } from "../../src/schema/record.ts";
import type { Delta, DeltaBody } from "../../src/stream/stream.ts";
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
      evaluations: async () => [],
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

async function news(recorded: Recorded): Promise<string[]> {
  const items: WatchItem[] = [];
  for await (const item of recorded.news()) items.push(item);
  return items.map((item) =>
    item.type === "event" ? `${item.event.loopId}:${item.event.sequence}:${item.event.body.type}` : "delta",
  );
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
  await recorded.begin("session", undefined);
  expect(await news(recorded)).toEqual([]);
  book.loop("one");
  book.messages.push(answer(0, "one"));
  book.event("one", { type: "AgentStart", kind: { type: "initial" } });
  book.event("one", { type: "MessageEnd", position: 0 });
  const items: WatchItem[] = [];
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
  await recorded.begin("loop", new Date(2_000));
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
  await recorded.begin("loop", undefined);
  expect(await news(recorded)).toEqual(["last:0:AgentStart"]);
});

test("from now on: the loop that runs goes on behind what is recorded", async () => {
  const book = new Book();
  book.loop("one");
  book.event("one", { type: "AgentStart", kind: { type: "initial" } });
  const recorded = book.recorded();
  await recorded.begin("now", new Date(0));
  book.event("one", { type: "TurnStart", turn: 0, trigger: "user" });
  expect(await news(recorded)).toEqual(["one:1:TurnStart"]);
});

test("live output is shown until what it is a part of is recorded", async () => {
  const book = new Book();
  const recorded = book.recorded();
  await recorded.begin("session", undefined);
  const text = (turn: number) => recorded.isOpen(delta("one", turn, { type: "text", text: "x" }));
  const output = (toolCallId: string) =>
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
