import { randomUUID } from "node:crypto";
import { Context } from "@temporalio/activity";
import type { LoopDigest } from "../../core/machine/state/digest.ts";
import { reachKillPoint } from "../../platform/kill-point.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { cleanTitle, MAX_TITLE_CHARS, truncateAtWord } from "../../platform/text/title.ts";
import { Continuation } from "../../schema/continuation.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { SessionTitle } from "../../schema/record.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { OpenLoopInput } from "../activity-types.ts";
import type { Dependencies } from "../dependencies.ts";
import { parseDefinition, parseInput } from "../step/definitions.ts";
import { DefinitionError, toFailure } from "../step/failure.ts";
import { resolveMessage } from "../step/resolve-outbox.ts";
import { getCurrentStep } from "../step/step.ts";
import { admitPrompts } from "./admit-prompts.ts";
import { buildLoopTerms, checkDefinition, logUnusedRules } from "./check-definition.ts";
import { saveChildDefinitions } from "./child-definitions.ts";
import { assertContinuable } from "./continuable.ts";
import { readInitialView } from "./initial-view.ts";
import { buildLoopOpening, resolveOfferedTools } from "./loop-opening.ts";
import { pinSources, readPreviousPins } from "./pin-sources.ts";
import { buildPinnedDigest, mergeLimits } from "./pinned-digest.ts";
import { watchToolLists } from "./watch-tool-lists.ts";

/**
 * Pins what the loop runs with and opens its record (design 3.13). Finds every problem that can be found before a
 * model is paid.
 */
export async function openLoop(input: OpenLoopInput, dependencies: Dependencies): Promise<LoopDigest> {
  const { transcript } = dependencies;
  try {
    const given = await readRequestedDefinition(input, dependencies);
    const step = getCurrentStep(input, dependencies.process);
    const before = await readPreviousPins(step.session, dependencies);
    const pinning = await pinSources(given, before, dependencies);
    const { definition } = pinning;
    logUnusedRules(given, dependencies);
    const { tools, warnings } = await checkDefinition(definition, dependencies, pinning.warnings);
    const definitionHash = await transcript.saveDefinition(definition);
    const children = await saveChildDefinitions(definition, transcript);
    const prompts = await Promise.all(
      input.prompts.map(async ({ origin, ...prompt }) => ({
        ...(await resolveMessage(prompt, transcript)),
        origin,
      })),
    );
    const continuation =
      input.continuation === undefined
        ? undefined
        : parseInput("continuation", Continuation, input.continuation);
    if (continuation !== undefined)
      await assertCanContinue(step.session, continuation, prompts.length, transcript);
    const { cancellationSignal } = Context.current();
    const asking = { definition, dependencies, signal: cancellationSignal };
    const { part } = input;
    const inbox = async () => (part === undefined ? await transcript.readInbox(step.session) : []);
    const admission = await admitPrompts(step, prompts, inbox, continuation, asking);
    // An earlier execution of this step may have got other decisions of hooks and filters: what it has stored counts.
    reachKillPoint("open:before");
    const opened = await transcript.openLoop({
      step,
      atMs: Date.now(),
      definitionHash,
      agentName: definition.name,
      model: definition.model.id,
      ...buildLoopOpening(definition, continuation, input.spawn),
      agentId: randomUUID(),
      ...omitUndefined({ firstRun: input.firstRun }),
      ...admission,
      ...omitUndefined({ part, expectedEnd: input.expectedHead, isPart: input.isPart }),
      ...omitUndefined({ title: toUserTitle(input.title) }),
      ...(definition.pinned === undefined ? {} : { returnsDefinition: true as const }),
      terms: buildLoopTerms(definition, mergeLimits(definition, continuation), tools, dependencies),
    });
    reachKillPoint("open:after");
    const { title, ...reported } = opened;
    const kept = opened.definitionHash ?? definitionHash;
    const runs = kept === definitionHash ? { definition, tools } : await readPinned(kept, dependencies);
    const work = { loopId: opened.loopId, definitionHash: kept, isOpening: true as const };
    watchToolLists(runs.definition, work, dependencies);
    const view =
      input.number === 0
        ? await readInitialView(opened, runs.tools, step.session, dependencies)
        : opened.view;
    return {
      ...reported,
      ...omitUndefined({ view, title: input.showsTitle === true ? title : undefined }),
      ...(asksForTitle(input, runs.definition, title) ? { asksForTitle: true } : {}),
      ...buildPinnedDigest(runs.definition, kept, runs.tools, children, {
        continuation,
        registeredTools: dependencies.registeredTools,
        sandbox: dependencies.sandboxes.getSettings(runs.definition.sandbox).mode,
      }),
      warnings,
    } as LoopDigest;
  } catch (error) {
    throw toFailure(error);
  }
}

/** Cleans the title again: anyone who may start workflows can send any text. */
function toUserTitle(title: string | undefined): SessionTitle | undefined {
  const text = title === undefined ? "" : truncateAtWord(cleanTitle(title), MAX_TITLE_CHARS);
  return text === "" ? undefined : { text, by: "user" };
}

/** Reports whether the model is to replace the session's first words. Runs that work for others keep their titles. */
function asksForTitle(
  { part, isPart }: OpenLoopInput,
  { titles }: AgentDefinition,
  title: SessionTitle | undefined,
): boolean {
  return titles === "model" && part === undefined && isPart !== true && title?.by === "prompt";
}

/**
 * Reads what an earlier execution of this step pinned the loop to, because tool sources may offer something else
 * meanwhile.
 */
async function readPinned(hash: string, { definitions, tools }: Dependencies) {
  const definition = await definitions.read(hash);
  return { definition, tools: resolveOfferedTools(definition, tools).tools };
}

async function assertCanContinue(
  session: string,
  { at, kind }: Continuation,
  prompts: number,
  transcript: Transcript,
): Promise<void> {
  const record = await transcript.readSession(session);
  const branch = at?.branch ?? record?.headBranch ?? "";
  const entries =
    record === undefined
      ? undefined
      : await transcript.readEntries(session, branch, 0, at?.position ?? Number.MAX_SAFE_INTEGER);
  // A prompt on a branch may begin where no entry exists before it.
  if (entries !== undefined && kind.type === "branch" && prompts > 0) return;
  assertContinuable(session, entries, kind.type === "compaction" || prompts > 0);
}

async function readRequestedDefinition(
  input: OpenLoopInput,
  { definitions }: Dependencies,
): Promise<AgentDefinition> {
  if (input.definition === undefined) {
    if (input.definitionHash !== undefined) return await definitions.readAccepted(input.definitionHash);
    throw new DefinitionError("The run names no definition: start it with `definition` or `definitionHash`");
  }
  return parseDefinition(input.definition);
}
