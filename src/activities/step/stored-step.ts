import type { WrittenDigest } from "../../core/machine/state/digest.ts";
import { at } from "../../platform/kill-point.ts";
import type { Claimed, Step } from "../../store/transcript/step.ts";
import type { NewEntry, Outbox, SessionDefinition } from "../../store/transcript/write.ts";
import type { ModelInput } from "../activities.ts";
import type { Dependencies } from "../dependencies.ts";
import { claimStep } from "./claim-step.ts";

/** What a step comes to: what the machine is told, and the entries that are stored with it. */
export type Made<Digest> = {
  readonly result: Digest;
  readonly entries: readonly NewEntry[];
  /** The session goes on with another definition. `terms`: what its model is offered, as a text. */
  readonly definition?: SessionDefinition & { readonly terms: string };
};

/** What rode along was written with the claim. */
const NOTHING: Outbox = { entries: [], events: [] };

type Input = Parameters<typeof claimStep>[1];
type Store = Pick<Dependencies, "transcript" | "hub" | "log">;

/**
 * Takes a step, has it done, and stores what it came to, before Temporal hears of it. Gives what is stored, whichever
 * execution has stored it: an answer that is paid is not paid again, a decision that was made stays.
 */
export async function storedStep<Digest extends WrittenDigest>(
  step: Step,
  input: Input,
  dependencies: Store,
  work: (claim: Extract<Claimed, { type: "claimed" }>) => Promise<Made<Digest>>,
): Promise<Digest> {
  const claimed = await claimStep(step, input, dependencies);
  if (claimed.type === "stored") return { ...(claimed.result as Digest), branch: claimed.branch };
  return await store(step, { ...input, branch: claimed.branch }, await work(claimed), dependencies);
}

/** Stores what a step came to that needs no claim. */
export async function store<Digest extends WrittenDigest>(
  step: Step,
  { loopId, base, branch }: Pick<ModelInput, "loopId" | "base" | "branch">,
  { result, entries, definition }: Made<Digest>,
  { transcript }: Pick<Store, "transcript">,
): Promise<Digest> {
  const made = { step, loopId, base, branch, outbox: NOTHING, entries, result };
  const write = () => {
    const now = { ...made, atMs: Date.now() };
    if (definition === undefined) return transcript.store(now);
    const { terms, ...pinned } = definition;
    return transcript.storeDefinition(now, pinned, terms);
  };
  at("store:before");
  const stored = await write();
  at("store:after");
  return { ...(stored.result as Digest), branch: stored.branch };
}
