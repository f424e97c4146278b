import { mustBeContinuable } from "../../../activities/continuable.ts";
import { parsed } from "../../../activities/definitions.ts";
import { DefinitionError } from "../../../activities/failure.ts";
import { filterPrompts } from "../../../activities/filter-prompts.ts";
import { checkNames } from "../../../activities/known-names.ts";
import { pinned } from "../../../activities/pinned.ts";
import { checkOutput } from "../../../activities/structured-output.ts";
import type { OpenLoopCommand } from "../../../core/command.ts";
import { loopSegment } from "../../../core/loop-segment.ts";
import { Continuation } from "../../../schema/definition.ts";
import { ScenarioError } from "../scenario-error.ts";
import type { Happening } from "./machine.ts";
import { SESSION, type Stage } from "./stage.ts";

export async function openLoop(stage: Stage, command: OpenLoopCommand): Promise<Happening> {
  try {
    return await opened(stage, command);
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    const failure = { fault: "invalid", message: error.message };
    return { type: "open-set-back", setback: { type: "failed", failure } };
  }
}

async function opened(stage: Stage, { prompts, continuation: asked }: OpenLoopCommand): Promise<Happening> {
  const { definition, transcript } = stage;
  const resolved = stage.tools.resolve(definition.tools, { strict: definition.strict });
  if (!resolved.ok) throw new DefinitionError(resolved.errors.join("; "));
  checkOutput(definition, stage.providers, resolved.tools);
  checkNames("input filter", definition.inputFilters, stage.filters.names);
  const continuation = asked === undefined ? undefined : parsed("continuation", Continuation, asked);
  if (continuation !== undefined) mustGoOn(stage, continuation, prompts.length);
  const words = prompts.map(({ text = "", ...prompt }) => ({ ...prompt, text }));
  const { signal } = new AbortController();
  const inbox = async () => (continuation?.kind.type === "compaction" ? [] : transcript.waiting);
  const filtered = await filterPrompts(definition.inputFilters, words, inbox, stage, signal);
  const digest = {
    ...transcript.openLoop({
      segment: loopSegment(definition),
      kind: continuation?.kind ?? { type: "initial" },
      ...(continuation?.at === undefined ? {} : { at: continuation.at }),
      ...filtered,
    }),
    ...pinned(definition, "scenario", resolved.tools, continuation),
    warnings: resolved.warnings,
  };
  return { type: "loop-opened", digest };
}

function mustGoOn({ transcript }: Stage, { at, kind }: Continuation, prompts: number): void {
  const branch = at?.branch ?? transcript.branchOf();
  const entries = branch === undefined ? undefined : transcript.entries(branch);
  const end = entries?.length ?? 0;
  if (at !== undefined && at.position > end) {
    throw new ScenarioError([`arrives: "at" is ${at.position}, but that branch has ${end} messages only`]);
  }
  mustBeContinuable(SESSION, entries?.slice(0, at?.position), kind.type === "compaction" || prompts > 0);
}
