import type { Content, StopReason, Usage } from "../../schema/message.ts";
import type { Outcome } from "../../schema/record.ts";
import type { WaitingCall } from "../runs/list-waiting-calls.ts";

// The small events of a session. Where Vercel's AI SDK has a part of its `fullStream` for the same thing, they have its name
// and its field names.

/** A tool's output: what the model sees, and details for users. */
export type StreamedToolOutput = {
  /** What the model sees. */
  readonly content: readonly Content[];
  /** What the tool returned for users and programs. */
  readonly details?: unknown;
};

/** The fields of events that are about one call. */
export type StreamedCall = {
  readonly loopId: string;
  readonly toolCallId: string;
  readonly toolName: string;
};

/** A small event of a session: `for await (const event of session)`. All but requests for approval name their loop. */
export type StreamEvent =
  /** A loop begins. */
  | {
      readonly type: "start";
      readonly loopId: string;
      /** The name of the agent. */
      readonly agent?: string;
      /** The id of the model. */
      readonly model?: string;
    }
  /** A turn begins: one answer of the model, and the calls in it. */
  | { readonly type: "start-step"; readonly loopId: string; readonly turn: number }
  /** A piece of an answer's text. */
  | {
      readonly type: "text-delta";
      readonly loopId: string;
      /** The piece, to be appended to the earlier ones. */
      readonly text: string;
    }
  /** A piece of the model's thinking. */
  | {
      readonly type: "reasoning-delta";
      readonly loopId: string;
      /** The piece, to be appended to the earlier ones. */
      readonly text: string;
    }
  /**
   * The text and thinking of this turn so far are void: the vendor's stream broke, or another model answers. The turn's
   * pieces start anew.
   */
  | { readonly type: "attempt-discarded"; readonly loopId: string; readonly turn: number }
  /** The answer has a call, with its whole input. */
  | ({
      readonly type: "tool-call";
      /** The arguments, as the model sent them. */
      readonly input: unknown;
    } & StreamedCall)
  /**
   * A call waits for a user: of this session, or of an agent below it (`call.session`). With `call.question` its tool asks the
   * user a question: answer with `session.approvals.answer`, otherwise with `approve` or `deny`.
   */
  | {
      readonly type: "tool-approval-request";
      readonly toolCallId: string;
      readonly toolName: string;
      /** Absent if the transcript is not on this machine. */
      readonly input: unknown;
      /** The call as `session.approvals.list` returns it. */
      readonly call: WaitingCall;
    }
  /** What a call returned. `preliminary`: a piece of the output of a call that still runs. */
  | ({
      readonly type: "tool-result";
      /** The content for the model, and details for programs. */
      readonly output: StreamedToolOutput;
      readonly preliminary?: true;
    } & StreamedCall)
  /** A call that failed or could not run, or that a user has denied. `error` is what the model reads. */
  | ({
      readonly type: "tool-error" | "tool-output-denied";
      /** What the model reads as the result of the call. */
      readonly error: string;
    } & StreamedCall)
  /** A line of progress: of a call, of the model while it is waited for (`model`), or of the live output itself. */
  | ({
      readonly type: "progress";
      /** One line. */
      readonly text: string;
    } & StreamedCall)
  | {
      readonly type: "finish-step";
      readonly loopId: string;
      readonly turn: number;
      /** Why the model stopped. */
      readonly finishReason: StopReason;
      /** Of this turn. */
      readonly usage: Usage;
    }
  /** A loop has ended. An interactive run goes on with the next prompt. */
  | {
      readonly type: "finish";
      readonly loopId: string;
      readonly outcome: Outcome;
      /** Of all turns of the loop. */
      readonly totalUsage: Usage;
    };
