import { z } from "zod";
import { childLoopId, loopId, parentLoopId, toolCallId, toolName, turnIndex } from "./common-fields.ts";
import { DefinitionUpdated } from "./definition-change.ts";
import { MessageMetadata, Usage } from "./message.ts";
import { ContinuationKind, Outcome, TurnTrigger } from "./record.ts";

// The events of a loop, as the transcript stores them.

/** What decided on a call: a rule of the policy by its index, the default, or the tool's own request for confirmation. */
export const Permission = z.object({
  outcome: z.enum(["allow", "ask", "deny"]).describe("What the permission policy decided."),
  rule: z
    .union([z.number().int().nonnegative(), z.enum(["otherwise", "confirm", "grant", "repeated-failure"])])
    .describe("Which rule decided: its index in the policy, or what decided in place of a rule."),
  answer: z
    .enum(["approved", "changed", "denied", "timed-out"])
    .optional()
    .describe("The result of asking; absent if nobody was asked."),
  by: z.string().optional().describe("The name that the answering user gave."),
});
export type Permission = z.infer<typeof Permission>;

/** What a tool has asked the user while a call ran. The texts are stored under their hashes. */
export const QuestionRecord = z.object({
  question: z.string().describe("The hash of the question's text."),
  answer: z
    .enum(["accept", "decline", "cancel", "timed-out"])
    .optional()
    .describe("What the user answered; absent if the run was stopped before."),
  values: z.string().optional().describe("The given values as JSON."),
  by: z.string().optional().describe("The name that the answering user gave."),
});
export type QuestionRecord = z.infer<typeof QuestionRecord>;

/** Why a model goes back to an earlier entry, which determines what it leaves there. */
export const RevertCategory = z.enum(["failure", "tangent", "completion", "step-summary"]);
export type RevertCategory = z.infer<typeof RevertCategory>;

/** Positions from `from` (inclusive) to `to` (exclusive). */
const PositionRange = z.object({
  from: z.number().int().nonnegative().describe("The first position."),
  to: z.number().int().nonnegative().describe("The position after the last one."),
});

const ModelName = z.object({
  provider: z.string().describe("The vendor."),
  model: z.string().describe("The vendor's name for the model."),
});

/** A message that was rejected because its queue was full. */
export const RejectedMessage = z.object({
  messageId: z.string().describe("The id with which it was sent."),
  queue: z.enum(["steering", "follow-up"]).describe("The queue that was full."),
  waiting: z
    .object({
      messages: z.number().int().nonnegative().describe("The number of messages."),
      bytes: z.number().int().nonnegative().describe("Their size in bytes."),
    })
    .describe("What waited in the queues."),
  rejected: z.number().int().positive().describe("The number of rejections of the run so far."),
});

/** A model's request to go back to an earlier entry. */
export const Revert = z.object({
  category: RevertCategory.describe("Why the model goes back."),
  target: z
    .number()
    .int()
    .optional()
    .describe("The entry to which the model went back; absent when it named no existing one."),
  abandoned: PositionRange.optional().describe("What was abandoned on the previous branch."),
  summary: z
    .string()
    .optional()
    .describe("What the model left there: at most 1 KiB, free of secrets; complete in the call's arguments."),
  applied: z.boolean().describe("Whether the model went back."),
  reason: z.string().optional().describe("Why it was not applied."),
});

/** A model other than the agent's own has answered. */
export const ModelFallback = z.object({
  to: ModelName.describe("The model that answers instead."),
  from: z
    .array(
      ModelName.extend({
        fault: z.string().describe("What went wrong, for code."),
        message: z.string().describe("What went wrong, for people."),
      }),
    )
    .describe("The models that failed, in the order of the calls."),
});
export type ModelFallback = z.infer<typeof ModelFallback>;

/** The fallback has written texts that replace older entries, not the answer. */
export const fallbackPurpose = {
  for: z
    .literal("compaction")
    .optional()
    .describe("Present if the fallback has written texts that replace older entries."),
};

/**
 * An event of a loop as it is stored: numbered by the machine from 0, with messages referred to by position.
 *
 * `loopId` belongs to the record, so no event repeats it.
 */
export const EventBody = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("AgentStart"),
    kind: ContinuationKind.describe("How the loop began."),
    parentLoopId,
    metadata: MessageMetadata.optional().describe("The metadata of the prompt that began the loop."),
  }),
  z.object({
    type: z.literal("AgentEnd"),
    from: z
      .number()
      .int()
      .describe("The loop's messages are the entries from `from` (inclusive) to `to` (exclusive)."),
    to: z.number().int().describe("The position after the loop's last entry."),
    usage: Usage.describe("The usage of all turns."),
    outcome: Outcome.describe("How the loop ended."),
    rejection: z.string().optional().describe("Why a filter rejected the prompt."),
    repairs: z
      .array(z.string())
      .optional()
      .describe("What was repaired in the structured output; absent for nothing."),
  }),
  z.object({
    type: z.literal("TurnStart"),
    turn: turnIndex,
    trigger: TurnTrigger.describe("What the turn answers."),
    textOnly: z.literal(true).optional().describe("Present if a hook requires an answer without calls."),
  }),
  z.object({
    type: z.literal("TurnEnd"),
    turn: turnIndex,
    position: z.number().int().describe("The position of the assistant message."),
    usage: Usage.describe("The usage of this turn."),
    results: z.number().int().describe("The number of tool results that follow it."),
  }),
  z.object({
    type: z.literal("MessageStart"),
    position: z.number().int().describe("The position of the entry."),
  }),
  z.object({
    type: z.literal("MessageEnd"),
    position: z.number().int().describe("The position of the entry."),
  }),
  z.object({
    type: z.literal("ToolExecutionStart"),
    toolCallId,
    toolName,
    position: z.number().int().describe("The position of the assistant message that has the arguments."),
    permission: Permission.optional().describe("What decided that the call may run."),
  }),
  z.object({
    type: z.literal("ToolExecutionEnd"),
    toolCallId,
    toolName,
    position: z.number().int().describe("The position of the tool result message."),
    isError: z.boolean().describe("Whether the call failed, could not run, or was denied."),
    childLoopId,
    permission: Permission.optional().describe(
      "What denied the call; absent for one that ran, whose ToolExecutionStart has it.",
    ),
    questions: z.array(QuestionRecord).optional().describe("What the tool asked the user, in this order."),
  }),
  z.object({
    type: z.literal("ProgressMessage"),
    toolCallId,
    toolName,
    text: z.string().describe("The progress, on one line."),
  }),
  z.object({
    type: z.literal("InputRejected"),
    reason: z.string().describe("Why the message was rejected."),
    position: z
      .number()
      .int()
      .optional()
      .describe(
        "Where a message that was sent on its own is stored, for users; a rejected prompt is not stored.",
      ),
  }),
  z.object({
    type: z.literal("CompactionStarted"),
    estimatedTokens: z.number().int().describe("The estimated tokens of the view before the compaction."),
    messageCount: z.number().int().describe("The number of messages of the view before the compaction."),
  }),
  z.object({
    type: z.literal("CompactionEnded"),
    position: z.number().int().describe("The position of the entry with the texts that replace others."),
    messagesBefore: z.number().int().describe("The number of messages of the view before."),
    messagesAfter: z.number().int().describe("The number of messages of the view after."),
    estimatedTokensBefore: z.number().int().describe("The estimated tokens of the view before."),
    estimatedTokensAfter: z.number().int().describe("The estimated tokens of the view after."),
    loopsCompacted: z.number().int().describe("The number of loops whose messages were compacted."),
  }),
  /** Answers and results of these entries are no longer visible to the model; user messages are. */
  z.object({
    type: z.literal("PrunApplied"),
    pruned: z.array(PositionRange).describe("The ranges of entries that left the view."),
    tokensRemoved: z.number().int().describe("The estimated tokens that left the view."),
    messagesRemoved: z.number().int().describe("The number of messages that left the view."),
    memo: z
      .object({
        position: z.number().int().describe("The position of the answer."),
        call: z.number().int().describe("The index of the call in the answer, from 0."),
        tokens: z.number().int().describe("The estimated tokens of the memo."),
      })
      .optional()
      .describe(
        "Where the text is that the model sees at the first pruned position: an argument of this call of the answer at `position`.",
      ),
  }),
  /** The model requests to go back to an earlier entry. From here on, positions are those of the new branch. */
  z.object({
    type: z.literal("RevertApplied"),
    ...Revert.shape,
  }),
  /** A fallback gives the next answer; why the models before it failed, each in at most 160 bytes. */
  z.object({
    type: z.literal("ModelFallback"),
    turn: turnIndex,
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
    terms: z.string().optional().describe("The hash of the text with the tools and limits from here on."),
  }),
]);
export type EventBody = z.infer<typeof EventBody>;

/** An event of a loop, as the transcript stores it. */
export const LoopEvent = z.object({
  loopId,
  sequence: z
    .number()
    .int()
    .nonnegative()
    .describe("The number of the event in its loop, from 0 and without gaps."),
  atMs: z.number().describe("When it happened: Unix milliseconds, by the workflow's clock."),
  body: EventBody.describe("What happened."),
});
export type LoopEvent = z.infer<typeof LoopEvent>;
