// Classifies programs that run other programs, in one table with a reason for each row.

/** How to read a command. `wraps`: it runs another command, which begins at the word with this index. */
export type CommandClass =
  | { readonly type: "plain" }
  | { readonly type: "opaque"; readonly reason: string }
  | { readonly type: "wraps"; readonly commandIndex: number };

const PLAIN_COMMAND: CommandClass = { type: "plain" };
const toOpaque = (reason: string): CommandClass => ({ type: "opaque", reason });

/** @param certainCount - How many words precede the first file name pattern. A file may be named like an option. */
export function classifyCommand(words: readonly string[], certainCount = words.length): CommandClass {
  const [name = "", ...args] = words;
  const program = name.slice(name.lastIndexOf("/") + 1);
  const always = ALWAYS_OPAQUE.get(program);
  if (always !== undefined) return toOpaque(`${always} (${program})`);
  const interpreter = INTERPRETERS.find(({ names }) => names.test(program));
  const pattern = words.slice(certainCount).find((word) => OPTION_LIKE_PATTERN.test(word));
  if (pattern !== undefined && (interpreter !== undefined || Object.hasOwn(OPAQUE_OPTIONS, program))) {
    return toOpaque(`has a pattern that may become an option (${program} ${pattern})`);
  }
  if (interpreter !== undefined) return classifyInterpreter(program, interpreter, args);
  const wrapper = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined;
  if (wrapper !== undefined) return classifyWrapper(program, wrapper, args);
  const opaqueOption = Object.hasOwn(OPAQUE_OPTIONS, program) ? OPAQUE_OPTIONS[program] : undefined;
  const word = opaqueOption && args.find((arg) => opaqueOption.pattern.test(arg));
  return word === undefined ? PLAIN_COMMAND : toOpaque(`${opaqueOption!.reason} (${program} ${word})`);
}

/** Assignments that change only what a program prints. Any other (PATH, LD_PRELOAD, GIT_PAGER) may change what it does. */
export const HARMLESS_VARIABLES =
  /^(CI|NO_COLOR|FORCE_COLOR|CLICOLOR|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLUMNS|LINES|NODE_ENV)$/;

/** The options that matter here contain no dot and no slash. */
const OPTION_LIKE_PATTERN = /^-|^[*?[][^./]*$/;

function toEntries(reason: string, names: string): [string, string][] {
  return names.split(" ").map((name) => [name, reason]);
}

const ALWAYS_OPAQUE = new Map([
  ...toEntries("runs text as a command", "eval source . trap fc bind"),
  ...toEntries("replaces the shell or its redirects for all that follows", "exec"),
  ...toEntries("changes what later commands mean", "alias unalias shopt enable hash"),
  ...toEntries(
    "sets or removes variables",
    "export declare typeset local readonly unset read mapfile readarray",
  ),
  // The shell executes a subscript in a name, as in a[$(rm x)], when it evaluates it.
  ...toEntries("evaluates expressions", "let getopts compgen complete compopt"),
  ...toEntries("changes the folder for what follows", "pushd popd"),
  ...toEntries("runs a command with other privileges", "sudo doas su pkexec runuser setpriv capsh"),
  ...toEntries("runs commands made from its input", "xargs parallel entr at batch crontab"),
  ...toEntries(
    "runs a command on another host or in another environment",
    "ssh rsh chroot unshare nsenter fakeroot proot bwrap firejail",
  ),
  ...toEntries(
    "runs a command given as an argument",
    "watch flock script strace ltrace gdb busybox toybox ionice",
  ),
  ...toEntries(
    "runs a command given as an argument",
    "taskset chrt systemd-run start-stop-daemon unbuffer rlwrap",
  ),
  ...toEntries("runs a command given as an argument", "expect tmux screen setarch linux32 linux64 xvfb-run"),
]);

type Interpreter = {
  readonly names: RegExp;
  /** Options whose value is the program itself. */
  readonly inlineFlags: RegExp;
  /** Options with which the interpreter only prints information about itself. */
  readonly infoFlags: RegExp;
};

const LONG_INFO_FLAGS = /^--(version|help)$/;
const INFO_FLAGS = /^(--version|--help|-v|-h)$/;

/** A command that runs a file is plain: `node build.js`, `bash check.sh`. */
const INTERPRETERS: readonly Interpreter[] = [
  { names: /^(ba|da|z|k|mk|a|c|tc|fi)?sh$/, inlineFlags: /^[-+]/, infoFlags: LONG_INFO_FLAGS },
  { names: /^(python|pypy)[\d.]*w?$/, inlineFlags: /^-[A-Za-z]*c/, infoFlags: /^(--version|--help|-V|-h)$/ },
  {
    names: /^(node|nodejs|bun|deno)$/,
    inlineFlags: /^(-[a-z]*[ep]|--eval\b|--print\b|eval$)/,
    infoFlags: INFO_FLAGS,
  },
  { names: /^perl[\d.]*$/, inlineFlags: /^-[A-Za-z\d]*[eE]/, infoFlags: INFO_FLAGS },
  {
    names: /^(ruby|lua|luajit|osascript|Rscript|julia|groovy)[\d.]*$/,
    inlineFlags: /^(-[A-Za-z]*[eE]|--eval\b)/,
    infoFlags: INFO_FLAGS,
  },
  { names: /^php[\d.]*$/, inlineFlags: /^(-[rBRE]|--run\b|--process-)/, infoFlags: INFO_FLAGS },
];

const STANDARD_INPUT = /^(-|\/dev\/stdin|\/dev\/fd\/\d+|\/proc\/self\/fd\/\d+)$/;

function classifyInterpreter(
  program: string,
  { inlineFlags, infoFlags }: Interpreter,
  args: readonly string[],
): CommandClass {
  if (args.length > 0 && args.every((arg) => infoFlags.test(arg))) return PLAIN_COMMAND;
  const option = args.find((arg) => inlineFlags.test(arg));
  if (option !== undefined) return toOpaque(`holds a program for an interpreter (${program} ${option})`);
  const readsInput = args.every((arg) => arg.startsWith("-")) || args.some((arg) => STANDARD_INPUT.test(arg));
  return readsInput ? toOpaque(`gives an interpreter its program as input (${program})`) : PLAIN_COMMAND;
}

type Wrapper = {
  /** Options that take one word. */
  readonly singleFlags: RegExp;
  /** Options whose value is the next word. */
  readonly pairFlags?: RegExp;
  /** The number of the wrapper's own arguments between its options and the command. */
  readonly operands?: number;
  /** With this option the wrapper runs no command. */
  readonly plainFlags?: RegExp;
};

const NO_FLAGS = /^\b$/;

/** Programs that run their remaining words unchanged as a command: that command is judged. */
const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  nohup: { singleFlags: NO_FLAGS },
  setsid: { singleFlags: /^-[cfw]+$/ },
  nice: { singleFlags: /^(-\d+|-n-?\d+|--adjustment=-?\d+)$/, pairFlags: /^(-n|--adjustment)$/ },
  timeout: {
    singleFlags: /^(--foreground|--preserve-status|-v|--verbose|-[ks][\w.]+|--(kill-after|signal)=[\w.]+)$/,
    pairFlags: /^(-k|-s|--kill-after|--signal)$/,
    operands: 1,
  },
  stdbuf: { singleFlags: /^(-[ioe][\dLKMG]+|--(input|output|error)=\w+)$/, pairFlags: /^-[ioe]$/ },
  time: { singleFlags: /^(-p|-v)$/ },
  command: { singleFlags: /^-p$/, plainFlags: /^-[vV]$/ },
  builtin: { singleFlags: NO_FLAGS },
  env: { singleFlags: NO_FLAGS },
};

function classifyWrapper(program: string, wrapper: Wrapper, args: readonly string[]): CommandClass {
  let at = 0;
  while (at < args.length && args[at]!.startsWith("-")) {
    const option = args[at]!;
    if (wrapper.plainFlags?.test(option)) return PLAIN_COMMAND;
    at += 1;
    if (option === "--") break;
    if (wrapper.pairFlags?.test(option)) at += 1;
    else if (!wrapper.singleFlags.test(option))
      return toOpaque(`runs a command in an unknown way (${program} ${option})`);
  }
  at += wrapper.operands ?? 0;
  while (program === "env" && args[at]?.includes("=")) {
    const variable = args[at]!.slice(0, args[at]!.indexOf("="));
    if (!HARMLESS_VARIABLES.test(variable))
      return toOpaque(`sets ${variable}, which may change what it does`);
    at += 1;
  }
  return at >= args.length ? PLAIN_COMMAND : { type: "wraps", commandIndex: at + 1 };
}

type OpaqueOption = { readonly pattern: RegExp; readonly reason: string };

const FIND_OPTIONS: OpaqueOption = {
  pattern: /^(-exec|-execdir|-ok|-okdir|-delete|-fls|-fprint.*)$/,
  reason: "runs a command on what it finds, or changes files",
};
const SUBSCRIPT_OPTIONS: OpaqueOption = { pattern: /^-[vR]$/, reason: "evaluates a subscript" };

/** Programs that are plain except with one option. */
const OPAQUE_OPTIONS: Readonly<Record<string, OpaqueOption>> = {
  find: FIND_OPTIONS,
  fd: { pattern: /^(-[xX].*|--exec.*)$/, reason: "runs a command on what it finds" },
  git: {
    pattern: /^(-c|--config-env.*|--exec-path=.*)$/,
    reason: "may set a command that git runs, such as a pager",
  },
  test: SUBSCRIPT_OPTIONS,
  "[": SUBSCRIPT_OPTIONS,
  printf: { pattern: /^-v/, reason: "sets a variable" },
  wait: { pattern: /^-\w*p/, reason: "sets a variable" },
  jobs: { pattern: /^-\w*x/, reason: "runs a command given as an argument" },
  set: { pattern: /^(?![-+][eux]*o?$|pipefail$)/, reason: "changes the arguments or options of the shell" },
};
