import type { Commit } from "../changes/read-commits.ts";
import { toVisibleText } from "../text/visible-text.ts";

const MAX_LINE_CHARS = 1_000;

/** Formats a commit: one line, and its body indented below. */
export function formatCommit({ id, author, date, subject, body }: Commit, maxBodyChars: number): string {
  const head = `${id.slice(0, 12)} ${date.slice(0, 10)} ${oneLine(author)}: ${oneLine(subject)}`;
  if (body === "" || maxBodyChars === 0) return head;
  const cut = body.length > maxBodyChars ? `${body.slice(0, maxBodyChars)} [... message cut]` : body;
  return `${head}\n${cut.replace(/^/gm, "    ")}`;
}

export function oneLine(text: string): string {
  return toVisibleText(text.slice(0, MAX_LINE_CHARS).replace(/\n/g, " "));
}
