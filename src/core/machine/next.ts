import { assertNever } from "../../platform/text/assert-never.ts";
import { ProtocolError } from "../../platform/text/protocol-error.ts";
import { isPlainView, leftOf, viewTokens } from "../view/view.ts";
import { rangesOf } from "../view/view-ranges.ts";
import { approvalsUntil } from "./approvals.ts";
import { commandOfChild, hasChild, reportOf } from "./children.ts";
import { contextTokens } from "./compacting.ts";
import { messagesToFilter } from "./filtering.ts";
import { askedOf, hasHook } from "./hooking.ts";
import { baseOf, cargo, EMPTY_OUTBOX } from "./outbox.ts";
import { loopOf, type PhaseOf, pinnedOf } from "./phase.ts";
import { givenOf } from "./shares.ts";
import type { CallToolCommand, Command, RecordCommand } from "./state/command.ts";
import type { Issue, PersonMessage, State } from "./state/state.ts";
import { toolFactsOf } from "./tool-facts.ts";
import { deadlineOf, waitsUntil } from "./vendor-wait.ts";
import { isHeldBack, viewAtHand } from "./view-at-hand.ts";

/** What the driver must do now. Asked again of the same state, it gives the same answer. */
export function next(state: State): Command {
  const { phase } = state;
  switch (phase.type) {
    case "starting":
      return { type: "wait", untilMs: undefined };
    case "opening":
      return {
        type: "open-loop",
        ...numbered(phase.issue),
        session: state.session,
        ...(state.asked.definition === undefined ? {} : { definition: state.asked.definition }),
        ...(state.asked.hash === undefined ? {} : { definitionHash: state.asked.hash }),
        prompts: phase.prompts,
        ...(phase.continuation === undefined ? {} : { continuation: phase.continuation }),
        ...(state.task === undefined ? {} : { spawn: state.task.spawn }),
        ...(state.part === undefined ? {} : { part: state.part }),
        ...(state.length === 0 ? {} : { expects: { branch: state.branch, length: state.length } }),
      };
    case "calling-model": {
      if (phase.waits !== undefined) return { type: "wait", untilMs: waitsUntil(state, phase.waits) };
      const { definitionHash, maxRetries } = pinnedOf(state);
      const loop = loopOf(state);
      const deadlineMs = deadlineOf(state);
      return {
        type: "call-model",
        ...writing(state, phase.issue, state.length),
        session: state.session,
        loopId: loop.loopId,
        definitionHash,
        turn: loop.turn,
        view: rangesOf(state.view),
        position: state.length,
        ...callerOf(state),
        ...wordsIn(state),
        ...(loop.mismatch === undefined ? {} : { repair: true as const }),
        ...(deadlineMs === undefined ? {} : { deadlineMs }),
        maxAttempts: Math.max(1, maxRetries + 1 - phase.attemptsBefore),
      };
    }
    case "compacting": {
      const loop = loopOf(state);
      return {
        type: "compact",
        ...writing(state, phase.issue, state.length),
        session: state.session,
        loopId: loop.loopId,
        definitionHash: pinnedOf(state).definitionHash,
        turn: loop.turn,
        view: rangesOf(state.view),
        position: state.length,
        maxAttempts: pinnedOf(state).maxRetries + 1,
        tokens: contextTokens(state),
        estimated: viewTokens(state.view),
        why: phase.why,
      };
    }
    case "filtering": {
      const loop = loopOf(state);
      return {
        type: "filter-input",
        ...writing(state, phase.issue, state.length),
        session: state.session,
        loopId: loop.loopId,
        definitionHash: pinnedOf(state).definitionHash,
        turn: loop.turn,
        messages: messagesToFilter(state, phase.ids),
        maxAttempts: pinnedOf(state).maxRetries + 1,
      };
    }
    case "calling-tools": {
      const { flush } = phase;
      const beside = flush === undefined || flush === "tried" ? undefined : record(state, flush, []);
      if (beside !== undefined && !hasChild(phase)) return beside;
      const calls = runningCalls(state, phase);
      return calls.length > 0
        ? { type: "call-tools", calls, ...(beside === undefined ? {} : { beside }) }
        : { type: "wait", untilMs: approvalsUntil(phase) };
    }
    case "hooking":
      return {
        type: "run-hook",
        ...writing(state, phase.issue, state.length),
        session: state.session,
        ...askedOf(state, phase.question),
        ...(phase.brief === undefined ? {} : { brief: phase.brief }),
      };
    case "moving": {
      const { definitionHash, limits } = pinnedOf(state);
      return {
        type: "move-definition",
        ...writing(state, phase.issue, state.length),
        session: state.session,
        loopId: state.loop?.loopId ?? "",
        turn: state.loop?.turn ?? 0,
        from: definitionHash,
        to: phase.to,
        limits,
      };
    }
    case "closing": {
      const loop = loopOf(state);
      const isOutput = loop.lastText?.isOutput === true && phase.outcome.type === "answered";
      return {
        type: "close-loop",
        ...writing(state, phase.issue, state.length),
        session: state.session,
        loopId: loop.loopId,
        outcome: phase.outcome,
        ...(isOutput || isTold(state, phase) ? { definitionHash: pinnedOf(state).definitionHash } : {}),
        ...(isOutput ? { isOutput } : {}),
        ...(givenOf(state) === undefined ? {} : { isTask: true as const }),
        ...(loop.lastText === undefined ? {} : { answer: loop.lastText.position }),
        turns: loop.turn,
        costUsd: loop.costUsd,
        ...(isPlainView(state.view) ? {} : { view: leftOf(state.view) }),
        ...(state.grants === undefined || state.grants.length === 0 ? {} : { grants: state.grants }),
      };
    }
    case "recording":
      return record(state, phase.issue, phase.inbox);
    case "waiting":
      return { type: "wait", untilMs: phase.untilMs };
    case "rotating":
      return { type: "rotate" };
    case "ended":
      return {
        type: "finish",
        last: state.last ?? { outcome: { type: "delivered", messages: 0 } },
        branch: state.branch,
        ...(givenOf(state) === undefined ? {} : { report: reportOf(state) }),
      };
    case "turn-due":
    case "turn-over":
    case "loop-over":
      throw new ProtocolError(`A run was left while ${phase.type}`);
    default:
      return assertNever(phase);
  }
}

function record(state: State, issue: Issue, inbox: readonly PersonMessage[]): RecordCommand {
  return {
    type: "record",
    ...writing(state, issue, state.length),
    session: state.session,
    ...(state.loop === undefined ? {} : { loopId: state.loop.loopId }),
    inbox,
  };
}

/** Of a loop that a hook has refused nobody is told more. */
function isTold(state: State, { outcome }: PhaseOf<"closing">): boolean {
  const refused = outcome.type === "rejected" && outcome.by !== undefined;
  return !refused && hasHook(state, "after-loop");
}

function callerOf({ task }: State) {
  return task === undefined ? {} : { caller: task.spawn };
}

function wordsIn({ words }: State) {
  return words === undefined ? {} : { words };
}

function numbered({ number, generation }: Issue) {
  return { number, generation };
}

function writing(state: State, issue: Issue, ownPosition: number) {
  const outbox = cargo(state.outbox, issue.carries);
  const fork = state.fork === undefined ? {} : { fork: state.fork };
  return { ...numbered(issue), branch: state.branch, base: baseOf(outbox, ownPosition), outbox, ...fork };
}

/** The calls of the unit that have no result yet; all of them share one base, so that they would fork alike. */
function runningCalls(state: State, phase: PhaseOf<"calling-tools">): readonly CallToolCommand[] {
  const loop = loopOf(state);
  const { definitionHash, tools, toolQueue } = pinnedOf(state);
  const outbox = cargo(state.outbox, phase.issue.carries);
  const commands: CallToolCommand[] = [];
  phase.calls.forEach((call, index) => {
    if (call.status.type !== "running" || isHeldBack(state, phase.calls, index)) return;
    const timeoutMs = tools[call.name]?.timeoutMs;
    commands.push({
      number: call.status.number ?? phase.issue.number,
      generation: call.status.generation,
      local: call.status.local,
      branch: state.branch,
      base: phase.unit.base,
      outbox: index === phase.unit.carrier ? outbox : EMPTY_OUTBOX,
      session: state.session,
      loopId: loop.loopId,
      definitionHash,
      turn: loop.turn,
      call: index,
      toolCallId: call.id,
      toolName: call.name,
      answer: phase.position,
      position: phase.position + 1 + index,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(toolQueue === undefined ? {} : { queue: toolQueue }),
      ...(call.arguments === undefined ? {} : { arguments: call.arguments }),
      ...(call.questions === undefined ? {} : { questions: call.questions }),
      ...(toolFactsOf(state, call.name)?.view === true ? { view: viewAtHand(state, phase) } : {}),
      summary: call.summary,
      ...callerOf(state),
      ...wordsIn(state),
      ...commandOfChild(call, tools),
    });
  });
  return commands;
}
