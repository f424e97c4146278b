import type { AnswerReader, ServerEvent } from "../answer-form.ts";
import { brokenStream, type Vendor } from "../classify.ts";
import { objectOf, parseJson } from "../json.ts";
import { MAX_EVENT_CHARS } from "../sse.ts";

/** Lines of JSON, each an event under its name: `{"messageStop":{"stopReason":"end_turn"}}` (PROV-25). */
export class LineReader implements AnswerReader {
  readonly #vendor: Vendor;
  readonly #decoder = new TextDecoder("utf-8", { fatal: false });
  #pieces: string[] = [];
  #held = 0;
  overrun = false;

  constructor(vendor: Vendor) {
    this.#vendor = vendor;
  }

  read(bytes: Uint8Array): readonly ServerEvent[] {
    if (this.overrun) return [];
    const [first = "", ...rest] = this.#decoder.decode(bytes, { stream: true }).split("\n");
    this.#pieces.push(first);
    this.#held += first.length;
    const lines: string[] = [];
    for (const piece of rest) {
      lines.push(this.#pieces.join(""));
      this.#pieces = [piece];
      this.#held = piece.length;
    }
    this.overrun = this.#held > MAX_EVENT_CHARS;
    return lines.filter((line) => line.trim() !== "").flatMap((line) => this.#events(line));
  }

  /** The last line needs no end. */
  end(): readonly ServerEvent[] {
    const line = this.#pieces.splice(0).join("");
    return objectOf(parseJson(line)) === undefined ? [] : this.#events(line);
  }

  #events(line: string): readonly ServerEvent[] {
    const events = objectOf(parseJson(line));
    if (events === undefined) throw brokenStream(this.#vendor, `a line that is no JSON object: ${line}`);
    return Object.entries(events).map(([event, value]) => ({
      event,
      data: JSON.stringify(value),
      ...(/(?:Exception|^error)$/.test(event) && { failed: true }),
    }));
  }
}
