import { z } from "zod";

// The bodies of requests. An unknown field is rejected by name.

const text = z.string().min(1, "must not be empty");
const messageId = z.string().min(1).max(200).optional();
/** Who sends the request, for the record. */
const by = z.string().min(1).max(200).optional();

/** The name of an agent of the server, or a definition. A definition may refer to models as `anthropic/ID`. */
export const AgentChoice = z.union([z.string().min(1), z.looseObject({ model: z.unknown() })]);
export type AgentChoice = z.infer<typeof AgentChoice>;

const mode = z.enum(["run", "interactive"]).optional();
const idleTimeoutMs = z.number().positive().nullish();

export const StartBody = z.strictObject({
  agent: AgentChoice.optional(),
  /** As on the command line: `anthropic/ID`. Replaces the definition's own model. */
  model: z.string().min(1).optional(),
  prompt: z.string().optional(),
  session: z.string().optional(),
  mode,
  idleTimeoutMs,
  messageId,
});

export const PromptBody = z.strictObject({
  text,
  agent: AgentChoice.optional(),
  mode,
  idleTimeoutMs,
  messageId,
});

export const SendBody = z.strictObject({
  ...PromptBody.shape,
  whileRunning: z.enum(["reject", "steer", "follow-up"]).optional(),
});

export const MessageBody = z.strictObject({ text, messageId, acknowledge: z.boolean().optional() });

export const StopBody = z.strictObject({ reason: z.string().max(2_000).optional() });

export const ApproveBody = z.strictObject({
  toolCallId: z.string().optional(),
  arguments: z.record(z.string(), z.unknown()).optional(),
  always: z.boolean().optional(),
  by,
});

export const AnswerBody = z.strictObject({
  toolCallId: z.string().optional(),
  answer: z.enum(["accept", "decline", "cancel"]).optional(),
  values: z.record(z.string(), z.unknown()).optional(),
  by,
});

export const DenyBody = z.strictObject({
  toolCallId: z.string().optional(),
  reason: z.string().optional(),
  by,
});

/** The maximum number of listed items; request the rest with the next page. */
const MAX_LISTED = 500;

export const ListQuery = z.strictObject({
  status: z
    .enum([
      "running",
      "waiting",
      "needs-approval",
      "stopping",
      "completed",
      "limit-reached",
      "failed",
      "stopped",
      "paused",
      "handoff",
    ])
    .optional(),
  agent: z.string().optional(),
  limit: z.coerce.number().int().positive().max(MAX_LISTED).optional(),
});

export const MessagesQuery = z.strictObject({
  from: z.coerce.number().int().nonnegative().optional(),
  branch: z.string().optional(),
  limit: z.coerce.number().int().positive().max(MAX_LISTED).default(100),
});

const flag = z.enum(["true", "false"]).optional();

export const DeleteQuery = z.strictObject({ stop: flag, history: flag });

export const EventsQuery = z.strictObject({ from: z.string().optional() });
