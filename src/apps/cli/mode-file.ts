import type { Problem, WorkMode } from "../../client/index.ts";
import { readAgents } from "../../config/agent-file/read-agents.ts";
import { type AgentFileContext, KNOWN_TOOLS } from "./agent-file.ts";
import type { AgentFlags } from "./agent-flags.ts";
import { LIMIT_FLAG_NAMES } from "./limit-flags.ts";
import { applySandboxFlagToMode } from "./sandbox-flag.ts";
import { UsageError } from "./usage-error.ts";

/** Flags that change a single agent. A file with a mode can define several. */
const SINGLE_AGENT_FLAGS = [
  "model",
  "baseUrl",
  "prices",
  "workspace",
  "tools",
  "system",
  "name",
  "thinking",
  "outputSchema",
  ...LIMIT_FLAG_NAMES,
] as const satisfies readonly (keyof AgentFlags)[];

/** Loads the mode of the agent file; undefined if the file has none, or if one of its agents is selected. */
export function loadMode(
  flags: AgentFlags,
  { cwd, env }: AgentFileContext,
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
  const [conflicting] = SINGLE_AGENT_FLAGS.filter((name) => flags[name] !== undefined);
  if (conflicting === undefined) return { mode: applySandboxFlagToMode(mode, flags), problems };
  const flag = conflicting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UsageError(
    `--${flag} changes a single agent, but ${file} has a [mode] with several. Change the file, or choose one agent with ${file}#NAME.`,
  );
}
