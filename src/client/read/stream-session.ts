import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { listWaitingCalls, type WaitingCall } from "../runs/list-waiting-calls.ts";
import { PollTimer } from "./poll-timer.ts";
import { type EventsOptions, streamSessionEvents } from "./session-events.ts";
import type { StreamEvent } from "./stream-event.ts";
import { AnswerText, StreamEventBuilder } from "./stream-event-builder.ts";

/** A call that has not ended may wait for a user: the run is polled after this time, and then less and less often. */
const FIRST_POLL_MS = 250;
const MAX_POLL_MS = 5_000;

/** Streams the small events of a session's run, with the calls that wait for a user. */
export async function* streamSession(
  link: ClientLink,
  session: string,
  options: Pick<EventsOptions, "runId">,
): AsyncGenerator<StreamEvent, void, void> {
  const builder = new StreamEventBuilder();
  const requested = new Set<string>();
  const timer = new PollTimer(FIRST_POLL_MS, MAX_POLL_MS);
  const stop = new AbortController();
  const events = streamSessionEvents(link, session, { ...options, signal: stop.signal });
  let next = events.next();
  try {
    for (;;) {
      const result = builder.hasOpenCalls ? await timer.race(next) : await next;
      if (result === undefined) {
        yield* listNewRequests(await readWaiting(link, session), requested);
        continue;
      }
      if (result.done === true) return;
      timer.reset();
      next = events.next();
      yield* builder.toStreamEvents(result.value.event);
    }
  } finally {
    timer.stop();
    stop.abort();
    await next.catch(() => undefined);
  }
}

export async function* streamText(
  link: ClientLink,
  session: string,
  options: Pick<EventsOptions, "runId">,
): AsyncGenerator<string, void, void> {
  const builder = new StreamEventBuilder();
  const text = new AnswerText();
  for await (const { event } of streamSessionEvents(link, session, options)) {
    for (const small of builder.toStreamEvents(event)) yield* text.add(small);
  }
}

/** A run that cannot answer now is asked again later. */
async function readWaiting(link: ClientLink, session: string): Promise<readonly WaitingCall[]> {
  try {
    return await listWaitingCalls(link, session);
  } catch (error) {
    if (error instanceof HoldfastError) return [];
    throw error;
  }
}

function* listNewRequests(
  calls: readonly WaitingCall[],
  requested: Set<string>,
): Generator<StreamEvent, void, void> {
  for (const call of calls) {
    // A vendor may reuse the id of a call, and a tool may ask again.
    const key = `${call.session}/${call.toolCallId}/${call.sinceMs}`;
    if (requested.has(key)) continue;
    requested.add(key);
    const { toolCallId, tool: toolName, arguments: input } = call;
    yield { type: "tool-approval-request", toolCallId, toolName, input, call };
  }
}
