import type { Session, SessionEvent } from "../../../client/index.ts";
import type { DialogAnswer, DialogPrompt } from "../approval-dialog.ts";
import type { ApprovalRequest } from "../approval-view.ts";
import type { NoticeTone } from "../event-notice.ts";
import type { ChatAction, ChatPhase } from "../step-chat.ts";

/** A message that the user typed. */
export type SentMessage = Extract<ChatAction, { type: "prompt" | "steer" | "follow-up" }>;

/** What displays a conversation: lines, or a screen. */
export type ChatOutput = {
  /** What `/help` displays. */
  readonly help: string;
  readonly show: (item: SessionEvent) => void;
  readonly report: (text: string, tone: NoticeTone) => void;
  readonly onPhase: (phase: ChatPhase) => void;
  readonly showStatus: (session: Session) => Promise<void>;
  /** Displays a call that waits for approval. */
  readonly showApproval: (call: ApprovalRequest, whole: boolean) => void;
  /** Reports postponed calls, and how to answer them elsewhere. */
  readonly left: (calls: readonly ApprovalRequest[]) => void;
  /** Sets what an open question asks for; undefined when no question is open. */
  readonly prompt: (prompt: DialogPrompt | undefined) => void;
  /** Called before a message is sent. @param text - The text that the agent reads. */
  readonly sending?: (message: SentMessage, text: string) => void;
  /** The message was not accepted; the reason is reported. */
  readonly notSent?: (message: SentMessage) => void;
  /** An answer to a question was chosen. */
  readonly onAnswer?: (call: ApprovalRequest, answer: DialogAnswer) => void;
  /** All calls that wait for the user. */
  readonly onWaiting?: (calls: readonly ApprovalRequest[]) => void;
};
