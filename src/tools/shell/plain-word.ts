// Reads one word a second time, without the parser: only quotes, escapes and letters. If the two readings differ, or this
// one meets anything else, the word is unknown. If the parser overlooks a substitution in a word, the cost is then an
// approval request, not an unapproved command.

export type PlainWord = {
  /** The word as the program receives it. */
  readonly value: string;
  /** The shell replaces the word with the names of matching files, if there are any. */
  readonly isPattern: boolean;
  /** The word begins with `~`, or has one where an assignment would: the shell replaces it with a home folder. */
  readonly isHome: boolean;
};

/** Replaces a quoted letter where only unquoted letters count. */
const QUOTED_LETTER = "q";

/** Returns undefined if the word is not plain. */
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
  return { value, isPattern: /[*?]|\[.*\]/s.test(bare), isHome: /^~|[=:]~/.test(bare) };
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
