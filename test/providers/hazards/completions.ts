import { local } from "../../../src/config/vendor-models.ts";
import { OpenAiCompletions } from "../../../src/models/openai-completions/provider.ts";
import { bytes, cutUp, type HazardWire, rewrittenText, SAID, type Said } from "./wire.ts";

const frame = (chunk: object | string) =>
  bytes(`data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`);
const USAGE = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
const chunk = (delta: object, more: object = {}) =>
  frame({
    id: "c1",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: null, ...more }],
  });

function pieces({ thinking, text, calls = [] }: Said, interleave = false): Uint8Array[] {
  const heads = calls.map(({ id, name }, index) =>
    chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
  );
  const longest = Math.max(0, ...calls.map((call) => call.pieces.length));
  const part = (index: number, text: string) =>
    chunk({ tool_calls: [{ index, function: { arguments: text } }] });
  const interleaved = Array.from({ length: longest }, (_, at) =>
    calls.flatMap((call, index) => call.pieces.slice(at, at + 1).map((text) => part(index, text))),
  ).flat();
  const inTurn = calls.flatMap((call, index) => [
    ...heads.slice(index, index + 1),
    ...call.pieces.map((text) => part(index, text)),
  ]);
  return [
    ...(thinking === undefined ? [] : cutUp(thinking).map((piece) => chunk({ reasoning_content: piece }))),
    ...(text === undefined ? [] : cutUp(text).map((piece) => chunk({ content: piece }))),
    ...(interleave ? [...heads, ...interleaved] : inTurn),
  ];
}

const finish = ({ calls = [] }: Said, more: object = {}) =>
  chunk({}, { finish_reason: calls.length > 0 ? "tool_calls" : "stop", ...more });
const usage = frame({ id: "c1", choices: [], usage: USAGE });
const done = frame("[DONE]");

export const completionsHazards: HazardWire = {
  protocol: "openai_completions",
  make: (http) => new OpenAiCompletions({ http }),
  model: (baseUrl) => local(baseUrl, "m"),
  contentType: "text/event-stream",
  frames: (said) => [...pieces(said), finish(said), usage, done],
  optionalFrames: 2,
  rateLimit: frame({ error: { type: "rate_limit_exceeded", code: 429, message: "slow down" } }),
  unknown: frame({ object: "chat.completion.news", choices: null, novelty: { text: "no" } }),
  novel: (name) => [
    frame({ object: name, choices: [] }),
    ...pieces({ text: "So." }),
    chunk({}, { finish_reason: name }),
    usage,
    done,
  ],
  ping: bytes(": OPENROUTER PROCESSING\n\n"),
  isText: true,
  rewritten: rewrittenText,
  rawArguments: true,
  same: {
    "calls interleaved": [...pieces(SAID, true), finish(SAID), usage, done],
    "usage before the end": [...pieces(SAID), usage, finish(SAID), done],
    "usage with the finish reason, within the choice": [
      ...pieces(SAID),
      finish(SAID, { usage: USAGE }),
      done,
    ],
    "usage again and again": [
      frame({ id: "c1", choices: [], usage: { ...USAGE, completion_tokens: 1, total_tokens: 6 } }),
      ...pieces(SAID),
      usage,
      finish(SAID),
      usage,
      done,
    ],
    "without [DONE]": [...pieces(SAID), finish(SAID), usage],
    "without the last blank line": [
      ...pieces(SAID),
      finish(SAID),
      bytes(`data: {"choices":[],"usage":${JSON.stringify(USAGE)}}`),
    ],
  },
};
