import { parseJson } from "../../platform/text/json.ts";
import { skipThoughts } from "./list-candidates.ts";

/** A field of a list in Markdown: its mark, its name and the colon, each perhaps emphasised, and its value. */
const FIELD =
  /^[ \t]*(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+([*_`]{0,3})(["']?)([\p{L}_$][\p{L}\p{N}_$-]{0,100})\2(?::\1|\1[ \t]*:)[ \t]*(\S[\s\S]*)$/u;

const CLOSING_FENCE = /\n(?:```|~~~)$/;

/**
 * Reads a list in which each entry is a field with a value in JSON as an object. Returns `undefined` where any entry is
 * something else: its value would be a guess.
 */
export function readBulletedFields(text: string): string | undefined {
  const lines = text.trimEnd().replace(CLOSING_FENCE, "").split("\n");
  const first = lines.findIndex((line) => FIELD.test(line));
  const before = lines.slice(0, first).join("\n");
  // An object before the list may be the answer.
  if (first === -1 || /[{}]/.test(before.slice(skipThoughts(text)))) return undefined;
  const fields: string[] = [];
  let entry = "";
  for (const line of [...lines.slice(first), undefined]) {
    if (entry !== "" && (line === undefined || FIELD.test(line))) {
      const [, , , name, value = ""] = FIELD.exec(entry) ?? [];
      if (!isExactJson(value.trim())) return undefined;
      fields.push(`${JSON.stringify(name)}: ${value.trim()}`);
      entry = line ?? "";
    } else entry = entry === "" ? (line ?? "") : `${entry}\n${line}`;
  }
  return `${before}\n{${fields.join(",\n")}}`;
}

/** Of a number written as 1.10, the schema may want the text. */
function isExactJson(text: string): boolean {
  const value = parseJson(text);
  return value !== undefined && (typeof value !== "number" || String(value) === text);
}
