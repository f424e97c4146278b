import type { ViewRange, ViewRanges } from "../core/view/view-ranges.ts";
import type { Message } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";
import { type MaterialiseOptions, materialise } from "./materialise.ts";

// Where every message of a request has come from (PHI-07).

/** Where a block of a request comes from. Positions are those of the view's branch. */
export type BlockOrigin =
  | { readonly type: "system-prompt" }
  /** Words of a person, by the way that they came. */
  | (EntryLocation & {
      readonly type: "prompt" | "steering" | "follow-up" | "inbox";
      readonly messageId?: string;
    })
  /** An answer, or the result of one of its calls. */
  | (EntryLocation & { readonly type: "turn"; readonly role: "assistant" | "toolResult" })
  /** Words of the machine; without a position they were never recorded, because they say that a result is missing. */
  | (Partial<EntryLocation> & { readonly type: "machine" })
  /** A text in place of the entries from `from` up to, not including, `to`. */
  | {
      readonly type: "compaction";
      readonly position: number;
      readonly section: number;
      readonly from: number;
      readonly to: number;
      /** Where the compaction lies, when the model has left it by going back. */
      readonly branch?: string;
    }
  /** What the model has put in place of what it had pruned at `at`: an argument of a call of the answer at `position`. */
  | {
      readonly type: "memo";
      readonly at: number;
      readonly position: number;
      readonly call: number;
      /** Where that answer lies, when the model has left it by going back. */
      readonly branch?: string;
    }
  | (Partial<EntryLocation> & { readonly type: "unknown" });

type EntryLocation = {
  readonly position: number;
  /** The loop and the turn in it that the message was made in. */
  readonly loopId?: string;
  readonly turn?: number;
  /** The text of a result was cut to about so many lines by a compaction. */
  readonly cut?: number;
  /** A longer text was cut to about so many characters by a compaction. */
  readonly chars?: number;
};

export type SourcedMessage = { readonly message: Message; readonly origin: BlockOrigin };

/** Travels with a message through `materialise`, which copies what it cuts; what it makes itself has none. */
const SOURCE = Symbol("source");
type Tagged = { readonly [SOURCE]?: Entry };

/** The messages that `materialise` gives for the same view and entries, each with where it comes from. */
export function traceMessages(
  view: ViewRanges,
  entries: readonly Entry[],
  options: MaterialiseOptions = {},
): readonly SourcedMessage[] {
  const tagged = entries.map((entry) => ({ ...entry, message: { ...entry.message, [SOURCE]: entry } }));
  const texts = view.ranges.flatMap(listTextOrigins).values();
  return materialise(view, tagged, options).map((given) => {
    const { [SOURCE]: entry, ...message } = given as Message & Tagged;
    if (entry !== undefined) return { message, origin: getBlockOrigin(entry, view.ranges) };
    if (message.role === "toolResult") return { message, origin: { type: "machine" } };
    return { message, origin: texts.next().value ?? { type: "unknown" } };
  });
}

/** Texts stand in the order of their ranges, and are the only words of the user's side that no entry holds. */
function listTextOrigins({ memos = [], instead, from, to }: ViewRange): readonly BlockOrigin[] {
  const kept = memos.map(({ tokens: _, ...memo }): BlockOrigin => ({ type: "memo", at: from, ...memo }));
  return instead === undefined ? kept : [...kept, { type: "compaction", ...instead, from, to }];
}

function getBlockOrigin(
  { position, origin, message, messageId }: Entry,
  ranges: readonly ViewRange[],
): BlockOrigin {
  const turnId = message.role === "extension" ? undefined : message.turnId;
  const shown = ranges.find(({ from, to }) => position >= from && position < to);
  const { cut, chars, wordChars } = shown ?? {};
  const limit = message.role === "toolResult" ? chars : wordChars;
  const placed: EntryLocation = {
    position,
    ...(turnId === undefined ? {} : { loopId: turnId.loopId, turn: turnId.turnIndex }),
    ...(cut === undefined || message.role !== "toolResult" ? {} : { cut }),
    ...(limit === undefined || message.role === "assistant" ? {} : { chars: limit }),
  };
  if (message.role === "assistant" || message.role === "toolResult") {
    return { ...placed, type: "turn", role: message.role };
  }
  switch (origin) {
    case "prompt":
    case "steering":
    case "follow-up":
    case "inbox":
      return { ...placed, type: origin, ...(messageId === undefined ? {} : { messageId }) };
    case "machine":
      return { ...placed, type: "machine" };
    default:
      return { ...placed, type: "unknown" };
  }
}
