import { randomUUID } from "node:crypto";
import { MAX_MESSAGE_BYTES } from "../../core/machine/append-message.ts";
import { MAX_MESSAGE_ID_CHARS } from "../../core/machine/queue-size.ts";
import { getKind } from "../../schema/check.ts";
import { StoreError } from "../../store/transcript/store-error.ts";
import type { MessageInput } from "../../workflows/messages.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";

/** Texts of up to this many bytes of UTF-8 are sent inline; longer ones are stored first (design 3.2). */
export const INLINE_BYTES = 32 * 1024;

export type MessageWithId = Exclude<MessageInput, string> & { readonly id: string };

/**
 * Builds a user's message with an id that makes a repeated send harmless.
 *
 * @param inlineBytes - Longer texts are stored first.
 */
export async function createMessageInput(
  link: ClientLink,
  text: string,
  label: string,
  id: string = randomUUID(),
  inlineBytes: number = INLINE_BYTES,
): Promise<MessageWithId> {
  if (typeof text !== "string") {
    const problem = `${label}: must be a text, not ${getKind(text)}`;
    throw new HoldfastError("input-invalid", `The ${problem}.`, {
      problems: [problem],
    });
  }
  if (text.trim() === "") {
    throw new HoldfastError("input-invalid", `The ${label} is empty.`);
  }
  if (id.includes("\0")) {
    const description = JSON.stringify(id).slice(0, 80);
    throw new HoldfastError(
      "input-invalid",
      `The ${label} cannot have the id ${description}: it contains a NUL character.`,
    );
  }
  if (id.length > MAX_MESSAGE_ID_CHARS) {
    throw new HoldfastError(
      "input-invalid",
      `The ${label} cannot have an id of ${id.length} characters: the maximum is ${MAX_MESSAGE_ID_CHARS}.`,
    );
  }
  const bytes = Buffer.byteLength(text, "utf8");
  if (bytes > MAX_MESSAGE_BYTES) {
    throw new HoldfastError(
      "input-too-large",
      `The ${label} has ${formatMegabytes(bytes)} MB; the maximum is ${formatMegabytes(MAX_MESSAGE_BYTES)} MB. ` +
        "Put the text into a file of the workspace, and refer to the file instead.",
      { bytes, maxBytes: MAX_MESSAGE_BYTES },
    );
  }
  if (bytes <= inlineBytes) return { id, text };
  return { id, ref: await storeText(link, text) };
}

/** Checks a text that must outlive the lease of stored texts. */
export function assertFitsInline(text: string, label: string): void {
  const bytes = Buffer.byteLength(text, "utf8");
  if (bytes <= INLINE_BYTES) return;
  throw new HoldfastError(
    "input-too-large",
    `The ${label} of a schedule has ${bytes} bytes; the maximum is ${INLINE_BYTES}. ` +
      "Put the text into a file of the workspace, and refer to the file instead.",
    { bytes, maxBytes: INLINE_BYTES },
  );
}

async function storeText(link: ClientLink, text: string): Promise<string> {
  const transcript = await link.storage.openTranscript();
  try {
    return await transcript.putText(text, Date.now());
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new HoldfastError("store-failed", `A long text could not be stored: ${error.message}`, {
      cause: error,
    });
  }
}

function formatMegabytes(bytes: number): string {
  return (bytes / (1024 * 1024)).toFixed(1);
}
