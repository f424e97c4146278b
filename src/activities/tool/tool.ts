import { Context } from "@temporalio/activity";
import type { ToolDigest } from "../../core/machine/state/digest.ts";
import type { ToolCallContent } from "../../schema/message.ts";
import type { Claimed, Step } from "../../store/transcript/step.ts";
import type { Tool, ViewTool } from "../../tools/tool.ts";
import type { ToolInput } from "../activities.ts";
import type { Dependencies } from "../dependencies.ts";
import { toolCalled } from "../model/offered-tools.ts";
import { timeLimitOf } from "../open-loop/pinned.ts";
import { watchOffers } from "../open-loop/watch-offers.ts";
import { asFailure, DefinitionError } from "../step/failure.ts";
import { beating } from "../step/heartbeat.ts";
import { liveOutput } from "../step/live.ts";
import { until } from "../step/patient-transcript.ts";
import { currentStep, idempotencyKey } from "../step/step.ts";
import { type Made, store, storedStep } from "../step/stored-step.ts";
import { execute } from "./execute.ts";
import { told } from "./execution.ts";
import { fetchSecrets, secretsOf } from "./known-secrets.ts";
import { maskedOutput, outputMask } from "./live-mask.ts";
import { endLost, giveWay, hasDied, unknownOutcome } from "./lost-execution.ts";
import { type OwnClaim, openOwnClaim } from "./own-claims.ts";
import { keepQuestion } from "./person-asked.ts";
import { restIn } from "./rest.ts";
import { callTeam } from "./team-call.ts";
import { callIn, toolResult } from "./tool-result.ts";
import { hookedUpdates } from "./tool-updates.ts";
import { answerViewCall, type ViewAnswer } from "./view-call.ts";

/**
 * Runs one tool call by the table of design 3.5: the claim is written before the start, what a lost execution has
 * left running is ended before anything else, and an `unsafe` tool never starts twice.
 */
export async function callTool(input: ToolInput, dependencies: Dependencies): Promise<ToolDigest> {
  const { info } = Context.current();
  try {
    return await beating(
      () => undefined,
      async () => {
        const definition = await dependencies.definitions.byHash(input.definitionHash);
        const tool = toolCalled(info.activityType, definition, dependencies.tools);
        // A quick tool only reads: there is nothing to take over from a lost execution, hence no claim.
        if (info.isLocal && tool?.replay === "pure") return await readOnly(tool, input, dependencies);
        return await claimed(tool, input, dependencies);
      },
    );
  } catch (error) {
    throw asFailure(error);
  }
}

async function readOnly(tool: Tool, input: ToolInput, dependencies: Dependencies): Promise<ToolDigest> {
  const step = currentStep(input, dependencies.process);
  const call = await callOf(input, dependencies);
  const made = await resultOf(
    input,
    call,
    await run(tool, call, input, undefined, dependencies),
    dependencies,
  );
  return await store(step, input, made, dependencies);
}

async function claimed(
  tool: Tool | undefined,
  input: ToolInput,
  dependencies: Dependencies,
): Promise<ToolDigest> {
  const { cancellationSignal: signal } = Context.current();
  const step = currentStep(input, dependencies.process);
  const isUnsafe = (tool?.replay ?? "unsafe") === "unsafe";
  const own = openOwnClaim(step);
  // Only a command that was given out again may have a holder.
  if (step.generation > 0 && isUnsafe) await giveWay(step, own, dependencies.transcript, signal);
  try {
    const digest = await storedStep(step, input, dependencies, async (claim) => {
      const call = await callOf({ ...input, branch: claim.branch }, dependencies);
      const answer = await afterClaim(tool, call, claim, own, input, dependencies);
      return await resultOf(input, call, answer, dependencies);
    });
    own.settle();
    return digest;
  } catch (error) {
    if (!own.hasBegun) giveBack(step, dependencies);
    throw error;
  } finally {
    own.leave();
  }
}

/** How long a step that was not begun is tried to be given back when the store is away. */
const GIVE_BACK_MS = 60_000;

/** Nobody who takes over is to believe that the call began. Nothing waits for it: the step itself is over. */
function giveBack(step: Step, { transcript }: Dependencies): void {
  const released = until(AbortSignal.timeout(GIVE_BACK_MS), () => transcript.release(step));
  // Who has no claim has nothing to give back.
  void released.catch(() => undefined);
}

async function afterClaim(
  tool: Tool | undefined,
  call: ToolCallContent,
  claim: Extract<Claimed, { type: "claimed" }>,
  own: OwnClaim,
  input: ToolInput,
  dependencies: Dependencies,
): Promise<ViewAnswer> {
  const step = currentStep(input, dependencies.process);
  const displaced = [...(claim.lostBefore ?? []), ...(claim.lost === undefined ? [] : [claim.lost])];
  for (const lost of own.lost(displaced).toReversed()) {
    const ended = await endLost(lost, idempotencyKey(step), dependencies);
    if ((tool?.replay ?? "unsafe") === "unsafe") {
      const died = await hasDied(lost.process, dependencies.transcript);
      const printed = await dependencies.hub.published({
        session: step.session,
        run: step.run,
        command: step.number,
        call: step.call,
      });
      return unknownOutcome(lost, died, ended, printed);
    }
  }
  if (tool === undefined) {
    return told(`Failed: this worker has no tool named ${call.name}`);
  }
  return await run(tool, call, input, own, dependencies);
}

async function run(
  tool: Tool,
  call: ToolCallContent,
  input: ToolInput,
  own: OwnClaim | undefined,
  dependencies: Dependencies,
): Promise<ViewAnswer> {
  if (tool.kind === "view") return await ofView(tool, call, input, dependencies);
  const definition = await dependencies.definitions.byHash(input.definitionHash);
  const step = currentStep(input, dependencies.process);
  if (tool.kind === "team") {
    const { transcript } = dependencies;
    own?.begin();
    return await callTeam(tool, call, {
      step,
      transcript,
      signal: Context.current().cancellationSignal,
      timeoutMs: timeLimitOf(tool, definition),
      words: input.words,
    });
  }
  if (tool.kind === "agent") return told(`Failed: ${tool.name} is an agent: it is run, not executed`);
  watchOffers(definition, input, dependencies);
  await fetchSecrets(definition, dependencies.secrets, dependencies.log);
  const secrets = secretsOf(definition, dependencies.secrets);
  const hidesKeys = definition.redact?.toolOutput === true;
  const live = maskedOutput(liveOutput(dependencies.hub, step, input), secrets, hidesKeys);
  const execution = execute(tool, call, {
    step,
    workspace: definition.workspace ?? dependencies.defaultWorkspace,
    loopId: input.loopId,
    timeoutMs: timeLimitOf(tool, definition),
    publish: live.publish,
    updates: (show) =>
      hookedUpdates(show, { id: call.id, name: tool.name }, input, step, definition, dependencies),
    claim: own === undefined ? undefined : dependencies.transcript,
    begin: () => own?.begin(),
    questions: input.questions ?? [],
    signal: Context.current().cancellationSignal,
    log: dependencies.log,
    mask: outputMask(secrets, hidesKeys),
  });
  return await execution.finally(live.end);
}

/** A call about the view itself. An earlier execution has changed nothing, and would have answered the same. */
async function ofView(
  tool: ViewTool,
  call: ToolCallContent,
  input: ToolInput,
  dependencies: Dependencies,
): Promise<ViewAnswer> {
  if (input.view === undefined) throw new DefinitionError(`The call of ${tool.name} came without a view`);
  const { session } = currentStep(input, dependencies.process);
  const { arguments: _, ...asWritten } = input;
  const written = await callOf(asWritten, dependencies);
  const entries = await dependencies.conversations.before(session, input.branch, input.answer);
  return answerViewCall({ tool, call, written, answer: input.answer, atHand: input.view, entries });
}

async function resultOf(
  input: ToolInput,
  call: ToolCallContent,
  { request, ...execution }: ViewAnswer,
  { definitions, secrets, tools, transcript, process }: Dependencies,
): Promise<Made<ToolDigest>> {
  if (execution.asks !== undefined) {
    const { session } = currentStep(input, process);
    const asks = await keepQuestion(session, execution.asks, transcript, Date.now());
    return { result: { branch: "", isError: false, tokens: 0, preview: "", asks }, entries: [] };
  }
  const definition = await definitions.byHash(input.definitionHash);
  const tool = toolCalled(Context.current().info.activityType, definition, tools);
  const { message, digest } = toolResult(call, execution, {
    turnId: { loopId: input.loopId, turnIndex: input.turn },
    mask: outputMask(secretsOf(definition, secrets), definition.redact?.toolOutput === true),
    atMs: Date.now(),
  });
  const rest = execution.isError ? undefined : restIn(call, tool);
  return {
    result: {
      ...digest,
      ...(request === undefined ? {} : { request }),
      ...(rest === undefined ? {} : { rest }),
    },
    entries: [{ position: input.position, origin: "tool", message }],
  };
}

/** The call with its arguments, from the answer in the transcript. */
async function callOf(input: ToolInput, { conversations, process }: Dependencies): Promise<ToolCallContent> {
  const { session } = currentStep(input, process);
  const answer = await conversations.message(session, input.branch, input.answer);
  const call = callIn(answer, input.call, input.arguments);
  if (call === undefined) {
    throw new DefinitionError(
      `The transcript holds no call ${input.call} at position ${input.answer} of ${input.branch}`,
    );
  }
  return call;
}
