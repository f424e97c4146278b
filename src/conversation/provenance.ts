import type { ViewRange, ViewRanges } from "../core/view/view-ranges.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { Message } from "../schema/message.ts";
import type { Entry } from "../schema/record.ts";
import { type MaterialiseOptions, materialise } from "./materialise.ts";

// Where every message of a request comes from (PHI-07).

/** Where a block of a request comes from. Positions are those of the view's branch. */
export type BlockOrigin =
  | { readonly type: "system-prompt" }
  /** A user message, by the way in which it arrived. */
  | (EntryLocation & {
      readonly type: "prompt" | "steering" | "follow-up" | "inbox";
      /** The id with which the message was sent; absent if it had none. */
      readonly messageId?: string;
    })
  /** An answer, or the result of one of its calls. */
  | (EntryLocation & {
      readonly type: "turn";
      /** Who wrote the message. */
      readonly role: "assistant" | "toolResult";
    })
  /** A text of the machine. Without a position it was never recorded, because it states that a result is missing. */
  | (Partial<EntryLocation> & { readonly type: "machine" })
  /** A text in place of the entries from `from` (inclusive) to `to` (exclusive). */
  | {
      readonly type: "compaction";
      /** The position of the entry that holds the compaction. */
      readonly position: number;
      /** The index of the text among those of the compaction, from 0. */
      readonly section: number;
      /** The first position that the text replaces. */
      readonly from: number;
      /** The position after the last one that the text replaces. */
      readonly to: number;
      /** The branch of the compaction, when the model has left it by going back. */
      readonly branch?: string;
    }
  /** The memo for what the model has pruned at `at`: an argument of a call of the answer at `position`. */
  | {
      readonly type: "memo";
      /** The position from which the model has pruned. */
      readonly at: number;
      /** The position of the answer that holds the memo. */
      readonly position: number;
      /** The index of the call in that answer, from 0. */
      readonly call: number;
      /** The branch of that answer, when the model has left it by going back. */
      readonly branch?: string;
    }
  | (Partial<EntryLocation> & { readonly type: "unknown" });

/** Where an entry of the transcript is, and what was cut from it for the model. */
export type EntryLocation = {
  /** The position on its branch, from 0. */
  readonly position: number;
  /** The loop and its turn in which the message was made. */
  readonly loopId?: string;
  readonly turn?: number;
  /** A compaction has cut the text of a result to about this many lines. */
  readonly maxLines?: number;
  /** A compaction has cut a longer text to about this many characters. */
  readonly maxChars?: number;
};

/** A message of a request, with its origin. */
export type SourcedMessage = {
  /** The message as the model read it. */
  readonly message: Message;
  /** Where it comes from. */
  readonly origin: BlockOrigin;
};

/** Stays with a message through `materialise`, which copies what it cuts. Messages that it creates itself have none. */
const SOURCE = Symbol("source");
type Tagged = { readonly [SOURCE]?: Entry };

/** Returns the messages of `materialise` for the same view and entries, each with its origin. */
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

/** Lists the texts in the order of their ranges. They are the only user-side messages that no entry has. */
function listTextOrigins({ memos = [], replacement, from, to }: ViewRange): readonly BlockOrigin[] {
  const kept = memos.map(({ tokens: _, ...memo }): BlockOrigin => ({ type: "memo", at: from, ...memo }));
  return replacement === undefined ? kept : [...kept, { type: "compaction", ...replacement, from, to }];
}

function getBlockOrigin(
  { position, origin, message, messageId }: Entry,
  ranges: readonly ViewRange[],
): BlockOrigin {
  const turnId = message.role === "extension" ? undefined : message.turnId;
  const shown = ranges.find(({ from, to }) => position >= from && position < to);
  const { maxLines, maxChars, maxUserChars } = shown ?? {};
  const limit = message.role === "toolResult" ? maxChars : maxUserChars;
  const placed: EntryLocation = {
    position,
    ...(turnId === undefined ? {} : { loopId: turnId.loopId, turn: turnId.turnIndex }),
    ...(maxLines === undefined || message.role !== "toolResult" ? {} : { maxLines }),
    ...(limit === undefined || message.role === "assistant" ? {} : { maxChars: limit }),
  };
  if (message.role === "assistant" || message.role === "toolResult") {
    return { ...placed, type: "turn", role: message.role };
  }
  switch (origin) {
    case "prompt":
    case "steering":
    case "follow-up":
    case "inbox":
      return { ...placed, type: origin, ...omitUndefined({ messageId }) };
    case "machine":
      return { ...placed, type: "machine" };
    default:
      return { ...placed, type: "unknown" };
  }
}
