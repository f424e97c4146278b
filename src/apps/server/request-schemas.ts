import { z } from "zod";
import { STATUS_CODES } from "../../core/machine/status-code.ts";
import { MessageMetadata } from "../../schema/message.ts";
import { hasOneMessage, MESSAGE_FIELDS, ONE_MESSAGE, Parts } from "./prompt-schema.ts";

// The queries and bodies of requests. An unknown field is rejected by name. The descriptions are those of the OpenAPI
// document.

const messageId = z
  .string()
  .min(1)
  .max(200)
  .optional()
  .describe("Makes a repeated request harmless: each id is accepted once.");
const by = z.string().min(1).max(200).optional().describe("Who sends the request, for the record.");
const toolCallId = z
  .string()
  .optional()
  .describe("The id of the pending call. It may be omitted while only one call is pending.");

export const AgentChoice = z
  .union([
    z.string().min(1),
    z.looseObject({ model: z.unknown().describe("The model, or its name as `anthropic/ID`.") }),
  ])
  .describe(
    "The name of an agent of the server; or, if the server was started without agents, a definition, whose models may be " +
      "given by name as `anthropic/ID`.",
  );
export type AgentChoice = z.infer<typeof AgentChoice>;

const agent = AgentChoice.optional();
const mode = z
  .enum(["run", "interactive"])
  .optional()
  .describe("`run` (default) ends with the answer; `interactive` waits for further prompts.");
const metadata = MessageMetadata.optional().describe(
  "Notes for programs, such as the id of a request: at most 2 KiB as JSON. Stored with the message, never sent to a model.",
);
const title = z
  .string()
  .min(1)
  .optional()
  .describe("The session's title; by default the first words of its first prompt.");
const idleTimeoutMs = z
  .number()
  .positive()
  .nullish()
  .describe("How long an interactive run waits for a prompt, in milliseconds; `null` for any time.");

const branch = z
  .string()
  .min(1)
  .optional()
  .describe("For an idle session: continues at the end of this branch, which becomes the head.");

export const StartBody = z.strictObject({
  agent,
  model: z
    .string()
    .min(1)
    .optional()
    .describe("A model as on the command line, `anthropic/ID`. Replaces the definition's own model."),
  prompt: z
    .union([z.string(), Parts])
    .optional()
    .describe("The first prompt, as a text or as parts; optional for an interactive run."),
  session: z.string().optional().describe("The session's id; a new one by default."),
  branch,
  title,
  mode,
  idleTimeoutMs,
  messageId,
  metadata,
});

const promptFields = { ...MESSAGE_FIELDS, agent, title, mode, idleTimeoutMs, messageId, metadata };

export const PromptBody = z.strictObject({ ...promptFields, branch }).refine(hasOneMessage, ONE_MESSAGE);

export const TitleBody = z.strictObject({
  title: z.string().min(1, "must not be empty").describe("The title: one line of up to 120 characters."),
});

export const SendBody = z
  .strictObject({
    ...promptFields,
    whileRunning: z
      .enum(["reject", "steer", "follow-up"])
      .optional()
      .describe("What to do with the message while a loop is running; `reject` by default."),
  })
  .refine(hasOneMessage, ONE_MESSAGE);

export const MessageBody = z
  .strictObject({
    ...MESSAGE_FIELDS,
    messageId,
    metadata,
    acknowledge: z.boolean().optional().describe("Whether to wait until a run has accepted the message."),
  })
  .refine(hasOneMessage, ONE_MESSAGE);

export const StopBody = z.strictObject({
  reason: z.string().max(2_000).optional().describe("The reason, for the record."),
});

const index = z.number().int().nonnegative().optional();
const id = z.string().min(1).optional();
const position = {
  at: index.describe("The number of messages before the position."),
  beforeTurn: index.describe("Before the answer of this turn, counted from 0."),
  afterTurn: index.describe("After this turn, counted from 0: its answer and tool results included."),
  loop: id.describe(
    "The id of the loop in which turns are counted; the conversation at the head by default.",
  ),
  beforeLoop: id.describe("Before the prompts of the loop with this id."),
  afterLoop: id.describe("After the loop with this id."),
  branch: id.describe("The branch; the session's head by default. Its end, unless `at` is given."),
};

export const ForkBody = z.strictObject({
  ...position,
  name: z.string().optional().describe("The name of the branch; `branch-1`, `branch-2`, … by default."),
  as: z
    .string()
    .optional()
    .describe("The id of a new session that begins there; both sessions can run at the same time."),
});

export const RewindBody = z.strictObject(position);

export const CompactBody = z
  .strictObject({
    focus: z.string().optional().describe("What the summary should concentrate on."),
    undo: z
      .boolean()
      .optional()
      .describe(
        "Whether to remove the compaction of an idle session: its next run sees every message again.",
      ),
  })
  .refine(({ focus, undo }) => focus === undefined || undo !== true, {
    error: "focus and undo exclude each other: undo removes a compaction",
  });

export const ApproveBody = z.strictObject({
  toolCallId,
  arguments: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("Replaces the model's arguments; the tool validates them in the same way."),
  always: z
    .boolean()
    .optional()
    .describe("Whether to allow later calls of the same kind in the session, too."),
  by,
});

export const AnswerBody = z.strictObject({
  toolCallId,
  answer: z
    .enum(["accept", "decline", "cancel"])
    .optional()
    .describe("The answer to the question of the call's tool; `accept` by default."),
  values: z.record(z.string(), z.unknown()).optional().describe("The values of the question's form."),
  by,
});

export const DenyBody = z.strictObject({
  toolCallId,
  reason: z.string().optional().describe("The reason, for the model."),
  by,
});

/** The maximum number of listed items; request the rest with the next page. */
const MAX_LISTED = 500;

export const ListQuery = z.strictObject({
  status: z.enum(STATUS_CODES).optional().describe("Only sessions with this status."),
  agent: z.string().optional().describe("Only sessions of the agent with this name."),
  limit: z.coerce
    .number()
    .int()
    .positive()
    .max(MAX_LISTED)
    .optional()
    .describe("The maximum number of sessions; 50 by default."),
});

export const MessagesQuery = z.strictObject({
  from: z.coerce.number().int().nonnegative().optional().describe("The first position; 0 by default."),
  branch: z.string().optional().describe("The branch; the session's head by default."),
  limit: z.coerce
    .number()
    .int()
    .positive()
    .max(MAX_LISTED)
    .default(100)
    .describe("The maximum number of messages."),
});

const flag = z.enum(["true", "false"]).optional();

export const DeleteQuery = z.strictObject({
  stop: flag.describe("Whether to stop the open run first."),
  history: flag.describe("Whether to delete Temporal's histories, too."),
});

export const EventsQuery = z.strictObject({
  from: z
    .string()
    .optional()
    .describe("`loop` (default: the running loop, or the newest), `session`, `now`, or a cursor."),
});
