import { pick, type Random } from "../mutator.ts";
import { mapBetween, mapKeys, mapTexts } from "../mutators/json-parts.ts";

// Faults of chats, editors, logs and careless programs. Their author has read neither the recovery nor its tests.

const toLines = (text: string): readonly string[] => JSON.stringify(JSON.parse(text), null, 2).split("\n");

/** The log of a program: a time before each line. */
export function loggedLines(text: string): string {
  return toLines(text)
    .map((line, index) => `2026-11-26T10:00:${String(index % 60).padStart(2, "0")}Z ${line}`)
    .join("\n");
}

/** Keys in bold, as Markdown shows them. */
export function boldKeys(text: string): string {
  return mapKeys(text, (key) => `**${key}**`);
}

/** The first draft and the corrected one, both whole. The second is what is meant, and it equals the first. */
export function writtenTwice(text: string): string {
  return `${text}\n\nI checked it again. Final answer:\n\n${text}`;
}

/** Every line is a comment of a shell. */
export function commentedLines(text: string): string {
  return toLines(text)
    .map((line) => `# ${line}`)
    .join("\n");
}

/** Escaped for a shell: the whole in single quotes, and \' where one was. */
export function shellQuoted(text: string): string {
  return `echo '${text.replaceAll("'", "'\\''")}'`;
}

/** Percent-encoded, as in an address. */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text);
}

/** A number sign after each closing bracket is a comment of the author. */
export function annotated(text: string): string {
  return toLines(text)
    .map((line) => (/[}\]],?$/.test(line) ? `${line} // done` : line))
    .join("\n");
}

/** Keys in upper case. */
export function upperCaseKeys(text: string): string {
  return mapKeys(text, (key) => key.toUpperCase());
}

/** Python's repr of a dictionary: tuples in place of lists. */
export function tuples(text: string): string {
  return mapBetween(text, (between) => between.replaceAll("[", "(").replaceAll("]", ")"));
}

/** Two spaces or a tab in place of the colon. */
export function tabbed(text: string): string {
  return mapBetween(text, (between) => between.replace(/:\s*/g, "\t"));
}

/** Non-breaking spaces of a word processor. */
export function hardSpaces(text: string): string {
  return mapBetween(JSON.stringify(JSON.parse(text), null, 2), (between) =>
    between.replaceAll(" ", "\u00a0"),
  );
}

/** Texts in backticks. */
export function backticked(text: string): string {
  return mapTexts(text, (literal) =>
    literal.includes("`") || literal.includes("\\") ? literal : `\`${literal.slice(1, -1)}\``,
  );
}

/** A Markdown table of the fields would lose types; a list of them does not. */
export function bulleted(text: string, random: Random): string {
  const mark = pick(random, ["-", "*", "•"]);
  const entries = Object.entries(JSON.parse(text) as Record<string, unknown>);
  return entries.map(([key, value]) => `${mark} ${key}: ${JSON.stringify(value)}`).join("\n");
}
