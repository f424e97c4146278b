import { z } from "zod";
import { check } from "../../schema/check.ts";
import { Fault, FaultRule } from "./fault.ts";
import { Reply } from "./reply.ts";
import type { ModelServerRequest } from "./request.ts";

/** How the server treats a request: answers it, or fails it. */
export const Answer = z.union([Reply, Fault]);
export type Answer = z.infer<typeof Answer>;

/** Which requests a conversation is for: a part of a text, or a function of the request. */
export type Matcher = string | ((question: ModelServerRequest) => boolean);
const Matcher = z.union([
  z.string(),
  z.custom<(question: ModelServerRequest) => boolean>((value) => typeof value === "function"),
]);

/** The answers of one conversation, by turn. */
export const ScriptedConversation = z.strictObject({
  /** A part of the first user message or of the system prompt. By default matches every conversation. */
  match: Matcher.optional(),
  /** The replies by turn: `replies[n]` answers a request with n assistant messages. */
  replies: z.array(Answer).optional(),
  /** Consumed one by one, separately for each conversation, before the reply of the turn. */
  faults: z.array(FaultRule).optional(),
});
export type ScriptedConversation = z.infer<typeof ScriptedConversation>;

/** What a scripted model answers, and what goes wrong. */
export const ModelScript = z.strictObject({
  /** The first match is the script of a conversation. */
  conversations: z.array(ScriptedConversation).optional(),
  /** Replies for conversations that no entry of `conversations` matches. */
  replies: z.array(Answer).optional(),
  /** Faults of every conversation, after its own. */
  faults: z.array(FaultRule).optional(),
  /** The reply to a request beyond the script; the text `done` by default. */
  defaultReply: Answer.optional(),
  /** `repeated`: a repeated turn gets the same ids of tool calls. `fresh`: it gets new ids, as vendors do. */
  toolCallIds: z.enum(["repeated", "fresh"]).optional(),
  /** Rejects requests that the vendor would reject, such as a tool call without its result. True by default. */
  strict: z.boolean().optional(),
  /** Caches prompt prefixes as the vendor does, and counts reads and writes. Off by default. */
  promptCache: z.boolean().optional(),
  /** The required key; a request without it gets the vendor's 401. */
  apiKey: z.string().optional(),
});
export type ModelScript = z.infer<typeof ModelScript>;

/** A script that the server cannot carry out. */
export class ScriptError extends Error {
  override readonly name = "ScriptError";
}

/** @throws ScriptError With every problem of the script. */
export function parseScript(script: unknown): ModelScript {
  const checked = check(ModelScript, script, "script");
  if (!checked.ok) throw new ScriptError(`The model's script is invalid. ${checked.problems.join(". ")}.`);
  return checked.value;
}
