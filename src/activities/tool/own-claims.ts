import type { LostExecution, Step } from "../../store/transcript/step.ts";
import { FencedError } from "../../store/transcript/store-error.ts";

// What this process knows about its own claims, and no other process can know: whether the call of a claim has begun.
// The transcript only says that somebody holds the step. A claim whose response was lost, or that was taken over within
// this process before the call began, is no lost execution.
//
// This errs on the safe side: a forgotten claim counts as begun.

/** By generation. `running`: the generations whose call has begun and may still store its result. */
type StepClaims = {
  readonly hasBegunByGeneration: Map<number, boolean>;
  readonly running: Set<number>;
  newest: number;
};

const claimsByStep = new Map<string, StepClaims>();

/** Claims of calls whose result was never stored stay; at most this many. */
const MAX_CLAIMS = 100_000;

export type OwnClaim = {
  /** Must be called right before the call begins, in the same turn of the event loop. */
  begin(): void;
  readonly hasBegun: boolean;
  /** Returns whether this process still works on the call under the claim of this generation. */
  isRunning(generation: number): boolean;
  /** Returns those of the displaced executions that may have begun. */
  filterLost(displaced: readonly LostExecution[]): readonly LostExecution[];
  /** Records that the step has its result. */
  settle(): void;
  /** Records that this execution has ended, with a result or without. */
  release(): void;
};

/** Opens a claim. Call it before the claim is requested, because the response may be lost. */
export function openOwnClaim(step: Step): OwnClaim {
  const key = JSON.stringify([step.process, step.run, step.number, step.call]);
  const claims = claimsByStep.get(key) ?? createClaims(step);
  claimsByStep.delete(key);
  claimsByStep.set(key, claims);
  for (const oldest of claimsByStep.keys()) {
    if (claimsByStep.size <= MAX_CLAIMS) break;
    claimsByStep.delete(oldest);
  }
  claims.newest = Math.max(claims.newest, step.generation);
  if (!claims.hasBegunByGeneration.has(step.generation))
    claims.hasBegunByGeneration.set(step.generation, false);
  let hasBegun = false;
  return {
    get hasBegun() {
      return hasBegun;
    },
    begin: () => {
      // A newer execution in this process relies on this one not having begun.
      if (claims.newest > step.generation) {
        const what = `Step ${step.number}.${step.call} (${step.kind}) of run ${step.run}`;
        throw new FencedError(`${what}: generation ${step.generation} was superseded before it began`);
      }
      hasBegun = true;
      claims.hasBegunByGeneration.set(step.generation, true);
      claims.running.add(step.generation);
    },
    isRunning: (generation) => claims.running.has(generation),
    filterLost: (displaced) =>
      displaced.filter(
        ({ process, generation }) =>
          process !== step.process || claims.hasBegunByGeneration.get(generation) !== false,
      ),
    settle: () => {
      claimsByStep.delete(key);
    },
    release: () => {
      claims.running.delete(step.generation);
    },
  };
}

function createClaims({ generation }: Step): StepClaims {
  return { hasBegunByGeneration: new Map(), running: new Set(), newest: generation };
}
