import type { AgentMessage, Content } from "../../schema/message.ts";

// Names of entries that a model may say: "n12" is the entry at position 12. They stand at the end of what the user's
// side says (PHI-05): a model that read them in its own answers would write them there too. A message has the same
// label each time that it is sent, so that what a vendor has cached stays good.

export function formatLabel(position: number): string {
  return `n${position}`;
}

/** "n12" and "12" are the same place; anything else is none. */
export function parseLabel(label: string): number | undefined {
  const digits = /^n?(\d{1,9})$/i.exec(label.trim())?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** @param at - Positions of the messages that have one; a text that stands for others has none, and no label. */
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
    const before = answer === undefined ? "" : `${formatLabel(answer)} is your answer before, `;
    answer = undefined;
    const label: Content = { type: "text", text: `[${before}${formatLabel(position)} is this message]` };
    return { ...message, content: [...message.content, label] };
  });
}
