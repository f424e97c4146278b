import { createHash } from "node:crypto";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { local, openai, openrouter } from "../../src/config/vendor-models.ts";
import { OpenAiCompletions } from "../../src/models/openai-completions/openai-completions.ts";
import type { Content, Message } from "../../src/schema/message.ts";
import type { ModelConfig } from "../../src/schema/model.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server/server.ts";
import { createHttp } from "./answer-reader.ts";
import { captureRequest } from "./captured-request.ts";
import { COMPARED, CORPUS_KEY, type CorpusRequest, createRequest, toFileText } from "./corpus/index.ts";

// Every conversation of the corpus, sent by our adapter and by the SDK: an independent reading of the SDK's types.

/** Fields of vendors other than OpenAI. */
type Body = OpenAI.ChatCompletionCreateParamsStreaming & { reasoning?: { effort: string } };
type Param = OpenAI.ChatCompletionMessageParam;
type Part =
  | OpenAI.ChatCompletionContentPartText
  | OpenAI.ChatCompletionContentPartImage
  | OpenAI.ChatCompletionContentPart.File;

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
  readonly max: "max_tokens" | "max_completion_tokens";
  readonly developer?: boolean;
};
const at = (provider: string): ModelConfig => ({ ...local("http://h/v1", "m"), provider });
const KINDS: readonly Kind[] = [
  { name: "gpt-4.1", model: openai("gpt-4.1"), max: "max_completion_tokens", developer: true },
  { name: "gpt-5.6-sol", model: openai("gpt-5.6-sol"), max: "max_completion_tokens", developer: true },
  { name: "local", model: at("local"), max: "max_tokens" },
  { name: "openrouter", model: openrouter("a/b"), max: "max_tokens", developer: true },
  { name: "deepseek", model: at("deepseek"), max: "max_completion_tokens" },
  { name: "mistral", model: at("mistral"), max: "max_tokens" },
];

function idsOf(provider: string): (id: string, own: boolean) => string {
  const taken = new Set<string>();
  const clean = (id: string) => id.replace(/[^\w-]/g, "_") || "call";
  const made = (id: string, copy: number) => {
    if (provider === "mistral") return createHash("sha256").update(`${copy} ${id}`).digest("hex").slice(0, 9);
    const suffix = copy === 0 ? "" : `_${copy + 1}`;
    return clean(id).slice(0, 40 - suffix.length) + suffix;
  };
  return (id, own) => {
    const form = provider === "mistral" ? /^[a-zA-Z0-9]{9}$/ : /^[\w-]{1,40}$/;
    const fits = own && provider !== "openai" ? id !== "" : form.test(id);
    let free = fits ? id : made(id, 0);
    for (let copy = fits ? 0 : 1; taken.has(free); copy += 1) free = made(id, copy);
    taken.add(free);
    return free;
  };
}

const said = (content: readonly Content[]): Part[] =>
  content.flatMap((part): Part[] => {
    if (part.type === "text") return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
    if (part.type === "file") {
      if (part.mimeType !== "application/pdf") return [{ type: "text", text: toFileText(part) }];
      const file_data = `data:application/pdf;base64,${part.data}`;
      return [{ type: "file", file: { filename: part.name, file_data } }];
    }
    if (part.type !== "image") return [];
    return [{ type: "image_url", image_url: { url: `data:${part.mimeType};base64,${part.data}` } }];
  });

const note = (parts: readonly Part[]) =>
  parts.some(({ type }) => type === "file") ? "(see the attached file)" : "(see the attached image)";

function messagesOf(history: readonly Message[], { model }: Kind): Param[] {
  const { provider } = model;
  const wireId = idsOf(provider);
  const made: Param[] = [];
  const sent = history.filter(
    (one) => one.role !== "assistant" || !["error", "aborted", "guardRail"].includes(one.stopReason),
  );
  for (const [index, message] of sent.entries()) {
    if (message.role === "toolResult") continue;
    if (message.role === "user") {
      const parts = said(message.content);
      const [only] = parts;
      if (only !== undefined)
        made.push({ role: "user", content: parts.length === 1 && only.type === "text" ? only.text : parts });
      continue;
    }
    const own = message.provider === provider;
    const texts: string[] = [];
    const thoughts: string[] = [];
    const details: unknown[] = [];
    const calls: OpenAI.ChatCompletionMessageFunctionToolCall[] = [];
    const open: { id: string; call: OpenAI.ChatCompletionMessageFunctionToolCall }[] = [];
    for (const part of message.content) {
      const isOurs = part.type === "thinking" && own && part.signature?.startsWith("{") !== true;
      if (part.type === "text" && part.text.trim() !== "") texts.push(part.text);
      if (part.type === "thinking" && !isOurs && part.thinking.trim() !== "")
        texts.push(`[Reasoning] ${part.thinking}`);
      if (part.type === "thinking" && isOurs) thoughts.push(part.thinking);
      if (part.type === "thinking" && own && provider === "openrouter" && part.signature?.startsWith("["))
        details.push(...(JSON.parse(part.signature) as unknown[]));
      if (part.type !== "toolCall") continue;
      const plain = typeof part.arguments === "object" && !Array.isArray(part.arguments);
      const name = /^[\w-]{1,64}$/.test(part.name)
        ? part.name
        : part.name.replace(/[^\w-]/g, "_").slice(0, 64);
      const call = {
        id: wireId(own ? (part.vendorId ?? part.id) : part.id, own),
        type: "function" as const,
        function: { name: name || "unknown", arguments: JSON.stringify((plain && part.arguments) || {}) },
      };
      calls.push(call);
      open.push({ id: part.id, call });
    }
    if (texts.length > 0 || calls.length > 0)
      made.push({
        role: "assistant",
        content: texts.length === 0 ? null : texts.join("\n\n"),
        ...(calls.length > 0 && { tool_calls: calls }),
        ...(details.length > 0 && { reasoning_details: details }),
        ...(calls.length > 0 && provider === "deepseek" && { reasoning_content: thoughts.join("") }),
      });
    const until = sent.findIndex((one, place) => place > index && one.role === "assistant");
    const pictures: Part[] = [];
    for (const result of sent.slice(index + 1, until < 0 ? undefined : until)) {
      if (result.role !== "toolResult") continue;
      const place = open.findIndex(({ id }) => id === result.toolCallId);
      const [found] = place < 0 ? [] : open.splice(place, 1);
      if (found === undefined) continue;
      const parts = said(result.content);
      const images = parts.filter(({ type }) => type !== "text");
      const words = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
      const content = words.length === 0 && images.length > 0 ? note(parts) : words.join("\n");
      made.push({ role: "tool", tool_call_id: found.call.id, content });
      if (images.length > 0)
        pictures.push({ type: "text", text: `Attached by ${found.call.function.name}:` }, ...images);
    }
    for (const { call } of open)
      made.push({ role: "tool", tool_call_id: call.id, content: "No result is known for this call." });
    if (pictures.length > 0) made.push({ role: "user", content: pictures });
  }
  return made;
}

function translated(asked: CorpusRequest, kind: Kind): Body {
  const { model, max } = kind;
  const ofOpenAi = model.provider === "openai";
  const newer = model.id.startsWith("gpt-5.6");
  const efforts = /^gpt-(?:5\.6|6)/.test(model.id) ? ABOVE_HIGH : EFFORTS;
  const effort = asked.thinking === "off" ? undefined : efforts[asked.thinking];
  const system: Param[] =
    asked.systemPrompt.trim() === ""
      ? []
      : [{ role: kind.developer ? "developer" : "system", content: asked.systemPrompt }];
  const named = ofOpenAi && newer && asked.tools.length > 0 ? "none" : effort;
  const tempered = !ofOpenAi || named === "none" || (named === undefined && !newer);
  return {
    model: model.id,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...system, ...messagesOf(asked.messages, kind)],
    [max]: Math.min(asked.maxTokens ?? LIMIT, LIMIT),
    ...(ofOpenAi && { store: false }),
    ...(asked.tools.length > 0 && {
      tools: asked.tools.map(({ name, description, parameters }) => ({
        type: "function" as const,
        function: { name, description, parameters },
      })),
    }),
    ...(ofOpenAi && named !== undefined && { reasoning_effort: named }),
    ...(model.provider === "openrouter" && effort !== undefined && { reasoning: { effort } }),
    ...(asked.temperature !== undefined && tempered && { temperature: asked.temperature }),
    ...(asked.forcedTool !== undefined && {
      tool_choice: { type: "function" as const, function: { name: asked.forcedTool } },
    }),
    ...(asked.output !== undefined && { response_format: formatOf(asked.output) }),
  };
}

function formatOf(output: NonNullable<CorpusRequest["output"]>): NonNullable<Body["response_format"]> {
  if (output.type === "json") return { type: "json_object" };
  const { schema, name = "final_answer" } = output;
  // In the corpus: closed and all required, or open.
  const strict = output.strict ?? schema["additionalProperties"] === false;
  return { type: "json_schema", json_schema: { name, schema, strict } };
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
const signal = new AbortController().signal;
let vendor: ModelServer;
beforeAll(async () => {
  vendor = await startModelServer();
});
afterAll(async () => {
  await vendor.stop();
  await pool.close();
});

describe.each(KINDS)("every conversation sent to $name [PROV-13.1]", (kind) => {
  test.each(COMPARED)(
    "$name: the request is the SDK's, and contains nothing that the API rejects",
    async (conversation) => {
      const provider = new OpenAiCompletions({ http: pool });
      const ask = (url: string) =>
        provider.stream(
          createRequest({ ...kind.model, maxTokens: LIMIT, baseUrl: `${url}/v1` }, conversation),
          {
            signal,
          },
        );
      const ours = await captureRequest(ask);
      const theirs = await captureRequest((url) =>
        new OpenAI({ apiKey: CORPUS_KEY, baseURL: `${url}/v1`, maxRetries: 0 }).chat.completions.create(
          wellFormed(translated(conversation.request, kind)),
        ),
      );
      expect(ours.body).toEqual(theirs.body);
      expect(ours.url).toBe(theirs.url);
      for (const header of ["authorization", "content-type"])
        expect(ours.headers[header]).toBe(theirs.headers[header]);
      await expect(ask(vendor.url)).resolves.toMatchObject({ stopReason: "stop" });
    },
  );
});
