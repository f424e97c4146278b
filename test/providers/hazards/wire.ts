import type { HttpClient } from "../../../src/models/http-client.ts";
import type { Provider } from "../../../src/models/provider.ts";
import type { ModelConfig, Protocol } from "../../../src/schema/model.ts";

/** The content of an answer, to be written in its vendor's format. */
export type AnswerContent = {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly AnswerCall[];
};
export type AnswerCall = {
  readonly id: string;
  readonly name: string;
  /** The arguments in chunks, as they arrive; a vendor that sends them whole joins the chunks. */
  readonly pieces: readonly string[];
};

/**
 * One protocol as the hazard suite needs it: an adapter is added with one file in this folder and a line in
 * index.ts.
 */
export type HazardWire = {
  readonly protocol: Protocol;
  readonly make: (http: HttpClient) => Provider;
  readonly model: (baseUrl: string) => ModelConfig;
  readonly contentType: string;
  /**
   * The stream of an answer, one frame per event, with `input` 5 and `output` 3 tokens. Text and thinking are in
   * several chunks, so that there are frames to cut between.
   */
  readonly frames: (said: AnswerContent) => readonly Uint8Array[];
  /** How many of the last frames an answer does not need. */
  readonly optionalFrames: number;
  /** Only the end of the stream ends an answer, so what follows its stop reason belongs to it. */
  readonly openEnd?: boolean;
  /** The vendor's mid-stream error for too many requests. */
  readonly rateLimit: Uint8Array;
  /** An event of an unknown type. */
  readonly unknown: Uint8Array;
  /** The answer "So.", with this name in place of every name that the vendor may extend, such as its stop reason. */
  readonly novel: (name: string) => readonly Uint8Array[];
  /** What the vendor sends to keep the connection open, if anything. */
  readonly ping?: Uint8Array;
  /** Server-Sent Events: may have other line endings, comments and a byte order mark. */
  readonly isText: boolean;
  /** Arguments that are not JSON arrive as text; otherwise the vendor itself parses them. */
  readonly rawArguments: boolean;
  /** Other orders with the same meaning as `frames(SAID)`: usage early or late, blocks interleaved. */
  readonly same?: Readonly<Record<string, readonly Uint8Array[]>>;
  /** A frame with its body replaced, if the body is JSON. */
  readonly rewritten: (frame: Uint8Array, rewrite: (body: unknown) => unknown) => Uint8Array;
};

/** For a frame of Server-Sent Events. */
export const rewriteText: HazardWire["rewritten"] = (frame, rewrite) => {
  const lines = Buffer.from(frame).toString("utf8").split("\n");
  const rewritten = lines.map((line) =>
    line.startsWith("data: {") ? `data: ${JSON.stringify(rewrite(JSON.parse(line.slice(6))))}` : line,
  );
  return encodeText(rewritten.join("\n"));
};

/** A tool's own fields: a field added there is an argument. */
const ARGUMENTS = new Set(["args", "input", "arguments"]);

/** The same value with unknown fields in every object of the vendor's. */
export function addUnknownFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addUnknownFields);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [
    name,
    ARGUMENTS.has(name) ? field : addUnknownFields(field),
  ]);
  return { brand_new: { text: "no", list: [1, null] }, ...Object.fromEntries(fields), novelty: null };
}

/** The answer that most hazards are tested with. */
export const SAMPLE_ANSWER: AnswerContent = {
  text: "Grüße aus 🌍, \u2028 und mehr!",
  calls: [
    { id: "call_1", name: "read", pieces: ['{"path"', ': "ä🌍', '.txt"}'] },
    { id: "call_2", name: "list", pieces: ["{}"] },
  ],
};

export const encodeText = (text: string): Uint8Array => Buffer.from(text, "utf8");

/** Chunks of a text, as deltas carry them. */
export function splitText(text: string): readonly string[] {
  const characters = Array.from(text);
  // A long text has longer chunks: a hundred thousand frames prove no more than ten thousand.
  const length = Math.max(5, Math.ceil(characters.length / 10_000));
  return Array.from({ length: Math.ceil(characters.length / length) }, (_, at) =>
    characters.slice(at * length, (at + 1) * length).join(""),
  );
}
