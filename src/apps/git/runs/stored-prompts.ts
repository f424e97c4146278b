import { z } from "zod";
import {
  extractJson,
  getMessageText,
  type Holdfast,
  type Outcome,
  type SessionResult,
} from "../../../client/index.ts";
import type { PinnedChange } from "../changes/pin-change.ts";
import { listPrompts } from "./ask-agent.ts";
import { readPromptNotes } from "./run-plan.ts";

/** What an answer has for an artifact. */
export type Answer = Partial<Pick<SessionResult, "output" | "text" | "repairs">> & {
  readonly outcome: Outcome;
};

/** A prompt that an earlier process has sent, and what the change was then. */
export type StoredPrompt = {
  readonly position: number;
  readonly text: string;
  readonly change?: PinnedChange | undefined;
};

/** Reads a prompt by its id. */
export async function readPrompt(
  holdfast: Holdfast,
  session: string,
  messageId: string,
): Promise<StoredPrompt | undefined> {
  const prompts = await listPrompts(holdfast, session);
  const entry = prompts.find((one) => one.messageId === messageId);
  if (entry?.message.role !== "user") return undefined;
  const change = readPromptNotes(entry.message.metadata)?.change as PinnedChange | undefined;
  return { position: entry.position, text: getMessageText(entry.message), change };
}

/** Reads the answer that stands before a prompt, from the record. */
export async function readAnswerBefore(
  holdfast: Holdfast,
  session: string,
  { position }: StoredPrompt,
): Promise<Answer | undefined> {
  const entries = await holdfast.session(session).messages.list({ limit: position });
  const last = entries.findLast(({ message }) => message.role === "assistant")?.message;
  if (last?.role !== "assistant") return undefined;
  const text = getMessageText(last);
  // Where a vendor cannot enforce a schema, the answer is the call of a final tool.
  const call = last.content.findLast((part) => part.type === "toolCall");
  const output = call === undefined ? parseJson(text) : call.arguments;
  return {
    outcome: { type: "answered", stopReason: last.stopReason },
    text,
    ...(output === undefined ? {} : { output }),
  };
}

function parseJson(text: string): unknown {
  const found = extractJson(text, z.record(z.string(), z.unknown()));
  return found.type === "found" ? found.value : undefined;
}

/** Whether an outcome has an answer. One without the required form is one still: its text is kept (IRIS-30). */
export function isAnswer({ outcome, text = "" }: Answer): boolean {
  if (outcome.type === "failed") return outcome.fault === "schema-mismatch" && text !== "";
  return outcome.type === "answered";
}
