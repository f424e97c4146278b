import { ApplicationFailure } from "@temporalio/common";
import { INLINE_BYTES } from "../core/machine/append-message.ts";
import { listPendingApprovals, type PendingApproval } from "../core/machine/approvals.ts";
import type { ApprovalAnswer } from "../core/machine/state/run-event.ts";
import type { State } from "../core/machine/state/state.ts";
import { countUtf8Bytes } from "../core/view/estimate.ts";
import { isObject } from "../platform/text/json.ts";
import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { ApprovalInput } from "./messages.ts";
import { isShallow } from "./shape.ts";

/**
 * Returns the pending approval that this answer is for.
 *
 * @throws A failure for the sender, when the answer is invalid or no call waits for it.
 */
export function findApproval(state: State, input: ApprovalInput): PendingApproval {
  checkApprovalInput(input);
  const waiting = listPendingApprovals(state);
  const { toolCallId = "", answer, question } = input;
  if (waiting.length === 0) throw buildRejection("no-approval", "No call of this run waits for the user");
  const [found, other] = waiting.filter((one) => toolCallId === "" || one.toolCallId === toolCallId);
  if (toolCallId === "" && other !== undefined) {
    throw buildRejection(
      "ambiguous-approval",
      `${waiting.length} calls wait for the user; specify one with toolCallId: ${formatWaiting(waiting)}`,
    );
  }
  if (found === undefined) {
    throw buildRejection(
      "no-approval",
      `No call ${toolCallId} waits for the user; these calls do: ${formatWaiting(waiting)}`,
    );
  }
  // Only a user who has read the tool's question may answer yes.
  if (found.questionRef !== undefined && isYes(answer) && question !== found.questionRef) {
    throw buildRejection(
      "invalid-approval",
      `The answer does not name the question of call ${found.toolCallId}; read the question and answer it with \`holdfast answer\``,
    );
  }
  return found;
}

export function toApprovalAnswer(input: ApprovalInput, { questionRef }: PendingApproval): ApprovalAnswer {
  const { answer, arguments: changed, always, reason, values } = input;
  if (questionRef !== undefined) {
    const userAnswer = isYes(answer) ? "accept" : answer === "cancel" ? answer : "decline";
    return { type: "answer", answer: userAnswer, ...omitUndefined({ values }) };
  }
  if (!isYes(answer)) return { type: "deny", ...omitUndefined({ reason }) };
  return {
    type: "approve",
    ...omitUndefined({ arguments: changed, always }),
  };
}

function isYes(answer: string): boolean {
  return answer === "approve" || answer === "accept";
}

const HASH = /^[0-9a-f]{64}$/;

function checkApprovalInput(input: unknown): void {
  const { answer, arguments: changed, reason, by, values } = (input ?? {}) as Record<string, unknown>;
  if (!["approve", "deny", "accept", "decline", "cancel"].includes(answer as string)) {
    throw buildRejection("invalid-approval", '`answer` must be "approve" or "deny"');
  }
  if (values !== undefined && (typeof values !== "string" || !HASH.test(values))) {
    throw buildRejection("invalid-approval", "`values` must be the hash of a stored text");
  }
  if (changed !== undefined && !isObject(changed)) {
    throw buildRejection("invalid-approval", "`arguments` must be an object with the arguments for the tool");
  }
  if (!isShallow(input)) throw buildRejection("invalid-approval", "`arguments` is nested too deeply");
  if (reason !== undefined && typeof reason !== "string") {
    throw buildRejection("invalid-approval", "`reason` must be a text");
  }
  if (![changed, reason, by].every(isShort)) {
    throw buildRejection("invalid-approval", "An answer may have at most 32 KiB");
  }
}

function isShort(value: unknown): boolean {
  return value === undefined || countUtf8Bytes(JSON.stringify(value)) <= INLINE_BYTES;
}

function formatWaiting(waiting: readonly PendingApproval[]): string {
  return waiting.map(({ toolCallId, tool, summary }) => `${toolCallId} (${tool} ${summary})`).join(", ");
}

function buildRejection(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, `holdfast/${type}`);
}
