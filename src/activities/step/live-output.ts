import { Context } from "@temporalio/activity";
import type { SpawnRef } from "../../schema/record.ts";
import type { DeltaBody, PublishOptions, StreamHub } from "../../store/stream/stream-hub.ts";
import type { Step } from "../../store/transcript/step.ts";
import type { NewEvent } from "../../store/transcript/store-write.ts";

type OutputContext = { readonly loopId: string; readonly turn: number; readonly caller?: SpawnRef };

/** @param options - Of the execution's own output; the output of its caller is never lasting. */
export type Publish = (body: DeltaBody, options?: PublishOptions) => void;

/**
 * Runs an execution of a step that publishes live output, numbered, under its generation and attempt. The output of a
 * sub-agent is also published by the call that it works for.
 */
export async function withLiveOutput<T>(
  hub: StreamHub,
  step: Step,
  { loopId, turn, caller }: OutputContext,
  work: (publish: Publish) => Promise<T>,
): Promise<T> {
  const own = createPublisher(hub, step, { session: step.session, loopId, turn });
  const callers = caller === undefined ? undefined : createPublisher(hub, step, caller);
  const publish: Publish = (body, options) => {
    // What a tool has printed describes a call whose worker died.
    own(body, body.type === "tool-output" ? { isLasting: true } : options);
    if (caller === undefined) return;
    const wrapped = toParentUpdate(body, caller);
    if (wrapped !== undefined) callers?.(wrapped);
  };
  try {
    return await work(publish);
  } finally {
    const { run, number: command, call } = step;
    for (const session of [step.session, ...(caller === undefined ? [] : [caller.session])])
      hub.end({ session, run, command, call });
  }
}

function createPublisher(
  hub: StreamHub,
  { run, number, call, generation }: Step,
  { session, loopId, turn }: { readonly session: string; readonly loopId: string; readonly turn: number },
) {
  const { attempt } = Context.current().info;
  let sequence = 0;
  return (body: DeltaBody, options?: PublishOptions): void =>
    hub.publish(
      {
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
      },
      options,
    );
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
  createPublisher(hub, step, { session: step.session, loopId, turn })({
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
