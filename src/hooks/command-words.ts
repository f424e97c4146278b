export type CommandWords =
  | { readonly type: "words"; readonly words: readonly string[] }
  | { readonly type: "refused"; readonly message: string };

/** What a shell would act upon. No shell reads a hook's command, so that these would go unheeded in silence. */
const FOR_A_SHELL = "|&;<>()$`";

/**
 * The words of a command such as `python3 "my hook.py" --strict`: cut at blanks, with quotes of both kinds and
 * backslashes as a shell reads them, and nothing else of a shell.
 */
export function commandWords(command: string): CommandWords {
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
    } else if (FOR_A_SHELL.includes(character)) {
      return refused(`"${character}" in ${command} is for a shell. Quote it, or write sh -c '...'`);
    } else word = (word ?? "") + character;
  }
  if (quote !== undefined) return refused(`A quote (${quote}) in ${command} is not closed`);
  if (word !== undefined) words.push(word);
  return words.length === 0 ? refused("The command is empty") : { type: "words", words };
}

function refused(message: string): CommandWords {
  return { type: "refused", message };
}
