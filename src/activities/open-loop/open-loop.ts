import { randomUUID } from "node:crypto";
import { Context } from "@temporalio/activity";
import type { LoopDigest } from "../../core/machine/state/digest.ts";
import { at } from "../../platform/kill-point.ts";
import { type AgentDefinition, Continuation } from "../../schema/definition.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { OpenLoopInput } from "../activities.ts";
import type { Dependencies } from "../dependencies.ts";
import { unloadMessage } from "../step/cargo.ts";
import { parsed, parsedDefinition } from "../step/definitions.ts";
import { asFailure, DefinitionError } from "../step/failure.ts";
import { currentStep } from "../step/step.ts";
import { checkDefinition, termsOf } from "./check-definition.ts";
import { saveChildDefinitions } from "./child-definitions.ts";
import { mustBeContinuable } from "./continuable.ts";
import { letIn } from "./let-in.ts";
import { offeredTools, openingOf } from "./opening.ts";
import { pinnedBefore, pinOutside } from "./pin-outside.ts";
import { limitsOf, pinned } from "./pinned.ts";
import { viewAtStart } from "./view-at-start.ts";
import { watchOffers } from "./watch-offers.ts";

/**
 * Pins what the loop runs with and opens its record (design 3.13). All that can be known to be wrong before a model
 * is paid is found here.
 */
export async function openLoop(input: OpenLoopInput, dependencies: Dependencies): Promise<LoopDigest> {
  const { transcript } = dependencies;
  try {
    const given = await asked(input, dependencies);
    const step = currentStep(input, dependencies.process);
    const before = await pinnedBefore(step.session, dependencies);
    const pinning = await pinOutside(given, before, dependencies);
    const { definition } = pinning;
    const { tools, warnings } = await checkDefinition(definition, dependencies, pinning.warnings);
    const definitionHash = await transcript.saveDefinition(definition);
    const children = await saveChildDefinitions(definition, transcript);
    const prompts = await Promise.all(
      input.prompts.map(async ({ origin, ...prompt }) => ({
        ...(await unloadMessage(prompt, transcript)),
        origin,
      })),
    );
    const continuation =
      input.continuation === undefined ? undefined : parsed("continuation", Continuation, input.continuation);
    if (continuation !== undefined) await mustGoOn(step.session, continuation, prompts.length, transcript);
    const { cancellationSignal } = Context.current();
    const asking = { definition, dependencies, signal: cancellationSignal };
    const { part } = input;
    const inbox = async () => (part === undefined ? await transcript.inbox(step.session) : []);
    const words = await letIn(step, prompts, inbox, continuation, asking);
    // An earlier execution of this step may have heard something else of hooks and filters: what it has stored counts.
    at("open:before");
    const opened = await transcript.openLoop({
      step,
      atMs: Date.now(),
      definitionHash,
      agentName: definition.name,
      model: definition.model.id,
      ...openingOf(definition, continuation, input.spawn),
      agentId: randomUUID(),
      ...(input.firstRun === undefined ? {} : { firstRun: input.firstRun }),
      ...words,
      ...(part === undefined ? {} : { part }),
      ...(input.expects === undefined ? {} : { expects: input.expects }),
      ...(definition.pinned === undefined ? {} : { tellsDefinition: true as const }),
      terms: termsOf(definition, limitsOf(definition, continuation), tools, dependencies),
    });
    at("open:after");
    const kept = opened.definitionHash ?? definitionHash;
    const runs = kept === definitionHash ? { definition, tools } : await pinnedAs(kept, dependencies);
    const work = { loopId: opened.loopId, definitionHash: kept, isOpening: true as const };
    watchOffers(runs.definition, work, dependencies);
    const view =
      input.number === 0 ? await viewAtStart(opened, runs.tools, step.session, dependencies) : opened.view;
    return {
      ...opened,
      ...(view === undefined ? {} : { view }),
      ...pinned(runs.definition, kept, runs.tools, children, continuation),
      warnings,
    } as LoopDigest;
  } catch (error) {
    throw asFailure(error);
  }
}

/** What an earlier execution of this step has pinned the loop to: sources outside may say something else by now. */
async function pinnedAs(hash: string, { definitions, tools }: Dependencies) {
  const definition = await definitions.byHash(hash);
  return { definition, tools: offeredTools(definition, tools).tools };
}

async function mustGoOn(
  session: string,
  { at, kind }: Continuation,
  prompts: number,
  transcript: Transcript,
): Promise<void> {
  const record = await transcript.session(session);
  const branch = at?.branch ?? record?.headBranch ?? "";
  const entries =
    record === undefined
      ? undefined
      : await transcript.entries(session, branch, 0, at?.position ?? Number.MAX_SAFE_INTEGER);
  // What is asked on a branch may stand where nothing stands before it.
  if (entries !== undefined && kind.type === "branch" && prompts > 0) return;
  mustBeContinuable(session, entries, kind.type === "compaction" || prompts > 0);
}

async function asked(input: OpenLoopInput, { definitions }: Dependencies): Promise<AgentDefinition> {
  if (input.definition === undefined) {
    if (input.definitionHash !== undefined) return await definitions.acceptedByHash(input.definitionHash);
    throw new DefinitionError("The run names no definition: start it with `definition` or `definitionHash`");
  }
  return parsedDefinition(input.definition);
}
