import { randomUUID } from "node:crypto";
import { MAX_MESSAGE_BYTES } from "../../core/machine/append-message.ts";
import { MAX_MESSAGE_ID_CHARS, MAX_METADATA_BYTES } from "../../core/machine/queue-limits.ts";
import { type Attachment, joinFiles } from "../../core/view/attachment.ts";
import { sumContents } from "../../core/view/estimate.ts";
import { check, getKind } from "../../schema/check.ts";
import { type Content, MessageMetadata } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import { StoreError } from "../../store/transcript/store-error.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { MessageInput } from "../../workflows/messages.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { getPromptText, type Prompt } from "../prompts/prompt-part.ts";
import { readParts } from "../prompts/read-parts.ts";

/** Texts of up to this many bytes of UTF-8 are sent inline; longer ones are stored first (design 3.2). */
export const INLINE_BYTES = 32 * 1024;

export type MessageWithId = Exclude<MessageInput, string> & { readonly id: string };

/** The options of every message. */
export type MessageOptions = {
  /** Makes a repeated send harmless: Holdfast accepts each id once. */
  readonly messageId?: string;
  /**
   * Notes for programs, such as the id of a request: at most 2 KiB as JSON. Stored with the message, and in the record of
   * the loop that a prompt begins; never sent to a model.
   */
  readonly metadata?: MessageMetadata;
};

type MessageInputOptions = {
  /** A new id by default. */
  readonly id?: string | undefined;
  readonly metadata?: MessageMetadata | undefined;
  /** Longer texts are stored first. */
  readonly inlineBytes?: number;
  /** Images and files that are stored already, with references in place of their data. They follow the text. */
  readonly files?: readonly Attachment[];
  /** Finds the models that are to read the message, as far as they are known. Called for images and files only. */
  readonly findModels?: () => readonly ModelConfig[] | Promise<readonly ModelConfig[]>;
};

/** Builds a user's message with an id that makes a repeated send harmless. */
export async function createMessageInput(
  link: ClientLink,
  prompt: Prompt,
  label: string,
  {
    id = randomUUID(),
    metadata,
    inlineBytes = INLINE_BYTES,
    files = [],
    findModels = () => [],
  }: MessageInputOptions = {},
): Promise<MessageWithId> {
  assertPrompt(prompt, label);
  const text = getPromptText(prompt);
  const hasFiles = typeof prompt !== "string" && prompt.some((part) => part?.type !== "text");
  if (text.trim() === "" && !hasFiles && files.length === 0) {
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
  const optional = metadata === undefined ? {} : { metadata: checkMetadata(metadata, label) };
  if (hasFiles) {
    const content = await readParts(prompt, label, await findModels());
    return { id, ...(await storeParts(link, id, content)), ...optional };
  }
  if (files.length > 0) {
    return { id, ...(await storeParts(link, id, joinFiles(text, files))), ...optional };
  }
  if (bytes <= inlineBytes) return { id, text, ...optional };
  return { id, ref: await storeText(link, text), ...optional };
}

/** Checks the type of a prompt, for callers in JavaScript. */
export function assertPrompt(prompt: unknown, label: string): asserts prompt is Prompt {
  if (typeof prompt === "string" || Array.isArray(prompt)) return;
  const problem = `${label}: must be a text or a list of parts, not ${getKind(prompt)}`;
  throw new HoldfastError("input-invalid", `The ${problem}.`, { problems: [problem] });
}

/** Checks metadata, which travels in the history of the run with the message. */
function checkMetadata(metadata: MessageMetadata, label: string): MessageMetadata {
  const checked = check(MessageMetadata, metadata, "metadata");
  const problems = checked.ok ? [] : checked.problems;
  const text = checked.ok ? formatJson(checked.value) : undefined;
  if (text === undefined) {
    throw new HoldfastError(
      "input-invalid",
      `The metadata of the ${label} must be an object that JSON can express${problems.map((one) => `; ${one}`).join("")}.`,
      { problems: [...problems] },
    );
  }
  const bytes = Buffer.byteLength(text, "utf8");
  if (bytes <= MAX_METADATA_BYTES) return JSON.parse(text) as MessageMetadata;
  throw new HoldfastError(
    "input-too-large",
    `The metadata of the ${label} has ${bytes} bytes as JSON; the maximum is ${MAX_METADATA_BYTES}. ` +
      "Store it yourself, and put its id into the metadata.",
    { bytes, maxBytes: MAX_METADATA_BYTES },
  );
}

/** Returns `undefined` for what JSON cannot express: a cycle, a BigInt. */
function formatJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
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
  return await store(link, "A long text", (transcript) => transcript.putText(text, Date.now()));
}

async function storeParts(link: ClientLink, id: string, content: readonly Content[]) {
  const ref = await store(link, "Images and files", (transcript) =>
    transcript.putParts(id, content, Date.now()),
  );
  return { ref, parts: true as const, tokens: sumContents(content) };
}

async function store(
  link: ClientLink,
  what: string,
  write: (transcript: Transcript) => Promise<string>,
): Promise<string> {
  const transcript = await link.storage.openTranscript();
  try {
    return await write(transcript);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new HoldfastError("store-failed", `${what} could not be stored: ${error.message}`, {
      cause: error,
    });
  }
}

function formatMegabytes(bytes: number): string {
  return (bytes / (1024 * 1024)).toFixed(1);
}
