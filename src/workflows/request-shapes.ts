import { workflowInfo } from "@temporalio/workflow";
import { LIMIT_NAMES } from "../core/budget/limits.ts";
import { UNREADABLE } from "./payload-converter.ts";
import { isMessageInput } from "./run-input.ts";
import {
  anything,
  buildInvalidRequest,
  checkShape,
  count,
  fields,
  filledText,
  flag,
  list,
  nullable,
  number,
  object,
  oneOf,
  optional,
  type Shape,
  text,
} from "./shape.ts";

// What each workflow may be started with.

/** Words that make no sense are ignored, as in a signal: only values that no code can read are refused. */
const looseMessage: Shape = (value, path) =>
  value === undefined || value === null || typeof value === "string" || object(value, path) === undefined
    ? undefined
    : `${path}: must be a text, or an object with \`text\` or \`ref\``;

const message: Shape = (value, path) =>
  isMessageInput(value) ? undefined : `${path}: must be a text, or an object with \`text\` or \`ref\``;

const settings = optional(
  fields({
    localSteps: optional(flag),
    searchAttributes: optional(flag),
    rotateAfterEvents: optional(number),
    words: optional(oneOf("shown", "none")),
  }),
);

const amount = nullable(number);
const allowance = fields({
  turns: amount,
  tokens: amount,
  nanoUsd: amount,
  children: amount,
  deadlineMs: amount,
  depth: number,
});

const spawn = fields({
  session: text,
  loopId: text,
  turn: count,
  toolCallId: text,
  toolName: text,
});

const branchPosition = fields({ branch: text, position: optional(count) });

const limits = optional(fields(Object.fromEntries(LIMIT_NAMES.map((name) => [name, optional(amount)]))));

const continuation = fields({
  kind: fields({ type: oneOf("default", "rerun", "branch", "compaction"), tag: optional(text) }),
  focus: optional(text),
  at: optional(branchPosition),
  limits,
});

const run = fields({
  prompt: looseMessage,
  definition: optional(object),
  definitionHash: optional(text),
  continuation: optional(continuation),
  task: optional(
    fields({
      spawn,
      branch: text,
      answer: count,
      arguments: optional(object),
      summary: text,
      given: allowance,
    }),
  ),
  share: optional(allowance),
  within: optional(
    fields({
      session: filledText,
      evaluation: text,
      number: count,
      at: fields({ branch: text, position: count }),
      parentLoopId: optional(text),
    }),
  ),
  mode: optional(oneOf("run", "interactive")),
  idleTimeoutMs: optional(amount),
  settings,
});

const evaluation = fields({
  prompt: looseMessage,
  prompts: optional(list(nullable(looseMessage))),
  // The plan itself is checked where it is opened, with all that is wrong with it.
  agents: optional(list(anything)),
  at: optional(branchPosition),
  settings,
});

const part = { agent: text, definitionHash: text };
const job = { limits, settings };

const pipeline = fields({
  ...job,
  task: message,
  stages: list(fields({ ...part, name: filledText, prompt: optional(text), input: optional(object) }), 1),
  resume: optional(fields({ from: optional(text) })),
});

const fanOut = fields({
  ...job,
  task: looseMessage,
  parts: list(fields({ ...part, task: message }), 1),
  concurrency: optional(number),
  reducer: optional(text),
});

const autonomous = fields({
  ...job,
  ...part,
  task: message,
  maxIdleRounds: optional(number),
  maxRounds: optional(amount),
});

const supervisor = fields({
  ...job,
  task: message,
  lead: text,
  agents: list(fields({ name: filledText, description: optional(text), definitionHash: text }), 1),
  maxAgents: optional(number),
});

const retention = fields({ policy: object, dryRun: optional(flag) });
const wakeJob = fields({ job: filledText, words: looseMessage });

const REQUESTS = { run, evaluation, pipeline, fanOut, autonomous, supervisor, retention, wakeJob };

/** What only a run of its own leaves, when it continues as new. */
const OWN_FIELDS = ["resume", "carried", "cursor", "done"] as const;

/**
 * Refuses what a workflow cannot be started with. What it continues as new with is its own, and is not looked at.
 *
 * @throws A failure that ends the run, and says what is wrong.
 */
export function checkRequest(request: unknown, type: keyof typeof REQUESTS): void {
  const what = type === "run" ? "The run" : type === "evaluation" ? "The evaluation" : "The job";
  if (request === UNREADABLE)
    throw buildInvalidRequest(`${what} cannot begin: what it was started with cannot be read`);
  if (workflowInfo().continuedFromExecutionRunId !== undefined) return;
  checkShape(request, REQUESTS[type], what);
  // A pipeline has a `resume` of its own.
  const foreign = OWN_FIELDS.find(
    (field) => !(type === "pipeline" && field === "resume") && Object.hasOwn(request as object, field),
  );
  if (foreign !== undefined) {
    throw buildInvalidRequest(
      `${what} cannot begin: \`${foreign}\` is what it leaves for itself when it continues as new`,
    );
  }
}
