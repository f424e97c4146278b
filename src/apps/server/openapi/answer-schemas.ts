import { z } from "zod";
import { Usage } from "../../../schema/message.ts";
import { Entry, Outcome } from "../../../schema/record.ts";
import { SandboxMode } from "../../../schema/sandbox.ts";
import { ListQuery } from "../request-schemas.ts";

// The bodies of answers, for the OpenAPI document: what a client may rely on. Answers may have further fields.

const session = z.string().describe("The session's id.");
const title = z.string().describe("The session's title, on one line.");
const timestamp = z.iso.datetime();
const unixMs = z.number().int().describe("Unix milliseconds.");
const count = z.number().int().nonnegative();
const toolCallId = z.string().describe("The id of the call.");
const tool = z.string().describe("The name of the tool.");
const summary = z.string().describe("The call on one line.");
const agent = z.string().describe("The name of the agent.");
const model = z.string().describe("The vendor's name for the model.");
const branch = z.string().describe("The id of the branch.");
const messageId = z.string().describe("The id of the message: that of the request, or a new one.");
const runId = z.string().describe("Temporal's id of the run.");
const status = ListQuery.shape.status.unwrap().describe("The state of the session, in one word.");
const costUsd = z
  .number()
  .nullable()
  .describe("US dollars, those of ended sub-agents included; `null` where a price is unknown.");
const open = z.boolean().describe("Whether a run of the session is open.");

/** What a run used, and how it ended: in the status of a session whose run has ended, and at the end of a stream. */
const totals = {
  turns: count.optional().describe("The completed turns."),
  usage: Usage.optional().describe(
    "The tokens of the ended run's own requests, without those of sub-agents.",
  ),
  costUsd: costUsd.optional(),
  durationMs: count
    .optional()
    .describe(
      "The milliseconds that the ended run's loops took, without the waits for prompts between them.",
    ),
  loopId: z.string().optional().describe("The newest loop."),
  outcome: Outcome.optional().describe("How the newest loop ended."),
};

const pendingCall = {
  toolCallId,
  tool,
  summary,
  reason: z.string().describe("Why it needs an approval."),
  sinceMs: unixMs,
  untilMs: unixMs.optional().describe("When it is denied if nobody answers, in Unix milliseconds."),
  grantDescriptions: z
    .array(z.string())
    .optional()
    .describe("What `always` would cover from then on, one phrase each."),
};

const PendingStep = z.looseObject({
  type: z.string().describe("`call-model`, or a tool's name."),
  id: z.string().describe("Temporal's id of the step, unique within its run."),
  attempt: count.describe("From 1."),
  maxAttempts: count.optional().describe("The maximum number of attempts; absent if there is none."),
  state: z
    .enum(["scheduled", "started", "cancel-requested", "paused", "unknown"])
    .describe("What Temporal's server says of it; `scheduled` waits for a worker or for its next attempt."),
  lastFailure: z.string().optional().describe("The message of the last failed attempt."),
  nextAttemptAt: timestamp.optional().describe("When the next attempt is due."),
  startedAt: timestamp.optional().describe("When the newest attempt began."),
  wait: z
    .looseObject({ type: z.string().describe("The kind of wait.") })
    .optional()
    .describe("What it waits for before it asks a vendor."),
  worker: z.string().optional().describe("The worker process that runs it."),
});

const details = z.looseObject({}).optional();

export const SessionStatus = z.looseObject({
  session,
  status,
  source: z
    .enum(["run", "server", "transcript"])
    .describe(
      "Where the status comes from: the run itself, the server's description of it, or the transcript alone.",
    ),
  open,
  runId: runId
    .optional()
    .describe("The run that the status is about; absent if only the transcript knows the session."),
  startedAt: timestamp.optional().describe("When the run began."),
  closedAt: timestamp.optional().describe("When the run ended."),
  title: title.optional(),
  agent: agent.optional(),
  model: model.optional(),
  sandbox: SandboxMode.optional().describe("The sandbox of the processes of its tools."),
  statusText: z.string().optional().describe("What the run is doing."),
  goal: z.string().optional().describe("The beginning of the first prompt."),
  lastText: z.string().optional().describe("The beginning of the newest answer."),
  ...totals,
  pending: z.array(PendingStep).describe("Steps that the run waits for."),
  approvals: z.array(z.looseObject(pendingCall)).optional().describe("The session's own calls that wait."),
  waitingBelow: count.optional().describe("The number of pending calls of agents below it."),
  retryingBelow: z.array(PendingStep).optional().describe("Steps below it that are being retried."),
  running: z
    .array(z.looseObject({ toolCallId, tool, summary, sinceMs: unixMs }))
    .optional()
    .describe("The calls that run."),
  queued: z
    .looseObject({
      steering: count.describe("The number of steering messages."),
      followUps: count.describe("The number of follow-ups."),
      bytes: count.optional().describe("The size of all of them, in bytes."),
    })
    .optional()
    .describe("The messages that wait for a turn."),
  rejectedMessages: details.describe("Messages for which the queues had no room."),
  contextTokens: count.optional().describe("The estimated tokens of the next request."),
  definitionHash: z.string().optional().describe("The hash of the agent's definition."),
  pendingDefinitionHash: z
    .string()
    .optional()
    .describe("The hash of the definition to which it is updated before its next turn."),
  ruleSet: count.optional().describe("The rule set of the run; a job has none."),
  budget: details.describe("What the loop and its sub-agents have used, reserved and left."),
  children: details.describe("The sub-agents."),
  job: details.describe("The parts of a job."),
  strategy: z.string().optional().describe("The strategy of an evaluation."),
  branches: z.array(z.looseObject({})).optional().describe("The branches of an evaluation."),
  judge: details.describe("The judge of an evaluation."),
  decision: details.describe("The choice of an evaluation."),
});

export const SessionList = z.looseObject({
  sessions: z
    .array(
      z.looseObject({
        session,
        status,
        source: z.enum(["server", "transcript"]).describe("Where the status comes from."),
        title: title.optional(),
        agent: agent.optional(),
        model: model.optional(),
        createdAt: timestamp.describe("When the session was created."),
        lastActiveAt: timestamp.describe("When the session last changed."),
        loops: count
          .optional()
          .describe("The number of loops; absent if the transcript of the server does not have the session."),
        turns: count.optional().describe("The turns of all recorded loops."),
        costUsd,
        scope: z
          .enum(["ephemeral", "persistent"])
          .optional()
          .describe("Whether retention policies may delete it; `persistent` sessions stay."),
        calledBy: z.string().optional().describe("The session of the calling agent."),
        root: z.string().optional().describe("The session at the root of its tree."),
      }),
    )
    .describe("The most recently active first."),
});

export const StoredTitle = z.looseObject({ session, title });

export const StartedRun = z.looseObject({ session, runId });

export const DeletedSessions = z.looseObject({
  session,
  sessions: z.array(z.string()).describe("The session and those of the agents below it."),
  histories: count.describe("The number of runs whose history the server deletes."),
});

export const MessagePage = z.looseObject({
  messages: z.array(Entry).describe("The messages, in order."),
  next: count.nullable().describe("The value of `from` for the next page; `null` on the last one."),
});

export const SentPrompt = z.looseObject({ session, messageId, runId: runId.optional() });

export const SentMessage = z.looseObject({
  ...SentPrompt.shape,
  delivery: z
    .enum(["opened", "continued", "prompted", "steered", "followed-up"])
    .describe("How the message was delivered."),
});

export const QueuedMessage = z.looseObject({
  session,
  open,
  messageId,
  queued: count.optional().describe("The number of waiting messages, if a run has acknowledged this one."),
});

export const StoppedRun = z.looseObject({ session, open: z.boolean().describe("Whether a run was open.") });

const BranchPosition = z.looseObject({
  branch,
  position: count.describe("The number of messages before it."),
});

const workspace = z
  .string()
  .optional()
  .describe("The folder of the session's agent. Its files do not change.");

export const ForkedBranch = z.looseObject({
  session: z.string().describe("The session of the branch: a new one with `as`."),
  branch,
  from: BranchPosition.extend({ session }).describe("Where the branch begins."),
  workspace,
});

export const RewoundSession = z.looseObject({
  session,
  head: BranchPosition.describe("Where the next run begins."),
  previousHead: BranchPosition.describe("Where it would have begun."),
  loopId: z.string().optional().describe("The last loop before the head."),
  workspace,
});

export const CompactedSession = z.looseObject({
  session,
  by: z
    .enum(["open-run", "own-loop", "removal"])
    .describe(
      "`open-run`: the open run compacts before its next answer. `own-loop`: a run was started for it. `removal`: the " +
        "compaction was removed.",
    ),
  runId: z.string().optional().describe("The run that compacts the idle session."),
  loopId: z.string().optional().describe("The loop of the record that removed the compaction."),
});

export const PendingCalls = z.looseObject({
  approvals: z
    .array(
      z.looseObject({
        ...pendingCall,
        session,
        path: z.array(z.string()).describe("The names of the agents on the path down to it."),
        arguments: z.unknown().optional().describe("As the model sent them."),
        question: z
          .looseObject({
            type: z.enum(["form", "url"]).describe("`form` asks for values, `url` to open an address."),
            message: z.string().describe("What is asked, for people."),
          })
          .optional()
          .describe("The question of the call's tool."),
        workspace: z.string().optional().describe("The folder that the call's paths are relative to."),
      }),
    )
    .describe("The calls that wait, those of agents below the session included."),
});

export const AnsweredCall = z.looseObject({
  session,
  toolCallId,
  tool,
  waiting: count.describe("The number of calls that still wait."),
});

/** The last event of a stream. */
export const StreamResult = z.looseObject({ type: z.literal("result"), session, status, ...totals });

export const ChatHistory = z.looseObject({
  id: z.string().describe("The chat's id, which is the session's."),
  messages: z
    .array(
      z.looseObject({
        id: z.string().describe("The id of the message."),
        role: z.enum(["user", "assistant"]).describe("Who wrote the message."),
        parts: z
          .array(
            z.looseObject({ type: z.string().describe("The kind of the part, in the words of the AI SDK.") }),
          )
          .describe("The parts of the message, in order."),
      }),
    )
    .describe("UI messages of the AI SDK."),
});

export const Health = z.looseObject({ ok: z.literal(true) });

export const OpenApiDocument = z.looseObject({ openapi: z.string().describe("The version of OpenAPI.") });

export const CodecPayloads = z.looseObject({
  payloads: z
    .array(
      z.looseObject({
        metadata: z.record(z.string(), z.string()).nullish().describe("Base64."),
        data: z.string().nullish().describe("Base64."),
      }),
    )
    .describe("Temporal payloads, in the order of the request."),
});
