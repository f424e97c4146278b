import type { ClientLink } from "./connection/client-link.ts";
import { type AnswerOptions, answerCall } from "./runs/answer-call.ts";
import {
  type AnswerResult,
  type ApproveOptions,
  approveCall,
  type DenyOptions,
  denyCall,
} from "./runs/approve-call.ts";
import { listWaitingCalls, type WaitingCall } from "./runs/list-waiting-calls.ts";

/** The calls of a session that wait for a user, and of all agents below it: `session.approvals`. */
export class SessionApprovals {
  readonly #link: ClientLink;
  readonly #id: string;

  constructor(link: ClientLink, id: string) {
    this.#link = link;
    this.#id = id;
  }

  /** Lists the pending calls. Includes their arguments if the transcript is on this machine. */
  list(): Promise<readonly WaitingCall[]> {
    return listWaitingCalls(this.#link, this.#id);
  }

  /** Approves a pending call. You may omit its id while only one call is pending. */
  approve(toolCallId?: string, options?: ApproveOptions): Promise<AnswerResult> {
    return approveCall(this.#link, this.#id, toolCallId, options);
  }

  /** Denies a pending call; the model receives the reason. */
  deny(toolCallId?: string, options?: DenyOptions): Promise<AnswerResult> {
    return denyCall(this.#link, this.#id, toolCallId, options);
  }

  /** Answers the question of a pending call's tool. You may omit the call's id while only one call is pending. */
  answer(toolCallId?: string, options?: AnswerOptions): Promise<AnswerResult> {
    return answerCall(this.#link, this.#id, toolCallId, options);
  }
}
