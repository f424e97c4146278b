import type { AgentEvent } from "../../client/index.ts";
import { PollTimer } from "../../client/read/poll-timer.ts";
import type { SessionEventReader } from "./session-event-reader.ts";
import type { UiChunk } from "./ui-chunk.ts";
import { type TimedWaitingCall, UiMessage } from "./ui-message.ts";

/** A call that has not started may wait for a user: the run is polled after this time, and then less and less often. */
const FIRST_POLL_MS = 250;
const MAX_POLL_MS = 5_000;

export type ChatSegment = {
  /** Selects loops to omit: the page already has them. */
  readonly isPast?: (event: AgentEvent) => boolean;
  /** Continues a message: the page already has this many recorded events of the loop. */
  readonly continuesFrom?: { readonly loopId: string; readonly seenEvents: number };
  /** A loop that ended before this time does not end the response. */
  readonly sinceMs?: number;
};

export type ChatSource = {
  readonly events: Pick<SessionEventReader, "next" | "isClosed">;
  /** Whether the page is slow to read: it may skip updates that a later one contains. */
  readonly isLagging: () => boolean;
  /** Returns the pending calls, and whether other work is running; nothing if that is unknown at the moment. */
  readonly readWaiting: () => Promise<WaitingCalls | undefined>;
  /** Returns the ending of a run whose loop reported none: it failed before, or was ended from outside. */
  readonly readEnding: () => Promise<readonly UiChunk[]>;
  /** Resolves when the session accepts the next prompt, or with false when it runs another loop. */
  readonly waitUntilClosed: (loopId: string) => Promise<boolean>;
};

export type WaitingCalls = { readonly calls: readonly TimedWaitingCall[]; readonly isWorking: boolean };

/**
 * Streams one response of a chat: the chunks of a message until its loop ends, or until only users' answers are missing.
 *
 * @throws {Error} Passes on the errors of the source.
 */
export async function* streamChatChunks(
  source: ChatSource,
  part: ChatSegment,
): AsyncGenerator<readonly UiChunk[]> {
  const message = new UiMessage();
  const pollTimer = new PollTimer(FIRST_POLL_MS, MAX_POLL_MS);
  let sentWaiting = "[]";
  let resumeAt = part.continuesFrom;
  let hasEnded = false;
  let next = source.events.next();
  try {
    for (;;) {
      const result = message.mayWait && resumeAt === undefined ? await pollTimer.race(next) : await next;
      if (result === undefined) {
        const waiting = await source.readWaiting();
        if (source.events.isClosed) return;
        if (waiting === undefined) continue;
        const { calls, isWorking } = waiting;
        const asks = isWorking ? undefined : message.formatApprovalRequests(calls);
        if (asks !== undefined) return yield asks;
        const nested = calls.filter(({ path }) => path.length > 0);
        const serialized = JSON.stringify(nested);
        if (serialized !== sentWaiting) yield message.formatWaiting(nested);
        sentWaiting = serialized;
        continue;
      }
      pollTimer.reset();
      if (result.done === true) {
        if (!hasEnded && !source.events.isClosed) yield await source.readEnding();
        return;
      }
      next = source.events.next();
      const { event } = result.value;
      if (part.isPast?.(event) === true) continue;
      if (event.type === "MessageUpdate" && source.isLagging()) continue;
      const chunks = message.toChunks(event);
      if (resumeAt === undefined) yield chunks;
      else if (message.loopId !== resumeAt.loopId) continue;
      else if (message.seenEvents >= resumeAt.seenEvents) {
        resumeAt = undefined;
        yield [message.formatContinuation()];
      }
      if (resumeAt !== undefined) continue;
      hasEnded = event.type === "AgentEnd";
      if (hasEnded && ((await source.waitUntilClosed(message.loopId)) || isLast(event, part.sinceMs))) return;
    }
  } finally {
    pollTimer.stop();
    next.catch(() => undefined);
  }
}

function isLast(event: AgentEvent, sinceMs = 0): boolean {
  return event.type === "AgentEnd" && Date.parse(event.timestamp) >= sinceMs;
}
