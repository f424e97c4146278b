import type { Delta, OffsetDelta } from "./stream-hub.ts";

/** Checks whether an announcement completes a delta that was published before it. */
export function isCompleted({ loopId, body }: Delta, announcement: Delta): boolean {
  if (body.type !== "recorded" || loopId !== announcement.loopId) return false;
  // `completed` is missing where a worker of an older release has written.
  const { completed = [] } = body as { readonly completed?: "all" | readonly string[] };
  if (completed === "all") return true;
  const isCall = "toolCallId" in announcement.body && announcement.body.type !== "tool-call";
  return !isCall || completed.includes((announcement.body as { readonly toolCallId: string }).toolCallId);
}

/** Collects the deltas that are not yet completed. */
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
