import { userInfo } from "node:os";
import { type ApprovalInput, type ApprovalResult, approveUpdate } from "../../workflows/messages.ts";
import { createNoCallWhileIdleError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { findAnswerTarget } from "./find-answer-target.ts";
import { INLINE_BYTES } from "./message-input.ts";
import { sendRunUpdate } from "./send-run-update.ts";

export type ApproveOptions = {
  /** In place of the model's; the tool checks them as it checks those. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** The same kind of call is not asked for again in the session whose call it is. */
  readonly always?: boolean;
  /** Who answers, for the record; the name of this process's user unless said. */
  readonly by?: string;
};

export type DenyOptions = {
  /** What the model is told. */
  readonly reason?: string;
  /** Who answers, for the record; the name of this process's user unless said. */
  readonly by?: string;
};

/** What became of an answer. `session` is the one whose call it was, `waiting` how many more wait in the tree. */
export type AnswerResult = ApprovalResult & { readonly session: string };

/** Answers a call that waits for a person. Resolves when the run has taken the answer; the call may run for longer. */
export function approveCall(
  link: ClientLink,
  session: string,
  toolCallId: string | undefined,
  { arguments: changed, always, by }: ApproveOptions = {},
): Promise<AnswerResult> {
  return sendAnswer(link, session, {
    answer: "approve",
    ...toCallReference(toolCallId),
    ...(changed === undefined ? {} : { arguments: changed }),
    ...(always === undefined ? {} : { always }),
    ...toSignature(by),
  });
}

export function denyCall(
  link: ClientLink,
  session: string,
  toolCallId: string | undefined,
  { reason, by }: DenyOptions = {},
): Promise<AnswerResult> {
  return sendAnswer(link, session, {
    answer: "refuse",
    ...toCallReference(toolCallId),
    ...(reason === undefined ? {} : { reason }),
    ...toSignature(by),
  });
}

/** At the session itself, or at the agent below it whose call it is. */
async function sendAnswer(link: ClientLink, session: string, reply: ApprovalInput): Promise<AnswerResult> {
  checkSize(session, reply);
  const target = await findAnswerTarget(link, session, reply.toolCallId);
  const request = { ...reply, ...toCallReference(target.toolCallId) };
  const approved = await sendRunUpdate(
    link,
    target.session,
    approveUpdate,
    request,
    createNoCallWhileIdleError,
  );
  return { ...approved, session: target.session, waiting: target.others ?? approved.waiting };
}

function checkSize(session: string, { arguments: changed, reason }: ApprovalInput): void {
  for (const [field, value] of [
    ["arguments", changed],
    ["reason", reason],
  ] as const) {
    const bytes = value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value), "utf8");
    if (bytes <= INLINE_BYTES) continue;
    throw new HoldfastError(
      "input-too-large",
      `The ${field} of the answer have ${bytes} bytes as JSON; at most ${INLINE_BYTES} are taken. ` +
        "Refuse the call with a short reason, and say the rest with a steering message.",
      { session, bytes, maxBytes: INLINE_BYTES },
    );
  }
}

function toCallReference(toolCallId: string | undefined): { toolCallId?: string } {
  return toolCallId === undefined ? {} : { toolCallId };
}

export function toSignature(by: string | undefined): { by?: string } {
  const name = by ?? getUserName();
  return name === undefined || name === "" ? {} : { by: name };
}

/** Some containers have a user without a name. */
function getUserName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}
