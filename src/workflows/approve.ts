import { ApplicationFailure } from "@temporalio/common";
import { INLINE_BYTES } from "../core/machine/append.ts";
import { type ApprovalAnswer, type PendingApproval, pendingApprovals } from "../core/machine/approvals.ts";
import type { State } from "../core/machine/state/state.ts";
import { utf8Length } from "../core/view/estimate.ts";
import type { ApprovalWords } from "./messages.ts";
import { isShallow } from "./shape.ts";

/**
 * The call that these words are about.
 *
 * @throws A failure for who sent them, when they make no sense or nothing waits for them.
 */
export function approvalFor(state: State, words: ApprovalWords): PendingApproval {
  mustMakeSense(words);
  const waiting = pendingApprovals(state);
  const { toolCallId = "", answer, question } = words;
  if (waiting.length === 0) throw refused("no-approval", "No call of this run waits for a person");
  const [found, other] = waiting.filter((one) => toolCallId === "" || one.toolCallId === toolCallId);
  if (toolCallId === "" && other !== undefined) {
    throw refused(
      "which-approval",
      `${waiting.length} calls wait; say which with toolCallId: ${list(waiting)}`,
    );
  }
  if (found === undefined) {
    throw refused("no-approval", `No call ${toolCallId} waits for a person; these do: ${list(waiting)}`);
  }
  // Who says yes to what a tool asks must have read it.
  if (found.question !== undefined && isYes(answer) && question !== found.question) {
    throw refused(
      "invalid-approval",
      `\`holdfast answer\` shows what ${found.toolCallId} asks, and answers it`,
    );
  }
  return found;
}

export function answerIn(words: ApprovalWords, { question }: PendingApproval): ApprovalAnswer {
  const { answer, arguments: changed, always, reason, values } = words;
  if (question !== undefined) {
    const said = isYes(answer) ? "accept" : answer === "cancel" ? answer : "decline";
    return { type: "answer", answer: said, ...(values === undefined ? {} : { values }) };
  }
  if (!isYes(answer)) return { type: "refuse", ...(reason === undefined ? {} : { reason }) };
  return {
    type: "approve",
    ...(changed === undefined ? {} : { arguments: changed }),
    ...(always === undefined ? {} : { always }),
  };
}

function isYes(answer: string): boolean {
  return answer === "approve" || answer === "accept";
}

const HASH = /^[0-9a-f]{64}$/;

function mustMakeSense(words: unknown): void {
  const { answer, arguments: changed, reason, by, values } = (words ?? {}) as Record<string, unknown>;
  if (!["approve", "refuse", "accept", "decline", "cancel"].includes(answer as string)) {
    throw refused("invalid-approval", '`answer` is "approve" or "refuse"');
  }
  if (values !== undefined && (typeof values !== "string" || !HASH.test(values))) {
    throw refused("invalid-approval", "`values` is the hash of a stored text");
  }
  if (changed !== undefined && (typeof changed !== "object" || changed === null || Array.isArray(changed))) {
    throw refused("invalid-approval", "`arguments` is an object: the tool's arguments as they are to be run");
  }
  if (!isShallow(words)) throw refused("invalid-approval", "`arguments` are nested too deep");
  if (reason !== undefined && typeof reason !== "string") {
    throw refused("invalid-approval", "`reason` is a text");
  }
  if (![changed, reason, by].every(isShort)) {
    throw refused("invalid-approval", "An answer has at most 32 KiB");
  }
}

function isShort(value: unknown): boolean {
  return value === undefined || utf8Length(JSON.stringify(value)) <= INLINE_BYTES;
}

function list(waiting: readonly PendingApproval[]): string {
  return waiting.map(({ toolCallId, tool, summary }) => `${toolCallId} (${tool} ${summary})`).join(", ");
}

function refused(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, `holdfast/${type}`);
}
