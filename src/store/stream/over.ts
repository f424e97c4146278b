import type { Delta, OffsetDelta } from "./stream.ts";

/**
 * Whether a word of what is recorded says that this, published before it, is over.
 *
 * @testonly
 */
export function isOver({ loopId, body }: Delta, shown: Delta): boolean {
  if (body.type !== "recorded" || loopId !== shown.loopId) return false;
  // `over` is missing where a worker of an older release has written.
  const { over = [] } = body as { readonly over?: "all" | readonly string[] };
  if (over === "all") return true;
  const isCall = "toolCallId" in shown.body && shown.body.type !== "tool-call";
  return !isCall || over.includes((shown.body as { readonly toolCallId: string }).toolCallId);
}

/** What is not over, of deltas that are taken in one after the other. */
export class Kept {
  #deltas: OffsetDelta[] = [];

  take(one: OffsetDelta): void {
    if (one.delta.body.type !== "recorded") this.#deltas.push(one);
    else this.#deltas = this.#deltas.filter(({ delta }) => !isOver(one.delta, delta));
  }

  get deltas(): readonly OffsetDelta[] {
    return this.#deltas;
  }
}
