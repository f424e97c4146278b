import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { Permission, QuestionRecord } from "../../schema/loop-event.ts";
import { addGrant, buildGrant } from "../permission/grants.ts";
import { buildRunningStatus, refuseCall, replaceCall, runCall, takesOutbox } from "./begin-call.ts";
import { CANCELLED_TEXT, continueCalls, isFlushing } from "./call-batches.ts";
import { reserveShares } from "./child-shares.ts";
import { formatUserDenial } from "./denial-texts.ts";
import { completeDispatch, dispatch } from "./dispatch.ts";
import { addQuestion, endQuestion } from "./finished-calls.ts";
import { markStuck, resetRepeats } from "./repeated-failures.ts";
import type { Call, CallingTools, CallStatus } from "./state/call-status.ts";
import type { ApprovalAnswer } from "./state/run-event.ts";
import type { State } from "./state/state.ts";

// What happens to calls that wait for approval, while other calls of the same answer continue.

const APPROVAL_TIMEOUT_TEXT = "Denied: the call needed the user's approval, and nobody answered in time";

/** Handles the end of a flush: the outbox is written, or could not be and then goes with the next command. */
export function finishFlush(state: State, phase: CallingTools, branch: string | undefined): State {
  const { flush } = phase;
  if (flush === undefined || flush === "tried") return state;
  const written = branch === undefined ? state : completeDispatch(state, flush, branch);
  return continueCalls(written, { ...phase, flush: "tried" });
}

/** Applies the user's answer to a call. An answer to a call that does not wait changes nothing. */
export function applyApprovalAnswer(
  state: State,
  phase: CallingTools,
  toolCallId: string,
  answer: ApprovalAnswer,
  by: string | undefined,
): State {
  const index = phase.calls.findIndex(
    ({ id, status }) => id === toolCallId && status.type === "awaiting-user",
  );
  const call = phase.calls[index];
  if (call?.status.type !== "awaiting-user") return state;
  const { question } = call.status;
  if (question !== undefined && answer.type === "answer") {
    const { type: _, ...answerFields } = answer;
    return redispatchWithAnswer(state, phase, index, {
      question,
      ...answerFields,
      ...omitUndefined({ by }),
    });
  }
  if (call.status.failure !== undefined && answer.type !== "answer") {
    const approval = { answer: answer.type === "approve" ? ("approved" as const) : ("denied" as const), by };
    return applyFailureDecision(state, phase, index, call.status.failure, approval);
  }
  if (answer.type === "deny") {
    return denyCall(state, phase, index, { answer: "denied", by }, formatUserDenial(call, answer.reason));
  }
  if (answer.type !== "approve") return state;
  const { arguments: changed, always } = answer;
  // The facts of a call describe its own arguments: with other arguments it is not the call that the user has seen.
  const isAsShown = changed === undefined || call.facts === undefined;
  const given = always === true && isAsShown ? buildGrant(call) : undefined;
  const grants = addGrant(state.grants ?? [], given);
  const allowed: Call = {
    ...setApprovalAnswer(call, { answer: changed === undefined ? "approved" : "changed", by }),
    ...omitUndefined({ changedArguments: changed }),
  };
  return runApprovedCall({ ...state, grants }, phase, index, allowed);
}

/**
 * Applies the user's decision on whether an agent may continue whose call has failed too often. The call itself does not
 * run, because it cannot.
 * @param how - Without an approval, the loop ends after this turn.
 */
function applyFailureDecision(
  state: State,
  phase: CallingTools,
  index: number,
  { text, reason }: { readonly text: string; readonly reason: string },
  approval: Pick<Permission, "answer" | "by">,
): State {
  const next = approval.answer === "approved" ? resetRepeats(state) : markStuck(state, reason);
  return denyCall(next, phase, index, approval, text);
}

/** Dispatches the call again with the answer, as a command of its own that carries no outbox. */
function redispatchWithAnswer(
  state: State,
  phase: CallingTools,
  index: number,
  question: QuestionRecord,
): State {
  const status = { ...buildRunningStatus(state), number: state.nextCommand };
  const call = { ...addQuestion(phase.calls[index] as Call, question), status };
  const calls = replaceCall(phase.calls, index, call);
  return { ...state, nextCommand: state.nextCommand + 1, phase: { ...phase, calls } };
}

/** Runs an approved call. When nothing else of its unit runs, it carries the outbox, under a new command number. */
function runApprovedCall(state: State, phase: CallingTools, index: number, call: Call): State {
  const alone = !phase.calls.some(({ status }) => status.type === "running") && !isFlushing(phase);
  const shares = reserveShares(state, phase.calls, [index]);
  const ran = runCall(shares.state, phase.position, call, index, shares.reservations.get(index));
  const { flush, ...rest } = phase;
  const calls = replaceCall(phase.calls, index, ran.call);
  if (ran.call.status.type === "done") return continueCalls(ran.state, { ...phase, calls });
  if (!alone) return { ...ran.state, phase: { ...rest, calls, ...omitUndefined({ flush }) } };
  const given = dispatch(ran.state);
  const unit = { ...phase.batch, outboxCall: takesOutbox(ran.call.status) ? index : -1 };
  return { ...given.state, phase: { ...rest, dispatch: given.dispatch, calls, batch: unit } };
}

function denyCall(
  state: State,
  phase: CallingTools,
  index: number,
  approval: Pick<Permission, "answer" | "by">,
  text: string,
): State {
  const call = phase.calls[index] as Call;
  const refused = refuseCall(state, phase.position, setApprovalAnswer(call, approval), index, text);
  return continueCalls(refused.state, { ...phase, calls: replaceCall(phase.calls, index, refused.call) });
}

function setApprovalAnswer(
  call: Call,
  { answer, by }: { answer?: Permission["answer"]; by?: string | undefined },
): Call {
  const permission: Permission = {
    ...(call.permission ?? { outcome: "ask", rule: "otherwise" }),
    ...omitUndefined({ answer, by }),
  };
  return { ...call, permission };
}

/** Answers with no every question whose time is over. */
export function expireApprovals(state: State): State {
  return findPendingIds(state, ({ untilMs }) => untilMs !== undefined && untilMs <= state.nowMs).reduce(
    (next, id) => denyById(next, id, { answer: "timed-out" }, APPROVAL_TIMEOUT_TEXT),
    state,
  );
}

/** Cancels all waiting approvals, because the run was stopped. */
export function cancelApprovals(state: State): State {
  return findPendingIds(state, () => true).reduce(
    (next, id) => denyById(next, id, {}, CANCELLED_TEXT),
    state,
  );
}

function findPendingIds(
  { phase }: State,
  which: (status: Extract<CallStatus, { type: "awaiting-user" }>) => boolean,
): readonly string[] {
  if (phase.type !== "calling-tools") return [];
  return phase.calls.flatMap(({ id, status }) =>
    status.type === "awaiting-user" && which(status) ? [id] : [],
  );
}

function denyById(
  state: State,
  id: string,
  approval: { readonly answer?: "timed-out" },
  text: string,
): State {
  if (state.phase.type !== "calling-tools") return state;
  const { phase } = state;
  const index = phase.calls.findIndex((call) => call.id === id && call.status.type === "awaiting-user");
  const status = phase.calls[index]?.status;
  if (status?.type !== "awaiting-user") return state;
  if (status.failure !== undefined && approval.answer !== undefined) {
    return applyFailureDecision(state, phase, index, status.failure, approval);
  }
  return status.question === undefined
    ? denyCall(state, phase, index, approval, text)
    : endQuestion(state, phase, index, text, approval);
}
