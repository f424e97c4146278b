import { type Mask, maskFor, matcherFor } from "../../models/mask.ts";
import { REDACTED, redact, redactWhole } from "../../platform/text/redact.ts";
import type { DeltaBody } from "../../store/stream/stream.ts";

// Live output comes in pieces, and a key may be cut by their borders: what may be the beginning of one waits for the
// next piece, or for the end.

export type LiveMask = {
  /** What may be shown now. */
  piece(text: string): string;
  /** What has waited, when nothing more comes. */
  rest(): string;
};

/** What a worker's secrets are replaced in. The beginning of one waits. */
export function secretsMask(secrets: readonly (string | undefined)[]): LiveMask {
  const matcher = matcherFor(secrets);
  let waiting = "";
  return {
    piece: (text) => {
      const whole = matcher.mask(waiting + text, REDACTED);
      const waits = matcher.begunAtEnd(whole);
      waiting = whole.slice(whole.length - waits);
      return whole.slice(0, whole.length - waits);
    },
    rest: () => {
      const left = waiting;
      waiting = "";
      return left;
    },
  };
}

/** A line without an end is shown in parts of this length. */
const MAX_LINE = 8 * 1024;
const BLOCK_BEGINS = /-----BEGIN [A-Z ]*PRIVATE KEY/;
const BLOCK_ENDS = /-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----/;

/** Leaves out what looks like a key. A line is shown when it is whole: its end may say what its beginning is. */
export function shapesMask(): LiveMask {
  let line = "";
  let inBlock = false;
  const taken = (end: string): string => {
    const whole = line;
    line = "";
    if (inBlock) {
      inBlock = !BLOCK_ENDS.test(whole);
      return "";
    }
    inBlock = BLOCK_BEGINS.test(whole) && !BLOCK_ENDS.test(whole);
    return redact(whole) + end;
  };
  return {
    piece: (text) => {
      let out = "";
      const [first = "", ...others] = text.split("\n");
      line += first;
      for (const next of others) {
        out += taken("\n");
        line = next;
      }
      return line.length > MAX_LINE ? out + taken("") : out;
    },
    rest: () => (line === "" ? "" : taken("")),
  };
}

/** One behind the other. */
function both(first: LiveMask, second: LiveMask): LiveMask {
  return {
    piece: (text) => second.piece(first.piece(text)),
    rest: () => second.piece(first.rest()) + second.rest(),
  };
}

type Publish = (body: DeltaBody) => void;

/** Publishes what a call shows, masked as its result will be. `end` publishes what has waited. */
export function maskedOutput(
  publish: Publish,
  secrets: readonly (string | undefined)[],
  hidesKeys: boolean,
): { readonly publish: Publish; readonly end: () => void } {
  const output = hidesKeys ? both(secretsMask(secrets), shapesMask()) : secretsMask(secrets);
  const progress = progressMask(secrets, hidesKeys);
  let last: Extract<DeltaBody, { type: "tool-output" }> | undefined;
  return {
    publish: (body) => {
      if (body.type === "progress") return publish({ ...body, text: progress(body.text) });
      if (body.type !== "tool-output") return publish(body);
      last = body;
      const text = output.piece(body.text);
      if (text !== "") publish({ ...body, text });
    },
    end: () => {
      const text = output.rest();
      if (last !== undefined && text !== "") publish({ ...last, text });
    },
  };
}

/** Each report is whole; only a block of a key may go on in the next ones. */
function progressMask(secrets: readonly (string | undefined)[], hidesKeys: boolean): Mask {
  const whole = outputMask(secrets, hidesKeys);
  if (!hidesKeys) return whole;
  const mask = maskFor(secrets);
  const blocks = shapesMask();
  return (text) => {
    const shown = blocks.piece(`${mask(text)}\n`).replace(/\n$/, "");
    return shown === "" && text !== "" ? REDACTED : whole(shown);
  };
}

/** What a whole output is stored through. */
export function outputMask(secrets: readonly (string | undefined)[], hidesKeys: boolean): Mask {
  const mask = maskFor(secrets);
  return hidesKeys ? (text) => redactWhole(mask(text)) : mask;
}
