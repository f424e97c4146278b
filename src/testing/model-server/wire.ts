import type { Prompt } from "./prompt-cache.ts";
import type { Reply } from "./reply.ts";
import type { ModelServerRequest } from "./request.ts";

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
export type VendorErrorKind =
  | "rate-limited"
  | "server-error"
  | "overloaded"
  | "overflow"
  | "auth"
  | "invalid";

/** An event as it goes over the line: text, or bytes where the vendor's form is binary. */
export type Frame = string | Buffer;

/** How one vendor writes. */
export interface Wire<Written extends Frame = Frame> {
  /** Of a stream; Server-Sent Events unless said. */
  readonly contentType?: string;
  /** Events of the stream, each as it goes over the line. */
  buildFrames(reply: Reply, question: ModelServerRequest, ids: AnswerIds): Written[];
  /** The answer to a request without `stream`. */
  buildBody(reply: Reply, question: ModelServerRequest, ids: AnswerIds): string;
  buildHeaders(answerId: string): Record<string, string>;
  /** The vendor's own words for what went wrong. */
  buildError(kind: VendorErrorKind, question?: ModelServerRequest): WireError;
  formatErrorBody(error: WireError, answerId: string): string;
  /** Where the vendor says in a header what kind of error it is. */
  buildErrorHeaders?(error: WireError): Record<string, string>;
  /** Whether the request proves that the client has this key; by default it carries the key itself. */
  isSignedWith?(question: ModelServerRequest, key: string): boolean;
  /** An error event in a stream that has begun. */
  buildErrorFrame(type: string | undefined, message: string | undefined, answerId: string): Written;
  /** An event that breaks off in the middle of its JSON. */
  buildMalformedFrame(): Written;
  /** The prompt in pieces, for a vendor that keeps its beginning; absent where it keeps none. */
  buildPrompt?(question: ModelServerRequest): Prompt;
  /** What the vendor would say against this request, if anything. */
  validate(question: ModelServerRequest): WireError | undefined;
}
