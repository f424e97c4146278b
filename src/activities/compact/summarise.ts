import { findNotesProblem } from "../../conversation/compaction/notes-check.ts";
import type { Turn } from "../../conversation/compaction/turns.ts";
import { formatAttachment, isAttachment } from "../../core/view/attachment.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { ModelConfig } from "../../schema/model.ts";
import type { TextModel } from "../model/text-model.ts";

/** The turns that one text replaces, and the tokens that it may have. */
export type Group = { readonly turns: readonly Turn[]; readonly maxTokens: number };

/** The most bytes of one message: enough to know what it says or what a tool found. */
const MESSAGE_BYTES = 4096;
/** The most that is summarised at once, as a share of the context window. */
const WINDOW_SHARE = 0.5;
const BYTES_PER_TOKEN = 4;

const INSTRUCTIONS =
  "You shorten the record of an agent's work so that the agent can continue it. Write what was requested, what was done, " +
  "what was found and decided, which files and commands matter, and what is still open. Keep names, paths, numbers and " +
  "error messages as they are. Write notes, not a letter, and nothing else.";

export function buildGroupKey({ turns }: Pick<Group, "turns">): string {
  const first = turns[0]?.entries[0]?.position ?? 0;
  return `${first}-${turns.at(-1)?.entries.at(-1)?.position ?? first}`;
}

/** The texts by group, under the key of `buildGroupKey`. */
export type Notes = {
  readonly texts: ReadonlyMap<string, string>;
  /**
   * Why the notes of a group are not usable, as the end of a sentence. This group and the groups after it have no text
   * then.
   */
  readonly problem?: string;
};

/** Asks a model for a text that replaces each group of turns. */
export async function summariseGroups(
  groups: readonly Group[],
  focus: string | undefined,
  model: TextModel,
  signal: AbortSignal,
): Promise<Notes> {
  const texts = new Map<string, string>();
  for (const group of groups) {
    const { maxTokens } = group;
    const text = ({ contextWindow }: ModelConfig) => buildRecord(group, contextWindow, focus);
    const { text: notes, stopReason } = await model.askForAnswer(
      { instructions: INSTRUCTIONS, text, maxTokens },
      signal,
    );
    const problem = findNotesProblem(notes, stopReason, formatTurns(group));
    if (problem !== undefined) return { texts, problem };
    texts.set(buildGroupKey(group), truncateForPreview(notes, maxTokens * BYTES_PER_TOKEN - 64));
  }
  return { texts };
}

function buildRecord(group: Group, contextWindow: number, focus: string | undefined): string {
  const bytes = Math.floor(contextWindow * WINDOW_SHARE * BYTES_PER_TOKEN);
  const record = truncateForPreview(formatTurns(group), bytes);
  const before = focus === undefined ? "" : `What matters most: ${focus}\n\n`;
  return `${before}The record:\n\n${record}`;
}

function formatTurns({ turns }: Group): string {
  const lines = turns.flatMap(({ entries }) => entries.map(({ message }) => formatMessage(message)));
  return lines.filter((line) => line !== "").join("\n\n");
}

function formatMessage(message: AgentMessage): string {
  if (message.role === "extension") return "";
  const parts = message.content.map((part) => {
    if (part.type === "text") return part.text;
    if (isAttachment(part)) return `[${formatAttachment(part)}]`;
    return part.type === "toolCall" ? `[calls ${part.name} ${JSON.stringify(part.arguments)}]` : "";
  });
  const who = message.role === "toolResult" ? `result of ${message.toolName}` : message.role;
  return `${who}: ${truncateForPreview(parts.join("\n"), MESSAGE_BYTES)}`;
}
