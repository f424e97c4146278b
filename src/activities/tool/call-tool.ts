import { Context } from "@temporalio/activity";
import type { ToolDigest } from "../../core/machine/state/digest.ts";
import { asFields } from "../../platform/text/json.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { ToolCallContent } from "../../schema/message.ts";
import type { ClaimResult, Step } from "../../store/transcript/step.ts";
import type { Tool, ViewTool } from "../../tools/tool.ts";
import type { ToolInput } from "../activity-types.ts";
import type { Dependencies } from "../dependencies.ts";
import { findTool } from "../model/available-tools.ts";
import { getTimeLimit } from "../open-loop/pinned-digest.ts";
import { watchToolLists } from "../open-loop/watch-tool-lists.ts";
import { retryUntil } from "../step/activity-transcript.ts";
import { DefinitionError, toFailure } from "../step/failure.ts";
import { assertNotStalled, withHeartbeat } from "../step/heartbeat.ts";
import { withLiveOutput } from "../step/live-output.ts";
import { buildIdempotencyKey, getCurrentStep } from "../step/step.ts";
import { runStoredStep, type StepResult, storeStep } from "../step/stored-step.ts";
import { getToolSandbox, openGrantedSandbox } from "./call-sandbox.ts";
import { createCallSignal } from "./call-signal.ts";
import { fetchSecrets, listDefinitionSecrets } from "./definition-secrets.ts";
import { listEarlierResults } from "./earlier-results.ts";
import { execute } from "./execute.ts";
import { buildErrorExecution } from "./execution.ts";
import { createMaskedOutput, createOutputMask } from "./live-mask.ts";
import { buildUnknownOutcome, isDead, terminateLost, yieldToHolder } from "./lost-execution.ts";
import { parseNextRound } from "./next-round.ts";
import { type OwnClaim, openOwnClaim } from "./own-claims.ts";
import { loadTextFiles } from "./read-full.ts";
import { findSkillFolders } from "./skill-folders.ts";
import { callTeam } from "./team-call.ts";
import { buildToolResult, findCall } from "./tool-result.ts";
import { createHookedUpdates } from "./tool-updates.ts";
import { storeQuestion } from "./user-questions.ts";
import { answerViewCall, type ViewAnswer } from "./view-call.ts";

/**
 * Runs one tool call by the table of design 3.5: the claim is written before the start, processes of a lost execution
 * are terminated before anything else, and an `unsafe` tool never starts twice.
 */
export async function callTool(input: ToolInput, dependencies: Dependencies): Promise<ToolDigest> {
  const { info } = Context.current();
  try {
    return await withHeartbeat(
      () => undefined,
      async () => {
        const definition = await dependencies.definitions.read(input.definitionHash);
        const tool = findTool(getToolName(input), definition, dependencies.tools);
        // A quick tool only reads: there is nothing to take over from a lost execution, so it needs no claim.
        if (info.isLocal && tool?.replay === "pure") return await runReader(tool, input, dependencies);
        return await runClaimed(tool, input, dependencies);
      },
    );
  } catch (error) {
    throw toFailure(error);
  }
}

function getToolName({ tool }: ToolInput): string {
  return tool ?? Context.current().info.activityType;
}

async function runReader(tool: Tool, input: ToolInput, dependencies: Dependencies): Promise<ToolDigest> {
  const step = getCurrentStep(input, dependencies.process);
  const call = await readCall(input, dependencies);
  const answer = await runTool(tool, call, input, undefined, dependencies);
  const made = await buildStepResult(input, call, answer, dependencies);
  return await storeStep(step, input, made, dependencies);
}

async function runClaimed(
  tool: Tool | undefined,
  input: ToolInput,
  dependencies: Dependencies,
): Promise<ToolDigest> {
  const { cancellationSignal: signal } = Context.current();
  const step = getCurrentStep(input, dependencies.process);
  const isUnsafe = (tool?.replay ?? "unsafe") === "unsafe";
  const own = openOwnClaim(step);
  // Only a command that was dispatched again may have a holder.
  if (step.generation > 0 && isUnsafe) await yieldToHolder(step, own, dependencies.transcript, signal);
  try {
    const digest = await runStoredStep(step, input, dependencies, async (claim) => {
      const call = await readCall({ ...input, branch: claim.branch }, dependencies);
      const answer = await runAfterClaim(tool, call, claim, own, input, dependencies);
      return await buildStepResult(input, call, answer, dependencies);
    });
    own.settle();
    return digest;
  } catch (error) {
    if (!own.hasBegun) releaseStep(step, dependencies);
    throw error;
  } finally {
    own.release();
  }
}

/** How long the release of a step that has not begun is retried when the store is unavailable. */
const RELEASE_TIMEOUT_MS = 60_000;

/**
 * Releases a step, so that a worker that takes over knows that the call has not begun. Nothing waits for the release,
 * because the step itself has ended.
 */
function releaseStep(step: Step, { transcript }: Dependencies): void {
  const released = retryUntil(AbortSignal.timeout(RELEASE_TIMEOUT_MS), () => transcript.release(step));
  // Without a claim there is nothing to release.
  void released.catch(() => undefined);
}

async function runAfterClaim(
  tool: Tool | undefined,
  call: ToolCallContent,
  claim: Extract<ClaimResult, { type: "claimed" }>,
  own: OwnClaim,
  input: ToolInput,
  dependencies: Dependencies,
): Promise<ViewAnswer> {
  const step = getCurrentStep(input, dependencies.process);
  const displaced = [
    ...(claim.earlierLostExecutions ?? []),
    ...(claim.lostExecution === undefined ? [] : [claim.lostExecution]),
  ];
  for (const lost of own.filterLost(displaced).toReversed()) {
    const ended = await terminateLost(lost, buildIdempotencyKey(step), dependencies);
    if ((tool?.replay ?? "unsafe") === "unsafe") {
      const died = await isDead(lost.process, dependencies.transcript);
      const printed = await dependencies.hub.readPublished({
        session: step.session,
        run: step.run,
        command: step.number,
        call: step.call,
      });
      return buildUnknownOutcome(lost, died, ended, printed);
    }
  }
  if (tool === undefined) {
    return buildErrorExecution(`Failed: this worker has no tool named ${call.name}`);
  }
  return await runTool(tool, call, input, own, dependencies);
}

async function runTool(
  tool: Tool,
  call: ToolCallContent,
  input: ToolInput,
  own: OwnClaim | undefined,
  dependencies: Dependencies,
): Promise<ViewAnswer> {
  if (tool.kind === "view") return await runViewTool(tool, call, input, dependencies);
  const definition = await dependencies.definitions.read(input.definitionHash);
  const step = getCurrentStep(input, dependencies.process);
  const begin = () => {
    assertNotStalled();
    own?.begin();
  };
  if (tool.kind === "team") {
    const { transcript } = dependencies;
    begin();
    return await callTeam(tool, call, {
      step,
      transcript,
      signal: Context.current().cancellationSignal,
      timeoutMs: getTimeLimit(tool, definition),
      redactContent: input.redactContent,
    });
  }
  if (tool.kind === "agent")
    return buildErrorExecution(`Failed: ${tool.name} is a sub-agent and cannot be executed as a tool`);
  watchToolLists(definition, input, dependencies);
  await fetchSecrets(definition, dependencies.secrets, dependencies.log);
  const secrets = listDefinitionSecrets(definition, dependencies.secrets);
  const hidesKeys = definition.redact?.toolOutput === true;
  return await withLiveOutput(dependencies.hub, step, input, async (publish) => {
    const live = createMaskedOutput(publish, secrets, hidesKeys);
    const activity = Context.current();
    const { signal, end } =
      tool.replay === "unsafe"
        ? createCallSignal(activity, () => isRunOpen(activity))
        : { signal: activity.cancellationSignal, end: () => undefined };
    const settings = getToolSandbox(definition, dependencies);
    const workspace = definition.workspace ?? dependencies.defaultWorkspace;
    const readEntries = async () =>
      await dependencies.conversations.readEntriesBefore(step.session, input.branch, input.answer);
    const execution = execute(tool, call, {
      step,
      workspace,
      sandbox: settings,
      openSandbox: async () => {
        const readable = await findSkillFolders(definition, workspace);
        const use = { settings, workspace, isReadOnly: tool.replay === "pure", readable };
        return await openGrantedSandbox(use, readEntries, dependencies);
      },
      loopId: input.loopId,
      timeoutMs: getTimeLimit(tool, definition),
      publish: live.publish,
      updates: (show) =>
        createHookedUpdates(show, { id: call.id, name: tool.name }, input, step, definition, dependencies),
      claim: own === undefined ? undefined : dependencies.transcript,
      begin,
      readEarlierResults: async () => listEarlierResults(tool, await readEntries()),
      questions: input.questions ?? [],
      signal,
      log: dependencies.log,
      mask: createOutputMask(secrets, hidesKeys),
    });
    return await execution.finally(() => {
      end();
      live.end();
    });
  });
}

/** A call must end soon where the server does not say that its run goes on. */
const DESCRIBE_TIMEOUT_MS = 2000;

/** Asks the server whether the run that requested the call is still open. */
async function isRunOpen({ client, info }: Context): Promise<boolean> {
  const { workflowId, runId } = info.workflowExecution ?? {};
  if (workflowId === undefined) return false;
  const { status } = await client.withDeadline(Date.now() + DESCRIBE_TIMEOUT_MS, () =>
    client.workflow.getHandle(workflowId, runId).describe(),
  );
  return status.name === "RUNNING";
}

/** Answers a call about the view itself. An earlier execution changed nothing, and would have answered the same. */
async function runViewTool(
  tool: ViewTool,
  call: ToolCallContent,
  input: ToolInput,
  dependencies: Dependencies,
): Promise<ViewAnswer> {
  if (input.view === undefined) throw new DefinitionError(`The call of ${tool.name} has no view`);
  const { session } = getCurrentStep(input, dependencies.process);
  const { changedArguments: _, ...asWritten } = input;
  const written = await readCall(asWritten, dependencies);
  const { conversations } = dependencies;
  const before = await conversations.readEntriesBefore(session, input.branch, input.answer);
  const entries =
    tool.action === "read" ? await loadTextFiles(asFields(call.arguments), before, conversations) : before;
  return answerViewCall({
    tool,
    call,
    original: written,
    answer: input.answer,
    toolView: input.view,
    entries,
  });
}

async function buildStepResult(
  input: ToolInput,
  call: ToolCallContent,
  { viewRequest, ...execution }: ViewAnswer,
  { definitions, secrets, tools, transcript, process }: Dependencies,
): Promise<StepResult<ToolDigest>> {
  if (execution.question !== undefined) {
    const { session } = getCurrentStep(input, process);
    const asks = await storeQuestion(session, execution.question, transcript, Date.now());
    return { result: { branch: "", isError: false, tokens: 0, preview: "", question: asks }, entries: [] };
  }
  const definition = await definitions.read(input.definitionHash);
  const tool = findTool(getToolName(input), definition, tools);
  const { message, digest } = buildToolResult(call, execution, {
    turnId: { loopId: input.loopId, turnIndex: input.turn },
    mask: createOutputMask(
      listDefinitionSecrets(definition, secrets),
      definition.redact?.toolOutput === true,
    ),
    atMs: Date.now(),
  });
  const rest = execution.isError ? undefined : parseNextRound(call, tool);
  return {
    result: {
      ...digest,
      ...omitUndefined({ viewRequest, nextRound: rest }),
    },
    entries: [{ position: input.position, origin: "tool", message }],
  };
}

/** Reads the call with its arguments from the answer in the transcript. */
async function readCall(
  input: ToolInput,
  { conversations, process }: Dependencies,
): Promise<ToolCallContent> {
  const { session } = getCurrentStep(input, process);
  const answer = await conversations.readMessage(session, input.branch, input.answer);
  const call = findCall(answer, input.call, input.changedArguments);
  if (call === undefined) {
    throw new DefinitionError(
      `The transcript has no call ${input.call} at position ${input.answer} of ${input.branch}`,
    );
  }
  return call;
}
