import { countUtf8Bytes } from "../../core/view/estimate.ts";
import type { ContextConfig } from "../../schema/context.ts";
import type { JudgeMaterial } from "./judge-material.ts";
import { computeHardLimit, shortenText, type Tier } from "./text-tiers.ts";

const TIERS: readonly Tier[] = [1, 2, 3];

export type FittedMaterial = {
  readonly material: JudgeMaterial;
  /** The last tier that was applied to each part; 0 for none. */
  readonly tiers: { readonly prior: Tier | 0; readonly responses: Tier | 0 };
  /** Present when the material is still too large and is judged anyway (PAR-12). */
  readonly warning?: string;
};

/**
 * Computes the tokens for prior context and responses together: four fifths of the judge's window. The rest is for the
 * system prompt, the query and the text around them (PAR-10).
 *
 * @param context - From the judge's definition; with `null` nothing is shortened.
 */
export function computeJudgeBudget(
  context: Pick<ContextConfig, "maxContextTokens"> | null,
): number | undefined {
  return context === null ? undefined : Math.floor((context.maxContextTokens * 4) / 5);
}

/**
 * Makes the material fit in two iterations (PAR-11): first the prior context alone, tier by tier, with the responses
 * whole; then also the responses, with the prior context as its third tier left it. It stops as soon as everything fits.
 *
 * Each third tier cuts to what the other part leaves of the budget.
 */
export function fitMaterial(material: JudgeMaterial, budget: number | undefined): FittedMaterial {
  let fitted: FittedMaterial = { material, tiers: { prior: 0, responses: 0 } };
  if (budget === undefined) return fitted;
  for (const tier of TIERS) {
    if (fitsBudget(fitted, budget)) return fitted;
    const { material: before, tiers } = fitted;
    const limit = computeHardLimit(budget - estimateTokens(before.responses), 1);
    const prior = shortenText(before.prior, tier, limit);
    fitted = { material: { ...before, prior }, tiers: { ...tiers, prior: tier } };
  }
  for (const tier of TIERS) {
    if (fitsBudget(fitted, budget)) return fitted;
    const { material: before, tiers } = fitted;
    const limit = computeHardLimit(budget - estimateTokens([before.prior]), before.responses.length);
    const responses = before.responses.map((text) => shortenText(text, tier, limit));
    fitted = { material: { ...before, responses }, tiers: { ...tiers, responses: tier } };
  }
  return fitsBudget(fitted, budget) ? fitted : { ...fitted, warning: formatWarning(fitted.material, budget) };
}

function fitsBudget({ material }: FittedMaterial, budget: number): boolean {
  return estimateSize(material) <= budget;
}

function estimateSize({ prior, responses }: JudgeMaterial): number {
  return estimateTokens([prior, ...responses]);
}

/** Estimates the texts as one (CTX-01): rounding each up would make texts that were cut to the limit too large again. */
function estimateTokens(texts: readonly string[]): number {
  return Math.ceil(texts.reduce((bytes, text) => bytes + countUtf8Bytes(text), 0) / 4);
}

function formatWarning(material: JudgeMaterial, budget: number): string {
  return `Prior context and ${material.responses.length} responses are too large for the judge even when shortened: about ${estimateSize(material)} tokens, but only ${budget} fit. They are judged anyway. Give the judge a larger context window, or compare fewer branches.`;
}
