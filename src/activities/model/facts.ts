import { resolve } from "node:path";
import {
  boundFacts,
  type CallFacts,
  type CommandFact,
  type PathFact,
} from "../../core/permission/call-facts.ts";
import { UNKNOWN_HOST } from "../../core/permission/host-glob.ts";
import { mayMean, prefixesOf } from "../../core/permission/permission.ts";
import { redactWords } from "../../platform/text/redact.ts";
import type { PermissionPolicy } from "../../schema/permission.ts";
import { distinct, hostOf } from "../../tools/shell/hosts.ts";
import { commandFacts, type Wanted } from "../../tools/shell/shell-facts.ts";
import type { Tool, Touched } from "../../tools/tool.ts";
import { pathFacts } from "../../tools/workspace/path-facts.ts";

/**
 * What the policy must know of a call before it is decided on; nothing for calls that it decides on by name alone, so
 * that history does not carry what nobody reads.
 */
export async function factsOf(
  tool: Tool,
  value: unknown,
  policy: PermissionPolicy,
  workspace: string,
): Promise<CallFacts | undefined> {
  if (!isJudged(tool, policy)) return undefined;
  const { command, paths, hosts, cwd = "." } = touchedBy(tool, value);
  if (command === undefined && paths === undefined && hosts === undefined) return undefined;
  const ofCommand =
    command === undefined
      ? {}
      : await commandFacts(command, workspace, resolve(workspace, cwd), wantedBy(policy));
  const ofPaths = paths === undefined ? {} : await pathFacts(paths, workspace);
  const all = [...(ofCommand.paths ?? []), ...(ofPaths.paths ?? [])];
  const facts = { ...ofCommand, ...ofPaths, ...(all.length === 0 ? {} : { paths: all }) };
  const isShown = ({ path }: PathFact) => redactWords([path])[0] === path;
  return boundFacts({
    ...facts,
    ...(facts.operands === undefined ? {} : { operands: facts.operands.filter(isShown) }),
    ...(hosts === undefined
      ? {}
      : { hosts: distinct(hosts.map((one) => hostOf(one) ?? { host: UNKNOWN_HOST })) }),
    ...(facts.commands === undefined ? {} : { commands: facts.commands.map(shown) }),
  });
}

/** History carries what a rule of the policy may ask for, and nothing else. */
function wantedBy({ rules }: PermissionPolicy): Wanted {
  const strict = rules.filter(({ outcome }) => outcome !== "allow");
  const commands = strict.flatMap((rule) => (rule.command === undefined ? [] : prefixesOf(rule.command)));
  return {
    operands: strict.some(({ path }) => path !== undefined),
    hosts: rules.some(({ host }) => host !== undefined),
    meant: (command) => commands.some((words) => mayMean(command, words)),
  };
}

/** Facts go through history: a key that stands in a command does not. From there on the words are not certain. */
function shown(command: CommandFact): CommandFact {
  const words = redactWords(command.words);
  const changed = words.findIndex((word, index) => word !== command.words[index]);
  if (changed < 0) return command;
  const meant = command.meant?.map((list) => [...redactWords(list)]);
  const fixed = Math.min(command.fixed ?? changed, changed);
  return { ...command, words, fixed, ...(meant === undefined ? {} : { meant }) };
}

/** What a tool says of itself must not lose an answer that was paid for; a path nobody knows is outside. */
function touchedBy(tool: Tool, value: unknown): Touched {
  try {
    return tool.touches(value);
  } catch {
    return { paths: ["/"], hosts: [UNKNOWN_HOST] };
  }
}

function isJudged(tool: Tool, { rules, otherwise }: PermissionPolicy): boolean {
  if (rules.length > 0 || otherwise === "ask" || tool.confirm) return true;
  return otherwise === "ask-unsafe" && tool.replay === "unsafe";
}
