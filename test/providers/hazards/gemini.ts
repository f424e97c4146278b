import { google, vertex } from "../../../src/config/vendor-models.ts";
import { GoogleGenerativeAi } from "../../../src/models/google-generative-ai/provider.ts";
import { GoogleVertex } from "../../../src/models/google-vertex/provider.ts";
import { bytes, cutUp, type HazardWire, rewrittenText, SAID, type Said } from "./wire.ts";

const frame = (chunk: object) => bytes(`data: ${JSON.stringify(chunk)}\n\n`);
const USAGE = { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 };

const chunk = (parts: readonly object[], candidate: object = {}, more: object = {}) =>
  frame({
    candidates: [{ content: { role: "model", parts }, index: 0, ...candidate }],
    responseId: "r1",
    ...more,
  });

/** The vendor reads the arguments itself; where it cannot, there is no answer. */
function callPart({ id, name, pieces }: NonNullable<Said["calls"]>[number]): object {
  const text = pieces.join("");
  return {
    functionCall: { id, name, args: text === "" ? {} : JSON.parse(text) },
    thoughtSignature: "c2ln",
  };
}

function pieces({ thinking, text, calls = [] }: Said): Uint8Array[] {
  return [
    ...(thinking === undefined
      ? []
      : cutUp(thinking).map((piece) => chunk([{ text: piece, thought: true }]))),
    ...(text === undefined ? [] : cutUp(text).map((piece) => chunk([{ text: piece }]))),
    ...calls.map((call) => chunk([callPart(call)])),
  ];
}

const STOP = { finishReason: "STOP" };
const end = chunk([{ text: "" }], STOP, { usageMetadata: USAGE });

/** The arguments of a call as they come in pieces, path by path. */
const streamed = (name: string, path: string, parts: readonly string[]) => [
  chunk([{ functionCall: { name, willContinue: true }, thoughtSignature: "c2ln" }]),
  ...parts.map((stringValue) =>
    chunk([
      {
        functionCall: {
          partialArgs: [{ jsonPath: path, stringValue, willContinue: true }],
          willContinue: true,
        },
      },
    ]),
  ),
  chunk([{ functionCall: {} }]),
];

const TEXT = { text: SAID.text ?? "" };

const wire: Omit<HazardWire, "protocol" | "make" | "model"> = {
  contentType: "text/event-stream",
  frames: (said) => [...pieces(said), end],
  optionalFrames: 0,
  openEnd: true,
  rateLimit: frame({ error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "slow down" } }),
  unknown: frame({
    brandNew: { text: "no" },
    candidates: [{ index: 1, content: { parts: [{ text: "no" }] } }],
  }),
  novel: (name) => [
    ...pieces({ text: "So." }),
    chunk([{ [name]: {} }], { finishReason: name }, { usageMetadata: USAGE }),
  ],
  ping: bytes(": ping\n\n"),
  isText: true,
  rewritten: rewrittenText,
  rawArguments: false,
  same: {
    "all in one event": [chunk([TEXT, ...(SAID.calls ?? []).map(callPart)], STOP, { usageMetadata: USAGE })],
    "usage with every event": [
      ...pieces(SAID).map((_, at, all) => {
        const { candidates } = JSON.parse(String(all[at]).slice("data: ".length)) as { candidates: object[] };
        return frame({
          candidates,
          usageMetadata: { ...USAGE, candidatesTokenCount: 1, totalTokenCount: 6 },
        });
      }),
      end,
    ],
    "usage behind the end": [...pieces(SAID), chunk([], STOP), frame({ usageMetadata: USAGE })],
    "the arguments of a call in pieces": [
      ...pieces(TEXT),
      ...streamed("read", "$.path", ["ä🌍", ".txt"]),
      chunk([{ functionCall: { name: "list", args: {} } }]),
      end,
    ],
  },
};

export const googleHazards: HazardWire = {
  ...wire,
  protocol: "google_generative_ai",
  make: (http) => new GoogleGenerativeAi({ http }),
  model: (baseUrl) => google("gemini-3-flash", { baseUrl }),
};

export const vertexHazards: HazardWire = {
  ...wire,
  protocol: "google_vertex",
  make: (http) => new GoogleVertex({ http }),
  model: (baseUrl) => vertex("gemini-3-flash", { baseUrl: `${baseUrl}/v1/projects/p/locations/l` }),
};
