import { createMask, getMatcher, type Mask } from "../../models/secret-masks.ts";
import { REDACTED, redact, redactWhole } from "../../platform/text/redact.ts";
import type { DeltaBody } from "../../store/stream/stream-hub.ts";

// Live output arrives in chunks, and their borders may cut a key. What may be the beginning of a key waits for the next
// chunk, or for the end.

export type LiveMask = {
  /** Returns the text that may be published. */
  push(text: string): string;
  /** Returns the text that has waited, when nothing more arrives. */
  flush(): string;
};

/** Creates a mask for a worker's secrets. The possible beginning of a secret waits. */
export function createSecretsMask(secrets: readonly (string | undefined)[]): LiveMask {
  const matcher = getMatcher(secrets);
  let waiting = "";
  return {
    push: (text) => {
      const whole = matcher.mask(waiting + text, REDACTED);
      const waits = matcher.countPartialAtEnd(whole);
      waiting = whole.slice(whole.length - waits);
      return whole.slice(0, whole.length - waits);
    },
    flush: () => {
      const left = waiting;
      waiting = "";
      return left;
    },
  };
}

/** A longer line is published in parts of this length. */
const MAX_LINE = 8 * 1024;
const BLOCK_BEGINS = /-----BEGIN [A-Z ]*PRIVATE KEY/;
const BLOCK_ENDS = /-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----/;

/**
 * Creates a mask for text that looks like a key. A line is published when it is complete, because its end may decide
 * what its beginning is.
 */
export function createShapesMask(): LiveMask {
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
    push: (text) => {
      let out = "";
      const [first = "", ...others] = text.split("\n");
      line += first;
      for (const next of others) {
        out += taken("\n");
        line = next;
      }
      return line.length > MAX_LINE ? out + taken("") : out;
    },
    flush: () => (line === "" ? "" : taken("")),
  };
}

/** Chains two masks. */
function chainMasks(first: LiveMask, second: LiveMask): LiveMask {
  return {
    push: (text) => second.push(first.push(text)),
    flush: () => second.push(first.flush()) + second.flush(),
  };
}

type Publish = (body: DeltaBody) => void;

/** Publishes the output of a call, masked as its result will be. `end` publishes the text that has waited. */
export function createMaskedOutput(
  publish: Publish,
  secrets: readonly (string | undefined)[],
  hidesKeys: boolean,
): { readonly publish: Publish; readonly end: () => void } {
  const output = hidesKeys
    ? chainMasks(createSecretsMask(secrets), createShapesMask())
    : createSecretsMask(secrets);
  const progress = createProgressMask(secrets, hidesKeys);
  let last: Extract<DeltaBody, { type: "tool-output" }> | undefined;
  return {
    publish: (body) => {
      if (body.type === "progress") return publish({ ...body, text: progress(body.text) });
      if (body.type !== "tool-output") return publish(body);
      last = body;
      const text = output.push(body.text);
      if (text !== "") publish({ ...body, text });
    },
    end: () => {
      const text = output.flush();
      if (last !== undefined && text !== "") publish({ ...last, text });
    },
  };
}

/**
 * Creates the mask of progress reports. Each report is complete; only a block of a key may continue in the next ones.
 */
function createProgressMask(secrets: readonly (string | undefined)[], hidesKeys: boolean): Mask {
  const whole = createOutputMask(secrets, hidesKeys);
  if (!hidesKeys) return whole;
  const mask = createMask(secrets);
  const blocks = createShapesMask();
  return (text) => {
    const shown = blocks.push(`${mask(text)}\n`).replace(/\n$/, "");
    return shown === "" && text !== "" ? REDACTED : whole(shown);
  };
}

/** Creates the mask that a whole stored output passes through. */
export function createOutputMask(secrets: readonly (string | undefined)[], hidesKeys: boolean): Mask {
  const mask = createMask(secrets);
  return hidesKeys ? (text) => redactWhole(mask(text)) : mask;
}
