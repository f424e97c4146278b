import type { Prompt } from "./prompt-cache.ts";
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

/** An event as it goes over the line: text, or bytes where the vendor's form is binary. */
export type Frame = string | Buffer;

/** How one vendor writes. */
export interface Wire<Written extends Frame = Frame> {
  /** Of a stream; Server-Sent Events unless said. */
  readonly contentType?: string;
  /** Events of the stream, each as it goes over the line. */
  frames(reply: Reply, question: Question, ids: AnswerIds): Written[];
  /** The answer to a request without `stream`. */
  body(reply: Reply, question: Question, ids: AnswerIds): string;
  headers(answerId: string): Record<string, string>;
  /** The vendor's own words for what went wrong. */
  error(kind: VendorError, question?: Question): WireError;
  errorBody(error: WireError, answerId: string): string;
  /** Where the vendor says in a header what kind of error it is. */
  errorHeaders?(error: WireError): Record<string, string>;
  /** Whether the request proves that the client has this key; by default it carries the key itself. */
  proves?(question: Question, key: string): boolean;
  /** An error event in a stream that has begun. */
  errorFrame(type: string | undefined, message: string | undefined, answerId: string): Written;
  /** An event that breaks off in the middle of its JSON. */
  malformedFrame(): Written;
  /** The prompt in pieces, for a vendor that keeps its beginning; absent where it keeps none. */
  prompt?(question: Question): Prompt;
  /** What the vendor would say against this request, if anything. */
  objection(question: Question): WireError | undefined;
}
