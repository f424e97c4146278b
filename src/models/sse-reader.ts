import { createParser } from "eventsource-parser";
import { asObject, parseJson } from "../platform/text/json.ts";
import type { ServerEvent, StreamFormat } from "./stream-format.ts";

/**
 * The longest single event, in characters. Search results within an answer reach several hundred thousand; a server
 * that never ends its line must not fill the worker's memory.
 */
export const MAX_EVENT_CHARS = 16 * 1024 * 1024;

/**
 * Reads bytes in slices of any size and returns Server-Sent Events. The decoder buffers an incomplete character,
 * drops a byte order mark, and replaces bytes that are not UTF-8.
 */
export class SseReader {
  readonly #decoder = new TextDecoder("utf-8", { fatal: false });
  readonly #parser;
  #events: ServerEvent[] = [];
  #isOverrun = false;

  constructor(maxEventChars = MAX_EVENT_CHARS) {
    this.#parser = createParser({
      maxBufferSize: maxEventChars,
      onEvent: ({ event, data }) => this.#events.push({ event, data }),
      onError: ({ type }) => {
        this.#isOverrun ||= type === "max-buffer-size-exceeded";
      },
    });
  }

  /** An event exceeds the limit; nothing more can be read. */
  get isOverrun(): boolean {
    return this.#isOverrun;
  }

  read(bytes: Uint8Array): readonly ServerEvent[] {
    if (this.#isOverrun) return [];
    this.#events = [];
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    return this.#events;
  }

  /**
   * Ends the stream. Servers omit the blank line that closes an event, so the last event counts if its data is
   * complete; an incomplete one is dropped.
   */
  end(): readonly ServerEvent[] {
    if (this.#isOverrun) return [];
    this.#events = [];
    this.#parser.feed(`${this.#decoder.decode()}\n\n`);
    return this.#events.filter(
      ({ data }) => data.trim() === "[DONE]" || asObject(parseJson(data)) !== undefined,
    );
  }
}

export const SERVER_SENT_EVENTS: StreamFormat = {
  accept: "text/event-stream",
  // Servers with a missing or inaccurate content type are accepted: the events decide.
  accepts: (contentType) => contentType === "" || /event-stream|text\/plain|octet-stream/i.test(contentType),
  createReader: () => new SseReader(),
};
