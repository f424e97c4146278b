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

// The shapes of what each workflow may be started with.

/** Ignores invalid messages, as in a signal. Rejects only values that no code can read. */
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
    redactContent: optional(flag),
    title: optional(oneOf("details", "attribute")),
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
  followUps: optional(list(message)),
  definition: optional(object),
  definitionHash: optional(text),
  continuation: optional(continuation),
  task: optional(
    fields({
      spawn,
      branch: text,
      answer: count,
      changedArguments: optional(object),
      summary: text,
      allocation: allowance,
      maxTurns: optional(number),
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
  title: optional(filledText),
  idleTimeoutMs: optional(amount),
  settings,
});

const evaluation = fields({
  prompt: looseMessage,
  prompts: optional(list(nullable(looseMessage))),
  // The step that opens the evaluation checks the plan itself, and reports all of its problems.
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

const suiteState = oneOf("running", "paused", "stopping");
const suite = fields({
  control: fields({ state: suiteState, concurrency: number, maxCostUsd: amount }),
  settings,
});
const suiteShard = fields({
  run: filledText,
  kind: oneOf("answer", "agent"),
  after: number,
  to: number,
  concurrency: number,
  nanoUsd: amount,
  state: suiteState,
  settings,
});

const retention = fields({ policy: object, dryRun: optional(flag) });
const wakeJob = fields({ job: filledText, message: looseMessage });

const REQUESTS = {
  run,
  evaluation,
  pipeline,
  fanOut,
  autonomous,
  supervisor,
  suite,
  suiteShard,
  retention,
  wakeJob,
};

/** Fields that only a run itself sets, when it continues as new. */
const OWN_FIELDS = ["resume", "carried", "cursor", "done"] as const;

/**
 * Rejects invalid input of a workflow. The input of a continued run is Holdfast's own and is not checked.
 *
 * @throws A failure that ends the run and describes the problem.
 */
export function checkRequest(request: unknown, type: keyof typeof REQUESTS): void {
  const what = type === "run" ? "The run" : type === "evaluation" ? "The evaluation" : "The job";
  if (request === UNREADABLE) throw buildInvalidRequest(`${what} cannot begin: its input cannot be read`);
  if (workflowInfo().continuedFromExecutionRunId !== undefined) return;
  checkShape(request, REQUESTS[type], what);
  // A pipeline has a `resume` field of its own.
  const foreign = OWN_FIELDS.find(
    (field) => !(type === "pipeline" && field === "resume") && Object.hasOwn(request as object, field),
  );
  if (foreign !== undefined) {
    throw buildInvalidRequest(
      `${what} cannot begin: the field \`${foreign}\` is reserved for continue-as-new; start it without this field`,
    );
  }
}
