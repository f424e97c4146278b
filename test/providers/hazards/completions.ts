import { local } from "../../../src/config/vendor-models.ts";
import { OpenAiCompletions } from "../../../src/models/openai-completions/openai-completions.ts";
import {
  type AnswerContent,
  encodeText,
  type HazardWire,
  rewriteText,
  SAMPLE_ANSWER,
  splitText,
} from "./wire.ts";

const frame = (chunk: object | string) =>
  encodeText(`data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`);
const USAGE = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
const chunk = (delta: object, more: object = {}) =>
  frame({
    id: "c1",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: null, ...more }],
  });

function pieces({ thinking, text, calls = [] }: AnswerContent, interleave = false): Uint8Array[] {
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
    ...(thinking === undefined
      ? []
      : splitText(thinking).map((piece) => chunk({ reasoning_content: piece }))),
    ...(text === undefined ? [] : splitText(text).map((piece) => chunk({ content: piece }))),
    ...(interleave ? [...heads, ...interleaved] : inTurn),
  ];
}

const finish = ({ calls = [] }: AnswerContent, more: object = {}) =>
  chunk({}, { finish_reason: calls.length > 0 ? "tool_calls" : "stop", ...more });
const usage = frame({ id: "c1", choices: [], usage: USAGE });
const done = frame("[DONE]");

export const completionsHazards: HazardWire = {
  protocol: "openai_completions",
  make: (http) => new OpenAiCompletions({ http }),
  model: (baseUrl) => local(baseUrl, "m"),
  contentType: "text/event-stream",
  frames: (answer) => [...pieces(answer), finish(answer), usage, done],
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
  ping: encodeText(": OPENROUTER PROCESSING\n\n"),
  isText: true,
  rewritten: rewriteText,
  rawArguments: true,
  same: {
    "calls interleaved": [...pieces(SAMPLE_ANSWER, true), finish(SAMPLE_ANSWER), usage, done],
    "usage before the end": [...pieces(SAMPLE_ANSWER), usage, finish(SAMPLE_ANSWER), done],
    "usage with the finish reason, within the choice": [
      ...pieces(SAMPLE_ANSWER),
      finish(SAMPLE_ANSWER, { usage: USAGE }),
      done,
    ],
    "usage again and again": [
      frame({ id: "c1", choices: [], usage: { ...USAGE, completion_tokens: 1, total_tokens: 6 } }),
      ...pieces(SAMPLE_ANSWER),
      usage,
      finish(SAMPLE_ANSWER),
      usage,
      done,
    ],
    "without [DONE]": [...pieces(SAMPLE_ANSWER), finish(SAMPLE_ANSWER), usage],
    "without the last blank line": [
      ...pieces(SAMPLE_ANSWER),
      finish(SAMPLE_ANSWER),
      encodeText(`data: {"choices":[],"usage":${JSON.stringify(USAGE)}}`),
    ],
  },
};
