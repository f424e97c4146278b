import { z } from "zod";
import { AgentEvent, StreamDelta } from "./agent-event.ts";
import { loopId, sessionId } from "./common-fields.ts";

// The events of a session as they leave the process: lines of the command line's JSON, and data of server-sent events.

/**
 * A `MessageUpdate` without the answer so far: append `delta.delta` to part `delta.index` of its content. An update has
 * the whole `message` when it begins an answer or a part of it, when the answer begins anew, and when it is the first
 * update that a reader receives.
 */
export const MessageAddition = z.object({
  type: z.literal("MessageUpdate"),
  loopId,
  delta: StreamDelta.describe("What was added to the message."),
});

/** An event of a session, and the cursor after it. */
export const SentSessionEvent = z.object({
  session: sessionId,
  cursor: z.string().describe("Where to resume after this event."),
  event: z.union([AgentEvent, MessageAddition]).describe("What happened."),
});
export type SentSessionEvent = z.infer<typeof SentSessionEvent>;
