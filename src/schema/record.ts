import { z } from "zod";
import { AgentMessage, StopReason, Usage } from "./message.ts";

// What the transcript holds. Positions count the entries of a branch from 0, its ancestors' entries included.

/** How a message came into the conversation. */
export const EntryOrigin = z.enum(["prompt", "steering", "follow-up", "inbox", "model", "tool", "machine"]);
export type EntryOrigin = z.infer<typeof EntryOrigin>;

/** One message at its place. Entries are only ever appended. */
export const Entry = z.object({
  position: z.number().int().nonnegative(),
  origin: EntryOrigin,
  message: AgentMessage,
  /** Estimated tokens of the message (CTX-01 to CTX-03). */
  tokens: z.number().int().nonnegative(),
  /** The id that the sender of the message gave it. */
  messageId: z.string().optional(),
});
export type Entry = z.infer<typeof Entry>;

/** RFC 3339 time stamps tell two reruns or branches apart. */
export const ContinuationKind = z.discriminatedUnion("type", [
  z.object({ type: z.literal("initial") }),
  z.object({ type: z.literal("default") }),
  z.object({ type: z.literal("rerun"), tag: z.string() }),
  z.object({ type: z.literal("branch"), tag: z.string() }),
  z.object({ type: z.literal("compaction") }),
]);
export type ContinuationKind = z.infer<typeof ContinuationKind>;

export const TurnTrigger = z.enum(["user", "subAgent", "continuation", "branch"]);
export type TurnTrigger = z.infer<typeof TurnTrigger>;

/** The call of another agent that a sub-agent's session was made for (SES-10). */
export const SpawnRef = z.object({
  session: z.string(),
  loopId: z.string(),
  turn: z.number().int().nonnegative(),
  toolCallId: z.string(),
  toolName: z.string(),
});
export type SpawnRef = z.infer<typeof SpawnRef>;

/** How a session came to be (SES-13); when, its record says. */
export const SessionOrigin = z.discriminatedUnion("type", [
  z.object({ type: z.literal("first_loop") }),
  /** The one before had been idle for longer. */
  z.object({
    type: z.literal("inactivity_timeout"),
    thresholdSecs: z.number(),
    previousSession: z.string(),
  }),
  /** Somebody asked for it. */
  z.object({ type: z.literal("explicit"), previousSession: z.string().optional() }),
  /** It begins with what another one shows before this place. */
  z.object({
    type: z.literal("fork"),
    session: z.string(),
    branch: z.string(),
    position: z.number().int().nonnegative(),
  }),
]);
export type SessionOrigin = z.infer<typeof SessionOrigin>;

/** How a loop ended. */
export const Outcome = z.discriminatedUnion("type", [
  z.object({ type: z.literal("answered"), stopReason: StopReason }),
  /** A limit was met; `reason` is what the conversation was told. */
  z.object({ type: z.literal("limit-reached"), reason: z.string() }),
  z.object({ type: z.literal("failed"), fault: z.string(), message: z.string() }),
  z.object({ type: z.literal("stopped"), reason: z.string() }),
  /** Its prompts did not join the conversation. `by`: the hook that refused the loop; a filter unless said. */
  z.object({ type: z.literal("rejected"), reason: z.string(), by: z.string().optional() }),
  /** A hook ended it before a turn. */
  z.object({ type: z.literal("ended"), by: z.string(), reason: z.string() }),
  /** Nothing was asked: messages for a session at rest were put into its inbox. */
  z.object({ type: z.literal("delivered"), messages: z.number().int() }),
]);
export type Outcome = z.infer<typeof Outcome>;

/** What decided over a call: a rule of the policy by its index, the default, or the tool's own wish to be confirmed. */
export const Permission = z.object({
  outcome: z.enum(["allow", "ask", "deny"]),
  rule: z.union([
    z.number().int().nonnegative(),
    z.enum(["otherwise", "confirm", "grant", "repeated-failure"]),
  ]),
  /** What came of asking. */
  answer: z.enum(["approved", "changed", "refused", "timed-out"]).optional(),
  /** Who answered, in their own words. */
  by: z.string().optional(),
});
export type Permission = z.infer<typeof Permission>;

/** What a tool has asked a person while a call ran. The texts are stored under their hashes. */
export const QuestionRecord = z.object({
  question: z.string(),
  /** Absent: the run was stopped before anybody had answered. */
  answer: z.enum(["accept", "decline", "cancel", "timed-out"]).optional(),
  /** The values that were given: JSON. */
  values: z.string().optional(),
  /** Who answered, in their own words. */
  by: z.string().optional(),
});
export type QuestionRecord = z.infer<typeof QuestionRecord>;

/** Why a model goes back to an earlier entry; says what it leaves behind there. */
export const RevertCategory = z.enum(["failure", "tangent", "completion", "step-summary"]);
export type RevertCategory = z.infer<typeof RevertCategory>;

/** Positions from `from` up to, not including, `to`. */
export const PositionRange = z.object({
  from: z.number().int().nonnegative(),
  to: z.number().int().nonnegative(),
});

/** What another definition changes of an agent, field by field. */
export const DefinitionChange = z.object({
  field: z.string(),
  /** At most 160 bytes, free of secrets. */
  said: z.string(),
  takesEffect: z.enum(["next-turn", "next-loop"]),
});
export type DefinitionChange = z.infer<typeof DefinitionChange>;

/** Definitions by their hashes. */
const definitionUpdate = {
  from: z.string(),
  to: z.string(),
  applied: z.boolean(),
  changes: z.array(DefinitionChange),
  warnings: z.array(z.string()),
  /** Why not. */
  reason: z.string().optional(),
};
/** The same, as events that say all by themselves have it. */
export const DefinitionUpdated = z.object(definitionUpdate);

const ModelName = z.object({ provider: z.string(), model: z.string() });

/** An answer that another model has given than the agent's own. */
/** A message that was not taken: its queue was full. */
export const RejectedMessage = z.object({
  messageId: z.string(),
  queue: z.enum(["steering", "follow-up"]),
  waiting: z.object({ messages: z.number().int().nonnegative(), bytes: z.number().int().nonnegative() }),
  refused: z.number().int().positive(),
});

export const ModelFallback = z.object({
  to: ModelName,
  /** In the order in which they were asked. */
  from: z.array(ModelName.extend({ fault: z.string(), said: z.string() })),
});
export type ModelFallback = z.infer<typeof ModelFallback>;

/** It has written texts that stand for older entries, not the answer. */
export const fallbackPurpose = { for: z.literal("compaction").optional() };

/**
 * What happened in a loop, as it is stored: numbered by the machine from 0, messages named by position.
 *
 * `loopId` is the record's, so that no event repeats it.
 */
export const EventBody = z.discriminatedUnion("type", [
  z.object({ type: z.literal("AgentStart"), kind: ContinuationKind, parentLoopId: z.string().optional() }),
  z.object({
    type: z.literal("AgentEnd"),
    /** The loop's messages are the entries from `from` up to, not including, `to`. */
    from: z.number().int(),
    to: z.number().int(),
    usage: Usage,
    outcome: Outcome,
    rejection: z.string().optional(),
  }),
  z.object({ type: z.literal("TurnStart"), turn: z.number().int(), trigger: TurnTrigger }),
  z.object({
    type: z.literal("TurnEnd"),
    turn: z.number().int(),
    /** The assistant message. */
    position: z.number().int(),
    usage: Usage,
    /** How many tool results follow it. */
    results: z.number().int(),
  }),
  z.object({ type: z.literal("MessageStart"), position: z.number().int() }),
  z.object({ type: z.literal("MessageEnd"), position: z.number().int() }),
  z.object({
    type: z.literal("ToolExecutionStart"),
    toolCallId: z.string(),
    toolName: z.string(),
    /** The assistant message that holds the arguments. */
    position: z.number().int(),
    permission: Permission.optional(),
  }),
  z.object({
    type: z.literal("ToolExecutionEnd"),
    toolCallId: z.string(),
    toolName: z.string(),
    /** The tool result message. */
    position: z.number().int(),
    isError: z.boolean(),
    childLoopId: z.string().optional(),
    /** Of a call that was refused: it has no ToolExecutionStart. */
    permission: Permission.optional(),
    /** In the order in which a person was asked. */
    questions: z.array(QuestionRecord).optional(),
  }),
  z.object({
    type: z.literal("ProgressMessage"),
    toolCallId: z.string(),
    toolName: z.string(),
    text: z.string(),
  }),
  z.object({
    type: z.literal("InputRejected"),
    reason: z.string(),
    /** Where a message that came by itself is kept, for people; a prompt is kept nowhere. */
    position: z.number().int().optional(),
  }),
  z.object({
    type: z.literal("CompactionStarted"),
    estimatedTokens: z.number().int(),
    messageCount: z.number().int(),
  }),
  z.object({
    type: z.literal("CompactionEnded"),
    /** The entry that holds what was put in place of others. */
    position: z.number().int(),
    messagesBefore: z.number().int(),
    messagesAfter: z.number().int(),
    estimatedTokensBefore: z.number().int(),
    estimatedTokensAfter: z.number().int(),
    loopsCompacted: z.number().int(),
  }),
  /** Answers and results of these entries are no longer shown to the model; words of the user's side are. */
  z.object({
    type: z.literal("PrunApplied"),
    pruned: z.array(PositionRange),
    tokensRemoved: z.number().int(),
    messagesRemoved: z.number().int(),
    /** Stands at the first pruned position: an argument of this call of the answer at `position`. */
    memo: z
      .object({ position: z.number().int(), call: z.number().int(), tokens: z.number().int() })
      .optional(),
  }),
  /** The model wants to go on from an earlier entry. From here on, positions are those of the new branch. */
  z.object({
    type: z.literal("RevertApplied"),
    category: RevertCategory,
    /** The entry that the model is back at; absent when it named none that there is. */
    target: z.number().int().optional(),
    /** What was left, on the branch before. */
    abandoned: PositionRange.optional(),
    /** At most 1 KiB, free of secrets; whole in the call's arguments. */
    summary: z.string().optional(),
    applied: z.boolean(),
    /** Why not. */
    reason: z.string().optional(),
  }),
  /** A fallback gives the answer that comes next; why the models before it did not, each in at most 160 bytes. */
  z.object({
    type: z.literal("ModelFellBack"),
    turn: z.number().int().nonnegative(),
    ...ModelFallback.shape,
    ...fallbackPurpose,
  }),
  /**
   * A message of a person came while the queues were full, and was not taken. `waiting`: what was in the queues then.
   * `refused`: all that the run has refused so far, for not every one of many has an event.
   */
  z.object({ type: z.literal("MessageRefused"), ...RejectedMessage.shape }),
  /** The agent was moved to another definition, or was to be. From here on it is asked and judged by that one. */
  z.object({
    type: z.literal("DefinitionChanged"),
    ...definitionUpdate,
    /** Hash of the text that holds the tools and limits as they are from here on. */
    terms: z.string().optional(),
  }),
]);
export type EventBody = z.infer<typeof EventBody>;

export const LoopEvent = z.object({
  loopId: z.string(),
  /** From 0, without gaps. */
  sequence: z.number().int().nonnegative(),
  /** Unix milliseconds, by the workflow's clock. */
  atMs: z.number(),
  body: EventBody,
});
export type LoopEvent = z.infer<typeof LoopEvent>;

export const LoopStatus = z.enum(["running", "completed", "rejected", "aborted", "failed"]);
export type LoopStatus = z.infer<typeof LoopStatus>;
