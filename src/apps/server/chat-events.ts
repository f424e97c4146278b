import type { AgentEvent } from "../../client/index.ts";
import type { Source } from "./source.ts";
import type { UiChunk } from "./ui-chunk.ts";
import { type Asked, UiMessage } from "./ui-message.ts";

/** A call that has not started may wait for a person: the run is asked after so long, and then less and less often. */
const FIRST_LOOK_MS = 250;
const LAST_LOOK_MS = 5_000;

export type ChatPart = {
  /** The loop is not told: the page has it already. */
  readonly isPast?: (event: AgentEvent) => boolean;
  /** The message goes on: so many recorded events of this loop are known. */
  readonly goesOn?: { readonly loopId: string; readonly seen: number };
  /** A loop that ended before is not what is waited for. */
  readonly sinceMs?: number;
};

export type ChatSource = {
  readonly events: Pick<Source, "next" | "isClosed">;
  /** The page has not taken what it was told: it is spared updates that a later one holds. */
  readonly isBehind: () => boolean;
  /** Who waits for a person, and whether something else is at work; nothing when nobody can say so now. */
  readonly waiting: () => Promise<Waiting | undefined>;
  /** What is said of a run that is over, and whose loop told no end: it failed before, or was ended from outside. */
  readonly ended: () => Promise<readonly UiChunk[]>;
  /** Resolves when the session takes the next prompt, or is at work on another loop than this one: then with false. */
  readonly settled: (loopId: string) => Promise<boolean>;
};

export type Waiting = { readonly calls: readonly Asked[]; readonly isAtWork: boolean };

/**
 * One response of a chat: the chunks of a message until its loop ends, or until nothing but people are asked.
 *
 * @throws {Error} as the source does.
 */
export async function* chatChunks(source: ChatSource, part: ChatPart): AsyncGenerator<readonly UiChunk[]> {
  const message = new UiMessage();
  const looks = new Looks();
  let told = "[]";
  let goesOn = part.goesOn;
  let hasEnded = false;
  let next = source.events.next();
  try {
    for (;;) {
      const come = message.mayWait && goesOn === undefined ? await looks.or(next) : await next;
      if (come === undefined) {
        const waiting = await source.waiting();
        if (source.events.isClosed) return;
        if (waiting === undefined) continue;
        const { calls, isAtWork } = waiting;
        const asks = isAtWork ? undefined : message.asks(calls);
        if (asks !== undefined) return yield asks;
        const below = calls.filter(({ path }) => path.length > 0);
        const words = JSON.stringify(below);
        if (words !== told) yield message.waiting(below);
        told = words;
        continue;
      }
      looks.again();
      if (come.done === true) {
        if (!hasEnded && !source.events.isClosed) yield await source.ended();
        return;
      }
      next = source.events.next();
      const { event } = come.value;
      if (part.isPast?.(event) === true) continue;
      if (event.type === "MessageUpdate" && source.isBehind()) continue;
      const chunks = message.take(event);
      if (goesOn === undefined) yield chunks;
      else if (message.loopId !== goesOn.loopId) continue;
      else if (message.seen >= goesOn.seen) {
        goesOn = undefined;
        yield [message.continued()];
      }
      if (goesOn !== undefined) continue;
      hasEnded = event.type === "AgentEnd";
      if (hasEnded && ((await source.settled(message.loopId)) || isLast(event, part.sinceMs))) return;
    }
  } finally {
    looks.stop();
    next.catch(() => undefined);
  }
}

function isLast(event: AgentEvent, sinceMs = 0): boolean {
  return event.type === "AgentEnd" && Date.parse(event.timestamp) >= sinceMs;
}

/** When to look: soon after something happened, then less and less often. */
class Looks {
  #afterMs = FIRST_LOOK_MS;
  #timer: NodeJS.Timeout | undefined;

  again(): void {
    this.stop();
    this.#afterMs = FIRST_LOOK_MS;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** What comes; nothing when it is time to look. */
  async or<T>(coming: Promise<T>): Promise<T | undefined> {
    const due = new Promise<undefined>((resolve) => {
      this.#timer = setTimeout(() => resolve(undefined), this.#afterMs);
    });
    const come = await Promise.race([coming, due]);
    this.stop();
    if (come === undefined) this.#afterMs = Math.min(LAST_LOOK_MS, this.#afterMs * 2);
    return come;
  }
}
