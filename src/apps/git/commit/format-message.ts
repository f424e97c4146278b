import type { CommitMessage } from "../artifacts/commit-message.ts";

/** A longer title is cut by most tools that show it. */
const MAX_TITLE_CHARS = 72;

/** No terminal that shows a log should act on a message, and git takes no NUL. Characters that join emoji stay. */
const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not come through
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu;

/**
 * Returns the text of a commit message: the emoji and the title, a blank line, the body as it is written. A title of more
 * than 72 characters goes on in the body.
 */
export function formatMessage({ emoji, title, message }: CommitMessage): string {
  const [first, rest] = splitTitle(toPlain(title).replace(/\s+/g, " ").trim());
  const subject = [
    toPlain(emoji ?? "")
      .replace(/\s+/g, " ")
      .trim(),
    first,
  ]
    .filter((part) => part !== "")
    .join(" ");
  const body = toPlain(message)
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd();
  return `${[subject, rest, body].filter((part) => part !== "").join("\n\n")}\n`;
}

function toPlain(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(CONTROLS, "");
}

/** Splits a title before the word that would be too much. Nothing of it is lost. */
function splitTitle(title: string): readonly [string, string] {
  const characters = [...title];
  if (characters.length <= MAX_TITLE_CHARS) return [title, ""];
  // Room for the mark that more follows.
  const room = characters.slice(0, MAX_TITLE_CHARS - 1).join("");
  const end = characters[MAX_TITLE_CHARS - 1] === " " ? room.length : room.lastIndexOf(" ");
  const cut = end > 0 ? end : room.length;
  return [`${title.slice(0, cut).trimEnd()}…`, `…${title.slice(cut).trimStart()}`];
}
