import type { Score } from "../../schema/score.ts";
import type { ScoreSubject } from "../../schema/score-subject.ts";
import type { ScorerOf } from "../../schema/scorer.ts";
import { readExpectedTexts } from "./expected-texts.ts";
import { toPassOrFail, toUnscorable } from "./outcome.ts";

/** Looks for the expected texts in the answer. */
export function scoreIncludes(
  { expected: own, ignoreCase, match, normalize, eitherWay }: ScorerOf<"includes">,
  { answer, expected }: Pick<ScoreSubject, "answer" | "expected">,
): Score {
  const wanted = readExpectedTexts(own, expected);
  if (wanted.type === "missing") return wanted.score;
  const simplify = (text: string) => {
    if (normalize) return normalizeText(text);
    return ignoreCase ? text.toLowerCase() : text;
  };
  const given = simplify(answer);
  const texts = wanted.values.map(simplify);
  if (!eitherWay && texts.includes("")) return toUnscorable("Every answer contains an empty text.");
  const isFound = (text: string) => (eitherWay ? containsEitherWay(given, text) : given.includes(text));
  if (match === "any") return toPassOrFail(texts.some(isFound));
  const missing = texts.findIndex((text) => !isFound(text));
  return toPassOrFail(
    missing === -1,
    missing === -1 ? undefined : `Missing: ${JSON.stringify(wanted.values[missing])}`,
  );
}

/** An empty text is in every other one, which says nothing: it is equal only to an empty one. */
function containsEitherWay(one: string, other: string): boolean {
  if (one === "" || other === "") return one === other;
  return one.includes(other) || other.includes(one);
}

const ASCII_PUNCTUATION = /[!-/:-@[-`{-~]/g;
const ARTICLES = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;

function normalizeText(text: string): string {
  return text
    .toLowerCase()
    .replace(ASCII_PUNCTUATION, "")
    .replace(ARTICLES, " ")
    .split(/\s+/)
    .filter((word) => word !== "")
    .join(" ");
}
