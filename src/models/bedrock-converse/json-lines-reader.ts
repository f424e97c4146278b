import { asObject, parseJson } from "../../platform/text/json.ts";
import { createBrokenStreamError, type Vendor } from "../provider-error-from-response.ts";
import { MAX_EVENT_CHARS } from "../sse-reader.ts";
import type { ServerEvent, StreamReader } from "../stream-format.ts";

/** Reads lines of JSON, each an event under its name: `{"messageStop":{"stopReason":"end_turn"}}` (PROV-25). */
export class JsonLinesReader implements StreamReader {
  readonly #vendor: Vendor;
  readonly #decoder = new TextDecoder("utf-8", { fatal: false });
  #pieces: string[] = [];
  #bufferedChars = 0;
  isOverrun = false;

  constructor(vendor: Vendor) {
    this.#vendor = vendor;
  }

  read(bytes: Uint8Array): readonly ServerEvent[] {
    if (this.isOverrun) return [];
    const [first = "", ...rest] = this.#decoder.decode(bytes, { stream: true }).split("\n");
    this.#pieces.push(first);
    this.#bufferedChars += first.length;
    const lines: string[] = [];
    for (const piece of rest) {
      lines.push(this.#pieces.join(""));
      this.#pieces = [piece];
      this.#bufferedChars = piece.length;
    }
    this.isOverrun = this.#bufferedChars > MAX_EVENT_CHARS;
    return lines.filter((line) => line.trim() !== "").flatMap((line) => this.#toEvents(line));
  }

  /** The last line needs no line end. */
  end(): readonly ServerEvent[] {
    const line = this.#pieces.splice(0).join("");
    return asObject(parseJson(line)) === undefined ? [] : this.#toEvents(line);
  }

  #toEvents(line: string): readonly ServerEvent[] {
    const events = asObject(parseJson(line));
    if (events === undefined)
      throw createBrokenStreamError(this.#vendor, `a line that is no JSON object: ${line}`);
    return Object.entries(events).map(([event, value]) => ({
      event,
      data: JSON.stringify(value),
      ...(/(?:Exception|^error)$/.test(event) && { isError: true }),
    }));
  }
}
