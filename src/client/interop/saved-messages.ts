import { messageFromFile, messageToFile } from "../../conversation/saved-messages.ts";
import { check } from "../../schema/check.ts";
import { AgentMessage } from "../../schema/message.ts";
import { HoldfastError } from "../error.ts";

/** Messages as a JSON array (PER-01, PER-02). */
export function messagesToJson(messages: readonly AgentMessage[]): string {
  return JSON.stringify(messages.map(messageToFile), null, 2);
}

/** Reads what `messagesToJson` writes, and what other programs write of the same kind. */
export function messagesFromJson(json: string): readonly AgentMessage[] {
  return messagesFrom(parsed(json));
}

export function messagesFrom(value: unknown): readonly AgentMessage[] {
  if (!Array.isArray(value)) throw notMessages("it is not a list");
  return value.map((one, index) => {
    const checked = check(AgentMessage, messageFromFile(one), "message");
    if (checked.ok) return checked.value;
    throw notMessages(`message ${index} (from 0) is not one: ${checked.problems.join("; ")}`);
  });
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw notMessages(`it is not JSON: ${(error as Error).message}`);
  }
}

function notMessages(why: string): HoldfastError {
  return new HoldfastError("input-invalid", `These are not saved messages: ${why}.`, { problems: [why] });
}
