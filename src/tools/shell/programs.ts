// What is known of programs that run other programs. One table; each row says why.

/** How a command is to be read. `wraps`: the index of the word where the command begins that it runs. */
export type Reading =
  | { readonly type: "plain" }
  | { readonly type: "opaque"; readonly reason: string }
  | { readonly type: "wraps"; readonly at: number };

const PLAIN: Reading = { type: "plain" };
const opaque = (reason: string): Reading => ({ type: "opaque", reason });

/** @param fixed - Where patterns of file names begin; a file may have the name of an option. */
export function readCommand(words: readonly string[], fixed = words.length): Reading {
  const [name = "", ...args] = words;
  const program = name.slice(name.lastIndexOf("/") + 1);
  const always = ALWAYS_OPAQUE.get(program);
  if (always !== undefined) return opaque(`${always} (${program})`);
  const interpreter = INTERPRETERS.find(({ names }) => names.test(program));
  const pattern = words.slice(fixed).find((word) => MAY_BECOME_OPTION.test(word));
  if (pattern !== undefined && (interpreter !== undefined || Object.hasOwn(OPAQUE_WITH, program))) {
    return opaque(`has a pattern that may become an option (${program} ${pattern})`);
  }
  if (interpreter !== undefined) return readInterpreter(program, interpreter, args);
  const wrapper = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined;
  if (wrapper !== undefined) return readWrapper(program, wrapper, args);
  const telling = Object.hasOwn(OPAQUE_WITH, program) ? OPAQUE_WITH[program] : undefined;
  const word = telling && args.find((arg) => telling.word.test(arg));
  return word === undefined ? PLAIN : opaque(`${telling!.reason} (${program} ${word})`);
}

/** Assignments that change what a program prints, not what it does. Any other (PATH, LD_PRELOAD, GIT_PAGER) may. */
export const HARMLESS_VARIABLES =
  /^(CI|NO_COLOR|FORCE_COLOR|CLICOLOR|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|NODE_ENV)$/;

/** Options that matter here hold no dot and no slash. */
const MAY_BECOME_OPTION = /^-|^[*?[][^./]*$/;

function rows(reason: string, names: string): [string, string][] {
  return names.split(" ").map((name) => [name, reason]);
}

const ALWAYS_OPAQUE = new Map([
  ...rows("runs text as a command", "eval source . trap fc bind"),
  ...rows("replaces the shell or its redirects for all that follows", "exec"),
  ...rows("changes what later commands mean", "alias unalias shopt enable hash"),
  ...rows("sets or removes variables", "export declare typeset local readonly unset read mapfile readarray"),
  // A subscript in a name, as in a[$(rm x)], is run when it is evaluated.
  ...rows("evaluates expressions", "let getopts compgen complete compopt"),
  ...rows("changes the folder for what follows", "pushd popd"),
  ...rows("runs a command with other rights", "sudo doas su pkexec runuser setpriv capsh"),
  ...rows("runs commands made from its input", "xargs parallel entr at batch crontab"),
  ...rows(
    "runs a command in another place or world",
    "ssh rsh chroot unshare nsenter fakeroot proot bwrap firejail",
  ),
  ...rows(
    "runs a command that is one of its words",
    "watch flock script strace ltrace gdb busybox toybox ionice",
  ),
  ...rows(
    "runs a command that is one of its words",
    "taskset chrt systemd-run start-stop-daemon unbuffer rlwrap",
  ),
  ...rows("runs a command that is one of its words", "expect tmux screen setarch linux32 linux64 xvfb-run"),
]);

type Interpreter = {
  readonly names: RegExp;
  /** Options that hold the program itself. */
  readonly inline: RegExp;
  /** Options with which it only tells about itself. */
  readonly tells: RegExp;
};

const TELLS_LONG = /^--(version|help)$/;
const TELLS = /^(--version|--help|-v|-h)$/;

/** Plain when they run a file: `node build.js`, `bash check.sh`. */
const INTERPRETERS: readonly Interpreter[] = [
  { names: /^(ba|da|z|k|mk|a|c|tc|fi)?sh$/, inline: /^[-+]/, tells: TELLS_LONG },
  { names: /^(python|pypy)[\d.]*w?$/, inline: /^-[A-Za-z]*c/, tells: /^(--version|--help|-V|-h)$/ },
  { names: /^(node|nodejs|bun|deno)$/, inline: /^(-[a-z]*[ep]|--eval\b|--print\b|eval$)/, tells: TELLS },
  { names: /^perl[\d.]*$/, inline: /^-[A-Za-z\d]*[eE]/, tells: TELLS },
  {
    names: /^(ruby|lua|luajit|osascript|Rscript|julia|groovy)[\d.]*$/,
    inline: /^(-[A-Za-z]*[eE]|--eval\b)/,
    tells: TELLS,
  },
  { names: /^php[\d.]*$/, inline: /^(-[rBRE]|--run\b|--process-)/, tells: TELLS },
];

const STANDARD_INPUT = /^(-|\/dev\/stdin|\/dev\/fd\/\d+|\/proc\/self\/fd\/\d+)$/;

function readInterpreter(program: string, { inline, tells }: Interpreter, args: readonly string[]): Reading {
  if (args.length > 0 && args.every((arg) => tells.test(arg))) return PLAIN;
  const option = args.find((arg) => inline.test(arg));
  if (option !== undefined) return opaque(`holds a program for an interpreter (${program} ${option})`);
  const readsInput = args.every((arg) => arg.startsWith("-")) || args.some((arg) => STANDARD_INPUT.test(arg));
  return readsInput ? opaque(`gives an interpreter its program as input (${program})`) : PLAIN;
}

type Wrapper = {
  /** Options of one word. */
  readonly single: RegExp;
  /** Options whose value is the next word. */
  readonly pair?: RegExp;
  /** Words of its own between its options and the command. */
  readonly operands?: number;
  /** With this option it runs nothing. */
  readonly plain?: RegExp;
};

const NONE = /^\b$/;

/** They run the rest of their words as they are, and change nothing of what it does: that rest is judged. */
const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  nohup: { single: NONE },
  setsid: { single: /^-[cfw]+$/ },
  nice: { single: /^(-\d+|-n-?\d+|--adjustment=-?\d+)$/, pair: /^(-n|--adjustment)$/ },
  timeout: {
    single: /^(--foreground|--preserve-status|-v|--verbose|-[ks][\w.]+|--(kill-after|signal)=[\w.]+)$/,
    pair: /^(-k|-s|--kill-after|--signal)$/,
    operands: 1,
  },
  stdbuf: { single: /^(-[ioe][\dLKMG]+|--(input|output|error)=\w+)$/, pair: /^-[ioe]$/ },
  time: { single: /^(-p|-v)$/ },
  command: { single: /^-p$/, plain: /^-[vV]$/ },
  builtin: { single: NONE },
  env: { single: NONE },
};

function readWrapper(program: string, wrapper: Wrapper, args: readonly string[]): Reading {
  let at = 0;
  while (at < args.length && args[at]!.startsWith("-")) {
    const option = args[at]!;
    if (wrapper.plain?.test(option)) return PLAIN;
    at += 1;
    if (option === "--") break;
    if (wrapper.pair?.test(option)) at += 1;
    else if (!wrapper.single.test(option))
      return opaque(`runs a command in a way that is not known (${program} ${option})`);
  }
  at += wrapper.operands ?? 0;
  while (program === "env" && args[at]?.includes("=")) {
    const variable = args[at]!.slice(0, args[at]!.indexOf("="));
    if (!HARMLESS_VARIABLES.test(variable)) return opaque(`sets ${variable}, which may change what it does`);
    at += 1;
  }
  return at >= args.length ? PLAIN : { type: "wraps", at: at + 1 };
}

type Telling = { readonly word: RegExp; readonly reason: string };

const RUNS_FOUND: Telling = {
  word: /^(-exec|-execdir|-ok|-okdir|-delete|-fls|-fprint.*)$/,
  reason: "runs a command on what it finds, or changes files",
};
const EVALUATES: Telling = { word: /^-[vR]$/, reason: "evaluates a subscript" };

/** Programs that are plain but for one word. */
const OPAQUE_WITH: Readonly<Record<string, Telling>> = {
  find: RUNS_FOUND,
  fd: { word: /^(-[xX].*|--exec.*)$/, reason: "runs a command on what it finds" },
  git: {
    word: /^(-c|--config-env.*|--exec-path=.*)$/,
    reason: "may set a command that git runs, such as a pager",
  },
  test: EVALUATES,
  "[": EVALUATES,
  printf: { word: /^-v/, reason: "sets a variable" },
  wait: { word: /^-\w*p/, reason: "sets a variable" },
  jobs: { word: /^-\w*x/, reason: "runs a command that is one of its words" },
  set: { word: /^(?![-+][eux]*o?$|pipefail$)/, reason: "changes the words or options of the shell" },
};
