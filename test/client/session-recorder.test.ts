import { describe, expect, test } from "vitest";
import { SessionRecorder } from "../../src/client/interop/session-recorder.ts";
import type { AgentEvent } from "../../src/schema/agent-event.ts";
import type { AssistantMessage, ToolResultMessage, UserMessage } from "../../src/schema/message.ts";
import { NO_USAGE } from "./editable-transcript.ts";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const USAGE = { ...NO_USAGE, input: 3, totalTokens: 3 };

const said: UserMessage = { role: "user", content: [{ type: "text", text: "Go" }], timestamp: 1 };
const answer: AssistantMessage = {
  role: "assistant",
  content: [{ type: "text", text: "Done." }],
  stopReason: "stop",
  model: "m",
  provider: "v",
  usage: USAGE,
  timestamp: 2,
};
const result: ToolResultMessage = {
  role: "toolResult",
  toolCallId: "c",
  toolName: "scout",
  content: [],
  isError: false,
  timestamp: 3,
};

type StartEvent = Extract<AgentEvent, { type: "AgentStart" }>;
type EndEvent = Extract<AgentEvent, { type: "AgentEnd" }>;

const started = (loopId: string, second: number, rest: Partial<StartEvent> = {}): AgentEvent => ({
  type: "AgentStart",
  agentId: "a",
  sessionId: loopId.split(".")[0] ?? "",
  loopId,
  continuationKind: { type: "initial" },
  timestamp: at(second),
  ...rest,
});
const ended = (loopId: string, second: number, rest: Partial<EndEvent> = {}): AgentEvent => ({
  type: "AgentEnd",
  loopId,
  messages: [said, answer],
  usage: USAGE,
  timestamp: at(second),
  ...rest,
});
const turn = (loopId: string, second: number): readonly AgentEvent[] => [
  { type: "TurnStart", loopId, turnIndex: 0, timestamp: at(second), triggeredBy: "user" },
  { type: "MessageStart", loopId, message: said },
  { type: "MessageEnd", loopId, message: said },
  { type: "MessageUpdate", loopId, message: answer, delta: { type: "text", delta: "Done." } },
  { type: "MessageEnd", loopId, message: answer },
  {
    type: "TurnEnd",
    loopId,
    turnIndex: 0,
    message: answer,
    usage: USAGE,
    timestamp: at(second + 1),
    toolResults: [result],
  },
];

function record(events: readonly AgentEvent[], recorder = new SessionRecorder()): SessionRecorder {
  for (const event of events) recorder.onEvent(event);
  return recorder;
}

describe("a recorder", () => {
  test("opens a loop at its start and closes it at its end, with the messages of that event alone [SES-03.1, SES-06, SES-15.1, TEST-09.2]", () => {
    const recorder = record([started("s.m.1", 0), ...turn("s.m.1", 1)]);
    const running = recorder.getSession("s")?.loops[0];
    expect(running).toMatchObject({ status: "running", messages: [] });
    expect(running).not.toHaveProperty("endedAt");
    recorder.onEvent(ended("s.m.1", 3));
    const [loop] = recorder.getSession("s")?.loops ?? [];
    expect(loop).toMatchObject({
      status: "completed",
      startedAt: at(0),
      endedAt: at(3),
      messages: [said, answer],
      usage: USAGE,
    });
    expect(loop?.turns).toEqual([
      {
        turnId: { loopId: "s.m.1", turnIndex: 0 },
        triggeredBy: "user",
        usage: USAGE,
        inputMessages: [said],
        outputMessage: answer,
        toolResults: [result],
        startedAt: at(1),
        endedAt: at(2),
      },
    ]);
    expect(loop?.events.map(({ event }) => event.type)).toEqual([
      "AgentStart",
      "TurnStart",
      "MessageStart",
      "MessageEnd",
      "MessageEnd",
      "TurnEnd",
      "AgentEnd",
    ]);
  });

  test("marks a loop whose input was rejected, with the reason [SES-03.3]", () => {
    const recorder = record([started("s.m.1", 0), ended("s.m.1", 1, { rejection: "rude" })]);
    expect(recorder.getSession("s")?.loops).toMatchObject([{ status: "rejected", rejection: "rude" }]);
  });

  test("stores the chunks of answers only on request; their numbers are the same [SES-14.5]", () => {
    const events = [started("s.m.1", 0), ...turn("s.m.1", 1)];
    const numbersIn = (recorder: SessionRecorder) =>
      recorder.getSession("s")?.loops[0]?.events.map(({ sequence, event }) => `${sequence} ${event.type}`);
    const whole = numbersIn(record(events, new SessionRecorder({ includeStreamingEvents: true }))) ?? [];
    expect(whole[4]).toBe("4 MessageUpdate");
    expect(numbersIn(record(events))).toEqual(whole.filter((line) => !line.endsWith("MessageUpdate")));
  });

  test("takes the configuration from the start, otherwise from the first answer [SES-15.2]", () => {
    const configSnapshot = { definitionHash: "d", model: "large", thinking: "high" };
    const recorder = record([
      started("s.m.1", 0),
      ...turn("s.m.1", 1),
      started("s.m.2", 5, { configSnapshot }),
      ...turn("s.m.2", 6),
    ]);
    expect(recorder.getSession("s")?.loops.map(({ config }) => config)).toEqual([
      { model: "m", provider: "v" },
      configSnapshot,
    ]);
  });

  test("links a later loop to its parent when it ends, and a call to the loop that it has started [SES-07, SES-10.1-3, SES-15.3]", () => {
    const recorder = record([started("s.m.1", 0), started("s.m.2", 1, { parentLoopId: "s.m.1" })]);
    const [first] = recorder.getSession("s")?.loops ?? [];
    expect(first?.childrenLoopIds).toEqual([]);
    const child = "s.sub-0000000a.sub.1";
    record(
      [
        ended("s.m.2", 2),
        started(child, 3, { sessionId: "s.sub-0000000a", parentLoopId: "s.m.1" }),
        {
          type: "ToolExecutionEnd",
          loopId: "s.m.1",
          toolCallId: "c",
          toolName: "scout",
          result: { content: [] },
          isError: false,
          childLoopId: child,
        },
      ],
      recorder,
    );
    expect(first).toMatchObject({
      childrenLoopIds: ["s.m.2"],
      childLoopRefs: [
        { toolCallId: "c", toolName: "scout", childLoopId: child, childSessionId: "s.sub-0000000a" },
      ],
    });
    expect(recorder.getSession("s.sub-0000000a")?.parentSpawnRef).toEqual({
      parentSessionId: "s",
      parentLoopId: "s.m.1",
      toolCallId: "c",
      toolName: "scout",
    });
  });

  test("registers the branches of an evaluation before they start, and groups them at its end [SES-03.4, SES-12.1-3, SES-15.4]", () => {
    const loopIds = ["s.m.2", "s.m.3"];
    const recorder = record([
      started("s.m.1", 0),
      ended("s.m.1", 1),
      { type: "ParallelLoopStart", sessionId: "s", loopIds, timestamp: at(2) },
    ]);
    const states = () => recorder.getSession("s")?.loops.map(({ loopId, status }) => `${loopId} ${status}`);
    expect(states()).toEqual(["s.m.1 completed", "s.m.2 pending", "s.m.3 pending"]);
    expect(recorder.currentLoop("s")?.loopId).toBe("s.m.1");
    record([started("s.m.2", 3), started("s.m.3", 3), ended("s.m.3", 4), ended("s.m.2", 5)], recorder);
    expect(states()).toEqual(["s.m.1 completed", "s.m.2 completed", "s.m.3 completed"]);
    const chosen = { selectedLoopId: "s.m.3", selectedConfigIndex: 1, evaluationUsage: USAGE };
    recorder.onEvent({ type: "ParallelLoopEnd", sessionId: "s", ...chosen, timestamp: at(6) });
    expect(recorder.getSession("s")?.loops.map(({ parallelGroup }) => parallelGroup)).toEqual([
      undefined,
      { ...chosen, allLoopIds: loopIds, isSelected: false },
      { ...chosen, allLoopIds: loopIds, isSelected: true },
    ]);
  });

  test("aborts by a flush what has not ended, pending branches included; what has ended is drained once [SES-03.2, SES-14.2-3]", () => {
    const recorder = record([
      started("s.m.1", 0),
      ended("s.m.1", 1),
      started("s.m.2", 2),
      { type: "ParallelLoopStart", sessionId: "s", loopIds: ["s.m.3"], timestamp: at(3) },
    ]);
    expect(recorder.drainCompleted()).toEqual([]);
    recorder.abortOpenLoops();
    const [session, ...more] = recorder.drainCompleted();
    expect(session?.loops.map(({ loopId, status }) => `${loopId} ${status}`)).toEqual([
      "s.m.1 completed",
      "s.m.2 aborted",
      "s.m.3 aborted",
    ]);
    expect([more, recorder.drainCompleted(), recorder.sessions]).toEqual([[], [], []]);
  });

  test("finds sessions by id, completed ones too, and the loop that began last [SES-14.4]", () => {
    const recorder = record([started("s.m.1", 0), started("t.m.1", 1), started("s.m.2", 2)]);
    expect(recorder.sessions.map(({ sessionId }) => sessionId)).toEqual(["s", "t"]);
    expect(recorder.getSession("t")?.sessionId).toBe("t");
    expect(recorder.getSession("nobody")).toBeUndefined();
    expect(recorder.currentLoop()?.loopId).toBe("s.m.2");
    expect(recorder.currentLoop("t")?.loopId).toBe("t.m.1");
    recorder.abortOpenLoops();
    expect(recorder.getSession("t")?.loops[0]?.status).toBe("aborted");
    recorder.onEvent(started("t.m.2", 3));
    expect(recorder.sessions.map(({ sessionId }) => sessionId)).toEqual(["s", "t"]);
    expect(recorder.drainCompleted().map(({ sessionId }) => sessionId)).toEqual(["s"]);
    expect(recorder.getSession("s")).toBeUndefined();
  });

  test("says how a session came to be: first, or after a pause of the same agent [SES-01.1-3, SES-13.1-2]", () => {
    const recorder = record(
      [
        started("s.m.2", 0),
        started("s.m.1", 5),
        started("t.m.1", 15),
        started("u.m.1", 99, { agentId: "b" }),
        started("v.m.1", 30),
      ],
      new SessionRecorder({ inactivityTimeoutSecs: 10, scope: "persistent" }),
    );
    expect(recorder.getSession("s")).toMatchObject({
      agentId: "a",
      scope: "persistent",
      createdAt: at(0),
      lastActiveAt: at(5),
      formation: { type: "first_loop", timestamp: at(0) },
      loops: [{ loopId: "s.m.2" }, { loopId: "s.m.1" }],
    });
    expect(recorder.getSession("t")?.formation).toEqual({
      type: "inactivity_timeout",
      thresholdSecs: 10,
      previousSessionId: "s",
      timestamp: at(15),
    });
    expect(recorder.getSession("u")?.formation.type).toBe("first_loop");
    expect(record([started("w.m.1", 16)], new SessionRecorder()).getSession("w")?.formation.type).toBe(
      "first_loop",
    );
  });

  test("skips a session that is refused, and reports each that is flushed", () => {
    const flushed: string[] = [];
    const recorder = record(
      [started("no.m.1", 0), ended("no.m.1", 1), started("s.m.1", 2)],
      new SessionRecorder({
        beforeTask: ({ sessionId }) => sessionId !== "no",
        afterTask: ({ sessionId }) => flushed.push(sessionId),
      }),
    );
    expect(recorder.sessions.map(({ sessionId }) => sessionId)).toEqual(["s"]);
    recorder.abortOpenLoops();
    expect(flushed).toEqual(["s"]);
  });
});

describe("a recorder that was flushed", () => {
  const evaluated: readonly AgentEvent[] = [
    started("s.m.1", 0),
    ended("s.m.1", 1),
    { type: "ParallelLoopStart", sessionId: "s", loopIds: ["s.m.2", "s.m.3"], timestamp: at(2) },
    started("s.m.2", 3),
    started("s.m.3", 3),
  ];
  const chosen = (selectedLoopId: string, selectedConfigIndex: number): AgentEvent => ({
    type: "ParallelLoopEnd",
    sessionId: "s",
    selectedLoopId,
    selectedConfigIndex,
    evaluationUsage: USAGE,
    timestamp: at(6),
  });
  const flushed = (events: readonly AgentEvent[]) => {
    const recorder = record(events);
    recorder.abortOpenLoops();
    return recorder;
  };

  test("gives an aborted loop no end, and keeps its turns [SES-14.2]", () => {
    const [loop] = flushed([started("s.m.1", 0), ...turn("s.m.1", 1)]).getSession("s")?.loops ?? [];
    expect(loop).toMatchObject({ status: "aborted", messages: [], turns: [{ outputMessage: answer }] });
    expect(loop).not.toHaveProperty("endedAt");
  });

  test("opens the session again when another loop of it begins [SES-15.1]", () => {
    const recorder = flushed([started("s.m.1", 0), ended("s.m.1", 1)]);
    record([started("s.m.2", 9, { parentLoopId: "s.m.1" }), ended("s.m.2", 10)], recorder);
    expect(recorder.drainCompleted()).toEqual([]);
    expect(recorder.getSession("s")).toMatchObject({
      createdAt: at(0),
      lastActiveAt: at(9),
      loops: [{ loopId: "s.m.1", childrenLoopIds: ["s.m.2"] }, { loopId: "s.m.2" }],
    });
  });

  test("groups branches whose evaluation ends only then; branches that are all retained have no group [SES-15.4]", () => {
    const groupsAfter = (end: AgentEvent) =>
      record([end], flushed(evaluated))
        .drainCompleted()[0]
        ?.loops.map(({ parallelGroup }) => parallelGroup?.isSelected);
    expect(groupsAfter(chosen("s.m.2", 0))).toEqual([undefined, true, false]);
    expect(groupsAfter(chosen("", -1))).toEqual([undefined, undefined, undefined]);
  });
});
