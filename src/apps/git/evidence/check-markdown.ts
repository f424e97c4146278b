import { type CheckedClaims, checkClaims } from "./check-claims.ts";
import type { EvidenceReader } from "./evidence-reader.ts";
import { listReferences } from "./reference.ts";

export type CheckedMarkdown = {
  /** The text without the claims whose evidence fails. */
  readonly content: string;
  /** A claim is a list item with what belongs to it, or a paragraph. */
  readonly claims: CheckedClaims<string>;
};

const LIST_ITEM = /^\s*(?:[-*+]|\d+[.)])\s/;
const FENCE = /^\s*(?:```|~~~)/;

/**
 * Drops the claims of a pull request's or changelog's text that name evidence which fails. What names none, such as a
 * heading, stays.
 */
export async function checkMarkdown(content: string, reader: EvidenceReader): Promise<CheckedMarkdown> {
  const claims = await checkClaims(splitClaims(content), listReferences, reader, "keep");
  return { content: claims.held.join("\n"), claims };
}

/** Splits a text before each list item and after each blank line. The lines of a code block stay together. */
function splitClaims(content: string): readonly string[] {
  const claims: string[][] = [];
  let isInCode = false;
  let isNew = true;
  for (const line of content.split("\n")) {
    if (isNew || (!isInCode && LIST_ITEM.test(line))) claims.push([]);
    claims.at(-1)?.push(line);
    if (FENCE.test(line)) isInCode = !isInCode;
    isNew = !isInCode && line.trim() === "";
  }
  return claims.map((lines) => lines.join("\n"));
}
