import { findFencedBlocks } from "../../platform/text/extract-json.ts";
import { getOwn } from "../../platform/text/json.ts";
import type { ScoreSubject } from "../../schema/score-subject.ts";

/** A filled template, or the name of a value that the cell does not have. */
type FilledTemplate =
  | { readonly type: "filled"; readonly text: string }
  | { readonly type: "missing"; readonly name: string };

const PLACEHOLDER = /\{\{\s*(answer|code|expected|metadata\.[^{}\s]+)\s*\}\}/g;

/**
 * Fills in the values of a cell. Other text in double braces stays as it is, and so do placeholders within a value.
 *
 * A value that is not a text is written as JSON.
 */
export function fillTemplate(
  template: string,
  subject: Pick<ScoreSubject, "answer" | "expected" | "metadata">,
): FilledTemplate {
  let missing: string | undefined;
  const text = template.replace(PLACEHOLDER, (_, name: string) => {
    const value = getValue(name, subject);
    if (value === undefined) missing ??= name;
    return typeof value === "string" ? value : JSON.stringify(value);
  });
  return missing === undefined ? { type: "filled", text } : { type: "missing", name: missing };
}

function getValue(
  name: string,
  { answer, expected, metadata }: Pick<ScoreSubject, "answer" | "expected" | "metadata">,
): unknown {
  switch (name) {
    case "answer":
      return answer;
    case "code":
      return findCode(answer);
    case "expected":
      return expected;
    default:
      return getOwn(metadata, name.slice("metadata.".length));
  }
}

/** Returns the first fenced block of an answer, or the whole answer if it has none. */
function findCode(answer: string): string {
  return findFencedBlocks(answer)[0]?.text ?? answer;
}
