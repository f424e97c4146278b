import { google, vertex } from "../../../src/config/vendor-models.ts";
import { GoogleGenerativeAi } from "../../../src/models/google-generative-ai/google-generative-ai.ts";
import { GoogleVertex } from "../../../src/models/google-vertex/google-vertex.ts";
import {
  type AnswerContent,
  encodeText,
  type HazardWire,
  rewriteText,
  SAMPLE_ANSWER,
  splitText,
} from "./wire.ts";

const frame = (chunk: object) => encodeText(`data: ${JSON.stringify(chunk)}\n\n`);
const USAGE = { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 };

const chunk = (parts: readonly object[], candidate: object = {}, more: object = {}) =>
  frame({
    candidates: [{ content: { role: "model", parts }, index: 0, ...candidate }],
    responseId: "r1",
    ...more,
  });

/** The vendor parses the arguments itself; if it cannot, there is no answer. */
function callPart({ id, name, pieces }: NonNullable<AnswerContent["calls"]>[number]): object {
  const text = pieces.join("");
  return {
    functionCall: { id, name, args: text === "" ? {} : JSON.parse(text) },
    thoughtSignature: "c2ln",
  };
}

function pieces({ thinking, text, calls = [] }: AnswerContent): Uint8Array[] {
  return [
    ...(thinking === undefined
      ? []
      : splitText(thinking).map((piece) => chunk([{ text: piece, thought: true }]))),
    ...(text === undefined ? [] : splitText(text).map((piece) => chunk([{ text: piece }]))),
    ...calls.map((call) => chunk([callPart(call)])),
  ];
}

const STOP = { finishReason: "STOP" };
const end = chunk([{ text: "" }], STOP, { usageMetadata: USAGE });

/** The arguments of a call in chunks, path by path. */
const streamArguments = (name: string, path: string, parts: readonly string[]) => [
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

const TEXT = { text: SAMPLE_ANSWER.text ?? "" };

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
  ping: encodeText(": ping\n\n"),
  isText: true,
  rewritten: rewriteText,
  rawArguments: false,
  same: {
    "all in one event": [
      chunk([TEXT, ...(SAMPLE_ANSWER.calls ?? []).map(callPart)], STOP, { usageMetadata: USAGE }),
    ],
    "usage with every event": [
      ...pieces(SAMPLE_ANSWER).map((_, at, all) => {
        const { candidates } = JSON.parse(String(all[at]).slice("data: ".length)) as { candidates: object[] };
        return frame({
          candidates,
          usageMetadata: { ...USAGE, candidatesTokenCount: 1, totalTokenCount: 6 },
        });
      }),
      end,
    ],
    "usage behind the end": [...pieces(SAMPLE_ANSWER), chunk([], STOP), frame({ usageMetadata: USAGE })],
    "the arguments of a call in pieces": [
      ...pieces(TEXT),
      ...streamArguments("read", "$.path", ["ä🌍", ".txt"]),
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
