import type { z } from "zod";
import { isClippable } from "../../conversation/compaction/clip.ts";
import { getFullText } from "../../conversation/compaction/least-plan.ts";
import { isSent } from "../../conversation/message-visibility.ts";
import type { View } from "../../core/view/view.ts";
import { READ_FULL_TOOL } from "../../core/view/view-request.ts";
import type { Entry } from "../../schema/record.ts";
import type { ReadFullMessageArguments } from "../../tools/builtin/read-full-message-tool.ts";
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
    if (part?.type !== "image") return buildReply(`Message ${position} has no image ${image}.`, true);
    return { output: { content: [part] }, isError: false, outcomeUnknown: false };
  }
  const text = getFullText(message);
  if (from >= text.length) return buildReply(`Message ${position} has only ${text.length} characters.`, true);
  const end = findPageEnd(text, from + computePageSize(view));
  const rest =
    end < text.length
      ? `To continue, call ${READ_FULL_TOOL} with {"message": ${position}, "from": ${end}}.`
      : "This is the end of the message.";
  return buildReply(
    `${text.slice(from, end)}\n\n[Characters ${from} to ${end} of ${text.length} of message ${position}. ${rest}]`,
    false,
  );
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
