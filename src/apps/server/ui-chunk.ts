import type { AgentEvent, Outcome } from "../../client/index.ts";
import type { Usage } from "../../schema/message.ts";
import type { UiFile } from "./ui-file.ts";

// The AI SDK's UI message stream, version 1: the part of it that a session uses.

/** Tells a client which protocol this is. */
export const UI_STREAM_HEADER = { name: "x-vercel-ai-ui-message-stream", value: "v1" } as const;

/** Marks the end of the stream. */
export const UI_STREAM_DONE = "data: [DONE]\n\n";

/** Marks a part whose text is void, because the vendor was asked again. */
type PartMetadata = { readonly holdfast: { readonly discarded: true } };

/** The metadata of a message. `seenEvents` is where a continuation of this message resumes. */
type MessageMetadata = {
  readonly holdfast: {
    readonly session?: string;
    readonly agent?: string;
    readonly model?: string;
    readonly seenEvents?: number;
    readonly outcome?: Outcome;
    readonly usage?: Usage;
  };
};

export type FinishReason = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";

/** As in a session's events. */
export type ToolOutput = Extract<AgentEvent, { type: "ToolExecutionEnd" }>["result"];

type ToolCall = {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The session's definition determines the tools, not the page. */
  readonly dynamic: true;
};

/** A pending call of the session itself, or of an agent below it, for which the message has no part. */
export type WaitingCallData = {
  readonly session: string;
  /** The names of the agents on the path down to it. */
  readonly path: readonly string[];
  readonly toolCallId: string;
  readonly tool: string;
  readonly summary: string;
  readonly reason: string;
  /** The future calls that `always` would cover, one phrase each. */
  readonly grantDescriptions?: readonly string[];
};

/** A user's message within an answer. */
export type UiUserMessage = { readonly text: string; readonly files?: readonly UiFile[] };

// The page's `onData` receives transient chunks, which are not part of the message.
export type UiChunk =
  | { readonly type: "start"; readonly messageId: string; readonly messageMetadata?: MessageMetadata }
  | { readonly type: "start-step" }
  | { readonly type: "finish-step" }
  | { readonly type: "text-start" | "reasoning-start"; readonly id: string }
  | { readonly type: "text-delta" | "reasoning-delta"; readonly id: string; readonly delta: string }
  | {
      readonly type: "text-end" | "reasoning-end";
      readonly id: string;
      readonly providerMetadata?: PartMetadata;
    }
  | { readonly type: "file"; readonly url: string; readonly mediaType: string }
  | ({ readonly type: "tool-input-start" } & ToolCall)
  | { readonly type: "tool-input-delta"; readonly toolCallId: string; readonly inputTextDelta: string }
  | ({ readonly type: "tool-input-available"; readonly input: unknown } & ToolCall)
  | ({ readonly type: "tool-input-error"; readonly input: unknown; readonly errorText: string } & ToolCall)
  | { readonly type: "tool-approval-request"; readonly approvalId: string; readonly toolCallId: string }
  | {
      readonly type: "tool-output-available";
      readonly toolCallId: string;
      readonly output: ToolOutput;
      readonly dynamic: true;
      readonly preliminary?: true;
    }
  | {
      readonly type: "tool-output-error";
      readonly toolCallId: string;
      readonly errorText: string;
      readonly dynamic: true;
    }
  | { readonly type: "tool-output-denied"; readonly toolCallId: string }
  /** A user's message that the agent read while it was running. */
  | { readonly type: "data-holdfast-message"; readonly id: string; readonly data: UiUserMessage }
  /** A tool's progress report; the newest one replaces those before it. */
  | {
      readonly type: "data-holdfast-progress";
      readonly id: string;
      readonly data: { readonly toolCallId: string; readonly toolName: string; readonly text: string };
      readonly transient: true;
    }
  | {
      readonly type: "data-holdfast-approvals";
      readonly id: string;
      readonly data: readonly WaitingCallData[];
      readonly transient: true;
    }
  /** All other events, as the session's events contain them. */
  | { readonly type: "data-holdfast-event"; readonly id: string; readonly data: AgentEvent }
  | { readonly type: "error"; readonly errorText: string }
  | { readonly type: "abort"; readonly reason: string }
  | { readonly type: "message-metadata"; readonly messageMetadata: MessageMetadata }
  | {
      readonly type: "finish";
      readonly finishReason: FinishReason;
      readonly messageMetadata?: MessageMetadata;
    };
