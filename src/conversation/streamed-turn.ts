// Assembles the answer of a model while it arrives, however it is divided: what has arrived so far, which parts are
// complete, and, when the stream breaks, which call is not.
//
// Invariants
//   S1. The parts depend on the content, not on how it was divided into deltas.
//   S2. A part is reported as whole when nothing more of it is expected: text and thinking when another part begins, a
//       call when its arguments are a complete JSON object, and everything that is left when the turn ends. A part
//       that continues anyway is reported again, with its complete text.
//   S3. A turn that was cut has at most one part that may be incomplete: the one that arrived last.

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
  /** The index of the part that the newest delta belongs to. */
  readonly newest: number | undefined;
  /** Indices of the parts that were reported as whole. */
  readonly completed: readonly number[];
};

export type StreamedTurn = {
  readonly parts: readonly TurnPart[];
  /** The call whose arguments are incomplete: it must not be run (GAP-05, PHI-13m). */
  readonly incomplete: Extract<TurnPart, { type: "toolCall" }> | undefined;
};

export type StreamStep = {
  readonly turn: PartialTurn;
  /** Parts that have become whole with this step. */
  readonly completed: readonly TurnPart[];
};

export const EMPTY_TURN: PartialTurn = { parts: [], newest: undefined, completed: [] };

export function applyDelta(turn: PartialTurn, delta: TurnDelta): StreamStep {
  const before = turn.parts.find(({ index }) => index === delta.index);
  const part = extendPart(before, delta);
  const others = turn.parts.filter(({ index }) => index !== delta.index);
  const parts = [...others, part].sort((left, right) => left.index - right.index);
  // An empty fragment adds nothing, so a whole part stays whole.
  const changed = before === undefined || part.text !== before.text;
  const given = changed ? turn.completed.filter((index) => index !== delta.index) : turn.completed;
  return completeParts({ parts, newest: delta.index, completed: given }, (one) =>
    one.type === "toolCall" ? isWholeObject(one.text) : one.index !== delta.index,
  );
}

/** @param isCut - The stream broke, or the vendor reports that the answer reached the output limit. */
export function endStream(turn: PartialTurn, isCut: boolean): StreamedTurn & Pick<StreamStep, "completed"> {
  const last = isCut ? turn.parts.find(({ index }) => index === turn.newest) : undefined;
  const incomplete = last?.type === "toolCall" && !isWholeObject(last.text) ? last : undefined;
  const { completed } = completeParts(
    turn,
    (part) => part !== last || (part.type === "toolCall" && incomplete === undefined),
  );
  return { parts: turn.parts, incomplete, completed };
}

function extendPart(before: TurnPart | undefined, delta: TurnDelta): TurnPart {
  const text = (before?.text ?? "") + delta.delta;
  if (delta.type !== "toolCall") return { type: delta.type, index: delta.index, text };
  const known = before?.type === "toolCall" ? before : undefined;
  // Vendors send id and name once, and omit or repeat them in later deltas.
  const id = delta.id === "" ? (known?.id ?? "") : delta.id;
  const name = delta.name === "" ? (known?.name ?? "") : delta.name;
  return { type: "toolCall", index: delta.index, id, name, text };
}

function completeParts(turn: PartialTurn, isWhole: (part: TurnPart) => boolean): StreamStep {
  const whole = turn.parts.filter((part) => !turn.completed.includes(part.index) && isWhole(part));
  const given = [...turn.completed, ...whole.map(({ index }) => index)];
  return { turn: whole.length === 0 ? turn : { ...turn, completed: given }, completed: whole };
}

/** Reports whether every bracket is closed, so that no more JSON can follow. */
function isWholeObject(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
