import { z } from "zod";
import { Reply } from "./reply.ts";

const count = z.number().int().nonnegative();

/** Overrides for a fault that is an HTTP error; the vendor's own words by default. */
const httpError = {
  message: z.string().optional(),
  /** More headers, or others. */
  headers: z.record(z.string(), z.string()).optional(),
};

const streamFault = {
  afterChunks: count.optional(),
  /** The reply whose stream fails; that of the turn unless said. */
  reply: Reply.optional(),
};

// How each fault looks on the wire. `afterChunks` counts events of the stream.
function buildFaultSchema<Extra extends z.ZodRawShape>(extra: Extra) {
  return z.discriminatedUnion("fault", [
    /** 429. Milliseconds are sent as `retry-after-ms` and, rounded up, as `retry-after`. */
    z.strictObject({
      ...extra,
      fault: z.literal("rate-limited"),
      retryAfterMs: z.number().nonnegative().optional(),
      retryAfterSeconds: z.number().nonnegative().optional(),
      ...httpError,
    }),
    z.strictObject({
      ...extra,
      fault: z.literal("server-error"),
      status: z.number().int().min(400).max(599).optional(),
      ...httpError,
    }),
    /** 529 at Anthropic, 503 at OpenAI. */
    z.strictObject({ ...extra, fault: z.literal("overloaded"), ...httpError }),
    /** 400: the context does not fit. */
    z.strictObject({ ...extra, fault: z.literal("overflow"), ...httpError }),
    /** 401. */
    z.strictObject({ ...extra, fault: z.literal("auth"), ...httpError }),
    /** A page of a proxy; status 502 unless said. */
    z.strictObject({
      ...extra,
      fault: z.literal("html"),
      status: z.number().int().min(200).max(599).optional(),
    }),
    /** Whatever else a server may say. */
    z.strictObject({
      ...extra,
      fault: z.literal("http"),
      status: z.number().int().min(200).max(599),
      body: z.string().optional(),
      headers: z.record(z.string(), z.string()).optional(),
    }),
    /** The connection ends in the middle: after so many bytes or events of the body, by default after half of it. */
    z.strictObject({
      ...extra,
      fault: z.literal("cut"),
      ...streamFault,
      /** 0: not even the head is sent. */
      afterBytes: count.optional(),
      /** At the next character of several bytes, between its bytes. */
      inCharacter: z.boolean().optional(),
      /** The body ends in good order, as if it were whole; otherwise the socket is destroyed. */
      clean: z.boolean().optional(),
    }),
    /** Nothing more comes, not even a head unless `afterChunks` is given. Lasts until the client leaves. */
    z.strictObject({ ...extra, fault: z.literal("silence"), ...streamFault }),
    /** Status 200, then the vendor's error event; by default after half of the stream. */
    z.strictObject({
      ...extra,
      fault: z.literal("mid-stream-error"),
      ...streamFault,
      /** The vendor's word for it, such as `overloaded_error`. */
      type: z.string().optional(),
      message: z.string().optional(),
    }),
    /** An event whose JSON is broken, by default after half of the stream. */
    z.strictObject({ ...extra, fault: z.literal("malformed"), ...streamFault }),
  ]);
}

export const Fault = buildFaultSchema({});
export type Fault = z.infer<typeof Fault>;

/** A fault that is used up: `times` times (once unless said), on turn `onTurn` or on any. */
export const FaultRule = buildFaultSchema({ onTurn: count.optional(), times: count.optional() });
export type FaultRule = z.infer<typeof FaultRule>;

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
