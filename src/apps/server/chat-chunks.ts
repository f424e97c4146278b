import type { AgentEvent } from "../../client/index.ts";
import type { SessionEventReader } from "./session-event-reader.ts";
import type { UiChunk } from "./ui-chunk.ts";
import { type TimedWaitingCall, UiMessage } from "./ui-message.ts";

/** A call that has not started may wait for a person: the run is asked after so long, and then less and less often. */
const FIRST_POLL_MS = 250;
const MAX_POLL_MS = 5_000;

export type ChatSegment = {
  /** The loop is not told: the page has it already. */
  readonly isPast?: (event: AgentEvent) => boolean;
  /** The message goes on: so many recorded events of this loop are known. */
  readonly goesOn?: { readonly loopId: string; readonly seen: number };
  /** A loop that ended before is not what is waited for. */
  readonly sinceMs?: number;
};

export type ChatSource = {
  readonly events: Pick<SessionEventReader, "next" | "isClosed">;
  /** The page has not taken what it was told: it is spared updates that a later one holds. */
  readonly isLagging: () => boolean;
  /** Who waits for a person, and whether something else is at work; nothing when nobody can say so now. */
  readonly readWaiting: () => Promise<WaitingCalls | undefined>;
  /** What is said of a run that is over, and whose loop told no end: it failed before, or was ended from outside. */
  readonly readEnding: () => Promise<readonly UiChunk[]>;
  /** Resolves when the session takes the next prompt, or is at work on another loop than this one: then with false. */
  readonly waitUntilClosed: (loopId: string) => Promise<boolean>;
};

export type WaitingCalls = { readonly calls: readonly TimedWaitingCall[]; readonly isAtWork: boolean };

/**
 * One response of a chat: the chunks of a message until its loop ends, or until nothing but people are asked.
 *
 * @throws {Error} as the source does.
 */
export async function* streamChatChunks(
  source: ChatSource,
  part: ChatSegment,
): AsyncGenerator<readonly UiChunk[]> {
  const message = new UiMessage();
  const pollTimer = new PollTimer();
  let sentWaiting = "[]";
  let resumeAt = part.goesOn;
  let hasEnded = false;
  let next = source.events.next();
  try {
    for (;;) {
      const result = message.mayWait && resumeAt === undefined ? await pollTimer.race(next) : await next;
      if (result === undefined) {
        const waiting = await source.readWaiting();
        if (source.events.isClosed) return;
        if (waiting === undefined) continue;
        const { calls, isAtWork } = waiting;
        const asks = isAtWork ? undefined : message.formatApprovalRequests(calls);
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
      else if (message.seenEvents >= resumeAt.seen) {
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

/** When to look: soon after something happened, then less and less often. */
class PollTimer {
  #afterMs = FIRST_POLL_MS;
  #timer: NodeJS.Timeout | undefined;

  reset(): void {
    this.stop();
    this.#afterMs = FIRST_POLL_MS;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** What comes; nothing when it is time to look. */
  async race<T>(promise: Promise<T>): Promise<T | undefined> {
    const timeout = new Promise<undefined>((resolve) => {
      this.#timer = setTimeout(() => resolve(undefined), this.#afterMs);
    });
    const result = await Promise.race([promise, timeout]);
    this.stop();
    if (result === undefined) this.#afterMs = Math.min(MAX_POLL_MS, this.#afterMs * 2);
    return result;
  }
}
