import { toCanonicalName } from "../../../core/machine/tool-aliases.ts";
import { PermissionRule } from "../../../schema/permission.ts";
import { BUILT_IN_ALIASES } from "../../aliases.ts";
import { isWithin } from "../../workspace/workspace-access.ts";
import type { Skill } from "./find-skills.ts";

// Converts a skill's `allowed-tools` to rules of a permission policy. They follow the definition's own rules, and the
// first rule that matches decides: whatever the definition denies or asks for by a rule remains so.

export type AllowRules = {
  readonly rules: readonly PermissionRule[];
  /** Entries that no rule can express, one sentence each. */
  readonly warnings: readonly string[];
};

export type AgentPolicy = {
  /** Names of the agent's tools, as its definition lists them. */
  readonly tools: readonly string[];
  readonly otherwise: string;
  /** The agent's folder, with links resolved. */
  readonly workspace: string;
};

/** The limit for one skill. The rules are part of a run's state. */
const MAX_ENTRIES = 32;
const MAX_COMMAND_CHARS = 128;

/** Tool names of other agents that have no alias. */
const FOREIGN_TOOL_NAMES: Readonly<Record<string, string>> = { glob: "list_files", multiedit: "edit_file" };

export function buildAllowRules(skills: readonly Skill[], policy: AgentPolicy): AllowRules {
  const requesting = skills.filter(({ allowedTools }) => allowedTools.length > 0);
  const parts = requesting.map((skill) => buildSkillRules(skill, policy));
  return {
    rules: parts.flatMap(({ rules }) => rules),
    warnings: parts.flatMap(({ warnings }) => warnings),
  };
}

function buildSkillRules(skill: Skill, { tools, otherwise, workspace }: AgentPolicy): AllowRules {
  const reject = (cause: string) => ({
    rules: [],
    warnings: [`allowed-tools of the skill ${skill.name} are ignored: ${cause}`],
  });
  if (otherwise === "deny")
    return reject('calls that match no rule are denied (permissions.otherwise is "deny")');
  if (isWithin(workspace, skill.folder)) {
    return reject("it is in the workspace, so the agent could allow itself anything");
  }
  if (skill.allowedTools.length > MAX_ENTRIES) return reject(`there are more than ${MAX_ENTRIES}`);
  const toolNames = tools.map(toCanonicalName);
  const entries = skill.allowedTools.map((entry) => ({
    entry,
    means: parseEntry(entry, toolNames, skill.folder),
  }));
  const wholeTools = entries.flatMap(({ means: parsed }) => (parsed?.type === "tool" ? [parsed.tool] : []));
  const commands = entries.flatMap(({ means: parsed }) =>
    parsed?.type === "command" ? [parsed.command] : [],
  );
  const unsupported = entries.flatMap(({ entry, means: parsed }) => (parsed === undefined ? [entry] : []));
  const reason = `the skill ${skill.name} allows it`;
  return {
    rules: [
      ...(wholeTools.length === 0
        ? []
        : [{ tool: [...new Set(wholeTools)], outcome: "allow" as const, reason }]),
      ...(commands.length === 0
        ? []
        : [{ tool: "bash", command: [...new Set(commands)], outcome: "allow" as const, reason }]),
    ],
    warnings:
      unsupported.length === 0
        ? []
        : [
            `allowed-tools of the skill ${skill.name}: no rule can express ${unsupported.join(", ")}; ignored`,
          ],
  };
}

type AllowedEntry =
  | { readonly type: "tool"; readonly tool: string }
  | { readonly type: "command"; readonly command: string };

/** Returns nothing if a rule would allow more than the entry. */
function parseEntry(entry: string, tools: readonly string[], folder: string): AllowedEntry | undefined {
  const [, name = "", within] = /^([A-Za-z0-9_-]{1,64})(?:\((.*)\))?$/s.exec(entry) ?? [];
  const tool = resolveTool(name, tools);
  if (tool === undefined) return undefined;
  const condition = within?.trim();
  if (condition === undefined || condition === "*") return { type: "tool", tool };
  if (tool !== "bash") return undefined;
  // `git add:*` and `git add *` match every command that begins so. Without such an ending the entry means exactly one
  // command, but a rule can only match beginnings.
  const [, beginning = ""] = /^(.+?)(?::| )\*$/.exec(condition) ?? [];
  const command = beginning.replaceAll("{baseDir}", folder).trim();
  if (command.length > MAX_COMMAND_CHARS || (beginning.includes("{baseDir}") && /\s/.test(folder)))
    return undefined;
  const rule = PermissionRule.safeParse({ command, outcome: "allow" });
  return rule.success ? { type: "command", command } : undefined;
}

/** Finds one of the agent's own tools by its name or by an alias that models use. */
function resolveTool(name: string, tools: readonly string[]): string | undefined {
  if (tools.includes(name)) return name;
  const lower = name.toLowerCase();
  return tools.find(
    (tool) =>
      tool === lower ||
      FOREIGN_TOOL_NAMES[lower] === tool ||
      BUILT_IN_ALIASES[tool]?.includes(lower) === true,
  );
}
