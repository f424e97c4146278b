import { crc32 } from "node:zlib";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import type { AnswerForm, AnswerReader, ServerEvent } from "../answer-form.ts";
import { tooLarge } from "../answer-room.ts";
import { brokenStream, type Vendor } from "../classify.ts";
import { MAX_EVENT_CHARS } from "../sse.ts";
import { LineReader } from "./lines.ts";

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

/** Bytes in slices of any size to events. Bytes that cannot be a frame end the answer. */
export class FrameReader implements AnswerReader {
  readonly overrun = false;
  readonly #vendor: Vendor;
  #parts: Uint8Array[] = [];
  #held = 0;

  constructor(vendor: Vendor) {
    this.#vendor = vendor;
  }

  read(bytes: Uint8Array): readonly ServerEvent[] {
    this.#parts.push(bytes);
    this.#held += bytes.length;
    const events: ServerEvent[] = [];
    for (let length = this.#next(); length !== undefined && length <= this.#held; length = this.#next()) {
      events.push(this.#event(this.#take(length)));
    }
    return events;
  }

  /** What is left is half a frame. */
  end(): readonly ServerEvent[] {
    return [];
  }

  /**
   * Length of the frame that begins here; undefined while not even that is known. Its checksum is looked at before the
   * frame is whole, so that a damaged length is not waited for.
   */
  #next(): number | undefined {
    if (this.#held < PRELUDE_BYTES) return undefined;
    if ((this.#parts[0]?.length ?? 0) < PRELUDE_BYTES) this.#parts = [Buffer.concat(this.#parts)];
    const { buffer, byteOffset } = this.#parts[0] as Uint8Array;
    const prelude = Buffer.from(buffer, byteOffset, PRELUDE_BYTES);
    const length = prelude.readUInt32BE(0);
    if (crc32(prelude.subarray(0, 8)) !== prelude.readUInt32BE(8) || length < MIN_FRAME_BYTES)
      throw this.#broken("a damaged frame: its length is wrong");
    if (length > MAX_FRAME_BYTES)
      throw tooLarge(this.#vendor, `a frame of its answer has ${length} bytes`, MAX_FRAME_BYTES);
    return length;
  }

  /** Joins what came in pieces once for each frame, so that a frame of many slices is not copied for each of them. */
  #take(length: number): Uint8Array {
    const all = this.#parts.length === 1 ? (this.#parts[0] as Uint8Array) : Buffer.concat(this.#parts);
    this.#parts = [all.subarray(length)];
    this.#held -= length;
    return all.subarray(0, length);
  }

  #event(frame: Uint8Array): ServerEvent {
    const { headers, body } = this.#decoded(frame);
    const data = decoder.decode(body);
    const header = (name: string) => String(headers[name]?.value ?? "");
    switch (header(":message-type")) {
      case "event":
        return { event: header(":event-type"), data };
      case "exception":
        return { event: header(":exception-type"), data, failed: true };
      case "error": {
        const message = header(":error-message") || "no message";
        return { event: header(":error-code"), data: JSON.stringify({ message }), failed: true };
      }
      default:
        throw this.#broken(`a frame of an unknown type "${header(":message-type")}"`);
    }
  }

  #decoded(frame: Uint8Array) {
    try {
      return codec.decode(frame);
    } catch (error) {
      throw this.#broken(`a damaged frame: ${error instanceof Error ? error.message : String(error)}`, error);
    }
  }

  #broken(what: string, cause?: unknown) {
    return brokenStream(this.#vendor, `its event stream holds ${what}`, cause);
  }
}

/** Some that stand in front of Amazon send the same events as lines of JSON. */
const LINES = /ndjson|jsonl|json-lines|json-seq/;

export const CONVERSE_STREAM: AnswerForm = {
  accept: "application/vnd.amazon.eventstream",
  takes: (contentType) =>
    contentType === "" ||
    /vnd\.amazon\.eventstream|octet-stream/.test(contentType) ||
    LINES.test(contentType),
  reader: (contentType, vendor) =>
    LINES.test(contentType) ? new LineReader(vendor) : new FrameReader(vendor),
};
