import { ACCEPTED_TEXT, NOT_ACCEPTED, REPAIR_WORDS } from "../core/machine/structured.ts";
import type { Entry } from "../schema/record.ts";

/**
 * Whether what has joined the conversation since the loop began ends in a repair round: an answer did not fit, and
 * nobody has spoken since.
 *
 * @param told - In the order in which they came, also those that the model has left since by going back.
 */
export function isRepairing(told: readonly Entry[], outputName: string): boolean {
  return told.reduce<boolean>((repairing, { origin, message }) => {
    const [first] = message.role === "extension" ? [] : message.content;
    const text = first?.type === "text" ? first.text : "";
    if (origin === "machine" && message.role === "user") return repairing || text.startsWith(REPAIR_WORDS);
    if (message.role === "user") return false;
    if (origin !== "machine" || message.role !== "toolResult" || message.toolName !== outputName) {
      return repairing;
    }
    return text !== ACCEPTED_TEXT && (repairing || text.startsWith(NOT_ACCEPTED));
  }, false);
}
