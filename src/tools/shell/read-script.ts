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
import { classifyCommand, HARMLESS_VARIABLES } from "./classify-command.ts";
import { readPlainWord } from "./plain-word.ts";

// Reads a shell script without running it. Whatever this cannot be sure of makes the script opaque; the commands in it
// are still listed, as far as they are found, so that a rule which forbids one of them is heard.

export type ScriptReading = {
  readonly commands: readonly CommandFact[];
  /** Why the script cannot be relied on; the first reason that was met. */
  readonly opaque?: string;
  /** Files of redirects, as they are written. */
  readonly targets: readonly string[];
  /** The folder that the script changes to. */
  readonly folder?: string;
};

/** Longer scripts are not read. Few commands are longer than a page. */
const MAX_SCRIPT_CHARS = 16_384;
/** How deep a text in a text is read: `bash -c "sh -c '…'"`. */
const MAX_DEPTH = 3;

export function readScript(source: string): ScriptReading {
  const reader = new ScriptReader();
  reader.read(source, 0);
  const { targets, folders, reasons, hasInput } = reader;
  return {
    commands: hasInput ? reader.commands.map((command) => ({ ...command, fed: true })) : reader.commands,
    targets,
    ...(reasons[0] !== undefined && { opaque: reasons[0] }),
    ...(folders[0] !== undefined && { folder: folders[0] }),
  };
}

/** What each kind of node says against the script that it is in. */
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
  Case: "holds a case distinction",
  CaseItem: "holds a case distinction",
  Function: "defines a function, so that a name may mean something else",
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
  SimpleExpansion: "holds a variable, whose value is not known",
  ParameterExpansion: "holds a variable, whose value is not known",
  Default: "holds a variable, whose value is not known",
  Remove: "holds a variable, whose value is not known",
  Replace: "holds a variable, whose value is not known",
  Slice: "holds a variable, whose value is not known",
  CaseModification: "holds a variable, whose value is not known",
  Transform: "holds a variable, whose value is not known",
  Names: "holds a variable, whose value is not known",
  Unknown: "holds a variable, whose value is not known",
  BraceExpansion: "holds braces that become several words",
  ExtendedGlob: "holds an extended pattern",
  // Shells without bash's extensions read these quotes in another way.
  AnsiCQuoted: "holds $'…', which not every shell reads alike",
  LocaleString: 'holds $"…", which not every shell reads alike',
  FileDescriptorVariable: "sets a variable",
} satisfies Record<SyntaxNode["type"], string | null>;

class ScriptReader {
  readonly commands: CommandFact[] = [];
  readonly targets: string[] = [];
  /** A file or a text of the script is somewhere the input of a command. */
  hasInput = false;
  /** Inside a command that reads from a pipe. */
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
    if (plain === undefined || plain.value !== value)
      this.reasons.push("has a word that can be read in two ways");
    else if (plain.home) this.reasons.push("names a home folder by ~");
  }

  private visitCommand({ name, suffix }: Command, depth: number): void {
    const words: string[] = [];
    let fixed: number | undefined;
    for (const part of name === undefined ? [] : [name, ...suffix]) {
      if (part.type !== "Word" && part.type !== "Assignment") continue;
      if (part.type === "Word" && hasPattern(part)) fixed ??= words.length;
      words.push(part.type === "Word" ? part.value : part.text);
    }
    if (fixed === 0) this.reasons.push("has a pattern in the place of a program");
    this.addCommand(words, fixed, depth);
  }

  private addCommand(words: readonly string[], fixed: number | undefined, depth: number): void {
    const certain = {
      ...(fixed === undefined ? {} : { fixed }),
      ...(this.#isPiped ? { fed: true as const } : {}),
    };
    const reading = classifyCommand(words, fixed);
    if (reading.type === "wraps" && fixed !== undefined && fixed <= reading.at) {
      this.reasons.push("has a pattern in the place of a program");
    }
    if (reading.type === "wraps") {
      this.commands.push({ words, ...certain, wrapper: true });
      const shifted = fixed === undefined ? undefined : Math.max(0, fixed - reading.at);
      this.addCommand(words.slice(reading.at), shifted, depth);
      return;
    }
    this.commands.push({ words, ...certain });
    if (reading.type === "opaque") {
      this.reasons.push(reading.reason);
      this.addPossibleCommands(words, fixed, depth);
    }
    if (words[0] === "cd") this.changeFolder(words.slice(1), fixed !== undefined);
  }

  /** What a command that runs others may run: its last words from any one on, and any text of several words. */
  private addPossibleCommands(words: readonly string[], fixed: number | undefined, depth: number): void {
    for (const [index, word] of words.slice(0, MAX_FACTS).entries()) {
      if (index === 0 || word.startsWith("-")) continue;
      if (!/[\s;&|<>()$`]/.test(word)) {
        const certain = fixed === undefined ? {} : { fixed: Math.max(0, fixed - index) };
        this.commands.push({ words: words.slice(index, index + MAX_WORDS + 1), ...certain });
      } else if (depth < MAX_DEPTH) this.read(word, depth + 1);
    }
  }

  private changeFolder(args: readonly string[], hasPatterns: boolean): void {
    const [folder, ...more] = args.filter((arg) => !/^-[LP]+$|^--$/.test(arg));
    if (folder === undefined || folder.startsWith("-") || more.length > 0 || hasPatterns) {
      this.reasons.push("changes to a folder that is not known");
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
      // For bash `>&-` ends there, and what follows is a word of the command: `>&-rm x` runs rm.
      this.reasons.push("closes a file in a way that can be read in two ways");
    } else if (operator === ">&" || operator === "<&") {
      if (/^(\d+-?|-)$/.test(target.value)) return;
      if (operator === "<&") this.reasons.push("redirects from something that is not known");
      else this.targets.push(target.value);
    } else if (!/^\/dev\/(null|stdin|stdout|stderr|fd\/\d+)$/.test(target.value)) {
      this.targets.push(target.value);
    }
  }

  /** Where its text ends is easily misread, so that only the plainest form is believed. */
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
  return readPlainWord(text)?.pattern ?? false;
}

function findObjection(source: string): string | undefined {
  if (source.length > MAX_SCRIPT_CHARS) return "is too long to be judged";
  for (const letter of source) {
    const code = letter.codePointAt(0) as number;
    if ((code < 32 && letter !== "\n" && letter !== "\t") || code === 127) return "holds control characters";
    // Half of a pair, which becomes something else on its way to the shell.
    if (code >= 0xd800 && code <= 0xdfff) return "holds broken characters";
    // They turn the direction of writing, so that a person sees other words than the shell.
    if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) {
      return "holds characters that hide what it says";
    }
  }
  // A shell joins the lines before it sees words; only between words does that leave them what they are.
  const inWord = /(^|[^ \t\\])(\\\\)*\\\n|[ \t](\\\\)+\\\n/;
  return inWord.test(source) ? "goes on in the next line in the middle of a word" : undefined;
}
