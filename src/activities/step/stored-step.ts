import type { WrittenDigest } from "../../core/machine/state/digest.ts";
import { reachKillPoint } from "../../platform/kill-point.ts";
import type { SessionTitle } from "../../schema/record.ts";
import type { ClaimResult, Step } from "../../store/transcript/step.ts";
import type { NewEntry, Outbox, SessionDefinition } from "../../store/transcript/store-write.ts";
import type { CallModelInput } from "../activity-types.ts";
import type { Dependencies } from "../dependencies.ts";
import { claimStep } from "./claim-step.ts";

/** The result of a step: the digest for the machine, and the entries that are stored with it. */
export type StepResult<Digest> = {
  readonly result: Digest;
  readonly entries: readonly NewEntry[];
  /** The session continues with another definition. `terms`: what its model is offered, as a text. */
  readonly definition?: SessionDefinition & { readonly terms: string };
  /** The title that the model gives the session. */
  readonly title?: SessionTitle;
};

/** The claim already wrote the outbox. */
const EMPTY_OUTBOX: Outbox = { entries: [], events: [] };

type ClaimInput = Parameters<typeof claimStep>[1];
type StepDependencies = Pick<Dependencies, "transcript" | "hub" | "log">;

/**
 * Claims a step, runs it, and stores its result before Temporal receives it. Returns the stored result, whichever
 * execution stored it: a paid answer is not paid again, and a decision stays.
 */
export async function runStoredStep<Digest extends WrittenDigest>(
  step: Step,
  input: ClaimInput,
  dependencies: StepDependencies,
  work: (claim: Extract<ClaimResult, { type: "claimed" }>) => Promise<StepResult<Digest>>,
): Promise<Digest> {
  const claimed = await claimStep(step, input, dependencies);
  if (claimed.type === "stored") return { ...(claimed.result as Digest), branch: claimed.branch };
  return await storeStep(step, { ...input, branch: claimed.branch }, await work(claimed), dependencies);
}

/** Stores the result of a step that needs no claim. */
export async function storeStep<Digest extends WrittenDigest>(
  step: Step,
  { loopId, base, branch }: Pick<CallModelInput, "loopId" | "base" | "branch">,
  { result, entries, definition, title }: StepResult<Digest>,
  { transcript }: Pick<StepDependencies, "transcript">,
): Promise<Digest> {
  const made = { step, loopId, base, branch, outbox: EMPTY_OUTBOX, entries, result };
  const write = () => {
    const now = { ...made, atMs: Date.now() };
    if (title !== undefined) return transcript.storeTitle(now, title);
    if (definition === undefined) return transcript.store(now);
    const { terms, ...pinned } = definition;
    return transcript.storeDefinition(now, pinned, terms);
  };
  reachKillPoint("store:before");
  const stored = await write();
  reachKillPoint("store:after");
  return { ...(stored.result as Digest), branch: stored.branch };
}
