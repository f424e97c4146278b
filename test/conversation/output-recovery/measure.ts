import { buildCorpus, MUTATORS, type SpoiltOutput } from "./corpus.ts";
import { type Judgement, judge } from "./judge.ts";
import type { Mutator } from "./mutator.ts";
import { REPAIRERS } from "./repairers.ts";

export type Tally = {
  /** Valid values that say what the text says, as a share of the texts that still say enough. */
  readonly recoveredShare: number;
  /** Valid values that the text does not say, as a share of all texts. */
  readonly wrongShare: number;
  readonly recovered: number;
  readonly wrong: number;
};

export type Figures = {
  readonly outputs: number;
  /** Outputs that still say enough for a value. */
  readonly recoverable: number;
  readonly furtherOutputs: number;
} & Readonly<Record<keyof typeof REPAIRERS, Tally>>;

export type Verdicts = ReadonlyMap<SpoiltOutput, Record<keyof typeof REPAIRERS, Judgement>>;

/** @param further - Mutators of other authors, which are counted apart as well. */
export async function measure(
  seed: number,
  rounds: number,
  further: readonly Mutator[],
): Promise<{ readonly figures: Figures; readonly verdicts: Verdicts }> {
  const own = buildCorpus(seed, rounds, MUTATORS);
  const others = further.length === 0 ? [] : buildCorpus(seed, rounds, further);
  const verdicts = new Map<SpoiltOutput, Record<keyof typeof REPAIRERS, Judgement>>();
  for (const spoilt of [...own, ...others]) {
    const judged = Object.entries(REPAIRERS).map(async ([name, repair]) => [
      name,
      judge(spoilt, await repair(spoilt)),
    ]);
    verdicts.set(spoilt, Object.fromEntries(await Promise.all(judged)));
  }
  const all = [...verdicts.values()];
  const recoverable = [...verdicts.keys()].filter(({ loss }) => loss !== "essential").length;
  const tally = (name: keyof typeof REPAIRERS): Tally => {
    const count = (judgement: Judgement) => all.filter((one) => one[name] === judgement).length;
    const [recovered, wrong] = [count("recovered"), count("wrong")];
    return {
      recoveredShare: round(recovered / recoverable),
      wrongShare: round(wrong / all.length),
      recovered,
      wrong,
    };
  };
  const figures = {
    outputs: all.length,
    recoverable,
    furtherOutputs: others.length,
    holdfast: tally("holdfast"),
    strict: tally("strict"),
    jsonrepair: tally("jsonrepair"),
    aiSdk: tally("aiSdk"),
  };
  return { figures, verdicts };
}

function round(share: number): number {
  return Math.round(share * 10_000) / 10_000;
}
