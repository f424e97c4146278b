import { userInfo } from "node:os";
import { type ApprovalWords, type Approved, approveUpdate } from "../../workflows/messages.ts";
import type { Link } from "../connection/link.ts";
import { HoldfastError } from "../error.ts";
import { noCallAtRest } from "../failures.ts";
import { targetOf } from "./answer-target.ts";
import { updateRun } from "./update-run.ts";
import { INLINE_BYTES } from "./words.ts";

export type ApproveOptions = {
  /** In place of the model's; the tool checks them as it checks those. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** The same kind of call is not asked for again in the session whose call it is. */
  readonly always?: boolean;
  /** Who answers, for the record; the name of this process's user unless said. */
  readonly by?: string;
};

export type RefuseOptions = {
  /** What the model is told. */
  readonly reason?: string;
  /** Who answers, for the record; the name of this process's user unless said. */
  readonly by?: string;
};

/** What became of an answer. `session` is the one whose call it was, `waiting` how many more wait in the tree. */
export type Answered = Approved & { readonly session: string };

/** Answers a call that waits for a person. Resolves when the run has taken the answer; the call may run for longer. */
export function approveCall(
  link: Link,
  session: string,
  toolCallId: string | undefined,
  { arguments: changed, always, by }: ApproveOptions = {},
): Promise<Answered> {
  return answer(link, session, {
    answer: "approve",
    ...named(toolCallId),
    ...(changed === undefined ? {} : { arguments: changed }),
    ...(always === undefined ? {} : { always }),
    ...signed(by),
  });
}

export function refuseCall(
  link: Link,
  session: string,
  toolCallId: string | undefined,
  { reason, by }: RefuseOptions = {},
): Promise<Answered> {
  return answer(link, session, {
    answer: "refuse",
    ...named(toolCallId),
    ...(reason === undefined ? {} : { reason }),
    ...signed(by),
  });
}

/** At the session itself, or at the agent below it whose call it is. */
async function answer(link: Link, session: string, words: ApprovalWords): Promise<Answered> {
  checkSize(session, words);
  const target = await targetOf(link, session, words.toolCallId);
  const asked = { ...words, ...named(target.toolCallId) };
  const approved = await updateRun(link, target.session, approveUpdate, asked, noCallAtRest);
  return { ...approved, session: target.session, waiting: target.others ?? approved.waiting };
}

function checkSize(session: string, { arguments: changed, reason }: ApprovalWords): void {
  for (const [what, value] of [
    ["arguments", changed],
    ["reason", reason],
  ] as const) {
    const bytes = value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value), "utf8");
    if (bytes <= INLINE_BYTES) continue;
    throw new HoldfastError(
      "input-too-large",
      `The ${what} of the answer have ${bytes} bytes as JSON; at most ${INLINE_BYTES} are taken. ` +
        "Refuse the call with a short reason, and say the rest with a steering message.",
      { session, bytes, maxBytes: INLINE_BYTES },
    );
  }
}

function named(toolCallId: string | undefined): { toolCallId?: string } {
  return toolCallId === undefined ? {} : { toolCallId };
}

export function signed(by: string | undefined): { by?: string } {
  const name = by ?? userName();
  return name === undefined || name === "" ? {} : { by: name };
}

/** Some containers have a user without a name. */
function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}
