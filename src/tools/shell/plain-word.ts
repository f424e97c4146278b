// A second reading of one word, without the parser: only quotes, escapes and letters. Where the two readings differ, or
// this one meets anything else, the word is not known. A parser that overlooks a substitution in a word then costs a
// question, not a command.

export type PlainWord = {
  /** As the program gets it. */
  readonly value: string;
  /** The shell replaces it by names of files where some fit. */
  readonly pattern: boolean;
  /** Begins with `~`, or has one where an assignment would: the shell replaces it by a home folder. */
  readonly home: boolean;
};

/** Stands for a quoted letter where only the others count. */
const QUOTED_LETTER = "q";

/** Undefined when the word is anything but plain. */
export function readPlainWord(text: string): PlainWord | undefined {
  let [value, bare] = ["", ""];
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at]!;
    if (letter === "'") {
      const end = text.indexOf("'", at + 1);
      if (end === -1) return undefined;
      value += text.slice(at + 1, end);
      bare += QUOTED_LETTER;
      at = end;
    } else if (letter === '"') {
      const quoted = readDoubleQuoted(text, at + 1);
      if (quoted === undefined) return undefined;
      value += quoted.value;
      bare += QUOTED_LETTER;
      at = quoted.end;
    } else if (letter === "\\") {
      at += 1;
      if (at === text.length) return undefined;
      if (text[at] === "\n") continue;
      value += text[at];
      bare += QUOTED_LETTER;
    } else if (/[;&|<>()`\s]/.test(letter) && letter <= "~") {
      return undefined;
    } else if (letter === "$" && /[\w@*#?$!\-({['"]/.test(text[at + 1] ?? "")) {
      return undefined;
    } else {
      value += letter;
      bare += letter;
    }
  }
  if (/\{.*(,|\.\.).*\}/s.test(bare)) return undefined;
  return { value, pattern: /[*?]|\[.*\]/s.test(bare), home: /^~|[=:]~/.test(bare) };
}

function readDoubleQuoted(text: string, from: number): { value: string; end: number } | undefined {
  let value = "";
  for (let at = from; at < text.length; at += 1) {
    const letter = text[at]!;
    if (letter === '"') return { value, end: at };
    if (letter === "`") return undefined;
    if (letter === "$" && /[\w@*#?$!\-({[]/.test(text[at + 1] ?? "")) return undefined;
    if (letter === "\\" && /["\\$`\n]/.test(text[at + 1] ?? "")) {
      at += 1;
      if (text[at] !== "\n") value += text[at];
    } else {
      value += letter;
    }
  }
  return undefined;
}
