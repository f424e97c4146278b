import type { AgentMessage } from "../../schema/message.ts";

/** Counts the tokens of a message: `estimateMessage`, unless an application provides its own (CTX-04). */
export type TokenCounter = (message: AgentMessage) => number;
