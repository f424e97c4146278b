import { userInfo } from "node:os";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { type ApprovalInput, type ApprovalResult, approveUpdate } from "../../workflows/messages.ts";
import { createNoCallWhileIdleError } from "../client-errors.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { findAnswerTarget } from "./find-answer-target.ts";
import { INLINE_BYTES } from "./message-input.ts";
import { sendRunUpdate } from "./send-run-update.ts";

/** How a call is approved. */
export type ApproveOptions = {
  /** Replaces the model's arguments; the tool validates them in the same way. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Also allows later calls of the same kind in the session that made the call. */
  readonly always?: boolean;
  /** Who answers, for the record; by default the name of this process's user. */
  readonly by?: string;
};

/** Why a call is denied. */
export type DenyOptions = {
  /** The reason, for the model. */
  readonly reason?: string;
  /** Who answers, for the record; by default the name of this process's user. */
  readonly by?: string;
};

/** The result of an answer. `session` is the session of the call; `waiting` counts the calls still pending in the tree. */
export type AnswerResult = ApprovalResult & { readonly session: string };

/** Answers a pending call. Resolves when the run has accepted the answer; the call itself may take longer. */
export function approveCall(
  link: ClientLink,
  session: string,
  toolCallId: string | undefined,
  { arguments: changed, always, by }: ApproveOptions = {},
): Promise<AnswerResult> {
  return sendAnswer(link, session, {
    answer: "approve",
    ...toCallReference(toolCallId),
    ...omitUndefined({ arguments: changed, always }),
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
    answer: "deny",
    ...toCallReference(toolCallId),
    ...omitUndefined({ reason }),
    ...toSignature(by),
  });
}

/** Sends the answer to the session itself, or to the agent below it that made the call. */
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
      `The ${field} of the answer have ${bytes} bytes as JSON; the maximum is ${INLINE_BYTES}. ` +
        "Deny the call with a short reason, and send the details in a steering message.",
      { session, bytes, maxBytes: INLINE_BYTES },
    );
  }
}

function toCallReference(toolCallId: string | undefined): { toolCallId?: string } {
  return omitUndefined({ toolCallId });
}

export function toSignature(by: string | undefined): { by?: string } {
  const name = by ?? getUserName();
  return name === undefined || name === "" ? {} : { by: name };
}

/** Returns nothing in containers whose user has no name. */
function getUserName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}
