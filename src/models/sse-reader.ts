import { createParser } from "eventsource-parser";
import { asObject, parseJson } from "./json.ts";
import type { ServerEvent, StreamFormat } from "./stream-format.ts";

/**
 * Longest single event, in characters. Search results that a vendor inlines reach some hundred thousand; a server
 * that never ends its line must not fill the worker's memory.
 */
export const MAX_EVENT_CHARS = 16 * 1024 * 1024;

/**
 * Bytes in slices of any size to Server-Sent Events. The decoder keeps a character that is cut until its rest
 * arrives, drops a byte order mark, and replaces bytes that are not UTF-8.
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

  /** An event grew beyond the limit; nothing more can be read. */
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
   * The stream is over. Servers forget the blank line that closes an event, so the last one counts when its data is
   * whole; what a cut leaves behind is dropped.
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
  // Servers that do not name the type, or only roughly, are trusted: the events will show.
  accepts: (contentType) => contentType === "" || /event-stream|text\/plain|octet-stream/i.test(contentType),
  createReader: () => new SseReader(),
};
