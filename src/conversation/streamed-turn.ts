// Puts the answer of a model together while it arrives, whatever pieces it is cut into: what is there so far, which
// parts are whole, and, when the stream breaks off, which call is not.
//
// Invariants
//   S1. The parts depend on what was said, not on where it was cut into deltas.
//   S2. A part is given as whole when nothing more of it is expected: text and thinking when another part begins, a
//       call when its arguments are a whole JSON object, and everything that is left when the turn ends. One that
//       goes on nevertheless is given again, with all of its text.
//   S3. A turn that was cut has at most one part that may lack its end: the one that arrived last.

/** A piece of an answer. `index` is the part that it belongs to. */
export type TurnDelta =
  | { readonly type: "text" | "thinking"; readonly index: number; readonly delta: string }
  | {
      readonly type: "toolCall";
      readonly index: number;
      readonly id: string;
      readonly name: string;
      /** A fragment of the arguments' JSON. */
      readonly delta: string;
    };

export type TurnPart =
  | { readonly type: "text" | "thinking"; readonly index: number; readonly text: string }
  /** `text`: the arguments as they arrived. */
  | {
      readonly type: "toolCall";
      readonly index: number;
      readonly id: string;
      readonly name: string;
      readonly text: string;
    };

/** What has arrived so far. */
export type PartialTurn = {
  /** By index. */
  readonly parts: readonly TurnPart[];
  /** Of the part that the newest delta belongs to. */
  readonly newest: number | undefined;
  /** Indices of the parts that were given as whole. */
  readonly given: readonly number[];
};

export type StreamedTurn = {
  readonly parts: readonly TurnPart[];
  /** The call whose arguments broke off: it must not be run (GAP-05, PHI-13m). */
  readonly incomplete: Extract<TurnPart, { type: "toolCall" }> | undefined;
};

export type StreamStep = {
  readonly turn: PartialTurn;
  /** Parts that have become whole with this step. */
  readonly whole: readonly TurnPart[];
};

export const EMPTY_TURN: PartialTurn = { parts: [], newest: undefined, given: [] };

export function applyDelta(turn: PartialTurn, delta: TurnDelta): StreamStep {
  const before = turn.parts.find(({ index }) => index === delta.index);
  const part = extendPart(before, delta);
  const others = turn.parts.filter(({ index }) => index !== delta.index);
  const parts = [...others, part].sort((left, right) => left.index - right.index);
  // An empty fragment adds nothing: what was whole still is.
  const changed = before === undefined || part.text !== before.text;
  const given = changed ? turn.given.filter((index) => index !== delta.index) : turn.given;
  return completeParts({ parts, newest: delta.index, given }, (one) =>
    one.type === "toolCall" ? isWholeObject(one.text) : one.index !== delta.index,
  );
}

/** @param isCut - The stream broke off, or the vendor says that the answer met the output limit. */
export function endStream(turn: PartialTurn, isCut: boolean): StreamedTurn & Pick<StreamStep, "whole"> {
  const last = isCut ? turn.parts.find(({ index }) => index === turn.newest) : undefined;
  const incomplete = last?.type === "toolCall" && !isWholeObject(last.text) ? last : undefined;
  const { whole } = completeParts(
    turn,
    (part) => part !== last || (part.type === "toolCall" && incomplete === undefined),
  );
  return { parts: turn.parts, incomplete, whole };
}

function extendPart(before: TurnPart | undefined, delta: TurnDelta): TurnPart {
  const text = (before?.text ?? "") + delta.delta;
  if (delta.type !== "toolCall") return { type: delta.type, index: delta.index, text };
  const known = before?.type === "toolCall" ? before : undefined;
  // Vendors say id and name once, and leave them empty or repeat them in what follows.
  const id = delta.id === "" ? (known?.id ?? "") : delta.id;
  const name = delta.name === "" ? (known?.name ?? "") : delta.name;
  return { type: "toolCall", index: delta.index, id, name, text };
}

function completeParts(turn: PartialTurn, isWhole: (part: TurnPart) => boolean): StreamStep {
  const whole = turn.parts.filter((part) => !turn.given.includes(part.index) && isWhole(part));
  const given = [...turn.given, ...whole.map(({ index }) => index)];
  return { turn: whole.length === 0 ? turn : { ...turn, given }, whole };
}

/** Every bracket is closed: nothing that is JSON can follow. */
function isWholeObject(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
