import { ApplicationFailure } from "@temporalio/common";
import { INLINE_BYTES } from "../core/append.ts";
import { type ApprovalAnswer, type PendingApproval, pendingApprovals } from "../core/approvals.ts";
import { utf8Length } from "../core/estimate.ts";
import type { State } from "../core/state.ts";
import type { ApprovalWords } from "./messages.ts";

/**
 * The call that these words are about.
 *
 * @throws A failure for who sent them, when they make no sense or nothing waits for them.
 */
export function approvalFor(state: State, words: ApprovalWords): PendingApproval {
  mustMakeSense(words);
  return fitting(which(state, words), words);
}

function which(state: State, words: ApprovalWords): PendingApproval {
  const waiting = pendingApprovals(state);
  const { toolCallId } = words;
  const [first, ...others] = waiting;
  if (first === undefined) throw refused("no-approval", "No call of this run waits for a person");
  if (toolCallId === undefined || toolCallId === "") {
    if (others.length === 0) return first;
    throw refused(
      "which-approval",
      `${waiting.length} calls wait; say which with toolCallId: ${list(waiting)}`,
    );
  }
  const found = waiting.find((one) => one.toolCallId === toolCallId);
  if (found === undefined) {
    throw refused("no-approval", `No call ${toolCallId} waits for a person; these do: ${list(waiting)}`);
  }
  return found;
}

/** Some answers are for a call that asks whether it may run, some for one whose tool asks more. */
function fitting(waiting: PendingApproval, { answer, question, values }: ApprovalWords): PendingApproval {
  const { toolCallId, question: asked } = waiting;
  if (asked === undefined) {
    if (answer === "approve" || answer === "refuse") return waiting;
    throw refused("invalid-approval", `${toolCallId} asks for no more than a yes: approve or refuse it`);
  }
  if (question !== undefined && question !== asked.ref) {
    throw refused("no-approval", `${toolCallId} asks something else by now`);
  }
  if (asked.type === "form" && values === undefined && (answer === "approve" || answer === "accept")) {
    throw refused(
      "invalid-approval",
      `The tool of ${toolCallId} asks for values: \`holdfast answer\` takes them`,
    );
  }
  return waiting;
}

export function answerIn({
  answer,
  arguments: changed,
  always,
  reason,
  values,
}: ApprovalWords): ApprovalAnswer {
  if (answer === "accept") return { type: answer, ...(values === undefined ? {} : { values }) };
  if (answer === "decline" || answer === "cancel") return { type: answer };
  if (answer === "refuse") return { type: "refuse", ...(reason === undefined ? {} : { reason }) };
  return {
    type: "approve",
    ...(changed === undefined ? {} : { arguments: changed }),
    ...(always === undefined ? {} : { always }),
  };
}

const ANSWERS = ["approve", "refuse", "accept", "decline", "cancel"];

function mustMakeSense(words: unknown): void {
  const { answer, arguments: changed, reason, by, values } = (words ?? {}) as Record<string, unknown>;
  if (!ANSWERS.includes(answer as string)) {
    throw refused(
      "invalid-approval",
      '`answer` is "approve" or "refuse", or to a question "accept", "decline" or "cancel"',
    );
  }
  if (values !== undefined && typeof values !== "string") {
    throw refused("invalid-approval", "`values` is the hash of a stored text");
  }
  if (changed !== undefined && (typeof changed !== "object" || changed === null || Array.isArray(changed))) {
    throw refused("invalid-approval", "`arguments` is an object: the tool's arguments as they are to be run");
  }
  if (![changed, reason, by, values].every(isShort)) {
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
