import type { AgentDefinitionInput, WorkMode } from "../../client/index.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { SandboxMode } from "../../schema/sandbox.ts";
import { mapModeAgents } from "./mode-agents.ts";
import { UsageError } from "./usage-error.ts";

/** The flag of commands that start a worker. */
export type SandboxFlag = { readonly sandbox?: string | undefined };

/** The arguments of commander's `option` for commands that name agents. */
export const SANDBOX_OPTION = [
  "--sandbox <mode>",
  "where processes of tools run: off, workspace or strict (default: the agent file's, HOLDFAST_SANDBOX, or workspace)",
] as const;

/** The arguments of commander's `option` for commands whose agents are known only later. */
export const WORKER_SANDBOX_OPTION = [
  "--sandbox <mode>",
  "where processes of agents without a sandbox of their own run: off, workspace or strict (default: HOLDFAST_SANDBOX, or workspace)",
] as const;

export function parseSandboxFlag({ sandbox }: SandboxFlag): SandboxMode | undefined {
  if (sandbox === undefined) return undefined;
  const parsed = SandboxMode.safeParse(sandbox);
  if (parsed.success) return parsed.data;
  throw new UsageError(`--sandbox "${sandbox}" must be one of ${SandboxMode.options.join(", ")}.`);
}

/** Gives an agent and its sub-agents the mode of the flag. What they add to a sandbox stays; `off` has no such additions. */
export function applySandboxFlag(agent: AgentDefinitionInput, flags: SandboxFlag): AgentDefinitionInput {
  const mode = parseSandboxFlag(flags);
  return mode === undefined ? agent : setSandboxMode(agent, mode);
}

function setSandboxMode(agent: AgentDefinitionInput, mode: SandboxMode): AgentDefinitionInput {
  const { sandbox, subAgents } = agent;
  return {
    ...agent,
    sandbox: mode === "off" ? { mode, ...omitUndefined({ env: sandbox?.env }) } : { ...sandbox, mode },
    ...(subAgents === undefined
      ? {}
      : { subAgents: subAgents.map((child) => ({ ...child, agent: setSandboxMode(child.agent, mode) })) }),
  };
}

/** Gives all agents of a work mode the sandbox of the flag. */
export function applySandboxFlagToMode<Mode extends WorkMode>(mode: Mode, flags: SandboxFlag): Mode {
  return mapModeAgents(mode, (agent) => applySandboxFlag(agent, flags));
}
