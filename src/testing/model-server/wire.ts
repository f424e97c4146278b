import type { Prompt } from "./prompt-cache.ts";
import type { Reply } from "./reply.ts";
import type { ModelServerRequest } from "./request.ts";

/** The ids in an answer. */
export type AnswerIds = {
  /** Unique to every request. */
  readonly answer: string;
  /** The seed of the ids of tool calls. */
  readonly toolCallSeed: string;
};

export type WireError = {
  readonly status: number;
  /** The vendor's error type: `error.type` at Anthropic and OpenAI. */
  readonly type: string;
  /** OpenAI only. */
  readonly code?: string | null;
  readonly param?: string | null;
  readonly message: string;
};

/** The kinds of errors with which a vendor fails a request. */
export type VendorErrorKind =
  | "rate-limited"
  | "server-error"
  | "overloaded"
  | "overflow"
  | "auth"
  | "invalid";

/** An event on the wire: text, or bytes for vendors with a binary format. */
export type Frame = string | Buffer;

/** The wire format of one vendor. */
export interface Wire<Written extends Frame = Frame> {
  /** The content type of a stream; Server-Sent Events by default. */
  readonly contentType?: string;
  /** Builds the events of the stream, as they are on the wire. */
  buildFrames(reply: Reply, question: ModelServerRequest, ids: AnswerIds): Written[];
  /** Builds the answer to a request without `stream`. */
  buildBody(reply: Reply, question: ModelServerRequest, ids: AnswerIds): string;
  buildHeaders(answerId: string): Record<string, string>;
  /** The vendor's own text for the error. */
  buildError(kind: VendorErrorKind, question?: ModelServerRequest): WireError;
  formatErrorBody(error: WireError, answerId: string): string;
  /** For vendors that report the error type in a header. */
  buildErrorHeaders?(error: WireError): Record<string, string>;
  /** Reports whether the request proves that the client has this key; by default the request contains the key itself. */
  isSignedWith?(question: ModelServerRequest, key: string): boolean;
  /** Builds an error event for a stream that has begun. */
  buildErrorFrame(type: string | undefined, message: string | undefined, answerId: string): Written;
  /** Builds an event that ends in the middle of its JSON. */
  buildMalformedFrame(): Written;
  /** Splits the prompt into segments, for vendors that cache prefixes; absent for others. */
  buildPrompt?(question: ModelServerRequest): Prompt;
  /** Returns the error that the vendor would report for this request, if any. */
  validate(question: ModelServerRequest): WireError | undefined;
}
