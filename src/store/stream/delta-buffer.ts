import type { Delta, OffsetDelta } from "./stream-hub.ts";

/**
 * Whether a word of what is recorded says that this, published before it, is over.
 *
 * @testonly
 */
export function isCompleted({ loopId, body }: Delta, announcement: Delta): boolean {
  if (body.type !== "recorded" || loopId !== announcement.loopId) return false;
  // `over` is missing where a worker of an older release has written.
  const { over: completed = [] } = body as { readonly over?: "all" | readonly string[] };
  if (completed === "all") return true;
  const isCall = "toolCallId" in announcement.body && announcement.body.type !== "tool-call";
  return !isCall || completed.includes((announcement.body as { readonly toolCallId: string }).toolCallId);
}

/** What is not over, of deltas that are taken in one after the other. */
export class DeltaBuffer {
  #deltas: OffsetDelta[] = [];

  add(item: OffsetDelta): void {
    if (item.delta.body.type !== "recorded") this.#deltas.push(item);
    else this.#deltas = this.#deltas.filter(({ delta }) => !isCompleted(item.delta, delta));
  }

  get deltas(): readonly OffsetDelta[] {
    return this.#deltas;
  }
}
