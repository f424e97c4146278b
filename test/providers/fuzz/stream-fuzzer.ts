/** Values that often break JSON readers. */
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  "",
  0,
  -1,
  1e308,
  0.5,
  2 ** 53,
  [],
  {},
  [null],
  [[[[]]]],
  { type: "text" },
  "\u0000",
  "\ud83c",
  "__proto__",
  "constructor",
  { __proto__: null, toString: 1 },
  "x".repeat(5_000),
];
const KEYS = [
  "type",
  "index",
  "id",
  "delta",
  "usage",
  "error",
  "content",
  "__proto__",
  "constructor",
  "length",
];

/** Streams from a seed: those of vendors, changed as no vendor would. The same seed gives the same streams. */
export class StreamFuzzer {
  #state: number;
  readonly #streams: readonly (readonly Uint8Array[])[];

  constructor(seed: number, streams: readonly (readonly Uint8Array[])[]) {
    this.#state = seed;
    this.#streams = streams;
  }

  /** The bytes of one stream, in slices. */
  next(): readonly Uint8Array[] {
    let frames: readonly Uint8Array[] = [...this.#pick(this.#streams)];
    const changes = 1 + this.#randomBelow(3);
    for (let change = 0; change < changes; change += 1) frames = this.#changeFrames(frames);
    return this.#slice(Buffer.concat(frames));
  }

  #changeFrames(frames: readonly Uint8Array[]): readonly Uint8Array[] {
    const at = this.#randomBelow(frames.length + 1);
    const from = this.#randomBelow(frames.length + 1);
    const other = this.#pick(this.#streams);
    const copy = [...frames];
    switch (this.#randomBelow(8)) {
      case 0:
        copy.splice(at, 1 + this.#randomBelow(3));
        return copy;
      case 1:
        copy.splice(at, 0, ...other.slice(0, this.#randomBelow(other.length + 1)));
        return copy;
      case 2:
        copy.splice(at, 0, ...frames.slice(from, from + 1));
        return copy;
      case 3:
        return copy.slice(0, at);
      case 4:
        copy.splice(at, 0, this.#createNoise());
        return copy;
      case 5:
        return copy.map((frame, index) => (index === at ? this.#flipBytes(frame) : frame));
      default:
        return copy.map((frame, index) =>
          index === at || this.#randomBelow(8) === 0 ? this.#changeFrame(frame) : frame,
        );
    }
  }

  /** Changes a value, a name or the depth somewhere in the JSON of a frame. */
  #changeFrame(frame: Uint8Array): Uint8Array {
    const text = Buffer.from(frame).toString("utf8");
    const begin = text.indexOf("{");
    const end = text.lastIndexOf("}");
    if (begin < 0 || end < begin) return this.#flipBytes(frame);
    try {
      const value: unknown = JSON.parse(text.slice(begin, end + 1));
      return Buffer.from(
        `${text.slice(0, begin)}${JSON.stringify(this.#changeValue(value, 0))}${text.slice(end + 1)}`,
      );
    } catch {
      return this.#flipBytes(frame);
    }
  }

  #changeValue(value: unknown, depth: number): unknown {
    if (this.#randomBelow(6) === 0) return this.#pick(ODD_VALUES);
    if (Array.isArray(value)) {
      const list = value.map((one) => (this.#randomBelow(2) === 0 ? this.#changeValue(one, depth + 1) : one));
      return this.#randomBelow(4) === 0 ? [...list, ...list, this.#pick(ODD_VALUES)] : list;
    }
    if (typeof value !== "object" || value === null)
      return this.#randomBelow(3) === 0 ? this.#pick(ODD_VALUES) : value;
    const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [
      this.#randomBelow(12) === 0 ? this.#pick(KEYS) : key,
      this.#randomBelow(2) === 0 ? this.#changeValue(inner, depth + 1) : inner,
    ]);
    return Object.fromEntries(this.#randomBelow(5) === 0 ? entries.slice(1) : entries);
  }

  #flipBytes(frame: Uint8Array): Uint8Array {
    const copy = Buffer.from(frame);
    for (let count = 1 + this.#randomBelow(4); count > 0 && copy.length > 0; count -= 1)
      copy[this.#randomBelow(copy.length)] = this.#randomBelow(256);
    return copy;
  }

  #createNoise(): Uint8Array {
    const length = this.#randomBelow(3) === 0 ? 0 : this.#randomBelow(200);
    if (this.#randomBelow(2) === 0) return Buffer.from(Array.from({ length }, () => this.#randomBelow(256)));
    const nested = `${"[".repeat(length)}${"]".repeat(length)}`;
    return Buffer.from(
      `event: ${this.#pick(KEYS)}\ndata: ${this.#randomBelow(2) === 0 ? nested : JSON.stringify(this.#pick(ODD_VALUES))}\n\n`,
    );
  }

  #slice(bytes: Uint8Array): readonly Uint8Array[] {
    if (this.#randomBelow(2) === 0) return [bytes];
    const slices: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; ) {
      const length = 1 + this.#randomBelow(300);
      slices.push(bytes.subarray(at, at + length));
      at += length;
    }
    return slices;
  }

  #pick<Item>(list: readonly Item[]): Item {
    return list[this.#randomBelow(list.length)] as Item;
  }

  #randomBelow(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }
}
