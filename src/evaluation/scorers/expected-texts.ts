import type { Score } from "../../schema/score.ts";
import { toUnscorable } from "./outcome.ts";

/** What a scorer compares with, or the score of a cell where that is missing. */
type Expectation<Value> =
  | { readonly type: "found"; readonly values: readonly Value[] }
  | { readonly type: "missing"; readonly score: Score };

/**
 * Reads the expected texts: the scorer's own, or else those of the case. A number or a boolean counts as its text. Of several,
 * each is a valid alternative.
 */
export function readExpectedTexts(own: unknown, ofCase: unknown): Expectation<string> {
  const given = own ?? ofCase;
  if (given === undefined || given === null) return reportMissing("The case has no expected value.");
  const texts = (Array.isArray(given) ? given : [given]).map(toText);
  const values = texts.filter((text) => text !== undefined);
  if (values.length === 0 || values.length < texts.length) {
    return reportMissing("The expected value is neither a text or number nor a list of them.");
  }
  return { type: "found", values };
}

/** Reads the expected numbers, which may be written as texts. */
export function readExpectedNumbers(own: number | undefined, ofCase: unknown): Expectation<number> {
  const texts = readExpectedTexts(own, ofCase);
  if (texts.type === "missing") return texts;
  const values = texts.values.map((text) => (text.trim() === "" ? Number.NaN : Number(text)));
  if (values.some((value) => !Number.isFinite(value)))
    return reportMissing("The expected value is not a number.");
  return { type: "found", values };
}

function reportMissing(explanation: string): Extract<Expectation<never>, { type: "missing" }> {
  return { type: "missing", score: toUnscorable(explanation) };
}

function toText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}
