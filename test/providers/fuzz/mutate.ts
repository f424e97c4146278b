/** Values that readers of JSON stumble over. */
const ODD: readonly unknown[] = [
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

/** Streams from a seed: those of vendors, changed in ways that vendors would not. The same for the same seed. */
export class Fuzz {
  #state: number;
  readonly #streams: readonly (readonly Uint8Array[])[];

  constructor(seed: number, streams: readonly (readonly Uint8Array[])[]) {
    this.#state = seed;
    this.#streams = streams;
  }

  /** The bytes of one stream, in slices. */
  next(): readonly Uint8Array[] {
    let frames: readonly Uint8Array[] = [...this.#pick(this.#streams)];
    const changes = 1 + this.#below(3);
    for (let change = 0; change < changes; change += 1) frames = this.#changed(frames);
    return this.#slices(Buffer.concat(frames));
  }

  #changed(frames: readonly Uint8Array[]): readonly Uint8Array[] {
    const at = this.#below(frames.length + 1);
    const from = this.#below(frames.length + 1);
    const other = this.#pick(this.#streams);
    const copy = [...frames];
    switch (this.#below(8)) {
      case 0:
        copy.splice(at, 1 + this.#below(3));
        return copy;
      case 1:
        copy.splice(at, 0, ...other.slice(0, this.#below(other.length + 1)));
        return copy;
      case 2:
        copy.splice(at, 0, ...frames.slice(from, from + 1));
        return copy;
      case 3:
        return copy.slice(0, at);
      case 4:
        copy.splice(at, 0, this.#noise());
        return copy;
      case 5:
        return copy.map((frame, index) => (index === at ? this.#flipped(frame) : frame));
      default:
        return copy.map((frame, index) =>
          index === at || this.#below(8) === 0 ? this.#twisted(frame) : frame,
        );
    }
  }

  /** Another value, name or depth somewhere in the JSON of a frame. */
  #twisted(frame: Uint8Array): Uint8Array {
    const text = Buffer.from(frame).toString("utf8");
    const begin = text.indexOf("{");
    const end = text.lastIndexOf("}");
    if (begin < 0 || end < begin) return this.#flipped(frame);
    try {
      const value: unknown = JSON.parse(text.slice(begin, end + 1));
      return Buffer.from(
        `${text.slice(0, begin)}${JSON.stringify(this.#other(value, 0))}${text.slice(end + 1)}`,
      );
    } catch {
      return this.#flipped(frame);
    }
  }

  #other(value: unknown, depth: number): unknown {
    if (this.#below(6) === 0) return this.#pick(ODD);
    if (Array.isArray(value)) {
      const list = value.map((one) => (this.#below(2) === 0 ? this.#other(one, depth + 1) : one));
      return this.#below(4) === 0 ? [...list, ...list, this.#pick(ODD)] : list;
    }
    if (typeof value !== "object" || value === null) return this.#below(3) === 0 ? this.#pick(ODD) : value;
    const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [
      this.#below(12) === 0 ? this.#pick(KEYS) : key,
      this.#below(2) === 0 ? this.#other(inner, depth + 1) : inner,
    ]);
    return Object.fromEntries(this.#below(5) === 0 ? entries.slice(1) : entries);
  }

  #flipped(frame: Uint8Array): Uint8Array {
    const copy = Buffer.from(frame);
    for (let count = 1 + this.#below(4); count > 0 && copy.length > 0; count -= 1)
      copy[this.#below(copy.length)] = this.#below(256);
    return copy;
  }

  #noise(): Uint8Array {
    const length = this.#below(3) === 0 ? 0 : this.#below(200);
    if (this.#below(2) === 0) return Buffer.from(Array.from({ length }, () => this.#below(256)));
    const nested = `${"[".repeat(length)}${"]".repeat(length)}`;
    return Buffer.from(
      `event: ${this.#pick(KEYS)}\ndata: ${this.#below(2) === 0 ? nested : JSON.stringify(this.#pick(ODD))}\n\n`,
    );
  }

  #slices(bytes: Uint8Array): readonly Uint8Array[] {
    if (this.#below(2) === 0) return [bytes];
    const slices: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; ) {
      const length = 1 + this.#below(300);
      slices.push(bytes.subarray(at, at + length));
      at += length;
    }
    return slices;
  }

  #pick<Item>(list: readonly Item[]): Item {
    return list[this.#below(list.length)] as Item;
  }

  #below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }
}
