import { open } from "node:fs/promises";

/** Reads what the vendor writes down, as it comes. */
export class VendorLog {
  #path;
  #offset = 0;
  #partialLine = "";
  #of = new Map();
  #reading = Promise.resolve();

  constructor(path) {
    this.#path = path;
  }

  /** Takes up what has been written until now. */
  read() {
    this.#reading = this.#reading.then(() => this.#readMore());
    return this.#reading;
  }

  async #readMore() {
    const file = await open(this.#path).catch(() => undefined);
    if (file === undefined) return;
    try {
      const { size } = await file.stat();
      if (size <= this.#offset) return;
      const { buffer, bytesRead } = await file.read(
        Buffer.alloc(size - this.#offset),
        0,
        size - this.#offset,
        this.#offset,
      );
      this.#offset += bytesRead;
      const lines = (this.#partialLine + buffer.toString("utf8", 0, bytesRead)).split("\n");
      this.#partialLine = lines.pop();
      for (const line of lines) this.#take(JSON.parse(line));
    } finally {
      await file.close();
    }
  }

  /** Everything about one conversation, in the order in which it was written. */
  of(conversation) {
    return this.#of.get(conversation) ?? [];
  }

  /** The furthest step that was asked. */
  step(conversation) {
    return Math.max(
      0,
      ...this.of(conversation).flatMap(({ type, step }) => (type === "asked" ? [step] : [])),
    );
  }

  #take(line) {
    const lines = this.#of.get(line.conversation) ?? [];
    lines.push(line);
    this.#of.set(line.conversation, lines);
  }
}
