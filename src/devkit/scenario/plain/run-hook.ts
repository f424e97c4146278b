import { buildHookDigest, runAllHooks } from "../../../activities/hooks/run-hook.ts";
import type { RunHookCommand } from "../../../core/machine/state/command.ts";
import type { Made } from "./results.ts";
import { type Stage, toStep } from "./stage.ts";
import { createHookContext } from "./world.ts";

/** A signal that never aborts: nothing stops a run during its hooks. */
const UNSTOPPED = new AbortController().signal;

/** Calls the hooks of one point as the activity does. Nothing arrives meanwhile. */
export async function runHook(stage: Stage, command: RunHookCommand, branch: string): Promise<Made> {
  const asking = {
    definition: stage.definition,
    dependencies: createHookContext(stage),
    signal: UNSTOPPED,
  };
  const runs = await runAllHooks({ ...command, branch }, toStep(command), asking);
  return { happening: { type: "hooks-answered", digest: buildHookDigest(runs) } };
}
