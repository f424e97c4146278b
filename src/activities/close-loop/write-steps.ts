import { Context } from "@temporalio/activity";
import { NO_USAGE } from "../../core/budget/usage.ts";
import { INLINE_BYTES } from "../../core/machine/append.ts";
import type { ClosedDigest, WrittenDigest } from "../../core/machine/state/digest.ts";
import { at } from "../../platform/kill-point.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { AgentMessage } from "../../schema/message.ts";
import type { LoopStatus, Outcome } from "../../schema/record.ts";
import type { CloseLoopInput, RecordInput } from "../activities.ts";
import type { Dependencies } from "../dependencies.ts";
import { tellLoopEnd } from "../hooks/loop-hooks.ts";
import { textOf } from "../model/answer-digest.ts";
import { outputText } from "../model/structured-output.ts";
import { unload, unloadMessage } from "../step/cargo.ts";
import { asFailure } from "../step/failure.ts";
import { announceEvents } from "../step/live.ts";
import { currentStep } from "../step/step.ts";
import { keepAtEnd } from "./keep-workspace.ts";
import { lastWords } from "./task-words.ts";

export const STATUS_OF_OUTCOME = {
  answered: "completed",
  "limit-reached": "completed",
  failed: "failed",
  stopped: "aborted",
  rejected: "rejected",
  ended: "aborted",
  delivered: "completed",
} satisfies Record<Outcome["type"], LoopStatus>;

/**
 * Writes a loop's last events and closes its record; gives back the text that the run answers with. Hooks are told then,
 * and told again when this runs again.
 */
export async function closeLoop(input: CloseLoopInput, dependencies: Dependencies): Promise<ClosedDigest> {
  const { transcript, conversations, hub } = dependencies;
  const step = currentStep(input, dependencies.process);
  try {
    const outbox = await unload(input.outbox, input.loopId, transcript);
    const end = outbox.events.findLast(({ body }) => body.type === "AgentEnd")?.body;
    const answer =
      input.answer === undefined
        ? undefined
        : await conversations.message(step.session, input.branch, input.answer);
    const definition =
      input.definitionHash === undefined
        ? undefined
        : await dependencies.definitions.byHash(input.definitionHash);
    const output = input.isOutput === true ? definition?.output : undefined;
    const said = closedDigest(answer, input.answer, output, shownOf(input));
    const isReported = input.isTask === true && end?.type === "AgentEnd";
    const words = isReported ? await lastWords(step.session, input.branch, end, transcript) : undefined;
    const digest = words === undefined ? said : { ...said, words };
    dependencies.tools.outside.unwatch(input.loopId);
    at("close:before");
    const stored = await transcript.closeLoop({
      step,
      loopId: input.loopId,
      branch: input.branch,
      base: input.base,
      fork: input.fork,
      atMs: Date.now(),
      outbox,
      entries: [],
      result: digest,
      status: STATUS_OF_OUTCOME[input.outcome.type],
      outcome: input.outcome,
      usage: end?.type === "AgentEnd" ? end.usage : NO_USAGE,
      costUsd: input.costUsd,
      turns: input.turns,
      to: end?.type === "AgentEnd" ? end.to : input.base,
      ...(input.view === undefined ? {} : { view: input.view }),
      ...(input.grants === undefined ? {} : { grants: input.grants }),
    });
    at("close:after");
    announceEvents(hub, step, input.loopId, input.turns, outbox.events);
    // Behind an answer there is nothing that its own step has not kept.
    if (end?.type === "AgentEnd" && end.outcome.type !== "answered") {
      const at = { session: step.session, branch: stored.branch, position: end.to };
      await keepAtEnd(input.loopId, at, dependencies, Context.current().cancellationSignal);
    }
    if (definition?.hooks["after-loop"] !== undefined && end?.type === "AgentEnd") {
      const asking = { definition, dependencies, signal: Context.current().cancellationSignal };
      const { from, to, usage } = end;
      await tellLoopEnd({ step, loopId: input.loopId, usage }, { branch: stored.branch, from, to }, asking);
    }
    return { ...(stored.result as ClosedDigest), branch: stored.branch };
  } catch (error) {
    throw asFailure(error);
  }
}

/** Of a run that ends with a report only the beginning is shown: nobody takes its words from there. */
const SHOWN_BYTES = 256;

export function shownOf({ isTask }: Pick<CloseLoopInput, "isTask">): number {
  return isTask === true ? SHOWN_BYTES : INLINE_BYTES;
}

/** The run's last words, for a structured output its JSON; the branch is the store's to say. */
export function closedDigest(
  answer: AgentMessage | undefined,
  position: number | undefined,
  output: AgentDefinition["output"],
  maxBytes = INLINE_BYTES,
): ClosedDigest {
  if (answer?.role !== "assistant" || position === undefined) return { branch: "" };
  const json = output === undefined || output.type === "text" ? undefined : outputText(answer, output);
  const text = truncateForPreview(json ?? textOf(answer), maxBytes);
  const kind = json === undefined ? {} : { json: text === json ? ("whole" as const) : ("cut" as const) };
  return { branch: "", text, position, ...kind };
}

/** Writes what waits when no other activity comes: before continue-as-new, and messages for a session at rest. */
export async function record(input: RecordInput, dependencies: Dependencies): Promise<WrittenDigest> {
  const { transcript, hub } = dependencies;
  const step = currentStep(input, dependencies.process);
  try {
    const loopId = input.loopId ?? "";
    const outbox = await unload(input.outbox, loopId, transcript);
    const messages = await Promise.all(input.inbox.map((message) => unloadMessage(message, transcript)));
    const write = {
      step,
      loopId,
      branch: input.branch,
      base: input.base,
      fork: input.fork,
      atMs: Date.now(),
      outbox,
      entries: [],
      result: {},
    };
    at("record:before");
    const stored =
      messages.length > 0 ? await transcript.storeInbox(write, messages) : await transcript.store(write);
    at("record:after");
    announceEvents(hub, step, loopId, 0, outbox.events);
    return { branch: stored.branch };
  } catch (error) {
    throw asFailure(error);
  }
}
