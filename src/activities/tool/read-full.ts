import type { z } from "zod";
import { isClippable } from "../../conversation/compaction/clip.ts";
import { getFullText } from "../../conversation/compaction/least-plan.ts";
import { isSent } from "../../conversation/message-visibility.ts";
import { isAttachment, isTextFile } from "../../core/view/attachment.ts";
import type { View } from "../../core/view/view.ts";
import { READ_FULL_TOOL } from "../../core/view/view-request.ts";
import type { Entry } from "../../schema/record.ts";
import type { ReadFullMessageArguments } from "../../tools/builtin/read-full-message-tool.ts";
import type { Conversations } from "../step/conversations.ts";
import type { Execution } from "./execution.ts";

/** The most characters of one call: little compared with any context that an agent works with. */
const PAGE_CHARS = 8000;

/** In a small context, a page has about a quarter of its tokens: four characters are one token. */
const SMALLEST_PAGE_CHARS = 500;

/** Reads a part of a message that the view cuts, or replaces by a text. */
export function readFull(
  { message: position, from = 0, image }: z.infer<typeof ReadFullMessageArguments>,
  view: View,
  entries: readonly Entry[],
): Execution {
  const entry = entries.find((one) => one.position === position);
  const isShown = view.spans.some((span) => span.from <= position && position < span.to);
  if (entry === undefined || !isShown || !isSent(entry.message)) {
    return buildReply(`Your context has no message ${position}: use the number in the marker.`, true);
  }
  const { message } = entry;
  if (image !== undefined) {
    const part = isClippable(message) ? message.content[image] : undefined;
    if (part === undefined || !isAttachment(part))
      return buildReply(`Message ${position} has no image ${image}.`, true);
    // A text file is cut into pieces, like the text of a message: it may be larger than the context.
    if (part.type === "file" && isTextFile(part)) {
      const place = { what: `file ${part.name}`, call: { message: position, image }, from };
      return buildPage(Buffer.from(part.data, "base64").toString("utf8"), place, view);
    }
    return { output: { content: [part] }, isError: false, outcomeUnknown: false };
  }
  const place = { what: `message ${position}`, call: { message: position }, from };
  return buildPage(getFullText(message), place, view);
}

/**
 * Returns the message that a call names with the data of its text files; the others need none, because a result may refer to
 * data that is stored.
 */
export async function loadTextFiles(
  { message: position, image }: { readonly message?: unknown; readonly image?: unknown },
  entries: readonly Entry[],
  conversations: Pick<Conversations, "loadData">,
): Promise<readonly Entry[]> {
  const index = entries.findIndex((one) => one.position === position);
  const entry = entries[index];
  if (entry === undefined || image === undefined || entry.message.role === "extension") return entries;
  if (!entry.message.content.some((part) => part.type === "file" && isTextFile(part))) return entries;
  const [message = entry.message] = await conversations.loadData([entry.message]);
  return entries.with(index, { ...entry, message });
}

type PagePlace = {
  /** What is read, for the model. */
  readonly what: string;
  /** The arguments of the call that continues, without `from`. */
  readonly call: Readonly<Record<string, number>>;
  readonly from: number;
};

function buildPage(text: string, { what, call, from }: PagePlace, view: View): Execution {
  if (from >= text.length) return buildReply(`${capitalize(what)} has only ${text.length} characters.`, true);
  const end = findPageEnd(text, from + computePageSize(view));
  const next = JSON.stringify({ ...call, from: end }).replaceAll(/([:,])/g, "$1 ");
  const rest =
    end < text.length
      ? `To continue, call ${READ_FULL_TOOL} with ${next}.`
      : `This is the end of the ${what.split(" ", 1)[0]}.`;
  return buildReply(
    `${text.slice(from, end)}\n\n[Characters ${from} to ${end} of ${text.length} of ${what}. ${rest}]`,
    false,
  );
}

function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function computePageSize({ spans }: View): number {
  const tokens = spans.reduce((total, span) => total + span.tokens, 0);
  return Math.min(PAGE_CHARS, Math.max(SMALLEST_PAGE_CHARS, tokens));
}

/** Finds the end of a page, which never splits a character. */
function findPageEnd(text: string, end: number): number {
  if (end >= text.length) return text.length;
  const unit = text.charCodeAt(end);
  return unit >= 0xdc00 && unit < 0xe000 ? end - 1 : end;
}

function buildReply(text: string, isError: boolean): Execution {
  return { output: { content: [{ type: "text", text }] }, isError, outcomeUnknown: false };
}
