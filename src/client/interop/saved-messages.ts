import { decodeMessage, encodeMessage } from "../../conversation/message-file-format.ts";
import { parseJsonOrThrow } from "../../platform/text/json.ts";
import { check } from "../../schema/check.ts";
import { AgentMessage } from "../../schema/message.ts";
import { HoldfastError } from "../holdfast-error.ts";

/** Writes messages as a JSON array (PER-01, PER-02). */
export function messagesToJson(messages: readonly AgentMessage[]): string {
  return JSON.stringify(messages.map(encodeMessage), null, 2);
}

/** Reads what `messagesToJson` writes, and compatible files of other programs. */
export function messagesFromJson(json: string): readonly AgentMessage[] {
  return checkMessages(parseJsonOrThrow(json, (reason) => createMessagesError(`it is not JSON: ${reason}`)));
}

export function checkMessages(value: unknown): readonly AgentMessage[] {
  if (!Array.isArray(value)) throw createMessagesError("it is not a list");
  return value.map((one, index) => {
    const checked = check(AgentMessage, decodeMessage(one), "message");
    if (checked.ok) return checked.value;
    throw createMessagesError(`message ${index} (from 0) is not valid: ${checked.problems.join("; ")}`);
  });
}

function createMessagesError(reason: string): HoldfastError {
  return new HoldfastError("input-invalid", `These are not saved messages: ${reason}.`, {
    problems: [reason],
  });
}
