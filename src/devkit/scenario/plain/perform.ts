import { findLastAnswer } from "../../../activities/close-loop/task-text.ts";
import { buildClosedDigest, getMaxTextBytes } from "../../../activities/close-loop/write-steps.ts";
import { filterMessages } from "../../../activities/filter-input/filter-input.ts";
import { notifyLoopEnd } from "../../../activities/hooks/loop-hooks.ts";
import { buildHookDigest, runAllHooks } from "../../../activities/hooks/run-hook.ts";
import { NO_USAGE } from "../../../core/budget/usage.ts";
import type {
  CloseLoopCommand,
  FilterInputCommand,
  RecordCommand,
  RunHookCommand,
} from "../../../core/machine/state/activity-command.ts";
import type { StepCommand } from "../../../core/machine/state/step-forms.ts";
import { assertNever } from "../../../platform/text/assert-never.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { callModel, compact } from "./call-model.ts";
import type { Happening } from "./machine.ts";
import { moveDefinition } from "./move-definition.ts";
import { openLoop } from "./open-loop.ts";
import type { Made } from "./results.ts";
import { type Stage, toStep } from "./stage.ts";
import { createHookContext } from "./world.ts";

/**
 * Performs a step as its activity does, and returns the event for the machine.
 *
 * @throws Interrupted - If its worker dies during the step (`stage.results.dies`).
 */
export async function perform(stage: Stage, command: StepCommand): Promise<Happening> {
  if (command.type === "open-loop") return await openLoop(stage, command);
  return await stage.results.once(command, async (branch) => await buildStepEvent(stage, command, branch));
}

function buildStepEvent(
  stage: Stage,
  command: Exclude<StepCommand, { type: "open-loop" }>,
  branch: string,
): Promise<Made> | Made {
  switch (command.type) {
    case "call-model":
      return callModel(stage, command, branch);
    case "compact":
      return compact(stage, command, branch);
    case "run-hook":
      return runHook(stage, command, branch);
    case "update-definition":
      return moveDefinition(stage, command, branch);
    case "make-title":
      return makeTitle(branch);
    case "filter-input":
      return filterInput(stage, command);
    case "close-loop":
      return closeLoop(stage, command, branch);
    case "record":
      return record(stage, command, branch);
    default:
      return assertNever(command);
  }
}

/** The title is the same for every session. */
function makeTitle(branch: string): Made {
  return {
    happening: { type: "title-made", digest: { branch, usage: NO_USAGE, costUsd: 0, title: "A title" } },
  };
}

async function closeLoop(stage: Stage, command: CloseLoopCommand, branch: string): Promise<Made> {
  const { transcript, definition } = stage;
  const { answer, isOutput, definitionHash } = command;
  transcript.closeLoop({ ...command, branch });
  stage.hold("close");
  if (definitionHash !== undefined) await tellEnd(stage, command, branch);
  const message = answer === undefined ? undefined : transcript.getMessage(branch, answer);
  const output = isOutput === true ? definition.output : undefined;
  const lastAnswer = await wordsLeft(stage, command, branch);
  const said = buildClosedDigest(message, answer, output, getMaxTextBytes(command));
  const digest = { ...said, ...omitUndefined({ lastAnswer }), branch };
  return { happening: { type: "loop-closed", digest } };
}

/** Finds the position of a sub-agent's text for its caller. */
async function wordsLeft(stage: Stage, { isTask, outbox }: CloseLoopCommand, branch: string) {
  const end = outbox.events.findLast(({ body }) => body.type === "AgentEnd")?.body;
  if (isTask !== true || end?.type !== "AgentEnd") return undefined;
  return await findLastAnswer(stage.session, branch, end, createHookContext(stage).transcript);
}

async function tellEnd(stage: Stage, command: CloseLoopCommand, branch: string): Promise<void> {
  const { definition } = stage;
  const end = command.outbox.events.findLast(({ body }) => body.type === "AgentEnd")?.body;
  if (definition.hooks["after-loop"] === undefined || end?.type !== "AgentEnd") return;
  const asking = { definition, dependencies: createHookContext(stage), signal: new AbortController().signal };
  const { from, to, usage } = end;
  const { loopId } = command;
  await notifyLoopEnd({ step: toStep(command), loopId, usage }, { branch, from, to }, asking);
}

async function filterInput({ definition, filters, log }: Stage, command: FilterInputCommand): Promise<Made> {
  const words = command.messages.map(({ id, text = "" }) => ({ id, text }));
  const { signal } = new AbortController();
  const verdicts = await filterMessages(words, definition.inputFilters, { filters, log }, signal);
  return { happening: { type: "input-filtered", digest: { branch: "", verdicts } } };
}

function record({ transcript }: Stage, command: RecordCommand, branch: string): Made {
  transcript.putInbox(command.inbox);
  return { happening: { type: "recorded", digest: { branch } } };
}

/** A signal that never aborts: nothing stops a run during its hooks. */
const UNSTOPPED = new AbortController().signal;

/** Calls the hooks of one point as the activity does. Nothing arrives meanwhile. */
async function runHook(stage: Stage, command: RunHookCommand, branch: string): Promise<Made> {
  const asking = {
    definition: stage.definition,
    dependencies: createHookContext(stage),
    signal: UNSTOPPED,
  };
  const runs = await runAllHooks({ ...command, branch }, toStep(command), asking);
  return { happening: { type: "hooks-answered", digest: buildHookDigest(runs) } };
}
