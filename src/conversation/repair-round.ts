import { ACCEPTED_TEXT, NOT_ACCEPTED, REPAIR_TEXT } from "../core/machine/structured-output.ts";
import type { Entry } from "../schema/record.ts";

/**
 * Reports whether the entries since the loop began end in a repair round: an answer did not match, and no user message
 * has arrived since.
 *
 * @param entries - In the order of arrival, including entries that the model has abandoned since by going back.
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
