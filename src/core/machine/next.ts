import { assertNever } from "../../platform/text/assert-never.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { ProtocolError } from "../../platform/text/protocol-error.ts";
import { isPlainView, sumViewTokens, toViewSnapshot } from "../view/view.ts";
import { toViewRanges } from "../view/view-ranges.ts";
import { findApprovalDeadline } from "./approvals.ts";
import { getAllocation } from "./child-shares.ts";
import { buildReport, getChildCommand, hasChild } from "./children.ts";
import { countContextTokens } from "./compact-view.ts";
import { getMessagesToFilter } from "./filter-input.ts";
import { buildTitleRequest } from "./make-title.ts";
import { EMPTY_OUTBOX, findBasePosition, takeOutbox } from "./outbox.ts";
import { type PhaseOf, requireLoop, requirePinned } from "./phase.ts";
import { buildHookRequest, hasHook, isTextOnly } from "./run-hooks.ts";
import { buildRunTotals } from "./run-totals.ts";
import type { CallToolCommand, RecordCommand } from "./state/activity-command.ts";
import type { Command } from "./state/command.ts";
import type { Dispatch } from "./state/dispatch.ts";
import type { InboundMessage } from "./state/inbound-message.ts";
import type { State } from "./state/state.ts";
import { getToolFacts } from "./tool-facts.ts";
import { buildToolView, waitsForEarlierCall } from "./tool-view.ts";
import { computeDeadline, computeWaitEnd } from "./vendor-wait.ts";

/** Returns what the driver must do next. The same state always gives the same command. */
export function next(state: State): Command {
  const { phase } = state;
  switch (phase.type) {
    case "starting":
      return { type: "wait", untilMs: undefined };
    case "opening":
      return {
        type: "open-loop",
        ...toNumbered(phase.dispatch),
        session: state.session,
        ...omitUndefined({
          definition: state.requestedDefinition.definition,
          definitionHash: state.requestedDefinition.hash,
        }),
        prompts: phase.prompts,
        ...omitUndefined({ continuation: phase.continuation, spawn: state.task?.spawn, part: state.part }),
        ...omitUndefined({ title: state.requestedTitle, showsTitle: state.showsTitle }),
        ...(worksForAnother(state) ? { isPart: true as const } : {}),
        ...(state.length === 0 ? {} : { expectedHead: { branch: state.branch, length: state.length } }),
      };
    case "calling-model": {
      if (phase.vendorWait !== undefined)
        return { type: "wait", untilMs: computeWaitEnd(state, phase.vendorWait) };
      const { definitionHash, maxRetries } = requirePinned(state);
      const loop = requireLoop(state);
      const deadlineMs = computeDeadline(state);
      return {
        type: "call-model",
        ...buildWriteFields(state, phase.dispatch, state.length),
        session: state.session,
        loopId: loop.loopId,
        definitionHash,
        turn: loop.turn,
        view: toViewRanges(state.view),
        position: state.length,
        ...getCaller(state),
        ...getRedaction(state),
        ...(loop.mismatch === undefined ? {} : { isRepair: true as const }),
        ...(isTextOnly(loop) ? { textOnly: true as const } : {}),
        ...omitUndefined({ deadlineMs }),
        maxAttempts: Math.max(1, maxRetries + 1 - phase.attemptsBefore),
      };
    }
    case "compacting": {
      const loop = requireLoop(state);
      return {
        type: "compact",
        ...buildWriteFields(state, phase.dispatch, state.length),
        session: state.session,
        loopId: loop.loopId,
        definitionHash: requirePinned(state).definitionHash,
        turn: loop.turn,
        view: toViewRanges(state.view),
        position: state.length,
        maxAttempts: requirePinned(state).maxRetries + 1,
        contextTokens: countContextTokens(state),
        viewTokens: sumViewTokens(state.view),
        reason: phase.reason,
      };
    }
    case "filtering": {
      const loop = requireLoop(state);
      return {
        type: "filter-input",
        ...buildWriteFields(state, phase.dispatch, state.length),
        session: state.session,
        loopId: loop.loopId,
        definitionHash: requirePinned(state).definitionHash,
        turn: loop.turn,
        messages: getMessagesToFilter(state, phase.ids),
        maxAttempts: requirePinned(state).maxRetries + 1,
      };
    }
    case "calling-tools": {
      const { flush } = phase;
      const beside =
        flush === undefined || flush === "tried" ? undefined : buildRecordCommand(state, flush, []);
      if (beside !== undefined && !hasChild(phase)) return beside;
      const calls = buildToolCommands(state, phase);
      return calls.length > 0
        ? { type: "call-tools", calls, ...omitUndefined({ recordCommand: beside }) }
        : { type: "wait", untilMs: findApprovalDeadline(phase) };
    }
    case "running-hooks":
      return {
        type: "run-hook",
        ...buildWriteFields(state, phase.dispatch, state.length),
        session: state.session,
        ...buildHookRequest(state, phase.question),
        ...omitUndefined({ isBrief: phase.isBrief }),
      };
    case "updating-definition": {
      const { definitionHash, limits } = requirePinned(state);
      return {
        type: "update-definition",
        ...buildWriteFields(state, phase.dispatch, state.length),
        session: state.session,
        loopId: state.loop?.loopId ?? "",
        turn: state.loop?.turn ?? 0,
        from: definitionHash,
        to: phase.to,
        limits,
      };
    }
    case "titling":
      return {
        type: "make-title",
        ...buildWriteFields(state, phase.dispatch, state.length),
        session: state.session,
        ...buildTitleRequest(state),
      };
    case "closing": {
      const loop = requireLoop(state);
      const isOutput = loop.lastText?.isOutput === true && phase.outcome.type === "answered";
      return {
        type: "close-loop",
        ...buildWriteFields(state, phase.dispatch, state.length),
        session: state.session,
        loopId: loop.loopId,
        outcome: phase.outcome,
        ...(isOutput || notifiesHooks(state, phase)
          ? { definitionHash: requirePinned(state).definitionHash }
          : {}),
        ...(isOutput ? { isOutput } : {}),
        ...(getAllocation(state) === undefined ? {} : { isTask: true as const }),
        ...omitUndefined({ answer: loop.lastText?.position }),
        turns: loop.turn,
        costUsd: loop.costUsd,
        ...(isPlainView(state.view) ? {} : { view: toViewSnapshot(state.view) }),
        ...(state.grants === undefined || state.grants.length === 0 ? {} : { grants: state.grants }),
      };
    }
    case "recording":
      return buildRecordCommand(state, phase.dispatch, phase.inbox);
    case "waiting":
      return { type: "wait", untilMs: phase.untilMs };
    case "rotating":
      return { type: "rotate" };
    case "ended":
      return {
        type: "finish",
        last: state.last ?? { outcome: { type: "delivered", messages: 0 } },
        branch: state.branch,
        totals: buildRunTotals(state),
        ...(getAllocation(state) === undefined ? {} : { report: buildReport(state) }),
      };
    case "turn-pending":
    case "turn-ended":
    case "loop-ended":
      throw new ProtocolError(`A run was left in the transient phase ${phase.type}`);
    default:
      return assertNever(phase);
  }
}

function buildRecordCommand(
  state: State,
  pending: Dispatch,
  inbox: readonly InboundMessage[],
): RecordCommand {
  return {
    type: "record",
    ...buildWriteFields(state, pending, state.length),
    session: state.session,
    ...omitUndefined({ loopId: state.loop?.loopId }),
    inbox,
  };
}

/** Reports whether the session is that of a sub-agent or of a part of a job. */
function worksForAnother({ task, share, part }: State): boolean {
  return part === undefined && (task !== undefined || share !== undefined);
}

/** Reports whether hooks are notified of the loop's end. A loop that a hook has rejected notifies no more hooks. */
function notifiesHooks(state: State, { outcome }: PhaseOf<"closing">): boolean {
  const refused = outcome.type === "rejected" && outcome.by !== undefined;
  return !refused && hasHook(state, "after-loop");
}

function getCaller({ task }: State) {
  return omitUndefined({ caller: task?.spawn });
}

function getRedaction({ redactContent }: State) {
  return omitUndefined({ redactContent });
}

function toNumbered({ number, generation }: Dispatch) {
  return { number, generation };
}

function buildWriteFields(state: State, pending: Dispatch, ownPosition: number) {
  const outbox = takeOutbox(state.outbox, pending.carries);
  const fork = omitUndefined({ newBranch: state.newBranch });
  return {
    ...toNumbered(pending),
    branch: state.branch,
    base: findBasePosition(outbox, ownPosition),
    outbox,
    ...fork,
  };
}

/** Builds the calls of the unit that have no result yet. All share one base, so that all would fork at the same point. */
function buildToolCommands(state: State, phase: PhaseOf<"calling-tools">): readonly CallToolCommand[] {
  const loop = requireLoop(state);
  const { definitionHash, tools, toolQueue } = requirePinned(state);
  const outbox = takeOutbox(state.outbox, phase.dispatch.carries);
  const commands: CallToolCommand[] = [];
  phase.calls.forEach((call, index) => {
    if (call.status.type !== "running" || waitsForEarlierCall(state, phase.calls, index)) return;
    const timeoutMs = tools[call.name]?.timeoutMs;
    commands.push({
      number: call.status.number ?? phase.dispatch.number,
      generation: call.status.generation,
      isLocal: call.status.isLocal,
      branch: state.branch,
      base: phase.batch.base,
      outbox: index === phase.batch.outboxCall ? outbox : EMPTY_OUTBOX,
      session: state.session,
      loopId: loop.loopId,
      definitionHash,
      turn: loop.turn,
      call: index,
      toolCallId: call.id,
      toolName: call.name,
      answer: phase.position,
      position: phase.position + 1 + index,
      ...omitUndefined({
        timeoutMs,
        queue: toolQueue,
        changedArguments: call.changedArguments,
        questions: call.questions,
      }),
      ...omitUndefined({
        isUnregistered: getToolFacts(state, call.name)?.isUnregistered,
        sandbox: getToolFacts(state, call.name)?.sandbox,
      }),
      ...(getToolFacts(state, call.name)?.view === true ? { view: buildToolView(state, phase) } : {}),
      summary: call.summary,
      ...getCaller(state),
      ...getRedaction(state),
      ...getChildCommand(call, tools),
    });
  });
  return commands;
}
