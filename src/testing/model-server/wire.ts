import type { PromptPiece } from "./prompt-cache.ts";
import type { Question } from "./question.ts";
import type { Reply } from "./reply.ts";

/** Names that an answer carries. */
export type AnswerIds = {
  /** Different for every request. */
  readonly answer: string;
  /** Where the ids of tool calls come from. */
  readonly toolCallSeed: string;
};

export type WireError = {
  readonly status: number;
  /** The vendor's word: `error.type` at Anthropic and OpenAI. */
  readonly type: string;
  /** OpenAI only. */
  readonly code?: string | null;
  readonly param?: string | null;
  readonly message: string;
};

/** The ways in which a vendor fails a request. */
export type VendorError = "rate-limited" | "server-error" | "overloaded" | "overflow" | "auth" | "invalid";

/** How one vendor writes. */
export interface Wire {
  /** Events of the stream, each as it goes over the line. */
  frames(reply: Reply, question: Question, ids: AnswerIds): string[];
  /** The answer to a request without `stream`. */
  body(reply: Reply, question: Question, ids: AnswerIds): string;
  headers(answerId: string): Record<string, string>;
  /** The vendor's own words for what went wrong. */
  error(kind: VendorError, question?: Question): WireError;
  errorBody(error: WireError, answerId: string): string;
  /** An error event in a stream that has begun. */
  errorFrame(type: string | undefined, message: string | undefined, answerId: string): string;
  /** An event that breaks off in the middle of its JSON. */
  malformedFrame(): string;
  /** The prompt in pieces, for a vendor that keeps its beginning; absent where it keeps none. */
  prompt?(question: Question): readonly PromptPiece[];
  /** What the vendor would say against this request, if anything. */
  objection(question: Question): WireError | undefined;
}
