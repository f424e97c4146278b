import { REJECTED_KIND } from "../core/machine/rejected-message.ts";
import type { AgentMessage, Message, StopReason } from "../schema/message.ts";

// Which messages of the record a model, an application and users see.

/** The kind of a compaction in the record: an entry that no model sees, with the texts that replace others. */
export const COMPACTION_KIND = "compaction";

/** What the machine stores in the record for users. */
const OWN_KINDS: ReadonlySet<string> = new Set([COMPACTION_KIND, REJECTED_KIND]);

export function isForUsersOnly(message: AgentMessage): boolean {
  return message.role === "extension" && OWN_KINDS.has(message.kind);
}

export function isForApplication(message: AgentMessage): message is AgentMessage {
  return message.role === "extension" ? !isForUsersOnly(message) : isSent(message);
}

/** A vendor rejects a conversation that contains what it has refused to generate. */
const NEVER_SENT: ReadonlySet<StopReason> = new Set(["error", "aborted", "guardRail"]);

export function isSent(message: AgentMessage): message is Message {
  if (message.role === "extension") return false;
  return message.role !== "assistant" || !NEVER_SENT.has(message.stopReason);
}
