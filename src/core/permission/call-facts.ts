// What is known of one call when it is judged. An activity finds it (src/tools/workspace/path-facts.ts, shell-facts.ts) and sends
// it in its digest; the workflow decides by it. Plain JSON, small by `limitFacts`. Facts speak of the moment they were
// found in: what the command itself changes (a link that it makes) they cannot know.

/** One path that a call touches. */
export type PathFact = {
  /** Absolute, symbolic links resolved. */
  readonly path: string;
  /** In the workspace, by real path. */
  readonly inside: boolean;
  /** Below the workspace's real path, "." for the workspace itself. Only where `inside`. */
  readonly relative?: string;
};

/** One host that a call reaches. */
export type HostFact = {
  /** In small letters, numbers and names as addresses have them; `?` when it is not known. */
  readonly host: string;
  /** Absent when it is not known. */
  readonly port?: number;
};

/** One simple command: no pipe, no list. */
export type CommandFact = {
  /** As the program would get them, its name first. Empty for a bare redirect or assignment. */
  readonly words: readonly string[];
  /**
   * How many of the words are certain. Absent: all, and no others follow. From there on stand patterns that the shell
   * replaces by names of files, or words that were left out because they are long.
   */
  readonly fixed?: number;
  /** Only runs another command, which has a fact of its own: `timeout 60 npm test`. */
  readonly wrapper?: true;
  /**
   * The program is one that only reads or writes the files it is given and runs nothing else, and all of its options
   * are known: a user may allow it with other arguments.
   */
  readonly known?: true;
  /** Of a known program: an argument is, or may be, a path outside the workspace. */
  readonly outside?: true;
  /**
   * What it may mean to rules that ask or deny, where that is not what its words say: without options before its
   * subcommand, under another name of it. `*` stands for any subcommand.
   */
  readonly meant?: readonly (readonly string[])[];
  /** Hosts that it may reach, by its words. */
  readonly hosts?: readonly HostFact[];
  /** It reaches these hosts and no others, and does nothing else. */
  readonly fetches?: true;
  /** Reads from a pipe, a file or a text of the script: its words do not say all that it does. */
  readonly fed?: true;
};

export type CallFacts = {
  readonly paths?: readonly PathFact[];
  /** Hosts that the tool says it reaches. */
  readonly hosts?: readonly HostFact[];
  /** Files that arguments of commands may name. Rules that ask or deny look at them too. */
  readonly operands?: readonly PathFact[];
  /** In the order in which they are written. Of an opaque command, those that could be found. */
  readonly commands?: readonly CommandFact[];
  /** Why the commands cannot be relied on: a phrase that follows "the command". Never allowed by a rule. */
  readonly opaque?: string;
  /** Not all paths or commands are here. Never allowed by a rule. */
  readonly cut?: true;
};

/** More than a person writes in one line, and few enough for a digest. */
export const MAX_FACTS = 32;
/** Rules name the first words of a command; nobody writes a prefix of more. */
export const MAX_WORDS = 16;
/** The names of programs, subcommands and options; longer words are texts. */
const MAX_WORD_CHARS = 128;
/** The longest path of Linux is 4096; one of that length alone is left out, and the facts are cut. */
const MAX_PATH_CHARS = 1024;
/** All words and paths of one call together, so that a batch of calls stays within a few dozen kilobytes of history. */
export const MAX_FACTS_CHARS = 4096;
const MAX_REASON_CHARS = 200;

/** The same facts within the limits above. What is left out is said: by `fixed` for words, by `cut` for the rest. */
export function limitFacts(facts: CallFacts): CallFacts {
  let room = MAX_FACTS_CHARS;
  let cut = facts.cut ?? false;

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
  if (commands?.some((command) => command.words.length === 0 && command.fixed !== undefined)) cut = true;
  const paths = facts.paths && keep(facts.paths, measurePath);
  const operands = facts.operands && keep(facts.operands, measurePath);
  const hosts = facts.hosts && keep(facts.hosts, measureHost);
  return {
    ...(paths && { paths }),
    ...(operands && { operands }),
    ...(hosts && { hosts }),
    ...(commands && { commands }),
    ...(facts.opaque !== undefined && { opaque: facts.opaque.slice(0, MAX_REASON_CHARS) }),
    ...(cut && { cut }),
  };
}

function shortenCommand(command: CommandFact): CommandFact {
  const long = command.words.findIndex((word) => word.length > MAX_WORD_CHARS);
  const end = Math.min(long === -1 ? command.words.length : long, MAX_WORDS);
  if (end === command.words.length) return command;
  return { ...command, words: command.words.slice(0, end), fixed: Math.min(command.fixed ?? end, end) };
}

function measureCommand({ words, meant = [], hosts = [] }: CommandFact): number {
  const named = hosts.reduce((sum, host) => sum + measureHost(host), 0);
  return [words, ...meant].flat().reduce((sum, word) => sum + word.length + 1, 1 + named);
}

function measureHost({ host }: HostFact): number {
  return host.length + 8;
}

function measurePath({ path }: PathFact): number {
  return path.length > MAX_PATH_CHARS ? Number.POSITIVE_INFINITY : path.length * 2;
}
