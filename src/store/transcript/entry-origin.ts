import type { AgentMessage } from "../../schema/message.ts";
import type { EntryOrigin } from "../../schema/record.ts";

/** The origins of entries that no run has written, by the roles of their messages. */
export const ORIGINS = {
  user: "prompt",
  assistant: "model",
  toolResult: "tool",
  extension: "machine",
} as const satisfies Record<AgentMessage["role"], EntryOrigin>;
