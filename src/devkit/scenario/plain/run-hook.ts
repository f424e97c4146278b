import { buildHookDigest, runAllHooks } from "../../../activities/hooks/run-hook.ts";
import type { RunHookCommand } from "../../../core/machine/state/command.ts";
import type { Happening } from "./machine.ts";
import { type Stage, stepOf } from "./stage.ts";
import { worldOf } from "./world.ts";

/** Asks the hooks of one point in the words of the activity. Nothing arrives meanwhile. */
export async function runHook(stage: Stage, command: RunHookCommand): Promise<Happening> {
  const branch = stage.transcript.write(command);
  const asking = {
    definition: stage.definition,
    dependencies: worldOf(stage),
    signal: new AbortController().signal,
  };
  const runs = await runAllHooks({ ...command, branch }, stepOf(command), asking);
  return { type: "hooks-answered", digest: { ...buildHookDigest(runs), branch } };
}
