import { isObject } from "../../platform/text/json.ts";
import type { CallFacts, CommandFact, HostFact } from "./call-facts.ts";
import { UNKNOWN_HOST } from "./host-glob.ts";

// What a user allows for the rest of a session.
//
// Invariants
//   G1. A grant covers what it names and nothing else: an empty list of words names nothing.
//   G2. A call is covered when each of its commands is covered. A command that may mean something else, or that touches a
//       path outside the workspace, is never covered.
//   G3. Reading a stored grant never throws, whatever its shape: a value that is not a grant is dropped.

/** A kind of call that the user has allowed for the rest of the session. */
export type Grant = {
  readonly tool: string;
  /** Programs that may run with any arguments within the workspace. Each entry is the program's name alone. */
  readonly commands?: readonly (readonly string[])[];
  /** For a tool that reaches hosts: the hosts that it may reach, as `host` or `host:port`. */
  readonly hosts?: readonly string[];
  /** Commands that may run with exactly these words. */
  readonly exactCommands?: readonly (readonly string[])[];
};

/** The part of a call that a grant refers to. */
export type GrantedCall = { readonly name: string; readonly facts?: CallFacts };

/** The maximum number of grants in a session; the oldest are dropped first. */
export const MAX_GRANTS = 50;
/** The maximum number of characters in all grants together: grants travel with the state of a run. */
export const MAX_GRANTS_CHARS = 16_384;
/** Bounds for input: no command of a call has more words, and no call more commands. */
const MAX_GRANT_COMMANDS = 64;
const MAX_GRANT_WORDS = 64;
const MAX_GRANT_WORD_CHARS = 1024;

/** Reports whether a value has the shape of a grant. */
function isGrant(value: unknown): value is Grant {
  if (!isObject(value)) return false;
  const { tool, commands, exactCommands, hosts, ...others } = value;
  return (
    isWord(tool) &&
    Object.keys(others).length === 0 &&
    [commands, exactCommands].every((list) => list === undefined || isListOfCommands(list)) &&
    (hosts === undefined || (isWordList(hosts) && (hosts as string[]).every(isWord)))
  );
}

/** Returns the grants in a stored or received value, and drops anything that is not a grant. */
export function readGrants(value: unknown): readonly Grant[] {
  return Array.isArray(value) ? value.filter(isGrant).slice(-MAX_GRANTS) : [];
}

function isListOfCommands(list: unknown): boolean {
  return (
    Array.isArray(list) && list.length > 0 && list.length <= MAX_GRANT_COMMANDS && list.every(isWordList)
  );
}

function isWordList(words: unknown): boolean {
  return (
    Array.isArray(words) &&
    words.length <= MAX_GRANT_WORDS &&
    isWord(words[0]) &&
    words.every((word) => typeof word === "string" && word.length <= MAX_GRANT_WORD_CHARS)
  );
}

function isWord(word: unknown): word is string {
  return typeof word === "string" && word !== "" && word.length <= MAX_GRANT_WORD_CHARS;
}

/** Returns the grant that `always` gives for this call, or nothing when each such call needs its own approval. */
export function buildGrant({ name, facts }: GrantedCall): Grant | undefined {
  if (facts === undefined) return { tool: name };
  if (!isPlain(facts)) return undefined;
  const all = facts.commands ?? [];
  if (all.length === 0) {
    const hosts = (facts.hosts ?? []).map(formatHost);
    if (hosts.includes(UNKNOWN_HOST)) return undefined;
    return { tool: name, ...(hosts.length === 0 ? {} : { hosts }) };
  }
  if (!all.every(canBeGranted)) return undefined;
  const commands = all.filter(isKnown).map(({ words }) => words.slice(0, 1));
  const exact = all.filter((command) => !isKnown(command)).map(({ words }) => words);
  return {
    tool: name,
    ...(commands.length === 0 ? {} : { commands: removeDuplicates(commands) }),
    ...(exact.length === 0 ? {} : { exactCommands: removeDuplicates(exact) }),
  };
}

/** Describes what `always` would cover, one phrase each, for the user who decides; empty when it covers nothing. */
export function describeCoverage(call: GrantedCall): readonly string[] {
  const grant = buildGrant(call);
  if (grant === undefined) return [];
  const { commands = [], exactCommands = [], hosts = [] } = grant;
  if (hosts.length > 0) return [`every call of ${grant.tool} to ${hosts.join(" and ")}`];
  if (commands.length + exactCommands.length === 0) return [`every call of ${grant.tool}`];
  return [
    ...commands.map(([program]) => `\`${program}\` with any arguments within the workspace`),
    ...exactCommands.map((words) => `exactly \`${words.join(" ")}\``),
  ];
}

export function addGrant(grants: readonly Grant[], grant: Grant | undefined): readonly Grant[] {
  if (grant === undefined) return grants;
  const kept: Grant[] = [];
  let chars = 0;
  for (const one of [...grants, grant].reverse()) {
    chars += measureGrant(one);
    if (kept.length === MAX_GRANTS || (chars > MAX_GRANTS_CHARS && kept.length > 0)) break;
    kept.unshift(one);
  }
  return kept;
}

/** Reports whether the user has allowed this kind of call. */
export function isGranted(grants: readonly Grant[], { name, facts }: GrantedCall): boolean {
  const own = grants.filter(({ tool }) => tool === name);
  if (own.length === 0 || (facts !== undefined && !isPlain(facts))) return false;
  const all = facts?.commands ?? [];
  if (all.length === 0) {
    const whole = own.filter(
      ({ commands, exactCommands }) => commands === undefined && exactCommands === undefined,
    );
    const reached = (facts?.hosts ?? []).map(formatHost);
    if (reached.length === 0) return whole.some(({ hosts }) => hosts === undefined);
    const allowed = whole.flatMap(({ hosts = [] }) => hosts);
    return reached.every((host) => host !== UNKNOWN_HOST && allowed.includes(host));
  }
  const programs = own.flatMap(({ commands = [] }) => commands);
  const exact = own.flatMap((grant) => grant.exactCommands ?? []);
  return all.every(
    (command) =>
      canBeGranted(command) &&
      (isKnown(command)
        ? programs.some((words) => areEqual(words, command.words.slice(0, 1)))
        : exact.some((words) => areEqual(words, command.words))),
  );
}

/** Reports whether nothing in the call is hidden or uncertain, and no path that it names is outside the workspace. */
function isPlain({ opaqueReason, isTruncated, paths = [] }: CallFacts): boolean {
  return (
    opaqueReason === undefined && isTruncated !== true && paths.every(({ isInWorkspace }) => isInWorkspace)
  );
}

function canBeGranted({
  words,
  fixedWords,
  leavesWorkspace,
  readsInput,
  isKnownProgram,
}: CommandFact): boolean {
  if (words.length === 0 || fixedWords !== undefined || leavesWorkspace === true) return false;
  // A known program does the same whatever its input is. Any other program may execute its input.
  return isKnownProgram === true || readsInput !== true;
}

function isKnown({ isKnownProgram }: CommandFact): boolean {
  return isKnownProgram === true;
}

function formatHost({ host, port }: HostFact): string {
  return port === undefined ? host : `${host}:${port}`;
}

function measureGrant({ tool, commands = [], exactCommands = [], hosts = [] }: Grant): number {
  return [...commands, ...exactCommands, hosts]
    .flat()
    .reduce((sum, word) => sum + word.length + 1, tool.length);
}

function removeDuplicates(lists: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return lists.filter((words, at) => lists.findIndex((other) => areEqual(words, other)) === at);
}

function areEqual(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((word, at) => word === others[at]);
}
