import type { Command } from "commander";
import type { AgentDefinitionInput, WorkMode } from "../../client/index.ts";
import { listToolNames, listUnusedTools } from "../../core/permission/unused-tools.ts";
import { type PermissionPolicyInput, PermissionRule } from "../../schema/permission.ts";
import { mapModeAgents } from "./mode-agents.ts";
import { UsageError } from "./usage-error.ts";

// The command-line options that say which tool calls run without approval.

export type PermissionFlags = {
  readonly permissionMode?: string;
  readonly allow?: readonly string[];
  readonly yes?: boolean;
};

const MODES = ["ask", "allow", "read-only"] as const;
type PermissionMode = (typeof MODES)[number];

type Rule = NonNullable<PermissionPolicyInput["rules"]>[number];
type Otherwise = NonNullable<PermissionPolicyInput["otherwise"]>;

/** Tools whose rule in parentheses is the beginning of a shell command. For other tools it is a path. */
const SHELL_TOOLS = ["bash"];

export function addPermissionFlags(command: Command): Command {
  return command
    .option(
      "--permission-mode <mode>",
      "ask: unsafe tools need approval; allow: none does; read-only: only tools that change nothing run",
    )
    .option(
      "--allow <call>",
      "run these calls without approval: a tool, or TOOL(BEGINNING OF A COMMAND), or TOOL(PATH); repeatable",
      (call: string, before: readonly string[] = []) => [...before, call],
    )
    .option("-y, --yes", "run every call that no rule of the agent file denies: --permission-mode allow");
}

/**
 * Adds the rules of the flags to the policy of an agent and of its sub-agents.
 *
 * Without a flag, the rules of the agent's file apply first. For a call that none of them matches, a file that leaves the
 * decision open asks about unsafe tools (such as `bash`) at a terminal, and denies them elsewhere. What a file denies stays
 * denied.
 *
 * @param isAttended - Whether somebody at this terminal can answer.
 */
export function applyPermissionFlags(
  agent: AgentDefinitionInput,
  flags: PermissionFlags,
  isAttended: boolean,
): AgentDefinitionInput {
  const { rules = [], otherwise = "ask-unsafe" } = agent.permissions ?? {};
  const allowed = (flags.allow ?? []).map(parseAllowed);
  const denials = allowed.length === 0 ? [] : rules.filter(({ outcome }) => outcome === "deny");
  const mode = parseMode(flags);
  return {
    ...agent,
    permissions: {
      rules: [...denials, ...allowed, ...(mode === "read-only" ? [READ_ONLY] : []), ...rules],
      otherwise: mode === undefined ? resolveOpen(otherwise, isAttended) : BY_MODE[mode](otherwise),
    },
    ...(agent.subAgents === undefined
      ? {}
      : {
          subAgents: agent.subAgents.map((child) => ({
            ...child,
            agent: applyPermissionFlags(child.agent, flags, isAttended),
          })),
        }),
  };
}

/** Returns a warning for each call of `--allow` whose tool neither the agent nor a sub-agent has. */
export function findUnusedAllows(agent: AgentDefinitionInput, flags: PermissionFlags): readonly string[] {
  const team = listTeam(agent).map(listToolNames);
  const names = {
    names: team.flatMap((one) => one.names),
    prefixes: team.flatMap(({ prefixes }) => prefixes),
  };
  return (flags.allow ?? [])
    .filter((call) => listUnusedTools(parseAllowed(call), names).length > 0)
    .map((call) => `--allow "${call}" has no effect: the agent does not have the tool. Add it with --tools.`);
}

function listTeam(agent: AgentDefinitionInput): readonly AgentDefinitionInput[] {
  return [agent, ...(agent.subAgents ?? []).flatMap((child) => listTeam(child.agent))];
}

/** Adds the rules of the flags to the policies of all agents of a job. Nobody at this terminal can answer for them. */
export function applyPermissionFlagsToMode<Mode extends WorkMode>(mode: Mode, flags: PermissionFlags): Mode {
  return mapModeAgents(mode, (agent) => applyPermissionFlags(agent, flags, false));
}

/** Reports whether calls of unsafe tools are denied because nobody was asked whether they may run. */
export function refusesUnsafeCalls({ permissions }: AgentDefinitionInput): boolean {
  return permissions?.otherwise === "deny-unsafe";
}

const READ_ONLY: Rule = {
  replay: ["idempotent", "unsafe"],
  outcome: "deny",
  reason: "this run is read-only: only tools that change nothing run",
};

/** Decides what a file leaves open. */
function resolveOpen(otherwise: Otherwise, isAttended: boolean): Otherwise {
  if (otherwise !== "ask-unsafe") return otherwise;
  return isAttended ? "always-ask-unsafe" : "deny-unsafe";
}

/** Keeps a file's stricter decision for calls that no rule matches. */
const BY_MODE: { readonly [Mode in PermissionMode]: (otherwise: Otherwise) => Otherwise } = {
  ask: (otherwise) => (otherwise === "deny" || otherwise === "ask" ? otherwise : "always-ask-unsafe"),
  allow: (otherwise) => (otherwise === "deny" ? otherwise : "allow"),
  "read-only": (otherwise) => (otherwise === "deny" || otherwise === "ask" ? otherwise : "allow"),
};

function parseMode({ permissionMode, yes }: PermissionFlags): PermissionMode | undefined {
  if (permissionMode === undefined) return yes === true ? "allow" : undefined;
  const mode = MODES.find((one) => one === permissionMode);
  if (mode === undefined)
    throw new UsageError(`--permission-mode "${permissionMode}" must be one of ${MODES.join(", ")}.`);
  if (yes === true && mode !== "allow")
    throw new UsageError(
      `--yes is --permission-mode allow, and --permission-mode ${mode} is given too. Leave one out.`,
    );
  return mode;
}

/** Parses `bash`, `bash(npm test)` or `write_file(src/**)`. */
function parseAllowed(text: string): Rule {
  const [, tool = "", condition] = /^([^\s()]+)(?:\((.+)\))?$/.exec(text.trim()) ?? [];
  if (tool === "") {
    throw new UsageError(
      `--allow "${text}" must be a tool, as in --allow bash, or a tool with the beginning of a command or a path, as in --allow 'bash(npm test)' or --allow 'write_file(src/**)'.`,
    );
  }
  const conditions =
    condition === undefined ? {} : SHELL_TOOLS.includes(tool) ? { command: condition } : { path: condition };
  const rule = PermissionRule.safeParse({ tool, ...conditions, outcome: "allow" });
  if (rule.success) return rule.data;
  throw new UsageError(
    `--allow "${text}" is not a rule: ${rule.error.issues[0]?.message ?? "it is not valid"}.`,
  );
}
