import { readTaskText } from "../../../activities/close-loop/task-text.ts";
import { checkHooks } from "../../../activities/hooks/ask-hooks.ts";
import { checkOutput } from "../../../activities/model/structured-output.ts";
import { admitPrompts } from "../../../activities/open-loop/admit-prompts.ts";
import { checkCompaction } from "../../../activities/open-loop/check-definition.ts";
import { buildChildFacts } from "../../../activities/open-loop/child-definitions.ts";
import { assertContinuable } from "../../../activities/open-loop/continuable.ts";
import { readInitialView } from "../../../activities/open-loop/initial-view.ts";
import { buildLoopOpening, resolveOfferedTools } from "../../../activities/open-loop/loop-opening.ts";
import { buildPinnedDigest } from "../../../activities/open-loop/pinned-digest.ts";
import { checkNames } from "../../../activities/step/check-names.ts";
import { parseInput } from "../../../activities/step/definitions.ts";
import { DefinitionError } from "../../../activities/step/failure.ts";
import type { OpenLoopCommand } from "../../../core/machine/state/activity-command.ts";
import type { TaskRef } from "../../../core/machine/state/task.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { Continuation } from "../../../schema/continuation.ts";
import type { AgentDefinition } from "../../../schema/definition.ts";
import { ScenarioError } from "../scenario-error.ts";
import type { Happening } from "./machine.ts";
import { type Stage, toStep } from "./stage.ts";
import { createHookContext } from "./world.ts";

export async function openLoop(stage: Stage, command: OpenLoopCommand): Promise<Happening> {
  const stored = stage.results.stored(command);
  if (stored !== undefined) return stored;
  try {
    const happening = await buildOpening(stage, command);
    return stage.results.keep(command, happening.digest.branch, { happening });
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    const failure = { fault: "invalid", message: error.message };
    return { type: "open-failed", failure: { type: "failed", failure } };
  }
}

async function buildOpening(stage: Stage, command: OpenLoopCommand) {
  const { prompts, continuation: asked, definitionHash: hash = "" } = command;
  const other = stage.definitions.get(hash);
  if (other !== undefined) stage.moveTo(other, hash);
  const { definition, transcript } = stage;
  const resolved = checkOpening(definition, stage);
  const continuation = asked === undefined ? undefined : parseInput("continuation", Continuation, asked);
  if (continuation !== undefined) mustGoOn(stage, continuation, prompts.length);
  const words = await Promise.all(
    prompts.map(async ({ text = "", task, parts: _, ...prompt }) => ({
      ...prompt,
      text: task === undefined ? text : await wordsOfTask(stage, task),
    })),
  );
  const { signal } = new AbortController();
  const world = createHookContext(stage);
  const asking = { definition, dependencies: world, signal };
  const inbox = async () => transcript.waiting;
  const said = await admitPrompts(toStep(command), words, inbox, continuation, asking);
  stage.results.mustLive();
  const loop = transcript.openLoop({
    ...buildLoopOpening(definition, continuation, command.spawn),
    ...said,
  });
  // A loop that cannot be opened has no step in the transcript.
  stage.noteStep(command);
  const view =
    command.number === 0 ? await readInitialView(loop, resolved.tools, stage.session, world) : loop.view;
  const digest = {
    ...loop,
    ...omitUndefined({ view }),
    ...(definition.titles === "model" && command.number === 0 ? { asksForTitle: true as const } : {}),
    ...buildPinnedDigest(definition, stage.definitionHash, resolved.tools, buildChildFacts(definition), {
      continuation,
    }),
    warnings: resolved.warnings,
  };
  return { type: "loop-opened" as const, digest };
}

/** @throws DefinitionError - If the stage does not have something that the definition uses. */
export function checkOpening(
  definition: AgentDefinition,
  stage: Stage,
): ReturnType<typeof resolveOfferedTools> {
  const resolved = resolveOfferedTools(definition, stage.tools);
  checkOutput(definition, stage.providers, resolved.tools);
  checkNames("input filter", definition.inputFilters, stage.filters.names);
  checkCompaction(definition, stage);
  checkHooks(definition, stage);
  return resolved;
}

function mustGoOn({ transcript, session }: Stage, { at, kind }: Continuation, prompts: number): void {
  const branch = at?.branch ?? transcript.getBranch();
  const entries = branch === undefined ? undefined : transcript.listEntries(branch);
  const end = entries?.length ?? 0;
  if (at?.position !== undefined && at.position > end) {
    throw new ScenarioError([`arrives: "at" is ${at.position}, but that branch has only ${end} messages`]);
  }
  assertContinuable(session, entries?.slice(0, at?.position), kind.type === "compaction" || prompts > 0);
}

/** Reads the text of a task from its caller's record. */
async function wordsOfTask({ place, transcript }: Stage, task: TaskRef): Promise<string> {
  const record = place?.caller.transcript ?? transcript;
  return await readTaskText(task, {
    readEntries: async (_, branch, from, to) => record.listEntries(branch).slice(from, to),
  });
}
