import { type Problem, readAgents, type WorkMode } from "../client/index.ts";
import { KNOWN_TOOLS, type Surroundings } from "./agent-file.ts";
import type { AgentFlags } from "./agent-flags.ts";
import { UsageError } from "./usage-error.ts";

/** Flags that change one agent; a mode has several. */
const OF_ONE_AGENT = [
  "model",
  "baseUrl",
  "prices",
  "workspace",
  "tools",
  "system",
  "name",
  "thinking",
  "maxTurns",
  "maxCost",
  "outputSchema",
] as const satisfies readonly (keyof AgentFlags)[];

/** The mode that the named file declares; nothing where it declares none, or one of its agents is asked for. */
export function modeFrom(
  flags: AgentFlags,
  { cwd, env }: Surroundings,
): { readonly mode: WorkMode; readonly problems: readonly Problem[] } | undefined {
  const { agent: file } = flags;
  if (file === undefined || file.includes("#")) return undefined;
  const { mode, problems } = readAgents(file, {
    cwd,
    env,
    untrusted: flags.untrusted,
    knownTools: KNOWN_TOOLS,
  });
  if (mode === undefined) return undefined;
  const [said] = OF_ONE_AGENT.filter((name) => flags[name] !== undefined);
  if (said === undefined) return { mode, problems };
  const flag = said.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UsageError(
    `--${flag} changes one agent, and ${file} has a [mode] of several: say it in the file, or choose one with ${file}#NAME.`,
  );
}
