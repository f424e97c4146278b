import type { AgentMessage } from "../../schema/message.ts";

/** How many tokens a message has: `estimateMessage`, unless an application brings its own (CTX-04). */
export type TokenCounter = (message: AgentMessage) => number;
