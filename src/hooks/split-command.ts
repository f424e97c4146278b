export type SplitResult =
  | { readonly type: "words"; readonly words: readonly string[] }
  | { readonly type: "invalid"; readonly message: string };

/** Characters that a shell interprets. No shell runs a hook's command, so they would be ignored silently. */
const SHELL_CHARACTERS = "|&;<>()$`";

/**
 * Splits a command such as `python3 "my hook.py" --strict` into words: at blanks, with quotes of both kinds and
 * backslashes as a shell reads them, and no other syntax of a shell.
 */
export function splitCommand(command: string): SplitResult {
  const words: string[] = [];
  let word: string | undefined;
  let quote: "'" | '"' | undefined;
  for (let at = 0; at < command.length; at += 1) {
    const character = command.charAt(at);
    const next = command.charAt(at + 1);
    if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else if (quote === '"' && character === "\\" && (next === '"' || next === "\\")) {
        word += next;
        at += 1;
      } else word += character;
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= "";
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === "\\" && next !== "") {
      word = (word ?? "") + next;
      at += 1;
    } else if (SHELL_CHARACTERS.includes(character)) {
      return buildRejection(`"${character}" in ${command} needs a shell. Quote it, or write sh -c '...'`);
    } else word = (word ?? "") + character;
  }
  if (quote !== undefined) return buildRejection(`A quote (${quote}) in ${command} is not closed`);
  if (word !== undefined) words.push(word);
  return words.length === 0 ? buildRejection("The command is empty") : { type: "words", words };
}

function buildRejection(message: string): SplitResult {
  return { type: "invalid", message };
}
