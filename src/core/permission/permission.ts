import { matchNameGlob, matchPathGlob } from "../../platform/text/glob.ts";
import type { PermissionOutcome, PermissionPolicy, PermissionRule } from "../../schema/permission.ts";
import type { ReplayClass } from "../../schema/tool.ts";
import type { CallFacts, CommandFact, HostFact, PathFact } from "./call-facts.ts";
import { matchHost } from "./host-glob.ts";

// Invariants
//   P1. Each command of a pipe or list, and each path and host of a call without commands, is decided by the first rule
//       that matches it; the call gets the strictest of these outcomes.
//   P2. Facts that are opaque or cut match no `allow` rule. If the policy has rules, such a call is never allowed.
//   P3. Uncertainty leads to the stricter outcome: `ask` and `deny` match what may be meant, `allow` what is certain.
//       So a program's options never bypass a rule that forbids one of its subcommands.

export type PermissionCall = { readonly tool: string; readonly replay: ReplayClass };

export type PermissionContext = {
  readonly agent: string;
  /** Whether a user is available to answer questions. */
  readonly interactive: boolean;
};

export type PermissionDecision = {
  readonly outcome: PermissionOutcome;
  /** The index of the rule that decided, from 0. */
  readonly rule: number | "otherwise";
  /** A clause for users, the record and the model, without a full stop. */
  readonly reason: string;
};

/** A unit that is decided separately: a command with the redirects of its call, a path, or a call without either. */
type DecisionUnit = {
  readonly command?: CommandFact;
  readonly paths: readonly PathFact[];
  readonly hosts?: readonly HostFact[];
};

const STRICTNESS: Record<PermissionOutcome, number> = { allow: 0, ask: 1, deny: 2 };
const OUTCOME_VERBS: Record<PermissionOutcome, string> = { allow: "allows", ask: "asks for", deny: "denies" };

export function decidePermission(
  policy: PermissionPolicy,
  call: PermissionCall,
  facts: CallFacts,
  context: PermissionContext,
): PermissionDecision {
  const uncertainty = findUncertainty(facts);
  let strictest: PermissionDecision | undefined;
  for (const piece of splitCall(facts)) {
    const decision = decidePiece(policy, call, piece, uncertainty, context);
    if (decision === undefined) continue;
    if (strictest === undefined || STRICTNESS[decision.outcome] > STRICTNESS[strictest.outcome]) {
      strictest = decision;
    }
  }
  return strictest ?? decideByDefault(policy, call, uncertainty, context);
}

function splitCall({ commands = [], paths = [], operands = [], hosts = [] }: CallFacts): DecisionUnit[] {
  if (commands.length > 0) {
    return commands.map((command) => ({
      command,
      paths: [...paths, ...operands],
      hosts: [...hosts, ...(command.hosts ?? [])],
    }));
  }
  const pieces = [
    ...paths.map((path) => ({ paths: [path] })),
    ...hosts.map((host) => ({ paths: [], hosts: [host] })),
  ];
  return pieces.length > 0 ? pieces : [{ paths: [] }];
}

/** Returns why no `allow` rule may match, or nothing. */
function findUncertainty(facts: CallFacts): string | undefined {
  if (facts.opaqueReason !== undefined) return `the command ${facts.opaqueReason}`;
  return facts.isTruncated === true ? "the call does more than can be listed" : undefined;
}

/** Decides one unit. Returns nothing for a wrapper that no rule matches: then only the command that it runs counts. */
function decidePiece(
  policy: PermissionPolicy,
  call: PermissionCall,
  piece: DecisionUnit,
  uncertainty: string | undefined,
  context: PermissionContext,
): PermissionDecision | undefined {
  const matching = policy.rules
    .map((rule, index) => ({ rule, index }))
    .filter(({ rule }) => rule.outcome !== "allow" || uncertainty === undefined)
    .filter(({ rule }) => matches(rule, call, piece, context));
  // An uncertain "ask" must not weaken a denial that follows it.
  const first = matching[0];
  const decisive = matching.find(({ rule }) => rule.outcome !== "ask" || mustMatch(rule, piece.command));
  const isWrapper = piece.command?.isWrapper === true;
  const last = isWrapper ? undefined : decideByDefault(policy, call, uncertainty, context);
  const decision = decisive === undefined ? last : decideByRule(decisive, piece);
  return first === undefined || decision?.outcome === "deny" ? decision : decideByRule(first, piece);
}

/** Reports whether the rule matches every command that the known words can stand for. */
function mustMatch(rule: PermissionRule, command: CommandFact | undefined): boolean {
  return command?.fixedWords === undefined || matchesCommand(rule, command, true);
}

type NumberedRule = { readonly rule: PermissionRule; readonly index: number };

function decideByRule({ rule, index }: NumberedRule, { command }: DecisionUnit): PermissionDecision {
  const target = command === undefined ? "it" : `\`${command.words.join(" ")}\``;
  return {
    outcome: rule.outcome,
    rule: index,
    reason: rule.reason ?? `rules[${index}] ${OUTCOME_VERBS[rule.outcome]} ${target}`,
  };
}

const UNSAFE_REASONS: Record<PermissionOutcome, (tool: string) => string> = {
  allow: () => "",
  ask: (tool) => `, and \`${tool}\` is not safe to repeat, so it needs approval`,
  deny: (tool) => `, \`${tool}\` is not safe to repeat, and nobody is there to approve it`,
};

function decideByDefault(
  policy: PermissionPolicy,
  { tool, replay }: PermissionCall,
  uncertainty: string | undefined,
  { interactive }: PermissionContext,
): PermissionDecision {
  const outcome = findDefaultOutcome(policy.otherwise, replay === "unsafe", interactive);
  if (outcome === "allow" && uncertainty !== undefined && policy.rules.length > 0) {
    return {
      outcome: "ask",
      rule: "otherwise",
      reason: `${uncertainty}, so a rule may forbid it`,
    };
  }
  const reason = outcome === policy.otherwise ? "" : UNSAFE_REASONS[outcome](tool);
  return {
    outcome,
    rule: "otherwise",
    reason: `no rule matches${reason}${uncertainty === undefined ? "" : ` (${uncertainty})`}`,
  };
}

function findDefaultOutcome(
  otherwise: PermissionPolicy["otherwise"],
  isUnsafe: boolean,
  interactive: boolean,
): PermissionOutcome {
  switch (otherwise) {
    case "ask-unsafe":
      return isUnsafe && interactive ? "ask" : "allow";
    case "always-ask-unsafe":
      return isUnsafe ? "ask" : "allow";
    case "deny-unsafe":
      return isUnsafe ? "deny" : "allow";
    default:
      return otherwise;
  }
}

function matches(
  rule: PermissionRule,
  call: PermissionCall,
  piece: DecisionUnit,
  context: PermissionContext,
): boolean {
  if (rule.tool !== undefined && !toList(rule.tool).some((glob) => matchNameGlob(glob, call.tool)))
    return false;
  if (rule.agent !== undefined && !toList(rule.agent).some((glob) => matchNameGlob(glob, context.agent)))
    return false;
  if (rule.replay !== undefined && !toList(rule.replay).includes(call.replay)) return false;
  const certain = rule.outcome === "allow";
  return (
    matchesCommand(rule, piece.command, certain) &&
    matchesPath(rule, piece, certain) &&
    matchesHost(rule, piece, certain)
  );
}

function matchesHost(
  rule: PermissionRule,
  { command, paths, hosts = [] }: DecisionUnit,
  certain: boolean,
): boolean {
  if (rule.host === undefined) return true;
  const globs = toList(rule.host);
  const fits = (host: HostFact) => globs.some((glob) => matchHost(glob, host, certain));
  if (!certain) return hosts.some(fits);
  // A command that redirects to a file does more than fetch.
  const isFetch =
    command === undefined ||
    (command.isFetchOnly === true && command.fixedWords === undefined && paths.length === 0);
  return isFetch && hosts.length > 0 && hosts.every(fits);
}

function matchesCommand(rule: PermissionRule, command: CommandFact | undefined, certain: boolean): boolean {
  if (rule.command === undefined) return true;
  if (command === undefined) return false;
  return parsePrefixes(rule.command).some((expected) => {
    return matchesPrefix(command, expected, certain) || (!certain && mayStandFor(command, expected));
  });
}

function matchesPath(rule: PermissionRule, { command, paths }: DecisionUnit, certain: boolean): boolean {
  if (rule.path === undefined) return true;
  const globs = toList(rule.path);
  const fits = (path: PathFact) => globs.some((glob) => matchesGlob(glob, path));
  if (certain) return command === undefined && paths.length > 0 && paths.every(fits);
  return paths.some(fits);
}

function matchesGlob(glob: string, path: PathFact): boolean {
  if (glob.startsWith("/")) return matchPathGlob(glob, path.path);
  return path.isInWorkspace && path.relative !== undefined && matchPathGlob(glob, path.relative);
}

/**
 * Reports whether a command begins with these words.
 *
 * @param certain - When true, only what is known counts. Otherwise a pattern matches what it may become, and the last
 * part of a program's path also matches.
 */
function matchesPrefix(
  { words, fixedWords }: CommandFact,
  prefix: readonly string[],
  certain: boolean,
): boolean {
  const known = words.slice(0, fixedWords);
  for (const [index, expected] of prefix.entries()) {
    const word = words[index];
    if (index < known.length) {
      const fits = word === expected || (!certain && index === 0 && getBaseName(word!) === expected);
      if (!fits) return false;
    } else {
      // The words after this point are uncertain: a pattern may become the expected word, and others may follow.
      if (fixedWords === undefined || certain) return false;
      return index > known.length || word === undefined || mayBecome(word, expected);
    }
  }
  return true;
}

/** Stands for any subcommand among the possible forms of a command. */
const ANY_SUBCOMMAND = "*";

/** Reports whether a command may mean these words: options may be anywhere, also before its subcommand. */
export function mayStandFor({ words, equivalents = [] }: CommandFact, expected: readonly string[]): boolean {
  const isOption = (word: string) => word.startsWith("-");
  if (!expected.filter(isOption).every((option) => words.includes(option))) return false;
  const [program, subcommand, ...operands] = expected.filter((word) => !isOption(word));
  return equivalents.some(([found, second, ...others]) => {
    if (found !== program) return false;
    if (subcommand === undefined || second === ANY_SUBCOMMAND) return true;
    if (second !== subcommand) return false;
    // After the subcommand, a word may be the value of an option.
    return words.some(isOption)
      ? isSubsequence(operands, others)
      : operands.every((word, at) => others[at] === word);
  });
}

function isSubsequence(some: readonly string[], of: readonly string[]): boolean {
  let at = 0;
  for (const word of of) if (word === some[at]) at += 1;
  return at === some.length;
}

/** Reports whether a shell pattern may expand to a word. Bracket expressions are not parsed: they match anything. */
function mayBecome(pattern: string, word: string): boolean {
  return pattern.includes("[") || matchNameGlob(pattern, word);
}

function getBaseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Splits each prefix of a rule into the words that it expects. */
export function parsePrefixes(prefixes: string | readonly string[]): readonly (readonly string[])[] {
  return toList(prefixes).map((prefix) => prefix.split(/\s+/).filter((word) => word !== ""));
}

function toList<Text extends string>(value: Text | readonly Text[]): readonly Text[] {
  return typeof value === "string" ? [value] : value;
}
