// Programs that only read or write the files they are given and run nothing else. The user may allow such a program with
// other arguments, if these stay in the workspace. An unlisted program or option may do anything: it is allowed only with
// the exact words that the user has approved.

type KnownProgram = {
  /** Options of one letter that take no value. */
  readonly flags?: string;
  /** Options of one letter whose value follows, in the same word or in the next. */
  readonly values?: string;
  /** Options of one letter whose value is one character and not a path. */
  readonly delimiters?: string;
  /** The program takes numbers as options: `head -20`. */
  readonly takesNumbers?: true;
  /** Long options, without the dashes. A value after `=` is checked as a path. */
  readonly longOptions?: string;
  /** The program's arguments are texts, not paths. */
  readonly takesText?: true;
  /** The first argument is a pattern, unless an option gives one. */
  readonly takesPattern?: true;
  /** The program changes files. It must not change git's own folder, whose files name programs that git runs. */
  readonly writes?: true;
};

const GREP: KnownProgram = {
  flags: "EFGPabcHhiIlLnoqrsvwxyzZ",
  values: "ABCmef",
  takesNumbers: true,
  takesPattern: true,
  longOptions:
    "ignore-case invert-match line-number count files-with-matches files-without-match no-messages with-filename " +
    "no-filename only-matching word-regexp line-regexp extended-regexp fixed-strings basic-regexp perl-regexp " +
    "regexp max-count after-context before-context context color colour include exclude exclude-dir recursive quiet",
};
const SUM: KnownProgram = { flags: "bt", longOptions: "binary text tag zero" };
const TEXT: KnownProgram = { takesText: true, flags: "neEsLP" };
const NAMES: KnownProgram = { takesText: true };

/** Excludes `find`, `sort --compress-program`, `grep -R`, `rm -r`: they run programs, follow links or remove folders. */
const KNOWN_PROGRAMS: Readonly<Record<string, KnownProgram>> = {
  ls: {
    flags: "1aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ",
    longOptions:
      "all almost-all human-readable recursive reverse size classify directory group-directories-first color inode " +
      "full-time time-style sort time",
  },
  cat: {
    flags: "AbeEnstTuv",
    longOptions: "number number-nonblank show-all show-ends show-tabs squeeze-blank",
  },
  tac: { flags: "br" },
  head: { flags: "qvz", values: "cn", takesNumbers: true, longOptions: "lines bytes quiet silent verbose" },
  tail: {
    flags: "fFqvz",
    values: "cns",
    takesNumbers: true,
    longOptions: "lines bytes quiet silent verbose follow",
  },
  wc: { flags: "clLmw", longOptions: "lines words chars bytes max-line-length" },
  nl: {},
  rev: {},
  sort: {
    flags: "bdfghiMnRrVucCmsz",
    values: "koS",
    delimiters: "t",
    longOptions: "reverse numeric-sort human-numeric-sort version-sort unique key stable ignore-case output",
    writes: true,
  },
  uniq: { flags: "cdDiuz", values: "fsw", longOptions: "count repeated unique ignore-case", writes: true },
  cut: { flags: "nsz", values: "bcf", delimiters: "d", longOptions: "fields bytes characters complement" },
  paste: { flags: "sz", delimiters: "d" },
  tr: { takesText: true, flags: "cCdst", longOptions: "delete complement squeeze-repeats truncate-set1" },
  comm: { flags: "123z" },
  cmp: { flags: "bls" },
  diff: {
    flags: "abBdeEiNpqstTuwy",
    values: "UCW",
    longOptions: "brief unified context color ignore-case ignore-all-space side-by-side",
  },
  fold: { flags: "bs", values: "w" },
  column: { flags: "t", delimiters: "s" },
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  rg: {
    flags: "FilnNovwxUSsIHcPqp",
    values: "eABCgtTmj",
    takesPattern: true,
    longOptions:
      "ignore-case line-number files files-with-matches count hidden glob type color no-heading fixed-strings json",
  },
  tree: { flags: "adfCDFhsprtAiQ", values: "LIP", longOptions: "dirsfirst noreport" },
  stat: { flags: "ft", delimiters: "", longOptions: "terse" },
  file: { flags: "bi", longOptions: "brief mime mime-type mime-encoding" },
  du: {
    flags: "abchHkmsSx0",
    values: "dtB",
    longOptions: "all human-readable summarize total max-depth apparent-size",
  },
  df: { flags: "ahHiklmPT", longOptions: "human-readable" },
  readlink: { flags: "efmnqsz" },
  realpath: { flags: "emqsz" },
  sha1sum: SUM,
  sha224sum: SUM,
  sha256sum: SUM,
  sha384sum: SUM,
  sha512sum: SUM,
  md5sum: SUM,
  b2sum: SUM,
  cksum: {},
  od: { flags: "abcdfiloOsxv", values: "AtNjw" },
  strings: { flags: "a", values: "nt" },
  test: { flags: "bcdefghkLnprsStuwxzGNO" },
  touch: { flags: "acm", values: "drt", writes: true },
  mkdir: { flags: "pv", longOptions: "parents verbose", writes: true },
  rmdir: { flags: "pv", longOptions: "parents verbose", writes: true },
  cp: {
    flags: "afinpPrRTuv",
    values: "t",
    longOptions: "archive recursive force interactive no-clobber update verbose preserve",
    writes: true,
  },
  mv: {
    flags: "finTuv",
    values: "t",
    longOptions: "force interactive no-clobber update verbose",
    writes: true,
  },
  rm: { flags: "dfiIv", longOptions: "force interactive dir verbose", writes: true },
  tee: { flags: "ai", longOptions: "append ignore-interrupts", writes: true },
  echo: TEXT,
  pwd: TEXT,
  printf: NAMES,
  true: NAMES,
  false: NAMES,
  basename: NAMES,
  dirname: NAMES,
  sleep: NAMES,
  seq: NAMES,
  whoami: {},
  nproc: {},
  arch: {},
  uptime: {},
};

/** The arguments of a known program, each of which may be a path. */
export type KnownCommand = { readonly operands: readonly string[]; readonly writes: boolean };

/** Standard input and output, and the null device: not files. */
const STANDARD_STREAMS = /^(-|\/dev\/(null|stdin|stdout|stderr))$/;

/** Returns undefined if the program or one of its options is unknown. A program that is named by a path is unknown. */
export function parseKnownCommand(words: readonly string[]): KnownCommand | undefined {
  const [name = "", ...args] = words;
  const program = Object.hasOwn(KNOWN_PROGRAMS, name) ? KNOWN_PROGRAMS[name] : undefined;
  if (program === undefined) return undefined;
  const { takesText = false, takesPattern = false, writes = false } = program;
  const operands: string[] = [];
  const values: string[] = [];
  let hasPattern = false;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at]!;
    if (word === "--") {
      operands.push(...args.slice(at + 1));
      break;
    }
    // `printf -x` and `test -f` have no ordinary options; all their words are checked as arguments.
    if (!word.startsWith("-") || word === "-" || (takesText && program === NAMES)) {
      operands.push(word);
      continue;
    }
    const option = word.startsWith("--") ? parseLongOption(word, program) : parseShortOption(word, program);
    if (option === undefined) return undefined;
    hasPattern ||= /^(e|f|regexp)$/.test(option.name);
    if (option.value !== undefined) values.push(option.value);
    // A value in the next word counts as an operand: it is checked in the same way.
    if (option.takesNextWord === true) at += 1;
  }
  const paths = takesText ? [] : [...(takesPattern && !hasPattern ? operands.slice(1) : operands), ...values];
  return { operands: paths.filter((path) => !STANDARD_STREAMS.test(path)), writes };
}

type ParsedOption = { readonly name: string; readonly value?: string; readonly takesNextWord?: true };

function parseLongOption(word: string, { longOptions = "" }: KnownProgram): ParsedOption | undefined {
  const [name = "", ...rest] = word.slice(2).split("=");
  if (!longOptions.split(" ").includes(name)) return undefined;
  return rest.length === 0 ? { name } : { name, value: rest.join("=") };
}

function parseShortOption(word: string, program: KnownProgram): ParsedOption | undefined {
  const { flags = "", values = "", delimiters = "", takesNumbers = false } = program;
  const letters = [...word.slice(1)];
  for (const [index, letter] of letters.entries()) {
    const rest = letters.slice(index + 1).join("");
    if (takesNumbers && /^\d+$/.test(letter + rest)) return { name: "number" };
    if (values.includes(letter)) return { name: letter, ...(rest === "" ? {} : { value: rest }) };
    if (delimiters.includes(letter)) {
      if ([...rest].length > 1) return undefined;
      return { name: letter, ...(rest === "" ? { takesNextWord: true } : {}) };
    }
    if (!flags.includes(letter)) return undefined;
  }
  return { name: letters.at(-1) ?? "" };
}
