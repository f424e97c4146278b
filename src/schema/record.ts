import { z } from "zod";
import { loopId, sessionId, toolCallId, toolName, turnIndex } from "./common-fields.ts";
import { AgentMessage, StopReason } from "./message.ts";

// The content of the transcript. Positions count the entries of a branch from 0, including its ancestors' entries.

/** How a message entered the conversation. */
export const EntryOrigin = z.enum(["prompt", "steering", "follow-up", "inbox", "model", "tool", "machine"]);
export type EntryOrigin = z.infer<typeof EntryOrigin>;

/** One message at its position. Entries are only ever appended. */
export const Entry = z.object({
  position: z.number().int().nonnegative().describe("The position in the branch, from 0."),
  origin: EntryOrigin.describe("How the message entered the conversation."),
  message: AgentMessage.describe("The message itself."),
  tokens: z.number().int().nonnegative().describe("The estimated tokens of the message."),
  messageId: z.string().optional().describe("The id from the sender of the message."),
});
export type Entry = z.infer<typeof Entry>;

/** RFC 3339 timestamps distinguish reruns and branches. */
export const ContinuationKind = z.discriminatedUnion("type", [
  z.object({ type: z.literal("initial") }),
  z.object({ type: z.literal("default") }),
  z.object({
    type: z.literal("rerun"),
    tag: z.string().describe("The time of the request, RFC 3339, which makes the id of the loop unique."),
  }),
  z.object({
    type: z.literal("branch"),
    tag: z.string().describe("The time of the request, RFC 3339, which makes the id of the loop unique."),
  }),
  /** `removes`: the compaction is removed, and the model sees every entry of the branch again (CMP-01). */
  z.object({
    type: z.literal("compaction"),
    removes: z.literal(true).optional().describe("Present if the loop removes the compaction."),
  }),
]);
export type ContinuationKind = z.infer<typeof ContinuationKind>;

/** Why a turn begins: a prompt of a user, the task of a sub-agent, the work that continues, or a branch. */
export const TurnTrigger = z.enum(["user", "subAgent", "continuation", "branch"]);
export type TurnTrigger = z.infer<typeof TurnTrigger>;

/** The call of another agent for which a sub-agent's session was created (SES-10). */
export const SpawnRef = z.object({
  session: sessionId,
  loopId,
  turn: turnIndex,
  toolCallId,
  toolName,
});
export type SpawnRef = z.infer<typeof SpawnRef>;

/** A session's title, and who has given it. One from a user stays until a user gives another. */
export const SessionTitle = z.object({
  text: z.string().min(1).describe("The title, on one line."),
  by: z
    .enum(["prompt", "model", "user"])
    .describe(
      "`prompt`: derived from the first words of the first prompt. `model`: a model has summarised the beginning.",
    ),
});
export type SessionTitle = z.infer<typeof SessionTitle>;

/** How a session began (SES-13); its record says when. */
export const SessionOrigin = z.discriminatedUnion("type", [
  z.object({ type: z.literal("first_loop") }),
  /** The previous session had been idle for longer. */
  z.object({
    type: z.literal("inactivity_timeout"),
    thresholdSecs: z.number().describe("The pause that makes a new session, in seconds."),
    previousSession: z.string().describe("The session before it."),
  }),
  /** A user requested it. */
  z.object({
    type: z.literal("explicit"),
    previousSession: z.string().optional().describe("The session before it."),
  }),
  /** It begins with what another session shows before this position. */
  z.object({
    type: z.literal("fork"),
    session: z.string().describe("The session that it continues."),
    branch: z.string().describe("The branch of that session."),
    position: z
      .number()
      .int()
      .nonnegative()
      .describe("The position before which the other session is shown."),
  }),
]);
export type SessionOrigin = z.infer<typeof SessionOrigin>;

/** How a loop ended. */
export const Outcome = z.discriminatedUnion("type", [
  z.object({ type: z.literal("answered"), stopReason: StopReason.describe("Why the last answer stopped.") }),
  /** A limit was reached; `reason` is the text in the conversation. */
  z.object({
    type: z.literal("limit-reached"),
    reason: z.string().describe("The text."),
  }),
  z.object({
    type: z.literal("failed"),
    fault: z.string().describe("What went wrong, for code."),
    message: z.string().describe("What went wrong, for people."),
  }),
  z.object({
    type: z.literal("stopped"),
    reason: z.string().describe("Why it was stopped, as given by whoever stopped it."),
  }),
  /** Its prompts did not join the conversation. `by`: the hook that rejected the loop; a filter when absent. */
  z.object({
    type: z.literal("rejected"),
    reason: z.string().describe("Why they were rejected."),
    by: z.string().optional().describe("The hook."),
  }),
  /** A hook ended it before a turn. */
  z.object({
    type: z.literal("ended"),
    by: z.string().describe("The hook."),
    reason: z.string().describe("The text of the hook."),
  }),
  /** A call of the tool `by` has ended it: the work waits for something outside, and can be continued then. */
  z.object({
    type: z.literal("paused"),
    by: z.string().describe("The tool."),
    reason: z.string().describe("The reason that the tool gave."),
  }),
  /** A call of the tool `by` has ended it: a person takes the task over. */
  z.object({
    type: z.literal("handoff"),
    by: z.string().describe("The tool."),
    reason: z.string().describe("The reason that the tool gave."),
  }),
  /** There was no prompt: messages for an idle session were put into its inbox. */
  z.object({
    type: z.literal("delivered"),
    messages: z.number().int().describe("The number of messages."),
  }),
]);
export type Outcome = z.infer<typeof Outcome>;

/** Whether a loop runs, or how it ended. `rejected`: its prompts did not join the conversation. */
export const LoopStatus = z.enum(["running", "completed", "rejected", "aborted", "failed"]);
export type LoopStatus = z.infer<typeof LoopStatus>;
