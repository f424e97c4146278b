import { Context } from "@temporalio/activity";
import { NO_USAGE } from "../../core/budget/usage.ts";
import { INLINE_BYTES } from "../../core/machine/append-message.ts";
import type { ClosedDigest, WrittenDigest } from "../../core/machine/state/digest.ts";
import { reachKillPoint } from "../../platform/kill-point.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { truncateForPreview } from "../../platform/text/preview.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { AgentMessage } from "../../schema/message.ts";
import { getMessageText } from "../../schema/message-text.ts";
import type { LoopStatus, Outcome } from "../../schema/record.ts";
import type { CloseLoopInput, RecordInput } from "../activity-types.ts";
import type { Dependencies } from "../dependencies.ts";
import { notifyLoopEnd } from "../hooks/loop-hooks.ts";
import { formatOutput } from "../model/structured-output.ts";
import { toFailure } from "../step/failure.ts";
import { announceEvents } from "../step/live-output.ts";
import { resolveMessage, resolveOutbox } from "../step/resolve-outbox.ts";
import { getCurrentStep } from "../step/step.ts";
import { snapshotAtLoopEnd } from "./snapshot-workspace.ts";
import { findLastAnswer } from "./task-text.ts";

export const STATUS_OF_OUTCOME = {
  answered: "completed",
  "limit-reached": "completed",
  failed: "failed",
  stopped: "aborted",
  rejected: "rejected",
  ended: "aborted",
  paused: "completed",
  handoff: "completed",
  delivered: "completed",
} satisfies Record<Outcome["type"], LoopStatus>;

/**
 * Writes a loop's last events and closes its record. Returns the text that the run answers with. Hooks are notified
 * afterwards, and notified again when this step runs again.
 */
export async function closeLoop(input: CloseLoopInput, dependencies: Dependencies): Promise<ClosedDigest> {
  const { transcript, conversations, hub } = dependencies;
  const step = getCurrentStep(input, dependencies.process);
  try {
    const outbox = await resolveOutbox(input.outbox, input.loopId, transcript);
    const end = outbox.events.findLast(({ body }) => body.type === "AgentEnd")?.body;
    const answer =
      input.answer === undefined
        ? undefined
        : await conversations.readMessage(step.session, input.branch, input.answer);
    const definition =
      input.definitionHash === undefined
        ? undefined
        : await dependencies.definitions.read(input.definitionHash);
    const output = input.isOutput === true ? definition?.output : undefined;
    const closed = buildClosedDigest(answer, input.answer, output, getMaxTextBytes(input));
    const isReported = input.isTask === true && end?.type === "AgentEnd";
    const lastAnswer = isReported
      ? await findLastAnswer(step.session, input.branch, end, transcript)
      : undefined;
    const digest = lastAnswer === undefined ? closed : { ...closed, lastAnswer };
    dependencies.tools.sources.unwatch(input.loopId);
    reachKillPoint("close:before");
    const stored = await transcript.closeLoop({
      step,
      loopId: input.loopId,
      branch: input.branch,
      base: input.base,
      fork: input.newBranch,
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
      ...omitUndefined({ view: input.view, grants: input.grants }),
    });
    reachKillPoint("close:after");
    announceEvents(hub, step, input.loopId, input.turns, outbox.events);
    // After an answer, the answer's own step has already saved the workspace.
    if (end?.type === "AgentEnd" && end.outcome.type !== "answered") {
      const at = { session: step.session, branch: stored.branch, position: end.to };
      const { cancellationSignal } = Context.current();
      await snapshotAtLoopEnd(input.loopId, at, end.outcome, dependencies, cancellationSignal);
    }
    if (definition?.hooks["after-loop"] !== undefined && end?.type === "AgentEnd") {
      const asking = { definition, dependencies, signal: Context.current().cancellationSignal };
      const { from, to, usage } = end;
      await notifyLoopEnd({ step, loopId: input.loopId, usage }, { branch: stored.branch, from, to }, asking);
    }
    return { ...(stored.result as ClosedDigest), branch: stored.branch };
  } catch (error) {
    throw toFailure(error);
  }
}

/**
 * A run that ends with a report stores only the beginning of its text as a preview, because nothing reads the text
 * from there.
 */
const REPORT_PREVIEW_BYTES = 256;

export function getMaxTextBytes({ isTask }: Pick<CloseLoopInput, "isTask">): number {
  return isTask === true ? REPORT_PREVIEW_BYTES : INLINE_BYTES;
}

/**
 * Builds the digest of a closed loop with the text of its last answer, or with the JSON of a structured output. The
 * store fills in the branch.
 */
export function buildClosedDigest(
  answer: AgentMessage | undefined,
  position: number | undefined,
  output: AgentDefinition["output"],
  maxBytes = INLINE_BYTES,
): ClosedDigest {
  if (answer?.role !== "assistant" || position === undefined) return { branch: "" };
  const json = output === undefined || output.type === "text" ? undefined : formatOutput(answer, output);
  const text = truncateForPreview(json ?? getMessageText(answer), maxBytes);
  const kind =
    json === undefined ? {} : { json: text === json ? ("complete" as const) : ("truncated" as const) };
  return { branch: "", text, position, ...kind };
}

/** Writes the outbox when no other activity follows: before continue-as-new, and for messages to an idle session. */
export async function recordOutbox(input: RecordInput, dependencies: Dependencies): Promise<WrittenDigest> {
  const { transcript, hub } = dependencies;
  const step = getCurrentStep(input, dependencies.process);
  try {
    const loopId = input.loopId ?? "";
    const outbox = await resolveOutbox(input.outbox, loopId, transcript);
    const messages = await Promise.all(input.inbox.map((message) => resolveMessage(message, transcript)));
    const write = {
      step,
      loopId,
      branch: input.branch,
      base: input.base,
      fork: input.newBranch,
      atMs: Date.now(),
      outbox,
      entries: [],
      result: {},
    };
    reachKillPoint("record:before");
    const stored =
      messages.length > 0 ? await transcript.storeInbox(write, messages) : await transcript.store(write);
    reachKillPoint("record:after");
    announceEvents(hub, step, loopId, 0, outbox.events);
    return { branch: stored.branch };
  } catch (error) {
    throw toFailure(error);
  }
}
