import type { AgentMessage, Content } from "../../schema/message.ts";

// Names of entries that a model can use: "n12" is the entry at position 12. They are at the end of the messages of the
// user's side (PHI-05): a model that reads them in its own answers would write them there too. A message has the same
// label in each request, so that the vendor's prompt cache stays valid.

export function formatLabel(position: number): string {
  return `n${position}`;
}

/** Returns the position that a label names: "n12" and "12" are the same position. Any other text is no label. */
export function parseLabel(label: string): number | undefined {
  const digits = /^n?(\d{1,9})$/i.exec(label.trim())?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** @param at - Positions of the messages that have one. A text that stands for others has no position, and no label. */
export function addLabels<Shown extends AgentMessage>(
  messages: readonly Shown[],
  positions: ReadonlyMap<AgentMessage, number>,
): readonly Shown[] {
  let answer: number | undefined;
  return messages.map((message) => {
    const position = positions.get(message);
    if (position === undefined || message.role === "extension") return message;
    if (message.role === "assistant") {
      answer = position;
      return message;
    }
    const before = answer === undefined ? "" : `${formatLabel(answer)} is your previous answer, `;
    answer = undefined;
    const label: Content = { type: "text", text: `[${before}${formatLabel(position)} is this message]` };
    return { ...message, content: [...message.content, label] };
  });
}
