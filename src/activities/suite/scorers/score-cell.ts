import { scoreExact } from "../../../evaluation/scorers/exact.ts";
import type { ScoredBy } from "../../../store/transcript/suites.ts";
export async function scoreCell(c: any, _d: any, _s: AbortSignal): Promise<readonly ScoredBy[]> {
  return c.scorers.map(({ digest, scorer }: any) => ({ digest, scorer: digest, score: scoreExact(scorer, c.subject) })).map(({scorer, score}: any)=>({scorer, score}));
}
