import { z } from "zod";
import { Fault, FaultRule } from "./fault.ts";
import { Reply } from "./reply.ts";
import type { ModelServerRequest } from "./request.ts";

/** What the server does with a request: answer it, or fail it. */
export const Answer = z.union([Reply, Fault]);
export type Answer = z.infer<typeof Answer>;

export type Matcher = string | ((question: ModelServerRequest) => boolean);
const Matcher = z.union([
  z.string(),
  z.custom<(question: ModelServerRequest) => boolean>((value) => typeof value === "function"),
]);

export const ScriptedConversation = z.strictObject({
  /** A part of the first user message or of the system prompt. Absent: every conversation. */
  match: Matcher.optional(),
  /** By turn: the answer to a request that carries n assistant messages is `replies[n]`. */
  replies: z.array(Answer).optional(),
  /** Used up one by one, for each conversation on its own, before the reply of the turn is given. */
  faults: z.array(FaultRule).optional(),
});
export type ScriptedConversation = z.infer<typeof ScriptedConversation>;

export const ModelScript = z.strictObject({
  /** The first that matches is the script of a conversation. */
  conversations: z.array(ScriptedConversation).optional(),
  /** Replies to whatever no entry of `conversations` matches. */
  replies: z.array(Answer).optional(),
  /** For every conversation, after its own. */
  faults: z.array(FaultRule).optional(),
  /** For a request beyond the script; the text `done` unless said. */
  defaultReply: Answer.optional(),
  /** `repeated`: a turn that is asked again gets the ids of its tool calls again. `fresh`: new ones, as vendors do. */
  toolCallIds: z.enum(["repeated", "fresh"]).optional(),
  /** Refuses what the vendor would refuse, such as a tool call without its result. True unless said. */
  strict: z.boolean().optional(),
  /** Keeps beginnings of prompts as the vendor does, and counts what it reads and writes. Off unless said. */
  promptCache: z.boolean().optional(),
  /** A request without this key gets the vendor's 401. */
  apiKey: z.string().optional(),
});
export type ModelScript = z.infer<typeof ModelScript>;
