import { pick, pickNumber, type Random } from "../mutator.ts";
import { mapBetween, mapKeys } from "../mutators/json-parts.ts";

// Faults seen in answers that passed through terminals, chats, diffs and other programs. Their author has not read the
// recovery.

const toLines = (text: string): readonly string[] => JSON.stringify(JSON.parse(text), null, 2).split("\n");

/** The model stops early and begins again. */
export function restarted(text: string, random: Random): string {
  return `${text.slice(0, pickNumber(random, 5, Math.floor(text.length / 2)))}\n\n${text}`;
}

/** Copied out of a viewer that numbers its lines. */
export function numberedLines(text: string): string {
  return toLines(text)
    .map((line, index) => `${String(index + 1).padStart(4)} | ${line}`)
    .join("\n");
}

/** Quoted in a mail or in Markdown. */
export function quotedLines(text: string): string {
  return toLines(text)
    .map((line) => `> ${line}`)
    .join("\n");
}

/** Shown as an added file of a diff. */
export function addedLines(text: string): string {
  return ["+++ b/answer.json", ...toLines(text).map((line) => `+${line}`)].join("\n");
}

export function characterData(text: string): string {
  return `<result><![CDATA[${text}]]></result>`;
}

/** Written as the call of a tool that does not exist. */
export function callWithArguments(text: string): string {
  return `{"name": "final_answer", "arguments": ${text}}`;
}

export function callWithEncodedArguments(text: string): string {
  return JSON.stringify({ type: "function", function: { name: "final_answer", arguments: text } });
}

/** One object for each field, one below the other. */
export function objectForEachField(text: string): string {
  const entries = Object.entries(JSON.parse(text) as Record<string, unknown>);
  return entries.map(([key, value]) => JSON.stringify({ [key]: value })).join("\n");
}

/** Punctuation of a Chinese or Japanese keyboard. */
export function fullWidthPunctuation(text: string): string {
  return mapBetween(text, (between) => between.replaceAll(":", "：").replaceAll(",", "，"));
}

export function missingFirstBrace(text: string): string {
  return text.replace(/^\s*\{\s*/, "");
}

/** Colours of a terminal around the keys. */
export function colouredKeys(text: string, random: Random): string {
  const colour = pick(random, [31, 34, 36]);
  return mapKeys(text, (key) => `\u001b[${colour}m${key}\u001b[0m`);
}

export function yesAndNo(text: string): string {
  return mapBetween(text, (between) => between.replace(/\btrue\b/g, "yes").replace(/\bfalse\b/g, "no"));
}

/** The colon became part of the key. */
export function colonInKey(text: string, random: Random): string {
  const keys = [...text.matchAll(/"([a-z_]+)"\s*:/g)];
  if (keys.length === 0) return text;
  const { 0: written, 1: name, index } = pick(random, keys);
  return `${text.slice(0, index)}"${name}:" ${text.slice(index + written.length)}`;
}

/** Equal signs, as in TOML or a shell. */
export function equalSigns(text: string): string {
  return mapBetween(text, (between) => between.replaceAll(":", " ="));
}

/** Each line ends with a backslash, as in a shell. */
export function continuedLines(text: string): string {
  return toLines(text).join(" \\\n");
}
