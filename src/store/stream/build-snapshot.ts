import { getSubject, isOlder } from "./attempt-filter.ts";
import type { Delta, DeltaBody, OffsetDelta } from "./stream-hub.ts";

/**
 * Builds the output so far from deltas in order: without output that a newer attempt has replaced, without announcements,
 * and with adjacent pieces joined at the offset of the last one.
 */
export function buildSnapshot(deltas: readonly OffsetDelta[]): readonly OffsetDelta[] {
  const visible: OffsetDelta[] = [];
  for (const one of removeVoid(deltas)) {
    const before = visible.at(-1);
    const joined = before === undefined ? undefined : joinBodies(before.delta, one.delta);
    if (joined === undefined) visible.push(one);
    else visible[visible.length - 1] = { offset: one.offset, delta: { ...one.delta, body: joined } };
  }
  return visible;
}

function removeVoid(deltas: readonly OffsetDelta[]): readonly OffsetDelta[] {
  const newest = new Map<string, { readonly delta: Delta; readonly begins: number }>();
  for (const [index, { delta }] of deltas.entries()) {
    const subject = getSubject(delta);
    const known = newest.get(subject);
    if (known !== undefined && isOlder(delta, known.delta)) continue;
    const isNew = known === undefined || delta.run !== known.delta.run || isOlder(known.delta, delta);
    const begins = isNew || delta.body.type === "attempt" ? index : known.begins;
    newest.set(subject, { delta, begins });
  }
  return deltas.filter(({ delta }, index) => {
    if (delta.body.type === "recorded") return false;
    const { delta: last, begins } = newest.get(getSubject(delta)) ?? { delta, begins: 0 };
    return index >= begins && !isOlder(delta, last) && delta.run === last.run;
  });
}

/** Joins two pieces of the same subject. */
function joinBodies(one: Delta, other: Delta): DeltaBody | undefined {
  const { body: first } = one;
  const { body: second } = other;
  if (getSubject(one) !== getSubject(other) || one.run !== other.run) return undefined;
  // A later piece ends the waiting.
  if (first.type === "waiting") return second;
  switch (second.type) {
    case "text":
    case "thinking":
      return first.type === second.type ? { ...second, text: first.text + second.text } : undefined;
    case "tool-call":
      if (first.type !== second.type || first.toolCallId !== second.toolCallId) return undefined;
      return { ...first, text: first.text + second.text };
    case "tool-output":
      if (first.type !== second.type || first.toolCallId !== second.toolCallId) return undefined;
      return { ...second, text: first.text + second.text };
    default:
      return undefined;
  }
}
