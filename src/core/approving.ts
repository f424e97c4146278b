import type { Permission, PersonAsked } from "../schema/record.ts";
import type { ApprovalAnswer } from "./approvals.ts";
import type { Call, Calling, CallStatus } from "./calling.ts";
import { CANCELLED_TEXT, carries, goOnWith, isFlushing, refuse, run, runFromNow, withCall } from "./calls.ts";
import { questionOver, withQuestion } from "./finished-calls.ts";
import { grantFor, withGrant } from "./grants.ts";
import { issue, settle } from "./issue.ts";
import { forgetRepeats, markStuck } from "./repeated-mistakes.ts";
import { reserveShares } from "./shares.ts";
import type { State } from "./state.ts";

// What becomes of calls that wait for a person, while their siblings go on.

/** Begins what the model reads of a call that a person has refused. */
export const REFUSED_TEXT = "Refused by a person";
const NOBODY_ANSWERED_TEXT = "Refused: a person had to agree, and nobody answered in time";

/** The outbox is written down, or could not be: it rides along with the next command then. */
export function flushed(state: State, phase: Calling, branch: string | undefined): State {
  const { flush } = phase;
  if (flush === undefined || flush === "tried") return state;
  const written = branch === undefined ? state : settle(state, flush, branch);
  return goOnWith(written, { ...phase, flush: "tried" });
}

/** A person has said what becomes of a call. Who answers a call that does not wait changes nothing. */
export function approvalAnswered(
  state: State,
  phase: Calling,
  toolCallId: string,
  answer: ApprovalAnswer,
  by: string | undefined,
): State {
  const index = phase.calls.findIndex(({ id, status }) => id === toolCallId && status.type === "asking");
  const call = phase.calls[index];
  if (call?.status.type !== "asking") return state;
  const { question } = call.status;
  if (question !== undefined && answer.type === "answer") {
    const { type: _, ...said } = answer;
    return callAgain(state, phase, index, { question, ...said, ...(by === undefined ? {} : { by }) });
  }
  if (call.status.failed !== undefined && answer.type !== "answer") {
    const how = { answer: answer.type === "approve" ? ("approved" as const) : ("refused" as const), by };
    return failedAnswered(state, phase, index, call.status.failed, how);
  }
  if (answer.type === "refuse") {
    const why = answer.reason === undefined || answer.reason === "" ? "" : `: ${answer.reason}`;
    return refuseAsked(state, phase, index, { answer: "refused", by }, `${REFUSED_TEXT}${why}`);
  }
  if (answer.type !== "approve") return state;
  const { arguments: changed, always } = answer;
  // What is known of a call is known of its own arguments: others are not what the user was shown.
  const isAsShown = changed === undefined || call.facts === undefined;
  const given = always === true && isAsShown ? grantFor(call) : undefined;
  const grants = withGrant(state.grants ?? [], given);
  const allowed: Call = {
    ...answered(call, { answer: changed === undefined ? "approved" : "changed", by }),
    ...(changed === undefined ? {} : { arguments: changed }),
  };
  return runAsked({ ...state, grants }, phase, index, allowed);
}

/**
 * A person has said whether an agent goes on whose call has failed too often. The call itself is not run: it cannot be.
 *
 * @param how - Without an approval the loop ends after this turn.
 */
function failedAnswered(
  state: State,
  phase: Calling,
  index: number,
  { text, reason }: { readonly text: string; readonly reason: string },
  how: Pick<Permission, "answer" | "by">,
): State {
  const next = how.answer === "approved" ? forgetRepeats(state) : markStuck(state, reason);
  return refuseAsked(next, phase, index, how, text);
}

/** The call is made again with the answer, by a command of its own, which takes nothing along. */
function callAgain(state: State, phase: Calling, index: number, said: PersonAsked): State {
  const status = { ...runFromNow(state), number: state.commands };
  const call = { ...withQuestion(phase.calls[index] as Call, said), status };
  const calls = withCall(phase.calls, index, call);
  return { ...state, commands: state.commands + 1, phase: { ...phase, calls } };
}

/** An approved call that nothing else of its unit runs beside takes the outbox along, under a number of its own. */
function runAsked(state: State, phase: Calling, index: number, call: Call): State {
  const alone = !phase.calls.some(({ status }) => status.type === "running") && !isFlushing(phase);
  const shares = reserveShares(state, phase.calls, [index]);
  const ran = run(shares.state, phase.position, call, index, shares.of.get(index));
  const { flush, ...rest } = phase;
  const calls = withCall(phase.calls, index, ran.call);
  if (ran.call.status.type === "done") return goOnWith(ran.state, { ...phase, calls });
  if (!alone) return { ...ran.state, phase: { ...rest, calls, ...(flush === undefined ? {} : { flush }) } };
  const given = issue(ran.state);
  const unit = { ...phase.unit, carrier: carries(ran.call.status) ? index : -1 };
  return { ...given.state, phase: { ...rest, issue: given.issue, calls, unit } };
}

function refuseAsked(
  state: State,
  phase: Calling,
  index: number,
  how: Pick<Permission, "answer" | "by">,
  text: string,
): State {
  const call = phase.calls[index] as Call;
  const refused = refuse(state, phase.position, answered(call, how), index, text);
  return goOnWith(refused.state, { ...phase, calls: withCall(phase.calls, index, refused.call) });
}

function answered(
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
export function approvalsTimedOut(state: State): State {
  return asked(state, ({ untilMs }) => untilMs !== undefined && untilMs <= state.nowMs).reduce(
    (next, id) => refuseNow(next, id, { answer: "timed-out" }, NOBODY_ANSWERED_TEXT),
    state,
  );
}

/** Behind a stop nobody is asked any more. */
export function approvalsCancelled(state: State): State {
  return asked(state, () => true).reduce((next, id) => refuseNow(next, id, {}, CANCELLED_TEXT), state);
}

function asked(
  { phase }: State,
  which: (status: Extract<CallStatus, { type: "asking" }>) => boolean,
): readonly string[] {
  if (phase.type !== "calling-tools") return [];
  return phase.calls.flatMap(({ id, status }) => (status.type === "asking" && which(status) ? [id] : []));
}

function refuseNow(state: State, id: string, how: { readonly answer?: "timed-out" }, text: string): State {
  if (state.phase.type !== "calling-tools") return state;
  const { phase } = state;
  const index = phase.calls.findIndex((call) => call.id === id && call.status.type === "asking");
  const status = phase.calls[index]?.status;
  if (status?.type !== "asking") return state;
  if (status.failed !== undefined && how.answer !== undefined) {
    return failedAnswered(state, phase, index, status.failed, how);
  }
  return status.question === undefined
    ? refuseAsked(state, phase, index, how, text)
    : questionOver(state, phase, index, text, how);
}
