import { z } from "zod";
import { toFailed, toPassOrFail, toUnscorable } from "../../../evaluation/scorers/outcome.ts";
import { askWithTimeout } from "../../../hooks/time-limit.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import type { Score } from "../../../schema/score.ts";
import type { ScorerOf } from "../../../schema/scorer.ts";
import type { ScorerContext } from "./scorer-context.ts";

/** The most time of a function of the application. */
const SCORER_TIMEOUT_MS = 4 * 60_000;

const Answer = z.object({
  value: z.number().nullable(),
  passed: z.boolean().optional(),
  explanation: z.string().optional(),
  points: z.record(z.string(), z.number()).optional(),
  costUsd: z.number().nonnegative().nullable().optional(),
});

/** Calls a scorer of the application. */
export async function scoreCustom(
  { name, settings }: ScorerOf<"custom">,
  { cell, dependencies: { scorers }, signal }: ScorerContext,
): Promise<Score> {
  const scorer = scorers.get(name);
  if (scorer === undefined) {
    const known = scorers.names.length === 0 ? "none" : scorers.names.join(", ");
    return toFailed(`No scorer "${name}" is registered on this worker; registered: ${known}.`);
  }
  const request = structuredClone({ ...cell.subject, settings, messages: cell.messages });
  const answer = await askWithTimeout<unknown>((within) => scorer({ ...request, signal: within }), {
    signal,
    timeoutMs: SCORER_TIMEOUT_MS,
  });
  if (answer.type === "failed") return toFailed(`The scorer "${name}" failed: ${answer.message}`);
  return readAnswer(name, answer.value);
}

function readAnswer(name: string, answer: unknown): Score {
  if (typeof answer === "boolean") return toPassOrFail(answer);
  if (typeof answer === "number" && Number.isFinite(answer)) return { class: "scored", value: answer };
  const read = Answer.safeParse(answer);
  if (!read.success) return toFailed(`The scorer "${name}" returned neither a number nor a score.`);
  const { value, passed, explanation, points, costUsd } = read.data;
  if (value === null) {
    const why = explanation ?? `The scorer "${name}" cannot score this cell.`;
    return { ...toUnscorable(why), ...omitUndefined({ costUsd }) };
  }
  return { class: "scored", value, ...omitUndefined({ passed, explanation, points, costUsd }) };
}
