import type { CallFacts, CommandFact, HostFact } from "./call-facts.ts";
import { UNKNOWN_HOST } from "./host-glob.ts";

// What a user has allowed for the rest of a session.
//
// Invariants
//   G1. A grant covers what it names and nothing else: an empty list of words names nothing.
//   G2. A call is covered when each of its commands is. A command that may be something else, or that touches a path
//       outside the workspace, is never covered.
//   G3. Whatever a stored grant looks like, reading it never throws: what is not a grant is dropped.

/** A kind of call that a user has allowed for the rest of the session. */
export type Grant = {
  readonly tool: string;
  /** Programs that may run with other arguments, within the workspace: each is the program's name alone. */
  readonly commands?: readonly (readonly string[])[];
  /** Of a tool that reaches hosts: those that it may reach, as `host` or `host:port`. */
  readonly hosts?: readonly string[];
  /** Commands that may run again with exactly these words. */
  readonly exact?: readonly (readonly string[])[];
};

/** The part of a call that a grant is about. */
export type GrantedCall = { readonly name: string; readonly facts?: CallFacts };

/** Grants that a session keeps; the oldest go first. */
export const MAX_GRANTS = 50;
/** All of their words together: grants travel with the state of a run. */
export const MAX_GRANTS_CHARS = 16_384;
/** Bounds for what is read: no command of a call has more words, and no call more commands. */
const MAX_GRANT_COMMANDS = 64;
const MAX_GRANT_WORDS = 64;
const MAX_GRANT_WORD_CHARS = 1024;

/** Whether a value has the shape of a grant. */
function isGrant(value: unknown): value is Grant {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
  const { tool, commands, exact, hosts, ...others } = value as Record<string, unknown>;
  return (
    isWord(tool) &&
    Object.keys(others).length === 0 &&
    [commands, exact].every((list) => list === undefined || isListOfCommands(list)) &&
    (hosts === undefined || (isWordList(hosts) && (hosts as string[]).every(isWord)))
  );
}

/** The grants in a value that was stored or sent: anything that is not a grant is dropped. */
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

/** The grant that `always` would give for this call, or nothing where the call is to be asked for each time. */
export function grantFor({ name, facts }: GrantedCall): Grant | undefined {
  if (facts === undefined) return { tool: name };
  if (!isPlain(facts)) return undefined;
  const all = facts.commands ?? [];
  if (all.length === 0) {
    const hosts = (facts.hosts ?? []).map(hostName);
    if (hosts.includes(UNKNOWN_HOST)) return undefined;
    return { tool: name, ...(hosts.length === 0 ? {} : { hosts }) };
  }
  if (!all.every(canBeGranted)) return undefined;
  const commands = all.filter(isKnown).map(({ words }) => words.slice(0, 1));
  const exact = all.filter((command) => !isKnown(command)).map(({ words }) => words);
  return {
    tool: name,
    ...(commands.length === 0 ? {} : { commands: distinct(commands) }),
    ...(exact.length === 0 ? {} : { exact: distinct(exact) }),
  };
}

/** What `always` would cover, a phrase each, for whoever is about to say it; empty when it covers nothing. */
export function coverageOf(call: GrantedCall): readonly string[] {
  const grant = grantFor(call);
  if (grant === undefined) return [];
  const { commands = [], exact = [], hosts = [] } = grant;
  if (hosts.length > 0) return [`every call of ${grant.tool} to ${hosts.join(" and ")}`];
  if (commands.length + exact.length === 0) return [`every call of ${grant.tool}`];
  return [
    ...commands.map(([program]) => `\`${program}\` with any arguments within the workspace`),
    ...exact.map((words) => `exactly \`${words.join(" ")}\``),
  ];
}

export function withGrant(grants: readonly Grant[], grant: Grant | undefined): readonly Grant[] {
  if (grant === undefined) return grants;
  const kept: Grant[] = [];
  let chars = 0;
  for (const one of [...grants, grant].reverse()) {
    chars += sizeOf(one);
    if (kept.length === MAX_GRANTS || (chars > MAX_GRANTS_CHARS && kept.length > 0)) break;
    kept.unshift(one);
  }
  return kept;
}

/** Whether a user has allowed this kind of call. */
export function isGranted(grants: readonly Grant[], { name, facts }: GrantedCall): boolean {
  const own = grants.filter(({ tool }) => tool === name);
  if (own.length === 0 || (facts !== undefined && !isPlain(facts))) return false;
  const all = facts?.commands ?? [];
  if (all.length === 0) {
    const whole = own.filter(({ commands, exact }) => commands === undefined && exact === undefined);
    const reached = (facts?.hosts ?? []).map(hostName);
    if (reached.length === 0) return whole.some(({ hosts }) => hosts === undefined);
    const allowed = whole.flatMap(({ hosts = [] }) => hosts);
    return reached.every((host) => host !== UNKNOWN_HOST && allowed.includes(host));
  }
  const programs = own.flatMap(({ commands = [] }) => commands);
  const exact = own.flatMap((grant) => grant.exact ?? []);
  return all.every(
    (command) =>
      canBeGranted(command) &&
      (isKnown(command)
        ? programs.some((words) => areEqual(words, command.words.slice(0, 1)))
        : exact.some((words) => areEqual(words, command.words))),
  );
}

/** Nothing in it is hidden or uncertain, and nothing that it names as its own lies outside the workspace. */
function isPlain({ opaque, cut, paths = [] }: CallFacts): boolean {
  return opaque === undefined && cut !== true && paths.every(({ inside }) => inside);
}

function canBeGranted({ words, fixed, outside, fed, known }: CommandFact): boolean {
  if (words.length === 0 || fixed !== undefined || outside === true) return false;
  // A known program does the same whatever it reads. Any other may run it.
  return known === true || fed !== true;
}

function isKnown({ known }: CommandFact): boolean {
  return known === true;
}

function hostName({ host, port }: HostFact): string {
  return port === undefined ? host : `${host}:${port}`;
}

function sizeOf({ tool, commands = [], exact = [], hosts = [] }: Grant): number {
  return [...commands, ...exact, hosts].flat().reduce((sum, word) => sum + word.length + 1, tool.length);
}

function distinct(lists: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return lists.filter((words, at) => lists.findIndex((other) => areEqual(words, other)) === at);
}

function areEqual(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((word, at) => word === others[at]);
}
