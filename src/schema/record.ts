import { z } from "zod";
import { AgentMessage, StopReason } from "./message.ts";

// The content of the transcript. Positions count the entries of a branch from 0, including its ancestors' entries.

/** How a message entered the conversation. */
export const EntryOrigin = z.enum(["prompt", "steering", "follow-up", "inbox", "model", "tool", "machine"]);
export type EntryOrigin = z.infer<typeof EntryOrigin>;

/** One message at its position. Entries are only ever appended. */
export const Entry = z.object({
  /** The position in the branch, from 0. */
  position: z.number().int().nonnegative(),
  /** How the message entered the conversation. */
  origin: EntryOrigin,
  /** The message itself. */
  message: AgentMessage,
  /** The estimated tokens of the message (CTX-01 to CTX-03). */
  tokens: z.number().int().nonnegative(),
  /** The id from the sender of the message. */
  messageId: z.string().optional(),
});
export type Entry = z.infer<typeof Entry>;

/** RFC 3339 timestamps distinguish reruns and branches. */
export const ContinuationKind = z.discriminatedUnion("type", [
  z.object({ type: z.literal("initial") }),
  z.object({ type: z.literal("default") }),
  z.object({
    type: z.literal("rerun"),
    /** The time of the request, RFC 3339, which makes the id of the loop unique. */
    tag: z.string(),
  }),
  z.object({
    type: z.literal("branch"),
    /** The time of the request, RFC 3339, which makes the id of the loop unique. */
    tag: z.string(),
  }),
  /** `removes`: the compaction is removed, and the model sees every entry of the branch again (CMP-01). */
  z.object({ type: z.literal("compaction"), removes: z.literal(true).optional() }),
]);
export type ContinuationKind = z.infer<typeof ContinuationKind>;

/** Why a turn begins: a prompt of a user, the task of a sub-agent, the work that continues, or a branch. */
export const TurnTrigger = z.enum(["user", "subAgent", "continuation", "branch"]);
export type TurnTrigger = z.infer<typeof TurnTrigger>;

/** The call of another agent for which a sub-agent's session was created (SES-10). */
export const SpawnRef = z.object({
  session: z.string(),
  loopId: z.string(),
  turn: z.number().int().nonnegative(),
  toolCallId: z.string(),
  toolName: z.string(),
});
export type SpawnRef = z.infer<typeof SpawnRef>;

/** A session's title, and who has given it. One from a user stays until a user gives another. */
export const SessionTitle = z.object({
  /** One line. */
  text: z.string().min(1),
  /** `prompt`: derived from the first words of the first prompt. `model`: a model has summarised the beginning. */
  by: z.enum(["prompt", "model", "user"]),
});
export type SessionTitle = z.infer<typeof SessionTitle>;

/** How a session began (SES-13); its record says when. */
export const SessionOrigin = z.discriminatedUnion("type", [
  z.object({ type: z.literal("first_loop") }),
  /** The previous session had been idle for longer. */
  z.object({
    type: z.literal("inactivity_timeout"),
    /** The pause that makes a new session, in seconds. */
    thresholdSecs: z.number(),
    /** The session before it. */
    previousSession: z.string(),
  }),
  /** A user requested it. */
  z.object({
    type: z.literal("explicit"),
    /** The session before it. */
    previousSession: z.string().optional(),
  }),
  /** It begins with what another session shows before this position. */
  z.object({
    type: z.literal("fork"),
    session: z.string(),
    branch: z.string(),
    /** The position before which the other session is shown. */
    position: z.number().int().nonnegative(),
  }),
]);
export type SessionOrigin = z.infer<typeof SessionOrigin>;

/** How a loop ended. */
export const Outcome = z.discriminatedUnion("type", [
  z.object({ type: z.literal("answered"), stopReason: StopReason }),
  /** A limit was reached; `reason` is the text in the conversation. */
  z.object({
    type: z.literal("limit-reached"),
    /** The text. */
    reason: z.string(),
  }),
  z.object({
    type: z.literal("failed"),
    /** What went wrong, for code. */
    fault: z.string(),
    /** What went wrong, for people. */
    message: z.string(),
  }),
  z.object({
    type: z.literal("stopped"),
    /** Why it was stopped, as given by whoever stopped it. */
    reason: z.string(),
  }),
  /** Its prompts did not join the conversation. `by`: the hook that rejected the loop; a filter when absent. */
  z.object({
    type: z.literal("rejected"),
    /** Why they were rejected. */
    reason: z.string(),
    /** The hook. */
    by: z.string().optional(),
  }),
  /** A hook ended it before a turn. */
  z.object({
    type: z.literal("ended"),
    /** The hook. */
    by: z.string(),
    /** The text of the hook. */
    reason: z.string(),
  }),
  /** A call of the tool `by` has ended it: the work waits for something outside, and can be continued then. */
  z.object({
    type: z.literal("paused"),
    /** The tool. */
    by: z.string(),
    /** The reason that the tool gave. */
    reason: z.string(),
  }),
  /** A call of the tool `by` has ended it: a person takes the task over. */
  z.object({
    type: z.literal("handoff"),
    /** The tool. */
    by: z.string(),
    /** The reason that the tool gave. */
    reason: z.string(),
  }),
  /** There was no prompt: messages for an idle session were put into its inbox. */
  z.object({
    type: z.literal("delivered"),
    /** The number of messages. */
    messages: z.number().int(),
  }),
]);
export type Outcome = z.infer<typeof Outcome>;

/** Whether a loop runs, or how it ended. `rejected`: its prompts did not join the conversation. */
export const LoopStatus = z.enum(["running", "completed", "rejected", "aborted", "failed"]);
export type LoopStatus = z.infer<typeof LoopStatus>;
