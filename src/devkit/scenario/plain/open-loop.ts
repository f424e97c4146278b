import { checkHooks } from "../../../activities/hooks/ask-hooks.ts";
import { checkOutput } from "../../../activities/model/structured-output.ts";
import { checkCompaction } from "../../../activities/open-loop/check-definition.ts";
import { childFacts } from "../../../activities/open-loop/child-definitions.ts";
import { mustBeContinuable } from "../../../activities/open-loop/continuable.ts";
import { letIn } from "../../../activities/open-loop/let-in.ts";
import { offeredTools, openingOf } from "../../../activities/open-loop/opening.ts";
import { pinned } from "../../../activities/open-loop/pinned.ts";
import { viewAtStart } from "../../../activities/open-loop/view-at-start.ts";
import { parsed } from "../../../activities/step/definitions.ts";
import { DefinitionError } from "../../../activities/step/failure.ts";
import { checkNames } from "../../../activities/step/known-names.ts";
import type { OpenLoopCommand } from "../../../core/machine/state/command.ts";
import { Continuation } from "../../../schema/definition.ts";
import { ScenarioError } from "../scenario-error.ts";
import type { Happening } from "./machine.ts";
import { type Stage, stepOf } from "./stage.ts";
import { wordsOfTask } from "./task-words.ts";
import { worldOf } from "./world.ts";

export async function openLoop(stage: Stage, command: OpenLoopCommand): Promise<Happening> {
  try {
    return await opened(stage, command);
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    const failure = { fault: "invalid", message: error.message };
    return { type: "open-set-back", setback: { type: "failed", failure } };
  }
}

async function opened(stage: Stage, command: OpenLoopCommand): Promise<Happening> {
  const { prompts, continuation: asked } = command;
  const { definition, transcript } = stage;
  const resolved = offeredTools(definition, stage.tools);
  checkOutput(definition, stage.providers, resolved.tools);
  checkNames("input filter", definition.inputFilters, stage.filters.names);
  checkCompaction(definition, stage);
  checkHooks(definition, stage);
  const continuation = asked === undefined ? undefined : parsed("continuation", Continuation, asked);
  if (continuation !== undefined) mustGoOn(stage, continuation, prompts.length);
  const words = await Promise.all(
    prompts.map(async ({ text = "", task, ...prompt }) => ({
      ...prompt,
      text: task === undefined ? text : await wordsOfTask(stage, task),
    })),
  );
  const { signal } = new AbortController();
  const world = worldOf(stage);
  const asking = { definition, dependencies: world, signal };
  const inbox = async () => transcript.waiting;
  const said = await letIn(stepOf(command), words, inbox, continuation, asking);
  const loop = transcript.openLoop({
    ...openingOf(definition, continuation, command.spawn),
    ...said,
  });
  // A loop that cannot be opened leaves no step in a transcript.
  stage.noteStep(command);
  const view =
    command.number === 0 ? await viewAtStart(loop, resolved.tools, stage.session, world) : loop.view;
  const digest = {
    ...loop,
    ...(view === undefined ? {} : { view }),
    ...pinned(definition, "scenario", resolved.tools, childFacts(definition), continuation),
    warnings: resolved.warnings,
  };
  return { type: "loop-opened", digest };
}

function mustGoOn({ transcript, session }: Stage, { at, kind }: Continuation, prompts: number): void {
  const branch = at?.branch ?? transcript.branchOf();
  const entries = branch === undefined ? undefined : transcript.entries(branch);
  const end = entries?.length ?? 0;
  if (at?.position !== undefined && at.position > end) {
    throw new ScenarioError([`arrives: "at" is ${at.position}, but that branch has ${end} messages only`]);
  }
  mustBeContinuable(session, entries?.slice(0, at?.position), kind.type === "compaction" || prompts > 0);
}
