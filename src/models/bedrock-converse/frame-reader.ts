import { crc32 } from "node:zlib";
import { EventStreamCodec } from "../../platform/event-stream-codec.ts";
import { createTooLargeError } from "../answer-size-limit.ts";
import { createBrokenStreamError, type Vendor } from "../provider-error-from-response.ts";
import { MAX_EVENT_CHARS } from "../sse-reader.ts";
import type { ServerEvent, StreamFormat, StreamReader } from "../stream-format.ts";
import { JsonLinesReader } from "./json-lines-reader.ts";

// Amazon's binary event stream: frames of headers and a body, each with its length and two checksums.

/** Two lengths and their checksum. */
const PRELUDE_BYTES = 12;
/** The smallest frame: two lengths, two checksums, nothing else. */
const MIN_FRAME_BYTES = 16;
const MAX_FRAME_BYTES = MAX_EVENT_CHARS;

const decoder = new TextDecoder("utf-8", { fatal: false });
const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === "string" ? bytes : decoder.decode(bytes)),
  (text) => Buffer.from(text, "utf8"),
);

/** Reads bytes in slices of any size and returns events. Bytes that cannot be a frame end the answer. */
export class FrameReader implements StreamReader {
  readonly isOverrun = false;
  readonly #vendor: Vendor;
  #parts: Uint8Array[] = [];
  #bufferedBytes = 0;

  constructor(vendor: Vendor) {
    this.#vendor = vendor;
  }

  read(bytes: Uint8Array): readonly ServerEvent[] {
    this.#parts.push(bytes);
    this.#bufferedBytes += bytes.length;
    const events: ServerEvent[] = [];
    for (
      let length = this.#nextFrameLength();
      length !== undefined && length <= this.#bufferedBytes;
      length = this.#nextFrameLength()
    ) {
      events.push(this.#toEvent(this.#take(length)));
    }
    return events;
  }

  /** The remaining bytes are an incomplete frame. */
  end(): readonly ServerEvent[] {
    return [];
  }

  /**
   * Returns the length of the frame that begins here, or undefined while it is unknown. Checks its checksum before the
   * frame is complete, so that a corrupt length is not waited for.
   */
  #nextFrameLength(): number | undefined {
    if (this.#bufferedBytes < PRELUDE_BYTES) return undefined;
    if ((this.#parts[0]?.length ?? 0) < PRELUDE_BYTES) this.#parts = [Buffer.concat(this.#parts)];
    const { buffer, byteOffset } = this.#parts[0] as Uint8Array;
    const prelude = Buffer.from(buffer, byteOffset, PRELUDE_BYTES);
    const length = prelude.readUInt32BE(0);
    if (crc32(prelude.subarray(0, 8)) !== prelude.readUInt32BE(8) || length < MIN_FRAME_BYTES)
      throw this.#createError("a damaged frame: its length is wrong");
    if (length > MAX_FRAME_BYTES)
      throw createTooLargeError(this.#vendor, `a frame of its answer has ${length} bytes`, MAX_FRAME_BYTES);
    return length;
  }

  /** Joins the pieces once for each frame, so that a frame of many slices is not copied for each of them. */
  #take(length: number): Uint8Array {
    const all = this.#parts.length === 1 ? (this.#parts[0] as Uint8Array) : Buffer.concat(this.#parts);
    this.#parts = [all.subarray(length)];
    this.#bufferedBytes -= length;
    return all.subarray(0, length);
  }

  #toEvent(frame: Uint8Array): ServerEvent {
    const { headers, body } = this.#decode(frame);
    const data = decoder.decode(body);
    const header = (name: string) => String(headers[name]?.value ?? "");
    switch (header(":message-type")) {
      case "event":
        return { event: header(":event-type"), data };
      case "exception":
        return { event: header(":exception-type"), data, isError: true };
      case "error": {
        const message = header(":error-message") || "no message";
        return { event: header(":error-code"), data: JSON.stringify({ message }), isError: true };
      }
      default:
        throw this.#createError(`a frame of an unknown type "${header(":message-type")}"`);
    }
  }

  #decode(frame: Uint8Array) {
    try {
      return codec.decode(frame);
    } catch (error) {
      throw this.#createError(
        `a damaged frame: ${error instanceof Error ? error.message : String(error)}`,
        error,
      );
    }
  }

  #createError(what: string, cause?: unknown) {
    return createBrokenStreamError(this.#vendor, `its event stream holds ${what}`, cause);
  }
}

/** Some proxies of Amazon send the same events as lines of JSON. */
const JSON_LINES_TYPES = /ndjson|jsonl|json-lines|json-seq/;

export const CONVERSE_STREAM: StreamFormat = {
  accept: "application/vnd.amazon.eventstream",
  accepts: (contentType) =>
    contentType === "" ||
    /vnd\.amazon\.eventstream|octet-stream/.test(contentType) ||
    JSON_LINES_TYPES.test(contentType),
  createReader: (contentType, vendor) =>
    JSON_LINES_TYPES.test(contentType) ? new JsonLinesReader(vendor) : new FrameReader(vendor),
};
