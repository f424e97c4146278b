import type { StreamFault } from "./fault.ts";
import type { Reply } from "./reply.ts";
import { ScriptError } from "./script.ts";
import type { Frame, Wire } from "./wire.ts";

/** A step of sending an answer. */
export type ResponseStep =
  | { readonly type: "head" }
  | { readonly type: "write"; readonly data: string | Buffer }
  | { readonly type: "wait"; readonly ms: number }
  | { readonly type: "hold"; readonly gate: string }
  /** The body is complete. */
  | { readonly type: "end" }
  | { readonly type: "destroy" }
  /** Waits until the client leaves. */
  | { readonly type: "forever" };

type Ending = Extract<ResponseStep, { type: "end" | "destroy" | "forever" }>;

export type FailingReply = { readonly fault: StreamFault; readonly wire: Wire; readonly answerId: string };

/** Plans the steps of a response. Joins adjacent frames, so that a reply without delays is one write. */
export function planResponse(
  reply: Reply,
  allFrames: readonly Frame[],
  failure?: FailingReply,
): ResponseStep[] {
  const { frames, ending } =
    failure === undefined ? { frames: allFrames, ending: END } : applyFault(allFrames, failure);
  const noHead = frames === undefined;
  const steps: ResponseStep[] = [];
  if (reply.firstByteDelayMs !== undefined) steps.push({ type: "wait", ms: reply.firstByteDelayMs });
  const holdAt = reply.holdUntil === undefined ? -1 : findHoldIndex(reply, allFrames.length);
  if (holdAt === 0) steps.push({ type: "hold", gate: reply.holdUntil! });
  if (noHead) return [...steps, ending];
  steps.push({ type: "head" });
  let buffered: Frame[] = [];
  const flush = () => {
    if (buffered.length > 0) steps.push({ type: "write", data: joinFrames(buffered) });
    buffered = [];
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
    buffered.push(frame);
  }
  flush();
  return [...steps, ending];
}

const END: Ending = { type: "end" };

/** Returns the index of the frame that waits; 0 means before the head. */
function findHoldIndex(reply: Reply, frames: number): number {
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

/** Applies the fault to the frames; `frames` is undefined if not even a head is sent. */
function applyFault(
  allFrames: readonly Frame[],
  { fault, wire, answerId }: FailingReply,
): { frames: readonly Frame[] | undefined; ending: Ending } {
  const at = Math.min(fault.afterChunks ?? Math.floor(allFrames.length / 2), allFrames.length);
  switch (fault.fault) {
    case "silence":
      return {
        frames: fault.afterChunks === undefined ? undefined : allFrames.slice(0, at),
        ending: { type: "forever" },
      };
    case "mid-stream-error":
      return {
        frames: [...allFrames.slice(0, at), wire.buildErrorFrame(fault.type, fault.message, answerId)],
        ending: END,
      };
    case "malformed":
      return {
        frames: [...allFrames.slice(0, at), wire.buildMalformedFrame(), ...allFrames.slice(at)],
        ending: END,
      };
    case "cut": {
      const ending: Ending = fault.clean === true ? END : { type: "destroy" };
      if (fault.afterBytes === 0 && fault.inCharacter !== true)
        return { frames: undefined, ending: { type: "destroy" } };
      return { frames: cutFrames(allFrames, findCutOffset(allFrames, fault)), ending };
    }
  }
}

function findCutOffset(allFrames: readonly Frame[], fault: Extract<StreamFault, { fault: "cut" }>): number {
  const bytes = toBytes(allFrames);
  let offset = Math.floor(bytes.length / 2);
  if (fault.afterChunks !== undefined) offset = toBytes(allFrames.slice(0, fault.afterChunks)).length;
  if (fault.afterBytes !== undefined) offset = Math.min(fault.afterBytes, bytes.length);
  if (fault.inCharacter !== true) return offset;
  const first = bytes.findIndex((byte, index) => index >= offset && byte >= 0xc0);
  if (first === -1) throw new ScriptError("cut inCharacter: no multi-byte character follows in this reply");
  return first + 1;
}

function cutFrames(allFrames: readonly Frame[], offset: number): Frame[] {
  const frames: Frame[] = [];
  let remaining = offset;
  for (const frame of allFrames) {
    const bytes = Buffer.from(frame);
    if (remaining <= 0) break;
    frames.push(bytes.subarray(0, remaining));
    remaining -= bytes.length;
  }
  return frames;
}

function joinFrames(frames: readonly Frame[]): string | Buffer {
  return frames.every((frame) => typeof frame === "string") ? frames.join("") : toBytes(frames);
}

function toBytes(frames: readonly Frame[]): Buffer {
  return Buffer.concat(frames.map((frame) => Buffer.from(frame)));
}
