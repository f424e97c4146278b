import { ACCEPTED_TEXT, NOT_ACCEPTED, REPAIR_TEXT } from "../core/machine/structured-output.ts";
import type { Entry } from "../schema/record.ts";

/**
 * Whether what has joined the conversation since the loop began ends in a repair round: an answer did not fit, and
 * nobody has spoken since.
 *
 * @param told - In the order in which they came, also those that the model has left since by going back.
 */
export function isInRepairRound(entries: readonly Entry[], outputName: string): boolean {
  return entries.reduce<boolean>((repairing, { origin, message }) => {
    const [first] = message.role === "extension" ? [] : message.content;
    const text = first?.type === "text" ? first.text : "";
    if (origin === "machine" && message.role === "user") return repairing || text.startsWith(REPAIR_TEXT);
    if (message.role === "user") return false;
    if (origin !== "machine" || message.role !== "toolResult" || message.toolName !== outputName) {
      return repairing;
    }
    return text !== ACCEPTED_TEXT && (repairing || text.startsWith(NOT_ACCEPTED));
  }, false);
}
