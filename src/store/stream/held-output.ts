import { isCompleted } from "./delta-buffer.ts";
import type { CallReference, Delta } from "./stream-hub.ts";

type HeldSession = { readonly sinceMs: number; deltas: Delta[]; chars: number };

/** Live output that is not stored, because nobody watches it. */
export class HeldOutput {
  readonly #sessions = new Map<string, HeldSession>();
  #chars = 0;

  /** The characters of all held texts. */
  get chars(): number {
    return this.#chars;
  }

  get sessions(): readonly string[] {
    return [...this.#sessions.keys()];
  }

  /** The characters of a session's held texts. */
  getChars(session: string): number {
    return this.#sessions.get(session)?.chars ?? 0;
  }

  hold(delta: Delta, nowMs: number): void {
    const held = this.#sessions.get(delta.session) ?? { sinceMs: nowMs, deltas: [], chars: 0 };
    const chars = countChars(delta);
    held.deltas.push(delta);
    held.chars += chars;
    this.#chars += chars;
    this.#sessions.set(delta.session, held);
  }

  /** Removes a session's output and returns it, in order. */
  take(session: string): readonly Delta[] {
    const held = this.#sessions.get(session);
    if (held === undefined) return [];
    this.#sessions.delete(session);
    this.#chars -= held.chars;
    return held.deltas;
  }

  /** Since when the oldest output is held, by the times that `hold` was given. */
  get oldestMs(): number | undefined {
    let oldest: number | undefined;
    for (const { sinceMs } of this.#sessions.values()) oldest = Math.min(oldest ?? sinceMs, sinceMs);
    return oldest;
  }

  /** Lists the sessions whose oldest output has been held since a time or longer. */
  listSince(sinceMs: number): readonly string[] {
    return [...this.#sessions].flatMap(([session, held]) => (held.sinceMs <= sinceMs ? [session] : []));
  }

  /** Removes the output that an announcement completes. */
  complete(announcement: Delta): void {
    this.#filter(announcement.session, (delta) => !isCompleted(announcement, delta));
  }

  /** Removes the output of a call. */
  removeCall({ session, run, command, call }: CallReference): void {
    this.#filter(session, (delta) => delta.run !== run || delta.command !== command || delta.call !== call);
  }

  #filter(session: string, isKept: (delta: Delta) => boolean): void {
    const held = this.#sessions.get(session);
    if (held === undefined) return;
    held.deltas = held.deltas.filter(isKept);
    const chars = held.deltas.reduce((sum, delta) => sum + countChars(delta), 0);
    this.#chars += chars - held.chars;
    held.chars = chars;
    if (held.deltas.length === 0) this.#sessions.delete(session);
  }
}

function countChars({ body }: Delta): number {
  return "text" in body ? body.text.length : 0;
}
