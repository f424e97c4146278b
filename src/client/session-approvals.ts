import type { ClientLink } from "./connection/client-link.ts";
import type { AnswerOptions } from "./runs/answer-call.ts";
import type { AnswerResult, ApproveOptions, DenyOptions } from "./runs/approve-call.ts";
import type { WaitingCall } from "./runs/list-waiting-calls.ts";

/** The calls of a session that wait for a user, and of all agents below it: `session.approvals`. */
export class SessionApprovals {
  readonly #link: ClientLink;
  readonly #id: string;

  constructor(link: ClientLink, id: string) {
    this.#link = link;
    this.#id = id;
  }

  /** Lists the pending calls. Includes their arguments if the transcript is on this machine. */
  async list(): Promise<readonly WaitingCall[]> {
    const { listWaitingCalls } = await import("./runs/list-waiting-calls.ts");
    return listWaitingCalls(this.#link, this.#id);
  }

  /** Approves a pending call. You may omit its id while only one call is pending. */
  async approve(toolCallId?: string, options?: ApproveOptions): Promise<AnswerResult> {
    const { approveCall } = await import("./runs/approve-call.ts");
    return approveCall(this.#link, this.#id, toolCallId, options);
  }

  /** Denies a pending call; the model receives the reason. */
  async deny(toolCallId?: string, options?: DenyOptions): Promise<AnswerResult> {
    const { denyCall } = await import("./runs/approve-call.ts");
    return denyCall(this.#link, this.#id, toolCallId, options);
  }

  /** Answers the question of a pending call's tool. You may omit the call's id while only one call is pending. */
  async answer(toolCallId?: string, options?: AnswerOptions): Promise<AnswerResult> {
    const { answerCall } = await import("./runs/answer-call.ts");
    return answerCall(this.#link, this.#id, toolCallId, options);
  }
}
