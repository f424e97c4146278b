import { randomUUID } from "node:crypto";
import { apply } from "../../core/machine/apply.ts";
import { next } from "../../core/machine/next.ts";
import { buildOutboxMessage } from "../../core/machine/outbox.ts";
import { buildInitialState } from "../../core/machine/start.ts";
import type { LoopDigest, ModelDigest } from "../../core/machine/state/digest.ts";
import type { Outbox as MachineOutbox } from "../../core/machine/state/outbox.ts";
import type { RunEvent } from "../../core/machine/state/run-event.ts";
import { estimateText } from "../../core/view/estimate.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { AssistantMessage } from "../../schema/message.ts";
import type { Outbox } from "../../store/transcript/store-write.ts";
import type { AnsweredCell } from "../../store/transcript/suites.ts";
import { buildClosedDigest, getMaxTextBytes, STATUS_OF_OUTCOME } from "../close-loop/write-steps.ts";
import type { Dependencies } from "../dependencies.ts";
import { buildLoopTerms } from "../open-loop/check-definition.ts";
import { buildLoopOpening } from "../open-loop/loop-opening.ts";
import { buildPinnedDigest } from "../open-loop/pinned-digest.ts";

// The session of a cell of one answer. The machine decides what its record is, as for any other run: it is driven here from
// its start to its end, with the answer that was given.

/** The branch of a new session, and the number of its first loop. */
const MAIN_BRANCH = "main";
const FIRST_LOOP = 1;

export type SingleAnswer = {
  readonly session: string;
  readonly definition: AgentDefinition;
  readonly definitionHash: string;
  readonly text: string;
  readonly message: AssistantMessage;
  readonly digest: ModelDigest;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
};

export type AnswerRecord = Pick<AnsweredCell, "opening" | "write" | "closing"> & { readonly loopId: string };

/** Builds the record of a run with one answer. Returns undefined if the machine would ask again: for this, the cell needs a run. */
export function buildAnswerRecord(
  answer: SingleAnswer,
  dependencies: Pick<Dependencies, "providers" | "sandboxes" | "process">,
): AnswerRecord | undefined {
  const { session, definition, definitionHash, text, message, startedAtMs, endedAtMs } = answer;
  const opening = buildLoopOpening(definition, undefined);
  const loopId = `${session}.${opening.segment}.${FIRST_LOOP}`;
  const prompt = { id: `${session}-1`, text, atMs: startedAtMs };
  let state = buildInitialState({
    session,
    mode: "run",
    idleTimeoutMs: null,
    localSteps: true,
    requestedDefinition: { hash: definitionHash },
    prompts: [prompt],
    nowMs: startedAtMs,
  });
  const report = (event: WithoutTime<RunEvent>, atMs: number) => {
    state = apply(state, { ...event, atMs } as RunEvent);
    return next(state);
  };
  const open = report({ type: "started" }, startedAtMs);
  if (open.type !== "open-loop") return undefined;
  const opened: LoopDigest = {
    loopId,
    kind: { type: "initial" },
    branch: MAIN_BRANCH,
    from: 0,
    tokensBefore: 0,
    entries: [{ origin: "prompt", messageId: prompt.id, tokens: estimateText(text) }],
    warnings: [],
    ...buildPinnedDigest(definition, definitionHash, [], new Map(), {
      sandbox: dependencies.sandboxes.getSettings(definition.sandbox).mode,
    }),
  };
  const call = report({ type: "loop-opened", digest: opened }, startedAtMs);
  if (call.type !== "call-model") return undefined;
  const digest = { ...answer.digest, branch: MAIN_BRANCH };
  const close = report({ type: "model-replied", digest }, endedAtMs);
  if (close.type !== "close-loop") return undefined;
  const buildStep = (number: number, kind: string) => ({
    ...{ session, run: session, number, call: -1, kind, generation: 0, process: dependencies.process },
  });
  const turnId = { loopId, turnIndex: call.turn };
  const closing = resolveEntries(close.outbox, loopId);
  const end = closing.events.findLast(({ body }) => body.type === "AgentEnd")?.body;
  if (end?.type !== "AgentEnd") return undefined;
  const { output } = definition;
  return {
    loopId,
    opening: {
      ...opening,
      step: buildStep(open.number, "open-loop"),
      atMs: startedAtMs,
      definitionHash,
      agentName: definition.name,
      model: definition.model.id,
      agentId: randomUUID(),
      prompts: [{ ...prompt, origin: "prompt" }],
      terms: buildLoopTerms(definition, definition.limits, [], dependencies as Dependencies),
    },
    write: {
      step: buildStep(call.number, "call-model"),
      base: call.base,
      atMs: endedAtMs,
      outbox: resolveEntries(call.outbox, loopId),
      entries: [{ position: call.position, origin: "model", message: { ...message, turnId } }],
      result: digest,
    },
    closing: {
      step: buildStep(close.number, "close-loop"),
      base: close.base,
      atMs: endedAtMs,
      outbox: closing,
      entries: [],
      result: buildClosedDigest(
        message,
        close.answer,
        close.isOutput === true ? output : undefined,
        getMaxTextBytes({}),
      ),
      status: STATUS_OF_OUTCOME[close.outcome.type],
      outcome: close.outcome,
      usage: end.usage,
      costUsd: close.costUsd,
      turns: close.turns,
      to: end.to,
    },
  };
}

type WithoutTime<Event> = Event extends RunEvent ? Omit<Event, "atMs"> : never;

/** Such a run has no entries whose texts are elsewhere. */
function resolveEntries({ entries, events }: MachineOutbox, loopId: string): Outbox {
  return {
    entries: entries.map((entry) => ({
      position: entry.position,
      origin: entry.origin,
      message: buildOutboxMessage(entry, loopId, undefined, undefined),
    })),
    events,
  };
}
