import { resolve } from "node:path";
import {
  type CallFacts,
  type CommandFact,
  limitFacts,
  type PathFact,
} from "../../core/permission/call-facts.ts";
import { UNKNOWN_HOST } from "../../core/permission/host-glob.ts";
import { mayStandFor, parsePrefixes } from "../../core/permission/permission.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { redactCommandWords } from "../../platform/text/redact.ts";
import type { PermissionPolicy } from "../../schema/permission.ts";
import { collectCommandFacts, type FactOptions } from "../../tools/shell/command-facts.ts";
import { parseHost, removeDuplicateHosts } from "../../tools/shell/reached-hosts.ts";
import type { Tool, TouchedResources } from "../../tools/tool.ts";
import { collectPathFacts } from "../../tools/workspace/path-facts.ts";

/**
 * Collects the facts about a call that the policy needs before it decides. Returns nothing for calls that the policy
 * decides by name alone, so that history contains no unused facts.
 */
export async function collectFacts(
  tool: Tool,
  value: unknown,
  policy: PermissionPolicy,
  workspace: string,
): Promise<CallFacts | undefined> {
  if (!isJudged(tool, policy)) return undefined;
  const { command, paths, hosts, cwd = "." } = getTouched(tool, value);
  if (command === undefined && paths === undefined && hosts === undefined) return undefined;
  const ofCommand =
    command === undefined
      ? {}
      : await collectCommandFacts(command, workspace, resolve(workspace, cwd), listWantedFacts(policy));
  const ofPaths = paths === undefined ? {} : await collectPathFacts(paths, workspace);
  const all = [...(ofCommand.paths ?? []), ...(ofPaths.paths ?? [])];
  const facts = { ...ofCommand, ...ofPaths, ...(all.length === 0 ? {} : { paths: all }) };
  const isShown = ({ path }: PathFact) => redactCommandWords([path])[0] === path;
  return limitFacts({
    ...facts,
    ...omitUndefined({ operands: facts.operands?.filter(isShown) }),
    ...(hosts === undefined
      ? {}
      : { hosts: removeDuplicateHosts(hosts.map((one) => parseHost(one) ?? { host: UNKNOWN_HOST })) }),
    ...omitUndefined({ commands: facts.commands?.map(maskCommand) }),
  });
}

/** Lists the facts that a rule of the policy may use: history contains no others. */
function listWantedFacts({ rules }: PermissionPolicy): FactOptions {
  const strict = rules.filter(({ outcome }) => outcome !== "allow");
  const commands = strict.flatMap((rule) => (rule.command === undefined ? [] : parsePrefixes(rule.command)));
  return {
    includesOperands: strict.some(({ path }) => path !== undefined),
    includesHosts: rules.some(({ host }) => host !== undefined),
    isRelevant: (command) => commands.some((words) => mayStandFor(command, words)),
  };
}

/**
 * Masks secrets in the facts of a command, because history stores them. The words from a mask on are no longer
 * certain.
 */
function maskCommand(command: CommandFact): CommandFact {
  const words = redactCommandWords(command.words);
  const changed = words.findIndex((word, index) => word !== command.words[index]);
  if (changed < 0) return command;
  const meant = command.equivalents?.map((list) => [...redactCommandWords(list)]);
  const fixed = Math.min(command.fixedWords ?? changed, changed);
  return { ...command, words, fixedWords: fixed, ...omitUndefined({ equivalents: meant }) };
}

/**
 * Returns the resources that a tool reports. A fault in this report must not lose a paid answer. An unknown path
 * counts as outside the workspace.
 */
function getTouched(tool: Tool, value: unknown): TouchedResources {
  try {
    return tool.touches(value);
  } catch {
    return { paths: ["/"], hosts: [UNKNOWN_HOST] };
  }
}

function isJudged(tool: Tool, { rules, otherwise }: PermissionPolicy): boolean {
  if (rules.length > 0 || otherwise === "ask" || tool.needsApproval) return true;
  return (otherwise === "ask-unsafe" || otherwise === "always-ask-unsafe") && tool.replay === "unsafe";
}
