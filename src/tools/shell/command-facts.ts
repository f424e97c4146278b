import { lstat } from "node:fs/promises";
import { resolve } from "node:path";
import {
  type CallFacts,
  type CommandFact,
  limitFacts,
  type PathFact,
} from "../../core/permission/call-facts.ts";
import { hasParentSegment, resolvePathFact } from "../workspace/path-facts.ts";
import { findEquivalentCommands } from "./equivalent-commands.ts";
import { parseKnownCommand } from "./known-programs.ts";
import { findReachedHosts } from "./reached-hosts.ts";
import { readScript } from "./read-script.ts";

// Collects the facts of a shell command: its simple commands, the files that its redirects name, and whether the analysis is
// reliable. The parser (unbash) knows the grammar; classify-command.ts and its neighbours know the programs.
//
// A command is opaque if its text does not determine what runs: syntax errors; variables (also $HOME), substitutions,
// braces and ~; eval, source, exec and the like; functions, loops, assignments that may matter; programs that run
// commands made of their input or arguments; interpreters that get their program as text; redirects and cd out of the
// workspace. File name patterns do not make a command opaque: the words before them are certain.

/** The optional facts to collect. */
export type FactOptions = {
  /** Files that arguments may name, for rules about paths. */
  readonly includesOperands?: boolean;
  /** Hosts that commands may reach, for rules about hosts. */
  readonly includesHosts?: boolean;
  /** Returns whether an equivalent of a command matters to a rule. */
  readonly isRelevant?: (command: CommandFact) => boolean;
};

/** @param from - The folder in which the command starts; the workspace by default. */
export async function collectCommandFacts(
  command: string,
  workspace: string,
  from = workspace,
  { includesOperands = false, includesHosts = false, isRelevant }: FactOptions = {},
): Promise<CallFacts> {
  const { commands, targets, folder, opaque } = readScript(command);
  const objections = opaque === undefined ? [] : [opaque];
  const folders = [from];
  if (folder !== undefined) {
    const fact = await resolvePathFact(folder, workspace, from);
    if (!fact.isInWorkspace || hasParentSegment(folder))
      objections.push("changes to a folder outside the workspace");
    folders.push(fact.path);
  }
  const paths: PathFact[] = [];
  for (const target of targets) {
    // The redirect may run before or after the change of folder, so both folders are checked.
    for (const base of folders) {
      const fact = await resolvePathFact(target, workspace, base);
      if (!fact.isInWorkspace || hasParentSegment(target))
        objections.push("redirects to a file outside the workspace");
      if (!paths.some(({ path }) => path === fact.path)) paths.push(fact);
    }
  }
  const known = await Promise.all(commands.map((one) => addArgumentFacts(one, folders, workspace)));
  const read = includesHosts ? known.map(addHosts) : known;
  const operands = includesOperands ? await collectOperands(commands, folders, workspace) : [];
  return limitFacts({
    commands: isRelevant === undefined ? read : read.map((one) => addEquivalents(one, isRelevant)),
    ...(operands.length > 0 && { operands }),
    ...(paths.length > 0 && { paths }),
    ...(objections[0] !== undefined && { opaqueReason: objections[0] }),
  });
}

/** Adds, for a program that only handles files, whether all its arguments lie in the workspace. */
async function addArgumentFacts(
  command: CommandFact,
  folders: readonly string[],
  workspace: string,
): Promise<CommandFact> {
  if (command.isWrapper === true) return command;
  const known = parseKnownCommand(command.words);
  if (known === undefined) return command;
  for (const operand of known.operands) {
    for (const folder of folders) {
      const fact = await resolvePathFact(operand, workspace, folder);
      const isOfGit = known.writes && /(^|\/)\.git(\/|$)/.test(fact.relative ?? "");
      if (!fact.isInWorkspace || hasParentSegment(operand) || isOfGit)
        return { ...command, isKnownProgram: true, leavesWorkspace: true };
    }
  }
  return { ...command, isKnownProgram: true };
}

function addHosts(command: CommandFact): CommandFact {
  if (command.isWrapper === true) return command;
  const { hosts, isComplete } = findReachedHosts(command.words);
  if (hosts.length === 0) return command;
  return {
    ...command,
    hosts,
    ...(isComplete && command.readsInput !== true ? { isFetchOnly: true as const } : {}),
  };
}

/** Longer words are texts, such as a commit message. */
const MAX_OPERAND_CHARS = 1024;

/** Collects the paths that words may name. A program may take any word as a path, so every possible path is checked. */
async function collectOperands(
  commands: readonly CommandFact[],
  folders: readonly string[],
  workspace: string,
): Promise<readonly PathFact[]> {
  const found = new Map<string, PathFact>();
  for (const { words } of commands) {
    const known = parseKnownCommand(words)?.operands ?? [];
    for (const word of words.slice(1)) {
      for (const part of splitWord(word)) {
        for (const folder of folders) {
          const isPath = known.includes(part) || part.includes("/") || (await exists(resolve(folder, part)));
          if (!isPath) continue;
          const fact = await resolvePathFact(part, workspace, folder);
          found.set(fact.path, fact);
        }
      }
    }
  }
  return [...found.values()];
}

/** Returns a word itself, and the value of an option within the same word. */
function splitWord(word: string): readonly string[] {
  if (word === "" || word.length > MAX_OPERAND_CHARS) return [];
  const value = word.slice(word.indexOf("=") + 1);
  const attached = /^-[A-Za-z](.+)$/.exec(word)?.[1];
  const parts = [word, ...(value === word ? [] : [value]), ...(attached === undefined ? [] : [attached])];
  return parts.filter((part) => part !== "" && !part.startsWith("-"));
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

function addEquivalents(command: CommandFact, isRelevant: (command: CommandFact) => boolean): CommandFact {
  const equivalents = findEquivalentCommands(command.words).filter((one) =>
    isRelevant({ ...command, equivalents: [one] }),
  );
  return equivalents.length === 0 ? command : { ...command, equivalents };
}
