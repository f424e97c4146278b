import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { azure, openaiResponses } from "../../src/config/vendor-models.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import type { Content, Message } from "../../src/schema/message.ts";
import type { ModelConfig } from "../../src/schema/model.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server/server.ts";
import { createHttp } from "./answer-reader.ts";
import { captureRequest } from "./captured-request.ts";
import { COMPARED, CORPUS_KEY, type CorpusRequest, createRequest, toFileText } from "./corpus/index.ts";

// Every conversation of the corpus, sent by our adapters and by the SDK: an independent reading of the SDK's types.

type Body = OpenAI.Responses.ResponseCreateParamsStreaming;
type Item = OpenAI.Responses.ResponseInputItem;
type Call = OpenAI.Responses.ResponseFunctionToolCall;
type Part =
  | OpenAI.Responses.ResponseInputText
  | OpenAI.Responses.ResponseInputImage
  | OpenAI.Responses.ResponseInputFile;

const LIMIT = 32_000;
const EFFORTS = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
} as const;
/** For models that know a level above it. */
const ABOVE_HIGH = { ...EFFORTS, xhigh: "xhigh", max: "xhigh" } as const;

type Kind = {
  readonly name: string;
  readonly model: ModelConfig;
  readonly reasons: boolean;
  readonly base: string;
};
const KINDS: readonly Kind[] = [
  { name: "gpt-6-sol", model: openaiResponses("gpt-6-sol"), reasons: true, base: "/v1" },
  { name: "gpt-4.1", model: openaiResponses("gpt-4.1"), reasons: false, base: "/v1" },
  {
    name: "a router",
    model: { ...openaiResponses("a/b"), provider: "openrouter" },
    reasons: false,
    base: "/v1",
  },
  {
    name: "a deployment in Azure",
    model: { ...azure("prod", { baseUrl: "https://h", reasoning: true }), provider: "azure_openai" },
    reasons: true,
    base: "/openai/v1",
  },
];

function idsOf(provider: string): (id: string, own: boolean) => string {
  const taken = new Set<string>();
  const strict = provider !== "openrouter";
  return (id, own) => {
    const fits = own && !strict ? id !== "" : /^[\w-]{1,64}$/.test(id);
    const clean = id.replace(/[^\w-]/g, "_") || "call";
    let free = fits ? id : clean.slice(0, 64);
    for (let copy = 2; taken.has(free); copy += 1) free = `${clean.slice(0, 64 - `_${copy}`.length)}_${copy}`;
    taken.add(free);
    return free;
  };
}

const shown = (content: readonly Content[]): Part[] =>
  content.flatMap((part): Part[] => {
    if (part.type === "text") return part.text.trim() === "" ? [] : [{ type: "input_text", text: part.text }];
    if (part.type === "file") {
      if (part.mimeType !== "application/pdf") return [{ type: "input_text", text: toFileText(part) }];
      const file_data = `data:application/pdf;base64,${part.data}`;
      return [{ type: "input_file", filename: part.name, file_data }];
    }
    if (part.type !== "image") return [];
    return [{ type: "input_image", detail: "auto", image_url: `data:${part.mimeType};base64,${part.data}` }];
  });

const encrypted = (signature: string | undefined): Item | undefined =>
  signature?.includes('"type":"reasoning"') ? (JSON.parse(signature) as Item) : undefined;

/** No message of the corpus has an id. */
const said = (at: number, text: string): Item => ({
  type: "message",
  id: `msg_${at}`,
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});

function itemsOf(history: readonly Message[], { model: { provider } }: Kind): Item[] {
  const wireId = idsOf(provider);
  const made: Item[] = [];
  const sent = history.filter(
    (one) => one.role !== "assistant" || !["error", "aborted", "guardRail"].includes(one.stopReason),
  );
  for (const [index, message] of sent.entries()) {
    if (message.role === "toolResult") continue;
    if (message.role === "user") {
      const content = shown(message.content);
      if (content.length > 0) made.push({ role: "user", content });
      continue;
    }
    const own = message.provider === provider;
    const open: { id: string; call: Call }[] = [];
    for (const part of message.content) {
      if (part.type === "text" && part.text.trim() !== "") made.push(said(made.length, part.text));
      if (part.type === "vendor" && own) made.push(part.data as Item);
      if (part.type === "thinking") {
        const item = own ? encrypted(part.signature) : undefined;
        if (item !== undefined) made.push(item);
        else if (part.thinking.trim() !== "") made.push(said(made.length, `[Reasoning] ${part.thinking}`));
      }
      if (part.type !== "toolCall") continue;
      const plain = typeof part.arguments === "object" && !Array.isArray(part.arguments);
      const name = /^[\w-]{1,64}$/.test(part.name)
        ? part.name
        : part.name.replace(/[^\w-]/g, "_").slice(0, 64);
      const call: Call = {
        type: "function_call",
        call_id: wireId(own ? (part.vendorId ?? part.id) : part.id, own),
        name: name || "unknown",
        arguments: JSON.stringify((plain && part.arguments) || {}),
      };
      made.push(call);
      open.push({ id: part.id, call });
    }
    while (made.at(-1)?.type === "reasoning") made.pop();
    const until = sent.findIndex((one, place) => place > index && one.role === "assistant");
    for (const result of sent.slice(index + 1, until < 0 ? undefined : until)) {
      if (result.role !== "toolResult") continue;
      const place = open.findIndex(({ id }) => id === result.toolCallId);
      const [found] = place < 0 ? [] : open.splice(place, 1);
      if (found === undefined) continue;
      const parts = shown(result.content);
      const words = parts.flatMap((part) => (part.type === "input_text" ? [part.text] : []));
      const output = words.length === parts.length ? words.join("\n") : parts;
      made.push({ type: "function_call_output", call_id: found.call.call_id, output });
    }
    for (const { call } of open)
      made.push({
        type: "function_call_output",
        call_id: call.call_id,
        output: "No result is known for this call.",
      });
  }
  return made;
}

function translated(asked: CorpusRequest, kind: Kind): Body {
  const { model, reasons } = kind;
  const efforts = /^gpt-(?:5\.6|6)/.test(model.id) ? ABOVE_HIGH : EFFORTS;
  const effort = asked.thinking === "off" ? undefined : efforts[asked.thinking];
  const items = itemsOf(asked.messages, kind);
  const spoken: Item = { role: "developer", content: "The final answer is one JSON object." };
  const plain = effort === undefined && !reasons;
  return {
    model: model.id,
    stream: true,
    store: false,
    input: asked.output?.type === "json" ? [spoken, ...items] : items,
    max_output_tokens: Math.min(asked.maxTokens ?? LIMIT, LIMIT),
    ...(asked.systemPrompt.trim() !== "" && { instructions: asked.systemPrompt }),
    ...((model.id !== "gpt-4.1" || effort !== undefined) && { include: ["reasoning.encrypted_content"] }),
    ...(effort !== undefined && { reasoning: { effort, summary: "auto" as const } }),
    ...(asked.temperature !== undefined && plain && { temperature: asked.temperature }),
    ...(asked.tools.length > 0 && {
      tools: asked.tools.map((tool) => ({ type: "function" as const, strict: false, ...tool })),
    }),
    ...(asked.forcedTool !== undefined && {
      tool_choice: { type: "function" as const, name: asked.forcedTool },
    }),
    ...(asked.output !== undefined && { text: { format: formatOf(asked.output) } }),
  };
}

function formatOf(output: NonNullable<CorpusRequest["output"]>): OpenAI.Responses.ResponseFormatTextConfig {
  if (output.type === "json") return { type: "json_object" };
  const { schema, name = "final_answer" } = output;
  // In the corpus: closed and all required, or open.
  return {
    type: "json_schema",
    name,
    schema,
    strict: output.strict ?? schema["additionalProperties"] === false,
  };
}

/** The SDK writes half a character as an escape, which the API refuses. */
const whole = (text: string) => text.replace(/\p{Surrogate}/gu, "\ufffd");
const wellFormed = (value: unknown): Body =>
  JSON.parse(
    JSON.stringify(value, (_, field: unknown) => {
      if (typeof field === "string") return whole(field);
      if (typeof field !== "object" || field === null || Array.isArray(field)) return field;
      return Object.fromEntries(Object.entries(field).map(([key, inner]) => [whole(key), inner]));
    }),
  );

const pool = createHttp();
const registry = ProviderRegistry.createDefault({ http: pool });
const signal = new AbortController().signal;
let vendor: ModelServer;
beforeAll(async () => {
  vendor = await startModelServer();
});
afterAll(async () => {
  await vendor.stop();
  await pool.close();
});

describe.each(KINDS)("every conversation sent to $name [PROV-17.1-2, PROV-19.1]", (kind) => {
  const { model, base } = kind;
  test.each(COMPARED)(
    "$name: the request is the SDK's, and contains nothing that the API rejects",
    async (conversation) => {
      const ask = (url: string) =>
        registry
          .get(model.api)!
          .stream(createRequest({ ...model, maxTokens: LIMIT, baseUrl: url + base }, conversation), {
            signal,
          });
      const ours = await captureRequest(ask);
      const theirs = await captureRequest((url) =>
        new OpenAI({ apiKey: CORPUS_KEY, baseURL: url + base, maxRetries: 0 }).responses.create(
          wellFormed(translated(conversation.request, kind)),
        ),
      );
      expect(ours.body).toEqual(theirs.body);
      expect(ours.url).toBe(theirs.url);
      expect(ours.headers["content-type"]).toBe(theirs.headers["content-type"]);
      const key = model.provider === "azure_openai" ? ours.headers["api-key"] : ours.headers.authorization;
      expect(theirs.headers.authorization).toMatch(new RegExp(`${key}$`));
      await expect(ask(vendor.url)).resolves.toMatchObject({ stopReason: "stop" });
    },
  );
});
