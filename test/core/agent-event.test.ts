import { describe, expect, test } from "vitest";
import { buildAgentEvent, getPositionRange } from "../../src/conversation/agent-event.ts";
import { NO_USAGE } from "../../src/core/budget/usage.ts";
import { AgentEvent } from "../../src/schema/agent-event.ts";
import type { Continuation } from "../../src/schema/continuation.ts";
import type { LoopEvent } from "../../src/schema/loop-event.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import type { ContinuationKind } from "../../src/schema/record.ts";
import { play, type Run } from "./support/run.ts";
import { calls, large, says, usageOf } from "./support/script.ts";

const INITIAL: ContinuationKind = { type: "initial" };

/** The complete events of a loop, each checked against its schema after a JSON round trip. */
function told(run: Run, loopId = "s.test.1", kind: ContinuationKind = INITIAL): AgentEvent[] {
  const place = { agentId: "helper", sessionId: "s", loopId, kind };
  return run.transcript.listEvents(loopId).map((stored) => {
    const event: LoopEvent = { ...stored, loopId };
    const { from, to } = getPositionRange(event.body);
    const entries = run.transcript.listEntries("main").slice(from, to);
    const whole = buildAgentEvent(
      place,
      event,
      entries.map(({ message }) => message),
    );
    expect(AgentEvent.parse(JSON.parse(JSON.stringify(whole)))).toEqual(whole);
    return whole;
  });
}
const of = <Type extends AgentEvent["type"]>(events: readonly AgentEvent[], type: Type) =>
  events.filter((event): event is Extract<AgentEvent, { type: Type }> => event.type === type);
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

describe("recorded events, completed for observers", () => {
  test("AgentStart is the first event, occurs once, and contains agent, session, loop, parent, kind and time [EVT-02.1-3, TYP-04.1-2, LOOP-06.4, X-08.1]", async () => {
    const run = await play({ mode: "interactive" }).settle().prompt("more").settle();
    const [first, second] = [told(run), told(run, "s.test.2")];
    expect(first.findIndex(({ type }) => type === "AgentStart")).toBe(0);
    expect(of(first, "AgentStart")).toEqual([
      {
        type: "AgentStart",
        agentId: "helper",
        sessionId: "s",
        loopId: "s.test.1",
        continuationKind: { type: "initial" },
        timestamp: expect.stringMatching(RFC3339),
      },
    ]);
    expect(of(second, "AgentStart")).toMatchObject([
      { continuationKind: { type: "initial" }, parentLoopId: "s.test.1", loopId: "s.test.2" },
    ]);
    const { continuationKind: _, ...old } = of(first, "AgentStart")[0] as object as Record<string, unknown>;
    for (const kind of [{}, { continuationKind: null }]) {
      expect(AgentEvent.parse({ ...old, ...kind })).toMatchObject({ continuationKind: { type: "initial" } });
    }
    expect(AgentEvent.safeParse({ ...old, continuationKind: { type: "rerun" } }).success).toBe(false);
    for (const { message } of of(first, "MessageEnd")) expect(Number.isInteger(message.timestamp)).toBe(true);
  });

  test.each([
    ["is stopped", (run: Run) => run.stop("enough").lose("stored").settle()],
    ["is given up", (run: Run) => run.lose("stored").lose("claimed").lose("claimed").settle()],
  ])(
    "a turn whose stored compaction was lost ends without an answer when it %s [EVT-12.1]",
    async (_, end) => {
      const replies = [large(calls("edit")), large(calls("edit")), large(calls("edit")), says("done")];
      const run = play({ replies, compactAbove: 300 });
      while (run.state.view.spans.length < 3) await run.step();
      const events = told(await end(await run.until("compact")));
      expect(run.transcript.listEntries("main").at(-1)?.message.role).toBe("extension");
      const none = { role: "assistant", stopReason: "aborted", usage: NO_USAGE };
      expect(of(events, "TurnEnd").at(-1)?.message).toMatchObject(none);
      expect(of(events, "MessageEnd").at(-1)?.message).toMatchObject(none);
      expect(of(events, "AgentEnd")).toHaveLength(1);
    },
  );

  test.each(["default", "rerun", "branch"] as const)(
    "a continuation of kind %s names the previous loop as its parent [X-08.1-2]",
    async (type) => {
      const tag = "2026-01-01T00:00:00Z";
      const kind: Continuation["kind"] = type === "default" ? { type } : { type, tag };
      const first = await play({ limits: { maxTurns: 1 }, replies: [calls("bash")] }).settle();
      const run = await play({ kind, after: first, run: "later" }).settle();
      const [begin] = told(run, "s.test.2", kind);
      expect(begin).toMatchObject({ type: "AgentStart", parentLoopId: "s.test.1", continuationKind: kind });
    },
  );

  test("are numbered from 0 in each loop, without gaps [EVT-18]", async () => {
    const run = await play({ mode: "interactive", replies: [calls("bash")] })
      .settle()
      .prompt("more")
      .settle();
    for (const loopId of ["s.test.1", "s.test.2"]) {
      const numbers = run.transcript.listEvents(loopId).map(({ sequence }) => sequence);
      expect(numbers.length).toBeGreaterThan(6);
      expect(numbers).toEqual(numbers.map((_, index) => index));
    }
  });

  test("AgentEnd contains every message of the loop, in order, and the usage of all turns [EVT-03.1-2, LOOP-15.1-2, LOOP-01.2]", async () => {
    const run = await play({
      replies: [{ ...calls("bash"), usage: usageOf(10, 2) }, says("end", { usage: usageOf(20, 3) })],
    }).settle();
    const [end] = of(told(run), "AgentEnd");
    expect(end).toMatchObject({ loopId: "s.test.1", usage: usageOf(30, 5) });
    expect(end?.timestamp).toMatch(RFC3339);
    expect(end?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
    expect(end?.messages).toEqual(run.transcript.listEntries("main").map(({ message }) => message));
  });

  test("AgentEnd of a later loop contains only the messages of that loop [EVT-03.1]", async () => {
    const run = await play({ mode: "interactive" }).settle().prompt("more").settle();
    const [end] = of(told(run, "s.test.2"), "AgentEnd");
    expect(end?.messages).toEqual(
      run.transcript
        .listEntries("main")
        .slice(2)
        .map(({ message }) => message),
    );
  });

  test("AgentEnd of a rejected prompt contains the reason and no messages [EVT-03.3, EVT-07]", async () => {
    const events = told(await play({ prompts: ["bad"], rejects: "bad" }).settle());
    const [rejected] = of(events, "InputRejected");
    expect(rejected).toEqual({ type: "InputRejected", loopId: "s.test.1", reason: expect.any(String) });
    expect(of(events, "AgentEnd")).toMatchObject([{ messages: [], rejection: rejected?.reason }]);
  });

  test("TurnStart and TurnEnd contain the index, time, trigger, answer, usage and tool results [EVT-04.1-2]", async () => {
    const run = await play({
      replies: [{ ...calls("bash", "edit"), usage: usageOf(10, 2) }, says("end")],
    }).settle();
    const events = told(run);
    expect(of(events, "TurnStart")).toMatchObject([
      { loopId: "s.test.1", turnIndex: 0, triggeredBy: "user" },
      { loopId: "s.test.1", turnIndex: 1, triggeredBy: "continuation" },
    ]);
    const entries = run.transcript.listEntries("main").map(({ message }) => message);
    expect(of(events, "TurnEnd")).toMatchObject([
      { turnIndex: 0, message: entries[1], usage: usageOf(10, 2), toolResults: [entries[2], entries[3]] },
      { turnIndex: 1, message: entries[4], toolResults: [] },
    ]);
    for (const event of [...of(events, "TurnStart"), ...of(events, "TurnEnd")])
      expect(event.timestamp).toMatch(RFC3339);
  });

  test("MessageStart is followed immediately by MessageEnd, both with the complete message [EVT-05.1, EVT-05.3]", async () => {
    const run = await play({ replies: [calls("bash")] }).settle();
    const events = told(run);
    for (const [index, event] of events.entries()) {
      if (event.type !== "MessageStart") continue;
      expect(events[index + 1]).toEqual({ ...event, type: "MessageEnd" });
    }
    expect(of(events, "MessageEnd").map(({ message }) => message)).toEqual(
      run.transcript.listEntries("main").map(({ message }) => message),
    );
  });

  test("ToolExecutionStart contains the arguments, ToolExecutionEnd the result [EVT-06.1, EVT-06.3]", async () => {
    const run = await play({ replies: [calls("bash", "edit")] })
      .until("call-tools")
      .tool(0, true)
      .settle();
    const events = told(run);
    const asked = run.transcript.listEntries("main")[1]?.message;
    const args =
      asked?.role === "assistant" ? asked.content.flatMap((p) => (p.type === "toolCall" ? [p] : [])) : [];
    expect(of(events, "ToolExecutionStart")).toEqual(
      args.map(({ id, name, arguments: given }) => ({
        type: "ToolExecutionStart",
        loopId: "s.test.1",
        toolCallId: id,
        toolName: name,
        args: given,
      })),
    );
    const results = run.transcript
      .listEntries("main")
      .slice(2, 4)
      .map(({ message }) => message);
    expect(of(events, "ToolExecutionEnd")).toMatchObject([
      { toolName: "bash", isError: true, result: { content: (results[0] as { content: unknown }).content } },
      { toolName: "edit", isError: false, result: { content: (results[1] as { content: unknown }).content } },
    ]);
  });

  test("compaction events contain sizes and timestamps [EVT-09.1-2]", async () => {
    const run = await play({
      compactAbove: 300,
      replies: [large(calls("bash")), large(calls("bash")), says("end")],
    }).settle();
    const events = told(run);
    const [started] = of(events, "CompactionStarted");
    const [ended] = of(events, "CompactionEnded");
    expect(Object.keys(started ?? {}).sort()).toEqual(
      ["estimatedTokens", "loopId", "messageCount", "timestamp", "type"].sort(),
    );
    expect(Object.keys(ended ?? {}).sort()).toEqual(
      [
        "estimatedTokensAfter",
        "estimatedTokensBefore",
        "loopId",
        "loopsCompacted",
        "messagesAfter",
        "messagesBefore",
        "timestamp",
        "type",
      ].sort(),
    );
    const stored = run.transcript.listEvents("s.test.1").find(({ body }) => body.type === "CompactionEnded");
    if (stored?.body.type !== "CompactionEnded") throw new Error("nothing was compacted");
    const { position: _, ...sizes } = stored.body;
    expect(ended).toMatchObject(sizes);
    expect([started?.timestamp, ended?.timestamp]).toEqual([
      expect.stringMatching(RFC3339),
      expect.stringMatching(RFC3339),
    ]);
  });

  test("a failed model call is reported by MessageEnd and TurnEnd, in an answer with stop reason error", async () => {
    const events = told(await play().until("call-model").fail("auth", "401: no such key").settle());
    const errors = events.filter(
      (event) => event.type === "MessageEnd" && event.message.role === "assistant",
    );
    expect(errors).toMatchObject([{ message: { stopReason: "error", errorMessage: "401: no such key" } }]);
    expect(of(events, "TurnEnd")).toMatchObject([{ message: { stopReason: "error" } }]);
  });
});

describe("events about the view, the definition and the model", () => {
  const place = { agentId: "a", sessionId: "s", loopId: "s.test.1", kind: INITIAL };
  const user = (timestamp: number): AgentMessage => ({
    role: "user",
    content: [{ type: "text", text: "hi" }],
    timestamp,
  });
  const answer = (timestamp: number, memo?: string): AgentMessage => ({
    role: "assistant",
    content:
      memo === undefined
        ? []
        : [{ type: "toolCall", id: "c", name: "prun_with_memo", arguments: { tokens: 1, memo } }],
    stopReason: "toolUse",
    model: "m",
    provider: "p",
    usage: NO_USAGE,
    timestamp,
  });

  test("PrunApplied lists the timestamps of the pruned messages, without user messages, and the text of the memo [EVT-10.1]", () => {
    const body = {
      type: "PrunApplied" as const,
      pruned: [
        { from: 1, to: 3 },
        { from: 4, to: 5 },
      ],
      tokensRemoved: 30,
      messagesRemoved: 2,
      memo: { position: 5, call: 0, tokens: 9 },
    };
    expect(getPositionRange(body)).toEqual({ from: 1, to: 6 });
    const messages = [answer(11), user(12), answer(13), answer(14), answer(15, "the port is 8080")];
    expect(buildAgentEvent(place, { loopId: "s.test.1", sequence: 0, atMs: 0, body }, messages)).toEqual({
      type: "PrunApplied",
      loopId: "s.test.1",
      prunedTimestamps: [11, 14],
      tokensRemoved: 30,
      messagesRemoved: 2,
      memo: expect.stringContaining("the port is 8080"),
    });
  });

  test("RevertApplied of a rejected revert contains its category and the reason [PHI-04.1]", () => {
    const body = {
      type: "RevertApplied" as const,
      category: "failure" as const,
      applied: false,
      reason: "no",
    };
    const event = buildAgentEvent(place, { loopId: "s.test.1", sequence: 0, atMs: 0, body }, []);
    expect(event).toEqual({ ...body, loopId: "s.test.1" });
  });

  test("DefinitionChanged says what changes and when, and omits where its terms are stored [3.8]", () => {
    const change = { field: "model", description: "id a → b", takesEffect: "next-turn" as const };
    const told = { from: "a", to: "b", applied: true, changes: [change], warnings: ["dear"] };
    const body = { type: "DefinitionChanged" as const, ...told, terms: "hash" };
    const event = buildAgentEvent(place, { loopId: "s.test.1", sequence: 0, atMs: 0, body }, []);
    const timestamp = "1970-01-01T00:00:00.000Z";
    expect(event).toEqual({ type: body.type, ...told, loopId: "s.test.1", timestamp });
    expect(AgentEvent.parse(event)).toEqual(event);
  });

  test("ModelFallback names the model that answers and why the earlier ones did not [PROV-28]", () => {
    const from = [{ provider: "anthropic", model: "a", fault: "rate-limited", message: "overloaded" }];
    const told = { to: { provider: "openai", model: "b" }, from };
    const body = { type: "ModelFallback" as const, turn: 2, ...told };
    const event = buildAgentEvent(place, { loopId: "s.test.1", sequence: 0, atMs: 0, body }, []);
    const timestamp = "1970-01-01T00:00:00.000Z";
    expect(event).toEqual({ type: body.type, turnIndex: 2, ...told, loopId: "s.test.1", timestamp });
    expect(AgentEvent.parse(event)).toEqual(event);
  });
});

describe("the schema of events", () => {
  const kinds = AgentEvent.options.map(({ shape }) => shape.type.value);

  test("has exactly these types, including reverts, definition changes and fallbacks, but none for errors; only those of parallel evaluation have no loop id [EVT-01, EVT-11.1, X-24, EVT-08.3, EVT-17.2]", () => {
    expect([...kinds].sort()).toEqual([
      "AgentEnd",
      "AgentStart",
      "CompactionEnded",
      "CompactionStarted",
      "DefinitionChanged",
      "InputRejected",
      "MessageEnd",
      "MessageRejected",
      "MessageStart",
      "MessageUpdate",
      "ModelFallback",
      "ParallelLoopEnd",
      "ParallelLoopStart",
      "ProgressMessage",
      "PrunApplied",
      "RevertApplied",
      "ToolExecutionEnd",
      "ToolExecutionStart",
      "ToolExecutionUpdate",
      "TurnEnd",
      "TurnStart",
    ]);
    const unnamed = AgentEvent.options.filter(({ shape }) => !("loopId" in shape));
    expect(unnamed.map(({ shape }) => shape.type.value)).toEqual(["ParallelLoopStart", "ParallelLoopEnd"]);
  });

  test("an event has the loop id of the record that contains it, whatever runs in parallel [EVT-11.2]", () => {
    const branches = ["s.test.1", "s.other.1"];
    const event: LoopEvent = {
      loopId: "",
      sequence: 0,
      atMs: 0,
      body: { type: "TurnStart", turn: 0, trigger: "branch" },
    };
    for (const loopId of branches) {
      const place = { agentId: "a", sessionId: "s", loopId, kind: INITIAL };
      expect(buildAgentEvent(place, { ...event, loopId }, [])).toMatchObject({ loopId });
    }
  });
});
