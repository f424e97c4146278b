import { checkHooks } from "../../../activities/ask-hooks.ts";
import { checkCompaction } from "../../../activities/check-definition.ts";
import { childFacts } from "../../../activities/child-definitions.ts";
import { mustBeContinuable } from "../../../activities/continuable.ts";
import { parsed } from "../../../activities/definitions.ts";
import { DefinitionError } from "../../../activities/failure.ts";
import { checkNames } from "../../../activities/known-names.ts";
import { letIn } from "../../../activities/let-in.ts";
import { offeredTools, openingOf } from "../../../activities/opening.ts";
import { pinned } from "../../../activities/pinned.ts";
import { checkOutput } from "../../../activities/structured-output.ts";
import { viewAtStart } from "../../../activities/view-at-start.ts";
import type { OpenLoopCommand } from "../../../core/command.ts";
import { type AgentDefinition, Continuation } from "../../../schema/definition.ts";
import { ScenarioError } from "../scenario-error.ts";
import type { Happening } from "./machine.ts";
import { type Stage, stepOf } from "./stage.ts";
import { wordsOfTask } from "./task-words.ts";
import { worldOf } from "./world.ts";

export async function openLoop(stage: Stage, command: OpenLoopCommand): Promise<Happening> {
  const stored = stage.results.stored(command);
  if (stored !== undefined) return stored;
  try {
    const happening = await opened(stage, command);
    return stage.results.keep(command, happening.digest.branch, { happening });
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    const failure = { fault: "invalid", message: error.message };
    return { type: "open-set-back", setback: { type: "failed", failure } };
  }
}

async function opened(stage: Stage, command: OpenLoopCommand) {
  const { prompts, continuation: asked, definitionHash: hash = "" } = command;
  const other = stage.definitions.get(hash);
  if (other !== undefined) stage.moveTo(other, hash);
  const { definition, transcript } = stage;
  const resolved = checked(definition, stage);
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
  stage.results.mustLive();
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
    ...pinned(definition, stage.definitionHash, resolved.tools, childFacts(definition), continuation),
    warnings: resolved.warnings,
  };
  return { type: "loop-opened" as const, digest };
}

/** @throws DefinitionError - Where the world has not what the definition names. */
export function checked(definition: AgentDefinition, stage: Stage): ReturnType<typeof offeredTools> {
  const resolved = offeredTools(definition, stage.tools);
  checkOutput(definition, stage.providers, resolved.tools);
  checkNames("input filter", definition.inputFilters, stage.filters.names);
  checkCompaction(definition, stage);
  checkHooks(definition, stage);
  return resolved;
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
