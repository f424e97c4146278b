import { azure, openaiResponses } from "../../../src/config/vendor-models.ts";
import { AzureOpenAiResponses } from "../../../src/models/azure-openai-responses/azure-openai-responses.ts";
import { OpenAiResponses } from "../../../src/models/openai-responses/openai-responses.ts";
import {
  type AnswerContent,
  encodeText,
  type HazardWire,
  rewriteText,
  SAMPLE_ANSWER,
  splitText,
} from "./wire.ts";

type Item = { readonly id: string; readonly type: string };

const event = (type: string, fields: object = {}) =>
  encodeText(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
const response = (fields: object) => ({ id: "resp_1", object: "response", ...fields });
const USAGE = { input_tokens: 5, output_tokens: 3, total_tokens: 8 };
const start = event("response.created", { response: response({ status: "in_progress", output: [] }) });

/** The first and the last frame of an item, and the frames between. */
function item(output_index: number, empty: Item, whole: Item, pieces: readonly Uint8Array[]) {
  return {
    whole,
    frames: [
      event("response.output_item.added", { output_index, item: empty }),
      ...pieces,
      event("response.output_item.done", { output_index, item: whole }),
    ],
  };
}

function items({ thinking, text, calls = [] }: AnswerContent) {
  const made: ((output_index: number) => ReturnType<typeof item>)[] = [];
  if (thinking !== undefined)
    made.push((output_index) => {
      const begun = { type: "reasoning", id: "rs_1", summary: [] };
      const whole = {
        ...begun,
        summary: [{ type: "summary_text", text: thinking }],
        encrypted_content: "gAAA",
      };
      const at = { item_id: "rs_1", output_index, summary_index: 0 };
      const pieces = splitText(thinking).map((delta) =>
        event("response.reasoning_summary_text.delta", { ...at, delta }),
      );
      return item(output_index, begun, whole, pieces);
    });
  if (text !== undefined)
    made.push((output_index) => {
      const begun = { type: "message", id: "msg_1", role: "assistant", status: "in_progress", content: [] };
      const content = [{ type: "output_text", text, annotations: [] }];
      const at = { item_id: "msg_1", output_index, content_index: 0 };
      const pieces = splitText(text).map((delta) => event("response.output_text.delta", { ...at, delta }));
      return item(output_index, begun, { ...begun, status: "completed", content } as Item, pieces);
    });
  for (const { id, name, pieces } of calls)
    made.push((output_index) => {
      const begun = { type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: "" };
      const at = { item_id: `fc_${id}`, output_index };
      const parts = pieces.map((delta) => event("response.function_call_arguments.delta", { ...at, delta }));
      return item(output_index, begun, { ...begun, arguments: pieces.join("") } as Item, parts);
    });
  return made.map((make, index) => make(index));
}

const end = (fields: object) =>
  event("response.completed", { response: response({ status: "completed", ...fields }) });

const frames = (answer: AnswerContent) => [
  start,
  ...items(answer).flatMap((one) => one.frames),
  end({ output: items(answer).map(({ whole }) => whole), usage: USAGE }),
];

function interleave(lists: readonly (readonly Uint8Array[])[]): Uint8Array[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

const WHOLES = items(SAMPLE_ANSWER).map(({ whole }) => whole);

const wire: Omit<HazardWire, "protocol" | "make" | "model"> = {
  contentType: "text/event-stream; charset=utf-8",
  frames,
  optionalFrames: 0,
  rateLimit: event("error", { code: "rate_limit_exceeded", message: "slow down", param: null }),
  unknown: event("response.brand_new.delta", { output_index: 0, item_id: "msg_1", delta: "no" }),
  novel: (name) => {
    const made = { type: name, id: "new_1" };
    return [
      start,
      encodeText(`event: ${name}\ndata: ${JSON.stringify({ type: name, response: {} })}\n\n`),
      ...items({ text: "So." }).flatMap((one) => one.frames),
      event("response.output_item.added", { output_index: 1, item: made }),
      event("response.output_item.done", { output_index: 1, item: made }),
      end({ status: name, usage: USAGE, service_tier: name }),
    ];
  },
  ping: encodeText(": keep-alive\n\n"),
  isText: true,
  rewritten: rewriteText,
  rawArguments: true,
  same: {
    "items interleaved": [
      start,
      ...interleave(items(SAMPLE_ANSWER).map((one) => one.frames)),
      end({ output: WHOLES, usage: USAGE }),
    ],
    "all at the end": [end({ output: WHOLES, usage: USAGE })],
    "usage beside the response": [
      ...frames(SAMPLE_ANSWER).slice(0, -1),
      event("response.completed", {
        response: response({ status: "completed", output: WHOLES }),
        usage: USAGE,
      }),
    ],
    "usage on the way": [
      start,
      event("response.in_progress", { response: response({ status: "in_progress", usage: USAGE }) }),
      ...frames(SAMPLE_ANSWER).slice(1, -1),
      end({ output: WHOLES, usage: null }),
    ],
    "an end that lists nothing": [...frames(SAMPLE_ANSWER).slice(0, -1), end({ output: [], usage: USAGE })],
  },
};

export const responsesHazards: HazardWire = {
  ...wire,
  protocol: "openai_responses",
  make: (http) => new OpenAiResponses({ http }),
  model: (baseUrl) => openaiResponses("gpt-5-mini", { baseUrl }),
};

export const azureHazards: HazardWire = {
  ...wire,
  protocol: "azure_openai_responses",
  make: (http) => new AzureOpenAiResponses({ http }),
  model: (baseUrl) => azure("gpt-5-mini", { baseUrl }),
};
