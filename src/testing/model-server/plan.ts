import type { StreamFault } from "./fault.ts";
import type { Reply } from "./reply.ts";
import type { Frame, Wire } from "./wire.ts";

/** How an answer goes over the line. */
export type Step =
  | { readonly type: "head" }
  | { readonly type: "write"; readonly data: string | Buffer }
  | { readonly type: "wait"; readonly ms: number }
  | { readonly type: "hold"; readonly gate: string }
  /** The body is whole. */
  | { readonly type: "end" }
  | { readonly type: "destroy" }
  /** Until the client leaves. */
  | { readonly type: "forever" };

type Ending = Extract<Step, { type: "end" | "destroy" | "forever" }>;

export type Failing = { readonly fault: StreamFault; readonly wire: Wire; readonly answerId: string };

/** Adjacent frames are joined, so that a reply without delays is one write. */
export function planOf(reply: Reply, whole: readonly Frame[], failing?: Failing): Step[] {
  const { frames, ending } = failing === undefined ? { frames: whole, ending: END } : spoiled(whole, failing);
  const noHead = frames === undefined;
  const steps: Step[] = [];
  if (reply.firstByteDelayMs !== undefined) steps.push({ type: "wait", ms: reply.firstByteDelayMs });
  const holdAt = reply.holdUntil === undefined ? -1 : holdIndex(reply, whole.length);
  if (holdAt === 0) steps.push({ type: "hold", gate: reply.holdUntil! });
  if (noHead) return [...steps, ending];
  steps.push({ type: "head" });
  let gathered: Frame[] = [];
  const flush = () => {
    if (gathered.length > 0) steps.push({ type: "write", data: joined(gathered) });
    gathered = [];
  };
  for (const [index, frame] of frames.entries()) {
    if (index > 0 && index === holdAt) {
      flush();
      steps.push({ type: "hold", gate: reply.holdUntil! });
    }
    if (index > 0 && reply.chunkDelayMs !== undefined && reply.chunkDelayMs > 0) {
      flush();
      steps.push({ type: "wait", ms: reply.chunkDelayMs });
    }
    gathered.push(frame);
  }
  flush();
  return [...steps, ending];
}

const END: Ending = { type: "end" };

/** Index of the frame that waits; 0 means before the head. */
function holdIndex(reply: Reply, frames: number): number {
  switch (reply.holdAt ?? "middle") {
    case "head":
      return 0;
    case "start":
      return Math.min(1, frames - 1);
    case "middle":
      return Math.floor(frames / 2);
    case "end":
      return Math.max(frames - 2, 0);
  }
}

/** `frames` is undefined where not even a head is sent. */
function spoiled(
  whole: readonly Frame[],
  { fault, wire, answerId }: Failing,
): { frames: readonly Frame[] | undefined; ending: Ending } {
  const at = Math.min(fault.afterChunks ?? Math.floor(whole.length / 2), whole.length);
  switch (fault.fault) {
    case "silence":
      return {
        frames: fault.afterChunks === undefined ? undefined : whole.slice(0, at),
        ending: { type: "forever" },
      };
    case "mid-stream-error":
      return {
        frames: [...whole.slice(0, at), wire.errorFrame(fault.type, fault.message, answerId)],
        ending: END,
      };
    case "malformed":
      return { frames: [...whole.slice(0, at), wire.malformedFrame(), ...whole.slice(at)], ending: END };
    case "cut": {
      const ending: Ending = fault.clean === true ? END : { type: "destroy" };
      if (fault.afterBytes === 0 && fault.inCharacter !== true)
        return { frames: undefined, ending: { type: "destroy" } };
      return { frames: cutFrames(whole, cutOffset(whole, fault)), ending };
    }
  }
}

function cutOffset(whole: readonly Frame[], fault: Extract<StreamFault, { fault: "cut" }>): number {
  const bytes = bytesOf(whole);
  let offset = Math.floor(bytes.length / 2);
  if (fault.afterChunks !== undefined) offset = bytesOf(whole.slice(0, fault.afterChunks)).length;
  if (fault.afterBytes !== undefined) offset = Math.min(fault.afterBytes, bytes.length);
  if (fault.inCharacter !== true) return offset;
  const first = bytes.findIndex((byte, index) => index >= offset && byte >= 0xc0);
  if (first === -1)
    throw new ScriptError("cut inCharacter: no character of several bytes follows in this reply");
  return first + 1;
}

function cutFrames(whole: readonly Frame[], offset: number): Frame[] {
  const frames: Frame[] = [];
  let left = offset;
  for (const frame of whole) {
    const bytes = Buffer.from(frame);
    if (left <= 0) break;
    frames.push(bytes.subarray(0, left));
    left -= bytes.length;
  }
  return frames;
}

function joined(frames: readonly Frame[]): string | Buffer {
  return frames.every((frame) => typeof frame === "string") ? frames.join("") : bytesOf(frames);
}

function bytesOf(frames: readonly Frame[]): Buffer {
  return Buffer.concat(frames.map((frame) => Buffer.from(frame)));
}

/** The script asks for what cannot be done. */
class ScriptError extends Error {
  override readonly name = "ScriptError";
}
