import type { Permission, QuestionRecord } from "../../schema/record.ts";
import { addGrant, buildGrant } from "../permission/grants.ts";
import type { ApprovalAnswer } from "./approvals.ts";
import {
  buildRunningStatus,
  CANCELLED_TEXT,
  continueCalls,
  isFlushing,
  refuseCall,
  replaceCall,
  runCall,
  takesOutbox,
} from "./call-batches.ts";
import { reserveShares } from "./child-shares.ts";
import { completeDispatch, dispatch } from "./dispatch.ts";
import { addQuestion, endQuestion } from "./finished-calls.ts";
import { markStuck, resetRepeats } from "./repeated-failures.ts";
import type { Call, CallingTools, CallStatus } from "./state/call-status.ts";
import type { State } from "./state/state.ts";

// What becomes of calls that wait for a person, while their siblings go on.

/** Begins what the model reads of a call that a person has refused. */
export const DENIED_TEXT = "Refused by a person";
const APPROVAL_TIMEOUT_TEXT = "Refused: a person had to agree, and nobody answered in time";

/** The outbox is written down, or could not be: it rides along with the next command then. */
export function finishFlush(state: State, phase: CallingTools, branch: string | undefined): State {
  const { flush } = phase;
  if (flush === undefined || flush === "tried") return state;
  const written = branch === undefined ? state : completeDispatch(state, flush, branch);
  return continueCalls(written, { ...phase, flush: "tried" });
}

/** A person has said what becomes of a call. Who answers a call that does not wait changes nothing. */
export function applyApprovalAnswer(
  state: State,
  phase: CallingTools,
  toolCallId: string,
  answer: ApprovalAnswer,
  by: string | undefined,
): State {
  const index = phase.calls.findIndex(({ id, status }) => id === toolCallId && status.type === "asking");
  const call = phase.calls[index];
  if (call?.status.type !== "asking") return state;
  const { question } = call.status;
  if (question !== undefined && answer.type === "answer") {
    const { type: _, ...answerFields } = answer;
    return redispatchWithAnswer(state, phase, index, {
      question,
      ...answerFields,
      ...(by === undefined ? {} : { by }),
    });
  }
  if (call.status.failed !== undefined && answer.type !== "answer") {
    const approval = { answer: answer.type === "approve" ? ("approved" as const) : ("refused" as const), by };
    return applyFailureDecision(state, phase, index, call.status.failed, approval);
  }
  if (answer.type === "refuse") {
    const suffix = answer.reason === undefined || answer.reason === "" ? "" : `: ${answer.reason}`;
    return denyCall(state, phase, index, { answer: "refused", by }, `${DENIED_TEXT}${suffix}`);
  }
  if (answer.type !== "approve") return state;
  const { arguments: changed, always } = answer;
  // What is known of a call is known of its own arguments: others are not what the user was shown.
  const isAsShown = changed === undefined || call.facts === undefined;
  const given = always === true && isAsShown ? buildGrant(call) : undefined;
  const grants = addGrant(state.grants ?? [], given);
  const allowed: Call = {
    ...setApprovalAnswer(call, { answer: changed === undefined ? "approved" : "changed", by }),
    ...(changed === undefined ? {} : { arguments: changed }),
  };
  return runApprovedCall({ ...state, grants }, phase, index, allowed);
}

/**
 * A person has said whether an agent goes on whose call has failed too often. The call itself is not run: it cannot be.
 *
 * @param how - Without an approval the loop ends after this turn.
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

/** The call is made again with the answer, by a command of its own, which takes nothing along. */
function redispatchWithAnswer(
  state: State,
  phase: CallingTools,
  index: number,
  question: QuestionRecord,
): State {
  const status = { ...buildRunningStatus(state), number: state.commands };
  const call = { ...addQuestion(phase.calls[index] as Call, question), status };
  const calls = replaceCall(phase.calls, index, call);
  return { ...state, commands: state.commands + 1, phase: { ...phase, calls } };
}

/** An approved call that nothing else of its unit runs beside takes the outbox along, under a number of its own. */
function runApprovedCall(state: State, phase: CallingTools, index: number, call: Call): State {
  const alone = !phase.calls.some(({ status }) => status.type === "running") && !isFlushing(phase);
  const shares = reserveShares(state, phase.calls, [index]);
  const ran = runCall(shares.state, phase.position, call, index, shares.of.get(index));
  const { flush, ...rest } = phase;
  const calls = replaceCall(phase.calls, index, ran.call);
  if (ran.call.status.type === "done") return continueCalls(ran.state, { ...phase, calls });
  if (!alone) return { ...ran.state, phase: { ...rest, calls, ...(flush === undefined ? {} : { flush }) } };
  const given = dispatch(ran.state);
  const unit = { ...phase.unit, carrier: takesOutbox(ran.call.status) ? index : -1 };
  return { ...given.state, phase: { ...rest, issue: given.issue, calls, unit } };
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
    ...(answer === undefined ? {} : { answer }),
    ...(by === undefined ? {} : { by }),
  };
  return { ...call, permission };
}

/** Questions that nobody has answered in time are answered with no. */
export function expireApprovals(state: State): State {
  return findPendingIds(state, ({ untilMs }) => untilMs !== undefined && untilMs <= state.nowMs).reduce(
    (next, id) => denyById(next, id, { answer: "timed-out" }, APPROVAL_TIMEOUT_TEXT),
    state,
  );
}

/** Behind a stop nobody is asked any more. */
export function cancelApprovals(state: State): State {
  return findPendingIds(state, () => true).reduce(
    (next, id) => denyById(next, id, {}, CANCELLED_TEXT),
    state,
  );
}

function findPendingIds(
  { phase }: State,
  which: (status: Extract<CallStatus, { type: "asking" }>) => boolean,
): readonly string[] {
  if (phase.type !== "calling-tools") return [];
  return phase.calls.flatMap(({ id, status }) => (status.type === "asking" && which(status) ? [id] : []));
}

function denyById(
  state: State,
  id: string,
  approval: { readonly answer?: "timed-out" },
  text: string,
): State {
  if (state.phase.type !== "calling-tools") return state;
  const { phase } = state;
  const index = phase.calls.findIndex((call) => call.id === id && call.status.type === "asking");
  const status = phase.calls[index]?.status;
  if (status?.type !== "asking") return state;
  if (status.failed !== undefined && approval.answer !== undefined) {
    return applyFailureDecision(state, phase, index, status.failed, approval);
  }
  return status.question === undefined
    ? denyCall(state, phase, index, approval, text)
    : endQuestion(state, phase, index, text, approval);
}
