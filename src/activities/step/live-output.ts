import { Context } from "@temporalio/activity";
import type { SpawnRef } from "../../schema/record.ts";
import type { DeltaBody, StreamHub } from "../../store/stream/stream-hub.ts";
import type { Step } from "../../store/transcript/step.ts";
import type { NewEvent } from "../../store/transcript/store-write.ts";

type OutputContext = { readonly loopId: string; readonly turn: number; readonly caller?: SpawnRef };

/**
 * Publishes the live output of one execution of a step, numbered, under its generation and attempt. The output of a
 * sub-agent is also published by the call that it works for.
 */
export function createLiveOutput(hub: StreamHub, step: Step, { loopId, turn, caller }: OutputContext) {
  const own = createPublisher(hub, step, { session: step.session, loopId, turn });
  if (caller === undefined) return own;
  const callers = createPublisher(hub, step, caller);
  return (body: DeltaBody): void => {
    own(body);
    const wrapped = toParentUpdate(body, caller);
    if (wrapped !== undefined) callers(wrapped);
  };
}

function createPublisher(
  hub: StreamHub,
  { run, number, call, generation }: Step,
  { session, loopId, turn }: { readonly session: string; readonly loopId: string; readonly turn: number },
) {
  const { attempt } = Context.current().info;
  let sequence = 0;
  return (body: DeltaBody): void =>
    hub.publish({
      session,
      run,
      loopId,
      turn,
      command: number,
      call,
      generation,
      attempt,
      sequence: sequence++,
      atMs: Date.now(),
      body,
    });
}

/**
 * Converts a sub-agent's output for its caller (SUB-07): its text becomes tool output, each tool a line, its progress
 * progress.
 */
function toParentUpdate(body: DeltaBody, { toolCallId, toolName }: SpawnRef): DeltaBody | undefined {
  const call = { toolCallId, toolName };
  switch (body.type) {
    case "text":
      return { type: "tool-output", ...call, text: body.text };
    case "tool-start":
      return { type: "tool-output", ...call, text: `[sub-agent calling tool: ${body.toolName}]\n` };
    case "waiting":
      return { type: "progress", ...call, text: `[sub-agent ${body.text}]` };
    case "progress":
      return { type: "progress", ...call, text: body.text };
    default:
      return undefined;
  }
}

/** Notifies watchers that a loop's events can be read up to this one, and the hub which output it may delete. */
export function announceEvents(
  hub: StreamHub,
  step: Step,
  loopId: string,
  turn: number,
  events: readonly NewEvent[],
): void {
  const last = events.at(-1);
  if (last === undefined) return;
  const { sequence } = last;
  createLiveOutput(hub, step, { loopId, turn })({
    type: "recorded",
    sequence,
    completed: findCompleted(events),
  });
}

/**
 * Finds the completed output. At the end of a turn nothing of the loop is under way. In between calls may be, but
 * never an answer.
 */
function findCompleted(events: readonly NewEvent[]): "all" | readonly string[] {
  const ofTurns = ["TurnStart", "TurnEnd", "AgentEnd"];
  if (events.some(({ body }) => ofTurns.includes(body.type))) return "all";
  return events.flatMap(({ body }) => (body.type === "ToolExecutionEnd" ? [body.toolCallId] : []));
}
