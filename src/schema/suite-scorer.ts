import { z } from "zod";
import { JUDGE_FIELDS, PLAIN_SCORERS } from "./scorer.ts";

/** A scorer as a suite states it: a judge is an agent file's name, which `agent` names. */
export const SuiteScorer = z.discriminatedUnion("type", [
  ...PLAIN_SCORERS,
  z.strictObject({
    ...JUDGE_FIELDS,
    agent: z.string().min(1).describe("The agent file of the judge."),
  }),
]);
export type SuiteScorer = z.infer<typeof SuiteScorer>;
/** A scorer before its defaults are added. */
export type SuiteScorerInput = z.input<typeof SuiteScorer>;
