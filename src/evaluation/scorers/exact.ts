import type { Score } from "../../schema/score.ts";
import type { ScoreSubject } from "../../schema/score-subject.ts";
import type { ScorerOf } from "../../schema/scorer.ts";
import { readExpectedTexts } from "./expected-texts.ts";
import { toPassOrFail, toUnscorable } from "./outcome.ts";

/** Compares the answer, or its beginning, with the expected texts. */
export function scoreExact(
  { expected: own, ignoreCase, trim, match }: ScorerOf<"exact">,
  { answer, expected }: Pick<ScoreSubject, "answer" | "expected">,
): Score {
  const wanted = readExpectedTexts(own, expected);
  if (wanted.type === "missing") return wanted.score;
  const simplify = (text: string) => simplifyText(text, { ignoreCase, trim });
  const given = simplify(answer);
  const texts = wanted.values.map(simplify);
  if (match === "whole") return toPassOrFail(texts.includes(given));
  if (texts.includes("")) return toUnscorable("Every answer begins with an empty text.");
  return toPassOrFail(texts.some((text) => given.startsWith(text)));
}

/** Removes the differences that do not count. Case does not depend on the language of the host. */
export function simplifyText(
  text: string,
  { ignoreCase, trim }: { readonly ignoreCase: boolean; readonly trim: boolean },
): string {
  const trimmed = trim ? text.trim() : text;
  return ignoreCase ? trimmed.toLowerCase() : trimmed;
}
