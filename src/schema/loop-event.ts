import { z } from "zod";
import { DefinitionUpdated } from "./definition-change.ts";
import { MessageMetadata, Usage } from "./message.ts";
import { ContinuationKind, Outcome, TurnTrigger } from "./record.ts";

// The events of a loop, as the transcript stores them.

/** What decided on a call: a rule of the policy by its index, the default, or the tool's own request for confirmation. */
export const Permission = z.object({
  /** What the permission policy decided. */
  outcome: z.enum(["allow", "ask", "deny"]),
  /** Which rule decided: its index in the policy, or what decided in place of a rule. */
  rule: z.union([
    z.number().int().nonnegative(),
    z.enum(["otherwise", "confirm", "grant", "repeated-failure"]),
  ]),
  /** The result of asking. */
  answer: z.enum(["approved", "changed", "denied", "timed-out"]).optional(),
  /** The name that the answering user gave. */
  by: z.string().optional(),
});
export type Permission = z.infer<typeof Permission>;

/** What a tool has asked the user while a call ran. The texts are stored under their hashes. */
export const QuestionRecord = z.object({
  /** The hash of the question's text. */
  question: z.string(),
  /** Absent: the run was stopped before an answer. */
  answer: z.enum(["accept", "decline", "cancel", "timed-out"]).optional(),
  /** The given values as JSON. */
  values: z.string().optional(),
  /** The name that the answering user gave. */
  by: z.string().optional(),
});
export type QuestionRecord = z.infer<typeof QuestionRecord>;

/** Why a model goes back to an earlier entry, which determines what it leaves there. */
export const RevertCategory = z.enum(["failure", "tangent", "completion", "step-summary"]);
export type RevertCategory = z.infer<typeof RevertCategory>;

/** Positions from `from` (inclusive) to `to` (exclusive). */
const PositionRange = z.object({
  /** The first position. */
  from: z.number().int().nonnegative(),
  /** The position after the last one. */
  to: z.number().int().nonnegative(),
});

const ModelName = z.object({
  /** The vendor. */
  provider: z.string(),
  /** The vendor's name for the model. */
  model: z.string(),
});

/** A message that was rejected because its queue was full. */
export const RejectedMessage = z.object({
  /** The id with which it was sent. */
  messageId: z.string(),
  /** The queue that was full. */
  queue: z.enum(["steering", "follow-up"]),
  /** What waited in the queues. */
  waiting: z.object({
    /** The number of messages. */
    messages: z.number().int().nonnegative(),
    /** Their size. */
    bytes: z.number().int().nonnegative(),
  }),
  /** The number of rejections of the run so far. */
  rejected: z.number().int().positive(),
});

/** A model's request to go back to an earlier entry. */
export const Revert = z.object({
  /** Why the model goes back. */
  category: RevertCategory,
  /** The entry to which the model went back; absent when it named no existing one. */
  target: z.number().int().optional(),
  /** What was abandoned on the previous branch. */
  abandoned: PositionRange.optional(),
  /** At most 1 KiB, free of secrets; complete in the call's arguments. */
  summary: z.string().optional(),
  /** Whether the model went back. */
  applied: z.boolean(),
  /** Why it was not applied. */
  reason: z.string().optional(),
});

/** A model other than the agent's own has answered. */
export const ModelFallback = z.object({
  /** The model that answers instead. */
  to: ModelName,
  /** In the order of the calls. */
  from: z.array(
    ModelName.extend({
      /** What went wrong, for code. */
      fault: z.string(),
      /** What went wrong, for people. */
      message: z.string(),
    }),
  ),
});
export type ModelFallback = z.infer<typeof ModelFallback>;

/** The fallback has written texts that replace older entries, not the answer. */
export const fallbackPurpose = { for: z.literal("compaction").optional() };

/**
 * An event of a loop as it is stored: numbered by the machine from 0, with messages referred to by position.
 *
 * `loopId` belongs to the record, so no event repeats it.
 */
export const EventBody = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("AgentStart"),
    /** How the loop began. */
    kind: ContinuationKind,
    parentLoopId: z.string().optional(),
    /** The metadata of the prompt that began the loop. */
    metadata: MessageMetadata.optional(),
  }),
  z.object({
    type: z.literal("AgentEnd"),
    /** The loop's messages are the entries from `from` (inclusive) to `to` (exclusive). */
    from: z.number().int(),
    /** The position after the loop's last entry. */
    to: z.number().int(),
    usage: Usage,
    outcome: Outcome,
    /** Why a filter rejected the prompt. */
    rejection: z.string().optional(),
    /** What was repaired in the structured output; absent for nothing. */
    repairs: z.array(z.string()).optional(),
  }),
  z.object({
    type: z.literal("TurnStart"),
    turn: z.number().int(),
    /** What the turn answers. */
    trigger: TurnTrigger,
    /** A hook requires an answer without calls. */
    textOnly: z.literal(true).optional(),
  }),
  z.object({
    type: z.literal("TurnEnd"),
    turn: z.number().int(),
    /** The position of the assistant message. */
    position: z.number().int(),
    usage: Usage,
    /** The number of tool results that follow it. */
    results: z.number().int(),
  }),
  z.object({
    type: z.literal("MessageStart"),
    /** The position of the entry. */
    position: z.number().int(),
  }),
  z.object({
    type: z.literal("MessageEnd"),
    /** The position of the entry. */
    position: z.number().int(),
  }),
  z.object({
    type: z.literal("ToolExecutionStart"),
    toolCallId: z.string(),
    toolName: z.string(),
    /** The position of the assistant message that has the arguments. */
    position: z.number().int(),
    permission: Permission.optional(),
  }),
  z.object({
    type: z.literal("ToolExecutionEnd"),
    toolCallId: z.string(),
    toolName: z.string(),
    /** The position of the tool result message. */
    position: z.number().int(),
    /** Whether the call failed, could not run, or was denied. */
    isError: z.boolean(),
    childLoopId: z.string().optional(),
    /** Present for a call that was denied: it has no ToolExecutionStart. */
    permission: Permission.optional(),
    /** In the order in which the user was asked. */
    questions: z.array(QuestionRecord).optional(),
  }),
  z.object({
    type: z.literal("ProgressMessage"),
    toolCallId: z.string(),
    toolName: z.string(),
    /** One line. */
    text: z.string(),
  }),
  z.object({
    type: z.literal("InputRejected"),
    /** Why the message was rejected. */
    reason: z.string(),
    /** Where a message that was sent on its own is stored, for users; a rejected prompt is not stored. */
    position: z.number().int().optional(),
  }),
  z.object({
    type: z.literal("CompactionStarted"),
    /** The estimated tokens of the view before the compaction. */
    estimatedTokens: z.number().int(),
    /** The number of messages of the view before the compaction. */
    messageCount: z.number().int(),
  }),
  z.object({
    type: z.literal("CompactionEnded"),
    /** The position of the entry with the texts that replace others. */
    position: z.number().int(),
    /** The number of messages of the view before. */
    messagesBefore: z.number().int(),
    /** The number of messages of the view after. */
    messagesAfter: z.number().int(),
    /** The estimated tokens of the view before. */
    estimatedTokensBefore: z.number().int(),
    /** The estimated tokens of the view after. */
    estimatedTokensAfter: z.number().int(),
    /** The number of loops whose messages were compacted. */
    loopsCompacted: z.number().int(),
  }),
  /** Answers and results of these entries are no longer visible to the model; user messages are. */
  z.object({
    type: z.literal("PrunApplied"),
    /** The ranges of entries that left the view. */
    pruned: z.array(PositionRange),
    /** The estimated tokens that left the view. */
    tokensRemoved: z.number().int(),
    /** The number of messages that left the view. */
    messagesRemoved: z.number().int(),
    /** At the first pruned position: an argument of this call of the answer at `position`. */
    memo: z
      .object({
        /** The position of the answer. */
        position: z.number().int(),
        /** The index of the call in the answer, from 0. */
        call: z.number().int(),
        /** The estimated tokens of the memo. */
        tokens: z.number().int(),
      })
      .optional(),
  }),
  /** The model requests to go back to an earlier entry. From here on, positions are those of the new branch. */
  z.object({
    type: z.literal("RevertApplied"),
    ...Revert.shape,
  }),
  /** A fallback gives the next answer; why the models before it failed, each in at most 160 bytes. */
  z.object({
    type: z.literal("ModelFallback"),
    turn: z.number().int().nonnegative(),
    ...ModelFallback.shape,
    ...fallbackPurpose,
  }),
  /**
   * A user message arrived while the queues were full, and was rejected. `waiting`: the content of the queues then.
   * `rejected`: the number of rejections of the run so far, because not every one of many has an event.
   */
  z.object({ type: z.literal("MessageRejected"), ...RejectedMessage.shape }),
  /** The agent was updated to another definition, or the update was rejected. An applied one is in effect from here on. */
  z.object({
    type: z.literal("DefinitionChanged"),
    ...DefinitionUpdated.shape,
    /** The hash of the text with the tools and limits from here on. */
    terms: z.string().optional(),
  }),
]);
export type EventBody = z.infer<typeof EventBody>;

/** An event of a loop, as the transcript stores it. */
export const LoopEvent = z.object({
  loopId: z.string(),
  /** From 0, without gaps. */
  sequence: z.number().int().nonnegative(),
  /** Unix milliseconds, by the workflow's clock. */
  atMs: z.number(),
  /** What happened. */
  body: EventBody,
});
export type LoopEvent = z.infer<typeof LoopEvent>;
