import type { HttpClient } from "../../../src/models/http-client.ts";
import type { Provider } from "../../../src/models/provider.ts";
import type { ModelConfig, Protocol } from "../../../src/schema/model.ts";

/** What an answer says, to be written as its vendor writes it. */
export type AnswerContent = {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly AnswerCall[];
};
export type AnswerCall = {
  readonly id: string;
  readonly name: string;
  /** The arguments as they come, in pieces; a vendor that sends them whole joins the pieces. */
  readonly pieces: readonly string[];
};

/**
 * One protocol as the suite of hazards needs it: an adapter joins with one file beside this one and a line in
 * index.ts.
 */
export type HazardWire = {
  readonly protocol: Protocol;
  readonly make: (http: HttpClient) => Provider;
  readonly model: (baseUrl: string) => ModelConfig;
  readonly contentType: string;
  /**
   * The stream of an answer, one frame for each event, with `input` 5 and `output` 3 tokens. The text and the thinking
   * in several pieces, so that there are frames to cut between.
   */
  readonly frames: (said: AnswerContent) => readonly Uint8Array[];
  /** How many of the last frames an answer can do without. */
  readonly optionalFrames: number;
  /** Only the end of the stream ends an answer, so that what stands behind its reason to stop is a part of it. */
  readonly openEnd?: boolean;
  /** The vendor says in mid-stream that too much was asked of it. */
  readonly rateLimit: Uint8Array;
  /** An event of a kind that nobody knows yet. */
  readonly unknown: Uint8Array;
  /** The answer "So.", where the vendor uses this name for every kind that it may name anew, as of its reason to stop. */
  readonly novel: (name: string) => readonly Uint8Array[];
  /** What the vendor sends to keep the line open, if it does. */
  readonly ping?: Uint8Array;
  /** Server-Sent Events: may be written with other line ends, with comments and with a mark at the beginning. */
  readonly isText: boolean;
  /** Arguments that are no JSON reach us as text; otherwise the vendor itself parses them. */
  readonly rawArguments: boolean;
  /** Other orders and places that say the same as `frames(SAID)`: usage early or late, blocks interleaved. */
  readonly same?: Readonly<Record<string, readonly Uint8Array[]>>;
  /** A frame with another body in place of its own, where it has one in JSON. */
  readonly rewritten: (frame: Uint8Array, rewrite: (body: unknown) => unknown) => Uint8Array;
};

/** Of a frame of Server-Sent Events. */
export const rewriteText: HazardWire["rewritten"] = (frame, rewrite) => {
  const lines = Buffer.from(frame).toString("utf8").split("\n");
  const rewritten = lines.map((line) =>
    line.startsWith("data: {") ? `data: ${JSON.stringify(rewrite(JSON.parse(line.slice(6))))}` : line,
  );
  return encodeText(rewritten.join("\n"));
};

/** A tool's own words: what is added there is an argument. */
const ARGUMENTS = new Set(["args", "input", "arguments"]);

/** The same with fields of tomorrow in every object of the vendor's. */
export function addUnknownFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addUnknownFields);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [
    name,
    ARGUMENTS.has(name) ? field : addUnknownFields(field),
  ]);
  return { brand_new: { text: "no", list: [1, null] }, ...Object.fromEntries(fields), novelty: null };
}

/** What most hazards are tried on. */
export const SAMPLE_ANSWER: AnswerContent = {
  text: "Grüße aus 🌍, \u2028 und mehr!",
  calls: [
    { id: "call_1", name: "read", pieces: ['{"path"', ': "ä🌍', '.txt"}'] },
    { id: "call_2", name: "list", pieces: ["{}"] },
  ],
};

export const encodeText = (text: string): Uint8Array => Buffer.from(text, "utf8");

/** Pieces of a text, as deltas carry them. */
export function splitText(text: string): readonly string[] {
  const characters = Array.from(text);
  // A long text in longer ones: a hundred thousand frames say no more than ten thousand.
  const length = Math.max(5, Math.ceil(characters.length / 10_000));
  return Array.from({ length: Math.ceil(characters.length / length) }, (_, at) =>
    characters.slice(at * length, (at + 1) * length).join(""),
  );
}
