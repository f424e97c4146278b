import {
  type Command,
  forEachChild,
  type HereDoc,
  parse,
  type Redirect,
  type SyntaxNode,
  type Word,
} from "unbash";
import { type CommandFact, MAX_FACTS, MAX_WORDS } from "../../core/permission/call-facts.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { classifyCommand, HARMLESS_VARIABLES } from "./classify-command.ts";
import { readPlainWord } from "./plain-word.ts";

// Reads a shell script without running it. Anything uncertain makes the script opaque. The commands that are found are
// still listed, so that a rule that denies one of them applies.

export type ScriptReading = {
  readonly commands: readonly CommandFact[];
  /** Why the script is opaque; the first reason that was found. */
  readonly opaque?: string;
  /** Files of redirects, as the script writes them. */
  readonly targets: readonly string[];
  /** The folder that the script changes to. */
  readonly folder?: string;
};

/** Longer scripts are not analyzed. Few commands are longer than a page. */
const MAX_SCRIPT_CHARS = 16_384;
/** How deep nested command texts are analyzed: `bash -c "sh -c '…'"`. */
const MAX_DEPTH = 3;

export function readScript(source: string): ScriptReading {
  const reader = new ScriptReader();
  reader.read(source, 0);
  const { targets, folders, reasons, hasInput } = reader;
  return {
    commands: hasInput
      ? reader.commands.map((command) => ({ ...command, readsInput: true }))
      : reader.commands,
    targets,
    ...(reasons[0] !== undefined && { opaque: reasons[0] }),
    ...(folders[0] !== undefined && { folder: folders[0] }),
  };
}

/** Why each kind of syntax node makes its script opaque; null if it does not. */
const OBJECTIONS = {
  Script: null,
  Statement: null,
  CompoundList: null,
  AndOr: null,
  Pipeline: null,
  Time: null,
  Negation: null,
  Command: null,
  Subshell: null,
  BraceGroup: null,
  Redirected: null,
  If: null,
  Elif: null,
  Word: null,
  Literal: null,
  SingleQuoted: null,
  DoubleQuoted: null,
  Glob: null,
  Assignment: null,
  Redirect: null,
  FileDescriptor: null,
  HereString: null,
  HereDoc: null,
  HereDocDelimiter: null,
  HereDocBody: null,
  For: "holds a loop",
  ArithmeticFor: "holds a loop",
  While: "holds a loop",
  Select: "holds a loop",
  Case: "holds a case statement",
  CaseItem: "holds a case statement",
  Function: "defines a function, so a name may mean something else",
  Coproc: "starts a coprocess",
  TestCommand: "evaluates an expression",
  TestUnary: "evaluates an expression",
  TestBinary: "evaluates an expression",
  TestLogical: "evaluates an expression",
  TestNot: "evaluates an expression",
  TestGroup: "evaluates an expression",
  ArithmeticCommand: "evaluates an expression",
  ArithmeticBinary: "evaluates an expression",
  ArithmeticUnary: "evaluates an expression",
  ArithmeticTernary: "evaluates an expression",
  ArithmeticGroup: "evaluates an expression",
  ArithmeticWord: "evaluates an expression",
  ArithmeticCommandExpansion: "holds a command substitution",
  ArithmeticExpansion: "evaluates an expression",
  ArrayValue: "sets an array",
  CommandExpansion: "holds a command substitution",
  ProcessSubstitution: "holds a process substitution",
  SimpleExpansion: "holds a variable, whose value is unknown",
  ParameterExpansion: "holds a variable, whose value is unknown",
  Default: "holds a variable, whose value is unknown",
  Remove: "holds a variable, whose value is unknown",
  Replace: "holds a variable, whose value is unknown",
  Slice: "holds a variable, whose value is unknown",
  CaseModification: "holds a variable, whose value is unknown",
  Transform: "holds a variable, whose value is unknown",
  Names: "holds a variable, whose value is unknown",
  Unknown: "holds a variable, whose value is unknown",
  BraceExpansion: "holds braces that expand to several words",
  ExtendedGlob: "holds an extended pattern",
  // Shells without bash's extensions interpret these quotes differently.
  AnsiCQuoted: "holds $'…', which shells interpret differently",
  LocaleString: 'holds $"…", which shells interpret differently',
  FileDescriptorVariable: "sets a variable",
} satisfies Record<SyntaxNode["type"], string | null>;

class ScriptReader {
  readonly commands: CommandFact[] = [];
  readonly targets: string[] = [];
  /** A file or a text of the script is the input of one of its commands. */
  hasInput = false;
  /** Whether the visitor is inside a command that reads from a pipe. */
  #isPiped = false;
  readonly folders: string[] = [];
  readonly reasons: string[] = [];

  read(source: string, depth: number): void {
    const objection = findObjection(source);
    if (objection !== undefined) this.reasons.push(objection);
    if (source.length > MAX_SCRIPT_CHARS) return;
    try {
      this.visit(parse(source), source, depth);
    } catch {
      this.reasons.push("does not parse");
    }
  }

  private visit(node: SyntaxNode, source: string, depth: number): void {
    if (node.type !== "Pipeline") {
      this.visitChildren(node, source, depth);
      return;
    }
    const outside = this.#isPiped;
    for (const prefix of node.prefixes) this.visit(prefix, source, depth);
    for (const [index, command] of node.commands.entries()) {
      this.#isPiped = outside || index > 0;
      this.visit(command, source, depth);
    }
    this.#isPiped = outside;
  }

  private visitChildren(node: SyntaxNode, source: string, depth: number): void {
    const objection = Object.hasOwn(OBJECTIONS, node.type) ? OBJECTIONS[node.type] : "does not parse";
    if (objection !== null) this.reasons.push(objection);
    if (node.type === "Script" && "errors" in node && (node.errors?.length ?? 0) > 0) {
      this.reasons.push("does not parse");
    }
    if (node.type === "Command") this.visitCommand(node, depth);
    if (node.type === "Assignment" && !(HARMLESS_VARIABLES.test(node.name) && node.index === undefined)) {
      this.reasons.push(`sets ${node.name}, which may change what commands do`);
    }
    if (node.type === "Redirect") this.visitRedirect(node);
    if (node.type === "HereString") this.hasInput = true;
    if (node.type === "HereDoc") this.visitHereDocument(node, source);
    const known = this.reasons.length;
    forEachChild(node, (child) => this.visit(child, source, depth));
    if (node.type === "Word" && this.reasons.length === known) this.visitWord(node);
  }

  private visitWord({ text, value }: Word): void {
    const plain = readPlainWord(text);
    if (plain === undefined || plain.value !== value) this.reasons.push("has an ambiguous word");
    else if (plain.isHome) this.reasons.push("names a home folder with ~");
  }

  private visitCommand({ name, suffix }: Command, depth: number): void {
    const words: string[] = [];
    let fixed: number | undefined;
    for (const part of name === undefined ? [] : [name, ...suffix]) {
      if (part.type !== "Word" && part.type !== "Assignment") continue;
      if (part.type === "Word" && hasPattern(part)) fixed ??= words.length;
      words.push(part.type === "Word" ? part.value : part.text);
    }
    if (fixed === 0) this.reasons.push("has a pattern as a program name");
    this.addCommand(words, fixed, depth);
  }

  private addCommand(words: readonly string[], fixed: number | undefined, depth: number): void {
    const certain = {
      ...omitUndefined({ fixedWords: fixed }),
      ...(this.#isPiped ? { readsInput: true as const } : {}),
    };
    const reading = classifyCommand(words, fixed);
    if (reading.type === "wraps" && fixed !== undefined && fixed <= reading.commandIndex) {
      this.reasons.push("has a pattern as a program name");
    }
    if (reading.type === "wraps") {
      this.commands.push({ words, ...certain, isWrapper: true });
      const shifted = fixed === undefined ? undefined : Math.max(0, fixed - reading.commandIndex);
      this.addCommand(words.slice(reading.commandIndex), shifted, depth);
      return;
    }
    this.commands.push({ words, ...certain });
    if (reading.type === "opaque") {
      this.reasons.push(reading.reason);
      this.addPossibleCommands(words, fixed, depth);
    }
    if (words[0] === "cd") this.changeFolder(words.slice(1), fixed !== undefined);
  }

  /** Adds what a command that runs others may run: its last words from any position, and any argument of several words. */
  private addPossibleCommands(words: readonly string[], fixed: number | undefined, depth: number): void {
    for (const [index, word] of words.slice(0, MAX_FACTS).entries()) {
      if (index === 0 || word.startsWith("-")) continue;
      if (!/[\s;&|<>()$`]/.test(word)) {
        const certain = fixed === undefined ? {} : { fixedWords: Math.max(0, fixed - index) };
        this.commands.push({ words: words.slice(index, index + MAX_WORDS + 1), ...certain });
      } else if (depth < MAX_DEPTH) this.read(word, depth + 1);
    }
  }

  private changeFolder(args: readonly string[], hasPatterns: boolean): void {
    const [folder, ...more] = args.filter((arg) => !/^-[LP]+$|^--$/.test(arg));
    if (folder === undefined || folder.startsWith("-") || more.length > 0 || hasPatterns) {
      this.reasons.push("changes to an unknown folder");
    } else if (this.folders.push(folder) > 1) {
      this.reasons.push("changes the folder more than once");
    }
  }

  private visitRedirect({ operator, target }: Redirect): void {
    if (operator.startsWith("<")) this.hasInput = true;
    if (target === undefined) {
      this.reasons.push("does not parse");
    } else if (hasPattern(target)) {
      this.reasons.push("redirects to a pattern");
    } else if ((operator === ">&" || operator === "<&") && /^-./.test(target.text)) {
      // For bash `>&-` ends there, and the next character begins a word of the command: `>&-rm x` runs rm.
      this.reasons.push("closes a file in an ambiguous way");
    } else if (operator === ">&" || operator === "<&") {
      if (/^(\d+-?|-)$/.test(target.value)) return;
      if (operator === "<&") this.reasons.push("redirects from an unknown source");
      else this.targets.push(target.value);
    } else if (!/^\/dev\/(null|stdin|stdout|stderr|fd\/\d+)$/.test(target.value)) {
      this.targets.push(target.value);
    }
  }

  /** The end of its text is easy to misread, so only the plainest form is accepted. */
  private visitHereDocument({ operator, delimiter, body, closing }: HereDoc, source: string): void {
    this.hasInput = true;
    const plain = delimiter !== undefined && /^(['"]?)[A-Za-z_]\w*\1$/.test(delimiter.text);
    const single = source.split("<<").length === 2;
    if (!plain || !single || closing === undefined || source[body.pos - 1] !== "\n") {
      this.reasons.push("holds a here-document that is not plain");
      return;
    }
    const text = source.slice(body.pos, closing.pos);
    if (!delimiter.quoted && /[$`\\]/.test(text)) this.reasons.push("holds a here-document with expansions");
    const lines = text.split("\n").map((line) => (operator === "<<-" ? line.replace(/^\t+/, "") : line));
    if (lines.includes(delimiter.value)) this.reasons.push("holds a here-document that is not plain");
  }
}

function hasPattern({ text }: Word): boolean {
  return readPlainWord(text)?.isPattern ?? false;
}

function findObjection(source: string): string | undefined {
  if (source.length > MAX_SCRIPT_CHARS) return "is too long to analyze";
  for (const letter of source) {
    const code = letter.codePointAt(0) as number;
    if ((code < 32 && letter !== "\n" && letter !== "\t") || code === 127) return "holds control characters";
    // Half of a surrogate pair, which changes on its way to the shell.
    if (code >= 0xd800 && code <= 0xdfff) return "holds invalid characters";
    // These characters change the writing direction, so that the user sees a different text than the shell.
    if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) {
      return "holds characters that hide its text";
    }
  }
  // A shell joins continued lines before it splits words. Only between words does this leave the words unchanged.
  const inWord = /(^|[^ \t\\])(\\\\)*\\\n|[ \t](\\\\)+\\\n/;
  return inWord.test(source) ? "continues on the next line in the middle of a word" : undefined;
}
