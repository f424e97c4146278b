import { PermissionRule } from "../../../schema/permission.ts";
import { CALL_ALIASES, canonicalName } from "../../aliases.ts";
import { isWithin } from "../../workspace/confine.ts";
import type { Skill } from "./find.ts";

// What a skill names in `allowed-tools`, as rules of a permission policy. They stand behind the definition's own, where
// the first rule that matches decides: what the definition denies or asks for by a rule stays so.

export type Allowing = {
  readonly rules: readonly PermissionRule[];
  /** What could not be said as a rule, a sentence each. */
  readonly warnings: readonly string[];
};

export type AgentPolicy = {
  /** Names of the agent's tools, as its definition has them. */
  readonly tools: readonly string[];
  readonly otherwise: string;
  /** The folder that it works in, links resolved. */
  readonly workspace: string;
};

/** Of one skill. The rules of a run are part of its state. */
const MAX_ENTRIES = 32;
const MAX_COMMAND_CHARS = 128;

/** Names of other agents' tools that no alias of ours has. */
const ELSEWHERE: Readonly<Record<string, string>> = { glob: "list_files", multiedit: "edit_file" };

export function allowing(skills: readonly Skill[], policy: AgentPolicy): Allowing {
  const asking = skills.filter(({ allowedTools }) => allowedTools.length > 0);
  const parts = asking.map((skill) => allowed(skill, policy));
  return {
    rules: parts.flatMap(({ rules }) => rules),
    warnings: parts.flatMap(({ warnings }) => warnings),
  };
}

function allowed(skill: Skill, { tools, otherwise, workspace }: AgentPolicy): Allowing {
  const not = (why: string) => ({
    rules: [],
    warnings: [`allowed-tools of the skill ${skill.name} are not taken up: ${why}`],
  });
  if (otherwise === "deny") return not('what no rule speaks of is denied (permissions.otherwise is "deny")');
  if (isWithin(workspace, skill.folder)) {
    return not("it lies in the workspace, so that the agent itself could allow itself anything");
  }
  if (skill.allowedTools.length > MAX_ENTRIES) return not(`there are more than ${MAX_ENTRIES}`);
  const own = tools.map(canonicalName);
  const entries = skill.allowedTools.map((entry) => ({ entry, means: meaning(entry, own, skill.folder) }));
  const whole = entries.flatMap(({ means }) => (means?.type === "tool" ? [means.tool] : []));
  const commands = entries.flatMap(({ means }) => (means?.type === "command" ? [means.command] : []));
  const unsaid = entries.flatMap(({ entry, means }) => (means === undefined ? [entry] : []));
  const reason = `the skill ${skill.name} allows it`;
  return {
    rules: [
      ...(whole.length === 0 ? [] : [{ tool: [...new Set(whole)], outcome: "allow" as const, reason }]),
      ...(commands.length === 0
        ? []
        : [{ tool: "bash", command: [...new Set(commands)], outcome: "allow" as const, reason }]),
    ],
    warnings:
      unsaid.length === 0
        ? []
        : [`allowed-tools of the skill ${skill.name}: no rule can say ${unsaid.join(", ")}; passed over`],
  };
}

type Meaning =
  | { readonly type: "tool"; readonly tool: string }
  | { readonly type: "command"; readonly command: string };

/** Nothing where it cannot be said without allowing more. */
function meaning(entry: string, tools: readonly string[], folder: string): Meaning | undefined {
  const [, name = "", within] = /^([A-Za-z0-9_-]{1,64})(?:\((.*)\))?$/s.exec(entry) ?? [];
  const tool = toolCalled(name, tools);
  if (tool === undefined) return undefined;
  const condition = within?.trim();
  if (condition === undefined || condition === "*") return { type: "tool", tool };
  if (tool !== "bash") return undefined;
  // `git add:*` and `git add *` mean any command that begins so. Without an end like that it is one command, word for
  // word, and a rule knows beginnings alone.
  const [, beginning = ""] = /^(.+?)(?::| )\*$/.exec(condition) ?? [];
  const command = beginning.replaceAll("{baseDir}", folder).trim();
  if (command.length > MAX_COMMAND_CHARS || (beginning.includes("{baseDir}") && /\s/.test(folder)))
    return undefined;
  const rule = PermissionRule.safeParse({ command, outcome: "allow" });
  return rule.success ? { type: "command", command } : undefined;
}

/** By its own name or by one that models know it by; only of the agent's own tools. */
function toolCalled(name: string, tools: readonly string[]): string | undefined {
  if (tools.includes(name)) return name;
  const lower = name.toLowerCase();
  return tools.find(
    (tool) => tool === lower || ELSEWHERE[lower] === tool || CALL_ALIASES[tool]?.includes(lower) === true,
  );
}
