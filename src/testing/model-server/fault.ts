import { z } from "zod";
import { Reply } from "./reply.ts";

const count = z.number().int().nonnegative();

/** Overrides for a fault that is an HTTP error; by default the vendor's own values. */
const httpError = {
  /** The message of the error. */
  message: z.string().optional(),
  /** Additional or replaced headers. */
  headers: z.record(z.string(), z.string()).optional(),
};

const streamFault = {
  /** The number of stream events that arrive before the fault. */
  afterChunks: count.optional(),
  /** The reply whose stream fails; by default the turn's. */
  reply: Reply.optional(),
};

// The schema of faults: how each appears on the wire. `afterChunks` counts events of the stream.
function buildFaultSchema<Extra extends z.ZodRawShape>(extra: Extra) {
  return z.discriminatedUnion("fault", [
    /** 429. Milliseconds are sent as `retry-after-ms` and, rounded up, as `retry-after`. */
    z.strictObject({
      ...extra,
      fault: z.literal("rate-limited"),
      /** The delay that the server asks for, in milliseconds. */
      retryAfterMs: z.number().nonnegative().optional(),
      /** The delay that the server asks for, in seconds. */
      retryAfterSeconds: z.number().nonnegative().optional(),
      ...httpError,
    }),
    z.strictObject({
      ...extra,
      fault: z.literal("server-error"),
      /** The HTTP status. */
      status: z.number().int().min(400).max(599).optional(),
      ...httpError,
    }),
    /** 529 at Anthropic, 503 at OpenAI. */
    z.strictObject({ ...extra, fault: z.literal("overloaded"), ...httpError }),
    /** 400: the context does not fit. */
    z.strictObject({ ...extra, fault: z.literal("overflow"), ...httpError }),
    /** 401. */
    z.strictObject({ ...extra, fault: z.literal("auth"), ...httpError }),
    /** An HTML page of a proxy; status 502 by default. */
    z.strictObject({
      ...extra,
      fault: z.literal("html"),
      /** The HTTP status. */
      status: z.number().int().min(200).max(599).optional(),
    }),
    /** Any other response of a server. */
    z.strictObject({
      ...extra,
      fault: z.literal("http"),
      /** The HTTP status. */
      status: z.number().int().min(200).max(599),
      /** The body of the response. */
      body: z.string().optional(),
      /** The headers of the response. */
      headers: z.record(z.string(), z.string()).optional(),
    }),
    /** The connection ends in the middle: after a number of bytes or events of the body, by default after half of it. */
    z.strictObject({
      ...extra,
      fault: z.literal("cut"),
      ...streamFault,
      /** 0: not even the head is sent. */
      afterBytes: count.optional(),
      /** Cuts within the next multi-byte character, between its bytes. */
      inCharacter: z.boolean().optional(),
      /** The body ends regularly, as if it were complete; otherwise the socket is destroyed. */
      clean: z.boolean().optional(),
    }),
    /** The response stalls until the client leaves; without `afterChunks`, even the head is not sent. */
    z.strictObject({ ...extra, fault: z.literal("silence"), ...streamFault }),
    /** Status 200, then the vendor's error event; by default after half of the stream. */
    z.strictObject({
      ...extra,
      fault: z.literal("mid-stream-error"),
      ...streamFault,
      /** The vendor's error type, such as `overloaded_error`. */
      type: z.string().optional(),
      /** The message of the error. */
      message: z.string().optional(),
    }),
    /** An event whose JSON is broken, by default after half of the stream. */
    z.strictObject({ ...extra, fault: z.literal("malformed"), ...streamFault }),
  ]);
}

/** What goes wrong with one answer; `fault` names it. */
export const Fault = buildFaultSchema({});
export type Fault = z.infer<typeof Fault>;

/** A fault that occurs `times` times (once by default), on turn `onTurn` or on any turn. */
export const FaultRule = buildFaultSchema({
  /** The turn of the conversation, from 0, on which the fault occurs. */
  onTurn: count.optional(),
  /** How often the fault occurs. */
  times: count.optional(),
});
export type FaultRule = z.infer<typeof FaultRule>;

/** The name of a fault. */
export type FaultName = Fault["fault"];
/** Faults that are a whole HTTP response of their own. */
export type HttpFault = Extract<
  Fault,
  { fault: "rate-limited" | "server-error" | "overloaded" | "overflow" | "auth" | "html" | "http" }
>;
/** Faults of the stream of a reply. */
export type StreamFault = Exclude<Fault, HttpFault>;

export function isStreamFault(fault: Fault): fault is StreamFault {
  return (
    fault.fault === "cut" ||
    fault.fault === "silence" ||
    fault.fault === "mid-stream-error" ||
    fault.fault === "malformed"
  );
}
