import { expect, test } from "vitest";
import { SessionRecorder } from "../../src/client/interop/session-recorder.ts";
import type { AgentEvent } from "../../src/schema/agent-event.ts";
import { NO_USAGE } from "./editable-transcript.ts";

// How the recorder links a sub-agent's session to the call that has started it.

const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;
const PARENT = { sessionId: "parent", loopId: "parent.p.m.1" };
const CHILD = { sessionId: "parent.sub-0000000a", loopId: "parent.sub-0000000a.sub.1" };
const CALL = { loopId: PARENT.loopId, toolCallId: "call-1", toolName: "scout" };

const started = (
  { sessionId, loopId }: typeof PARENT,
  second: number,
  parentLoopId?: string,
): AgentEvent => ({
  type: "AgentStart",
  agentId: `agent of ${sessionId}`,
  sessionId,
  loopId,
  ...(parentLoopId === undefined ? {} : { parentLoopId }),
  continuationKind: { type: "initial" },
  timestamp: at(second),
});
const ended = ({ loopId }: typeof PARENT, second: number): AgentEvent => ({
  type: "AgentEnd",
  loopId,
  messages: [],
  usage: NO_USAGE,
  outcome: { type: "answered", stopReason: "stop" },
  timestamp: at(second),
});
const called: AgentEvent = { type: "ToolExecutionStart", ...CALL, args: { task: "look" } };
const answered: AgentEvent = {
  type: "ToolExecutionEnd",
  ...CALL,
  result: { content: [{ type: "text", text: "seen" }] },
  isError: false,
  childLoopId: CHILD.loopId,
};

const LINK = {
  parentSessionId: PARENT.sessionId,
  parentLoopId: PARENT.loopId,
  toolCallId: "call-1",
  toolName: "scout",
};

test("a child's session that was flushed before its call ended is still linked to the call [SES-11]", () => {
  const recorder = new SessionRecorder();
  recorder.onEvent(started(PARENT, 0));
  recorder.onEvent(called);
  recorder.onEvent(started(CHILD, 1, PARENT.loopId));
  recorder.onEvent(ended(CHILD, 2));
  recorder.abortOpenLoops();
  expect(recorder.getSession(CHILD.sessionId)?.parentSpawnRef).toEqual({
    ...LINK,
    toolCallId: "",
    toolName: "",
  });
  recorder.onEvent(answered);
  recorder.onEvent(ended(PARENT, 3));
  expect(recorder.getSession(CHILD.sessionId)?.parentSpawnRef).toEqual(LINK);
  expect(recorder.getSession(PARENT.sessionId)?.loops[0]).toMatchObject({
    status: "completed",
    childLoopRefs: [
      {
        toolCallId: "call-1",
        toolName: "scout",
        childLoopId: CHILD.loopId,
        childSessionId: CHILD.sessionId,
      },
    ],
  });
});
