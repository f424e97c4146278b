import { Context } from "@temporalio/activity";
import type { ToolDigest } from "../core/digest.ts";
import { estimateMessage } from "../core/estimate.ts";
import { truncateForPreview } from "../core/preview.ts";
import { redact } from "../core/redact.ts";
import { maskFor } from "../providers/mask.ts";
import { secretsIn } from "../providers/secrets.ts";
import type { ToolCallContent, ToolResultMessage } from "../schema/message.ts";
import type { Tool, ToolOutput } from "../tools/tool.ts";
import type { Claimed } from "../transcript/transcript.ts";
import type { ToolInput } from "./activities.ts";
import type { unload } from "./cargo.ts";
import { claimStep } from "./claim-step.ts";
import type { Dependencies } from "./dependencies.ts";
import { type Execution, execute } from "./execute.ts";
import { asFailure, DefinitionError } from "./failure.ts";
import { beating } from "./heartbeat.ts";
import { announceEvents, liveOutput } from "./live.ts";
import { endLost, unknownOutcome } from "./lost-execution.ts";
import { timeLimitOf } from "./open-loop.ts";
import { patiently } from "./patience.ts";
import { presentable } from "./presentable.ts";
import { currentStep, idempotencyKey } from "./step.ts";

const PREVIEW_BYTES = 256;

const NOTHING = { entries: [], events: [] } as const;

/**
 * Runs one tool call by the table of design 3.5: the claim is written before the start, what a lost execution has
 * left running is ended before anything else, and an `unsafe` tool never starts twice.
 */
export async function callTool(input: ToolInput, dependencies: Dependencies): Promise<ToolDigest> {
  const { info } = Context.current();
  try {
    const tool = dependencies.tools.get(info.activityType);
    // A quick tool only reads: there is nothing to take over from a lost execution, hence no claim.
    if (info.isLocal && tool?.replay === "pure") return await readOnly(tool, input, dependencies);
    return await beating(
      () => undefined,
      () => claimed(tool, input, dependencies),
    );
  } catch (error) {
    throw asFailure(error);
  }
}

async function readOnly(tool: Tool, input: ToolInput, dependencies: Dependencies): Promise<ToolDigest> {
  const call = await callOf(input, dependencies);
  const execution = await run(tool, call, input, false, dependencies);
  return await store(input, call, execution, NOTHING, input.branch, dependencies);
}

async function claimed(
  tool: Tool | undefined,
  input: ToolInput,
  dependencies: Dependencies,
): Promise<ToolDigest> {
  const { cancellationSignal: signal } = Context.current();
  const step = currentStep(input, dependencies.process);
  const claim = await claimStep(step, input, dependencies, signal);
  if (claim.type === "stored") return { ...(claim.result as ToolDigest), branch: claim.branch };

  const call = await callOf({ ...input, branch: claim.branch }, dependencies);
  const execution = await afterClaim(tool, call, claim, input, dependencies);
  return await store(input, call, execution, NOTHING, claim.branch, dependencies);
}

async function afterClaim(
  tool: Tool | undefined,
  call: ToolCallContent,
  claim: Extract<Claimed, { type: "claimed" }>,
  input: ToolInput,
  dependencies: Dependencies,
): Promise<Execution> {
  const step = currentStep(input, dependencies.process);
  if (claim.lost !== undefined) {
    const ended = await endLost(claim.lost, idempotencyKey(step), dependencies);
    if ((tool?.replay ?? "unsafe") === "unsafe") {
      const printed = await dependencies.hub.published({
        session: step.session,
        run: step.run,
        command: step.number,
        call: step.call,
      });
      return unknownOutcome(claim.lost, ended, printed);
    }
  }
  if (tool === undefined) {
    return {
      output: text(`Failed: this worker has no tool named ${call.name}`),
      isError: true,
      outcomeUnknown: false,
    };
  }
  return await run(tool, call, input, true, dependencies);
}

async function run(
  tool: Tool,
  call: ToolCallContent,
  input: ToolInput,
  hasClaim: boolean,
  dependencies: Dependencies,
): Promise<Execution> {
  const definition = await dependencies.definitions.byHash(input.definitionHash);
  const step = currentStep(input, dependencies.process);
  const publish = liveOutput(dependencies.hub, step, input);
  return await execute(tool, call, {
    step,
    workspace: definition.workspace ?? dependencies.defaultWorkspace,
    timeoutMs: timeLimitOf(tool, definition),
    publish,
    claim: hasClaim ? dependencies.transcript : undefined,
    signal: Context.current().cancellationSignal,
    log: dependencies.log,
  });
}

async function store(
  input: ToolInput,
  call: ToolCallContent,
  { output: said, isError, outcomeUnknown }: Execution,
  outbox: Awaited<ReturnType<typeof unload>>,
  branch: string,
  dependencies: Dependencies,
): Promise<ToolDigest> {
  const { transcript, hub, log } = dependencies;
  const step = currentStep(input, dependencies.process);
  const definition = await dependencies.definitions.byHash(input.definitionHash);
  const output = presentable(said, maskFor(secretsIn(definition.model, dependencies.secrets)));
  const child = output.childLoopId === undefined ? {} : { childLoopId: output.childLoopId };
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: [...output.content],
    isError,
    ...(output.details === undefined ? {} : { details: output.details }),
    ...child,
    timestamp: Date.now(),
    turnId: { loopId: input.loopId, turnIndex: input.turn },
  };
  const shown = output.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  const digest: ToolDigest = {
    branch: "",
    isError,
    tokens: estimateMessage(message),
    preview: truncateForPreview(redact(truncateForPreview(shown, 4 * PREVIEW_BYTES)), PREVIEW_BYTES),
    ...(outcomeUnknown ? { outcomeUnknown } : {}),
    ...child,
  };
  const stored = await patiently(
    () =>
      transcript.store({
        step,
        loopId: input.loopId,
        branch,
        base: input.base,
        atMs: Date.now(),
        outbox,
        entries: [{ position: input.position, origin: "tool", message }],
        result: digest,
      }),
    Context.current().cancellationSignal,
    log,
  );
  announceEvents(hub, step, input.loopId, input.turn, outbox.events);
  return { ...(stored.result as ToolDigest), branch: stored.branch };
}

/** The call with its arguments, from the answer in the transcript. */
async function callOf(input: ToolInput, { conversations }: Dependencies): Promise<ToolCallContent> {
  const session = Context.current().info.workflowExecution?.workflowId ?? "";
  const answer = await conversations.message(session, input.branch, input.answer);
  const calls = answer?.role === "assistant" ? answer.content.filter((part) => part.type === "toolCall") : [];
  const call = calls[input.call];
  if (call === undefined) {
    throw new DefinitionError(
      `The transcript holds no call ${input.call} at position ${input.answer} of ${input.branch}`,
    );
  }
  return input.arguments === undefined ? call : { ...call, arguments: { ...input.arguments } };
}

function text(words: string): ToolOutput {
  return { content: [{ type: "text", text: words }] };
}
