// The facts of one call that the permission decision uses. An activity collects them
// (src/tools/workspace/path-facts.ts, shell-facts.ts) and sends them in its digest; the workflow decides by them. They
// are plain JSON, kept small by `limitFacts`. Facts describe the moment at which they were collected: they do not know
// what the command itself changes, such as a link that it creates.

/** A path that a call touches. */
export type PathFact = {
  /** Absolute, with symbolic links resolved. */
  readonly path: string;
  /** Whether the real path is in the workspace. */
  readonly isInWorkspace: boolean;
  /** Relative to the workspace's real path, "." for the workspace itself. Present only where `isInWorkspace` is true. */
  readonly relative?: string;
};

/** A host that a call reaches. */
export type HostFact = {
  /** In lower case, with numbers and names as in addresses; `?` when it is unknown. */
  readonly host: string;
  /** Absent when it is unknown. */
  readonly port?: number;
};

/** A simple command: no pipe, no list. */
export type CommandFact = {
  /** As the program receives them, its name first. Empty for a bare redirect or assignment. */
  readonly words: readonly string[];
  /**
   * How many of the words are certain. Absent: all of them, and no others follow. The words from this index on are
   * patterns that the shell replaces with file names, or stand for words that were omitted because they are long.
   */
  readonly fixedWords?: number;
  /** The command only runs another command, which has a fact of its own: `timeout 60 npm test`. */
  readonly isWrapper?: true;
  /**
   * The program only reads or writes the files that it is given, runs nothing else, and all of its options are known: a
   * user may allow it with other arguments.
   */
  readonly isKnownProgram?: true;
  /** Of a known program: an argument is, or may be, a path outside the workspace. */
  readonly leavesWorkspace?: true;
  /**
   * Other forms of the command that `ask` and `deny` rules match: without the options before its subcommand, or under
   * another name of the subcommand. `*` stands for any subcommand.
   */
  readonly equivalents?: readonly (readonly string[])[];
  /** Hosts that the command may reach, by its words. */
  readonly hosts?: readonly HostFact[];
  /** The command reaches these hosts and no others, and does nothing else. */
  readonly isFetchOnly?: true;
  /** The command reads a pipe, a file or a text of the script, so its words do not show all that it does. */
  readonly readsInput?: true;
};

export type CallFacts = {
  readonly paths?: readonly PathFact[];
  /** Hosts that the tool reports that it reaches. */
  readonly hosts?: readonly HostFact[];
  /** Files that arguments of commands may name. Rules with `ask` or `deny` check them too. */
  readonly operands?: readonly PathFact[];
  /** In the order in which they are written. For an opaque command, those that could be found. */
  readonly commands?: readonly CommandFact[];
  /** Why the commands are not reliable: a phrase that follows "the command". No rule allows such a call. */
  readonly opaqueReason?: string;
  /** Not all paths or commands are listed. No rule allows such a call. */
  readonly isTruncated?: true;
};

/** More commands or paths than a user writes in one line, and few enough for a digest. */
export const MAX_FACTS = 32;
/** Rules name the first words of a command; a longer prefix is not realistic. */
export const MAX_WORDS = 16;
/** Enough for the names of programs, subcommands and options; longer words are texts. */
const MAX_WORD_CHARS = 128;
/** Linux allows 4096 characters; a path above this limit is omitted, and the facts are marked `isTruncated`. */
const MAX_PATH_CHARS = 1024;
/** All words and paths of one call together, so that a batch of calls stays within a few dozen kilobytes of history. */
export const MAX_FACTS_CHARS = 4096;
const MAX_REASON_CHARS = 200;

/** Returns the facts within the limits above. Omitted words lower `fixedWords`; any other omission sets `isTruncated`. */
export function limitFacts(facts: CallFacts): CallFacts {
  let room = MAX_FACTS_CHARS;
  let cut = facts.isTruncated ?? false;

  function keep<Fact>(list: readonly Fact[], cost: (fact: Fact) => number): Fact[] {
    const kept: Fact[] = [];
    for (const fact of list) {
      room -= cost(fact);
      if (room < 0 || kept.length === MAX_FACTS) {
        cut = true;
        break;
      }
      kept.push(fact);
    }
    return kept;
  }

  const commands = facts.commands && keep(facts.commands.map(shortenCommand), measureCommand);
  if (commands?.some((command) => command.words.length === 0 && command.fixedWords !== undefined)) cut = true;
  const paths = facts.paths && keep(facts.paths, measurePath);
  const operands = facts.operands && keep(facts.operands, measurePath);
  const hosts = facts.hosts && keep(facts.hosts, measureHost);
  return {
    ...(paths && { paths }),
    ...(operands && { operands }),
    ...(hosts && { hosts }),
    ...(commands && { commands }),
    ...(facts.opaqueReason !== undefined && { opaqueReason: facts.opaqueReason.slice(0, MAX_REASON_CHARS) }),
    ...(cut && { isTruncated: cut }),
  };
}

function shortenCommand(command: CommandFact): CommandFact {
  const long = command.words.findIndex((word) => word.length > MAX_WORD_CHARS);
  const end = Math.min(long === -1 ? command.words.length : long, MAX_WORDS);
  if (end === command.words.length) return command;
  return {
    ...command,
    words: command.words.slice(0, end),
    fixedWords: Math.min(command.fixedWords ?? end, end),
  };
}

function measureCommand({ words, equivalents = [], hosts = [] }: CommandFact): number {
  const named = hosts.reduce((sum, host) => sum + measureHost(host), 0);
  return [words, ...equivalents].flat().reduce((sum, word) => sum + word.length + 1, 1 + named);
}

function measureHost({ host }: HostFact): number {
  return host.length + 8;
}

function measurePath({ path }: PathFact): number {
  return path.length > MAX_PATH_CHARS ? Number.POSITIVE_INFINITY : path.length * 2;
}
