import { Context } from "@temporalio/activity";
import type { DeltaBody, StreamHub } from "../stream/stream.ts";
import type { Step } from "../transcript/step.ts";

/** Publishes what one execution of a step shows, numbered, under its generation and attempt. */
export function liveOutput(hub: StreamHub, step: Step, place: { loopId: string; turn: number }) {
  const { attempt } = Context.current().info;
  let sequence = 0;
  return (body: DeltaBody): void =>
    hub.publish({
      session: step.session,
      run: step.run,
      loopId: place.loopId,
      turn: place.turn,
      command: step.number,
      call: step.call,
      generation: step.generation,
      attempt,
      sequence: sequence++,
      atMs: Date.now(),
      body,
    });
}

/** Tells watchers that a loop's events can be read up to this one. */
export function announceEvents(
  hub: StreamHub,
  step: Step,
  loopId: string,
  turn: number,
  events: readonly { sequence: number }[],
): void {
  const last = events.at(-1);
  if (last !== undefined)
    liveOutput(hub, step, { loopId, turn })({ type: "recorded", sequence: last.sequence });
}
