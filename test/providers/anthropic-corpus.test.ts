import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { anthropic } from "../../src/config/vendor-models.ts";
import { AnthropicMessages } from "../../src/models/anthropic-messages/anthropic-messages.ts";
import { buildAnthropicRequest } from "../../src/models/anthropic-messages/request.ts";
import type { Content, Message } from "../../src/schema/message.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server/server.ts";
import { createHttp } from "./answer-reader.ts";
import { captureRequest } from "./captured-request.ts";
import { COMPARED, CORPUS_KEY, type CorpusRequest, createRequest, toFileText } from "./corpus/index.ts";

// Every conversation of the corpus, sent by our adapter and by the SDK: an independent reading of the SDK's types.

/** The later version of the API, which the SDK uses, has no temperature; ours has one. */
type Body = Anthropic.MessageCreateParamsStreaming & { temperature?: number };
type Block = Anthropic.ContentBlockParam;

const BUDGETS = { minimal: 1024, low: 1024, medium: 2048, high: 8192, xhigh: 8192, max: 8192 };
const EFFORTS = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
} as const;
const LIMIT = 32_000;
const MARK = { cache_control: { type: "ephemeral" } } as const;
const KINDS = [
  { id: "claude-opus-4-6", adaptive: false },
  { id: "claude-opus-5-5", adaptive: true },
];

class Ids {
  readonly #taken = new Set<string>();
  of(id: string): string {
    const clean = /^[\w-]{1,64}$/.test(id) ? id : (id.replace(/[^\w-]/g, "_") || "call").slice(0, 64);
    let free = clean;
    for (let copy = 2; this.#taken.has(free); copy += 1)
      free = `${clean.slice(0, 64 - `_${copy}`.length)}_${copy}`;
    this.#taken.add(free);
    return free;
  }
}

type Shown = Anthropic.TextBlockParam | Anthropic.ImageBlockParam | Anthropic.DocumentBlockParam;
const shown = (content: readonly Content[]): Shown[] =>
  content.flatMap((part): Shown[] => {
    if (part.type === "text") return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
    if (part.type === "file") {
      if (part.mimeType !== "application/pdf") return [{ type: "text", text: toFileText(part) }];
      const source = { type: "base64", media_type: "application/pdf", data: part.data } as const;
      return [{ type: "document", source, title: part.name }];
    }
    if (part.type !== "image") return [];
    const media_type = part.mimeType as Anthropic.Base64ImageSource["media_type"];
    return [{ type: "image", source: { type: "base64", media_type, data: part.data } }];
  });

function messagesOf(history: readonly Message[]): Anthropic.MessageParam[] {
  const made: Anthropic.MessageParam[] = [];
  const ids = new Ids();
  const sent = history.filter(
    (one) => one.role !== "assistant" || !["error", "aborted", "guardRail"].includes(one.stopReason),
  );
  for (const [at, message] of sent.entries()) {
    if (message.role === "toolResult") continue;
    if (message.role === "user") {
      made.push({ role: "user", content: shown(message.content) });
      continue;
    }
    const own = message.provider === "anthropic";
    const until = sent.findIndex((one, index) => index > at && one.role === "assistant");
    const results = sent
      .slice(at + 1, until < 0 ? undefined : until)
      .filter((one) => one.role === "toolResult");
    const content: Block[] = [];
    const answers: Anthropic.ToolResultBlockParam[] = [];
    const open: [string, string][] = [];
    for (const part of message.content) {
      if (part.type === "text") content.push(...(shown([part]) as Block[]));
      if (part.type === "vendor" && own) content.push(part.data as Block);
      if (part.type === "thinking" && own && part.signature !== undefined) {
        const { signature, thinking } = part;
        content.push(
          part.redacted
            ? { type: "redacted_thinking", data: signature }
            : { type: "thinking", thinking, signature },
        );
      }
      if (part.type !== "toolCall") continue;
      const id = ids.of(own ? (part.vendorId ?? part.id) : part.id);
      const name = /^[\w-]{1,64}$/.test(part.name)
        ? part.name
        : part.name.replace(/[^\w-]/g, "_").slice(0, 64);
      const plain = typeof part.arguments === "object" && !Array.isArray(part.arguments);
      content.push({ type: "tool_use", id, name: name || "unknown", input: (plain && part.arguments) || {} });
      open.push([part.id, id]);
    }
    for (const result of results) {
      const place = open.findIndex(([id]) => id === result.toolCallId);
      const [found] = place < 0 ? [] : open.splice(place, 1);
      if (found === undefined) continue;
      answers.push({
        type: "tool_result",
        tool_use_id: found[1],
        content: shown(result.content),
        is_error: result.isError,
      });
    }
    for (const [, tool_use_id] of open)
      answers.push({
        type: "tool_result",
        tool_use_id,
        content: [{ type: "text", text: "No result is known for this call." }],
        is_error: true,
      });
    made.push({ role: "assistant", content });
    if (answers.length > 0) made.push({ role: "user", content: answers });
  }
  return made.filter(({ content }) => content.length > 0);
}

const blocksOf = ({ content }: Anthropic.MessageParam) => content as Block[];

function translated(asked: CorpusRequest, { id, adaptive }: (typeof KINDS)[number]): Body {
  const messages = messagesOf(asked.messages);
  const prompt = messages.findLastIndex(
    (one) => one.role === "user" && !blocksOf(one).some(({ type }) => type === "tool_result"),
  );
  const waits = messages.length - 1 > prompt && messages.at(-1)?.role === "user";
  const begun = messages[prompt + 1];
  const without = waits && begun !== undefined && !blocksOf(begun)[0]?.type.endsWith("thinking");
  const level = asked.thinking === "off" || (!adaptive && without) ? undefined : asked.thinking;
  const room = Math.min(asked.maxTokens ?? LIMIT, LIMIT);
  const { cacheSystem, cacheTools, cacheMessages } = marksOf(asked.cache);
  const system: Anthropic.TextBlockParam[] =
    asked.systemPrompt.trim() === ""
      ? []
      : [{ type: "text", text: asked.systemPrompt, ...(cacheSystem && MARK) }];
  const tools = asked.tools.map(({ name, description, parameters }, at): Anthropic.Tool => {
    const last = cacheTools && at === asked.tools.length - 1;
    return { name, description, input_schema: parameters as Anthropic.Tool.InputSchema, ...(last && MARK) };
  });
  const before = cacheMessages ? messages.at(-2) : undefined;
  const carrier =
    before &&
    blocksOf(before).findLast(({ type }) => ["text", "image", "tool_use", "tool_result"].includes(type));
  if (carrier !== undefined) Object.assign(carrier, MARK);
  const format =
    asked.output?.type === "json-schema"
      ? { type: "json_schema" as const, schema: asked.output.schema }
      : undefined;
  const effort = adaptive && level !== undefined ? EFFORTS[level] : undefined;
  return {
    model: id,
    stream: true,
    max_tokens: adaptive || level === undefined ? room : Math.max(room, BUDGETS[level] + 1024),
    messages,
    ...(system.length > 0 && { system }),
    ...(tools.length > 0 && { tools }),
    ...(level !== undefined && {
      thinking: adaptive
        ? { type: "adaptive", display: "summarized" }
        : { type: "enabled", budget_tokens: BUDGETS[level] },
    }),
    ...((effort !== undefined || format !== undefined) && {
      output_config: { ...(effort && { effort }), ...(format && { format }) },
    }),
    ...(asked.forcedTool !== undefined &&
      !adaptive &&
      level === undefined && { tool_choice: { type: "tool", name: asked.forcedTool } }),
    ...(asked.temperature !== undefined &&
      !adaptive &&
      level === undefined && { temperature: asked.temperature }),
  };
}

function marksOf({ enabled, strategy }: CorpusRequest["cache"]) {
  const all = enabled && strategy === "auto";
  if (all) return { cacheSystem: true, cacheTools: true, cacheMessages: true };
  const none = { cacheSystem: false, cacheTools: false, cacheMessages: false };
  return enabled && typeof strategy === "object" ? strategy : none;
}

/** The SDK writes half a character as an escape, which the API refuses. */
const wellFormed = (value: unknown): unknown => JSON.parse(wellFormedJson(value));
const whole = (text: string) => text.replace(/\p{Surrogate}/gu, "\ufffd");
const wellFormedJson = (value: unknown) =>
  JSON.stringify(value, (_, field: unknown) => {
    if (typeof field === "string") return whole(field);
    if (typeof field !== "object" || field === null || Array.isArray(field)) return field;
    return Object.fromEntries(Object.entries(field).map(([key, inner]) => [whole(key), inner]));
  });

const pool = createHttp();
const signal = new AbortController().signal;
let vendor: ModelServer;
beforeAll(async () => {
  // The SDK prints a warning about a fixed budget.
  vi.spyOn(console, "warn").mockImplementation(() => {});
  vendor = await startModelServer();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await vendor.stop();
  await pool.close();
});

describe.each(KINDS)("every conversation sent to $id [PROV-08.2, PROV-11.1-2]", (kind) => {
  test.each(COMPARED)(
    "$name: the request is the SDK's, and contains nothing that the API rejects",
    async (conversation) => {
      const provider = new AnthropicMessages({ http: pool });
      const ask = (baseUrl: string) =>
        provider.stream(createRequest(anthropic(kind.id, { baseUrl, maxTokens: LIMIT }), conversation), {
          signal,
        });
      const ours = await captureRequest(ask);
      const theirs = await captureRequest((baseURL) =>
        new Anthropic({ apiKey: CORPUS_KEY, baseURL, maxRetries: 0, logLevel: "off" }).messages.create(
          wellFormed(translated(conversation.request, kind)) as Body,
        ),
      );
      expect(ours.body).toEqual(theirs.body);
      expect(ours.url).toBe(theirs.url);
      expect(ours.headers["content-type"]).toBe(theirs.headers["content-type"]);
      // The SDK uses a later version, whose keys are sent as bearer tokens.
      expect(ours.headers).toMatchObject({ "x-api-key": CORPUS_KEY, "anthropic-version": "2023-06-01" });
      await expect(ask(vendor.url)).resolves.toMatchObject({ stopReason: "stop" });
    },
  );
});

describe("history before a thinking block", () => {
  // Signed thinking is bound to system prompt, tools and messages before it, except for cache marks
  // (https://platform.claude.com/docs/build-with-claude/preserved-thinking).
  const unmarked = (value: unknown) =>
    JSON.stringify(value, (key, field: unknown) => (key === "cache_control" ? undefined : field));
  const more: Message[] = [
    { role: "user", content: [{ type: "text", text: "and then?" }], timestamp: 1 },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "c2ln" },
        { type: "text", text: "then" },
      ],
      stopReason: "stop",
      model: "m",
      provider: "anthropic",
      usage: { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
      timestamp: 1,
    },
  ];

  test.each(COMPARED)(
    "$name: keeps its bytes when turns are added, except for cache marks",
    (conversation) => {
      const { request } = conversation;
      const body = (messages: readonly Message[]) =>
        buildAnthropicRequest({
          ...createRequest(anthropic("claude-fable-5-2"), conversation),
          cache: { enabled: true, strategy: "auto" },
          messages,
        });
      // A request is sent only when every call has its result, so a history is extended only there.
      const lengths = [...request.messages.keys()].filter((at) => request.messages[at]?.role === "user");
      const grown = [
        ...lengths.map((at) => request.messages.slice(0, at + 1)),
        [...request.messages, ...more],
      ];
      for (const [at, messages] of grown.slice(0, -1).entries()) {
        if (waitsForResult(messages, request.messages)) continue;
        const before = body(messages);
        const after = body(grown[at + 1]!);
        expect(unmarked([after.system, after.tools])).toBe(unmarked([before.system, before.tools]));
        expect(unmarked(after.messages).startsWith(unmarked(before.messages).slice(0, -1))).toBe(true);
      }
    },
  );

  /** Whether a result of an earlier call arrives only later. */
  function waitsForResult(messages: readonly Message[], all: readonly Message[]): boolean {
    return all.slice(messages.length).some((later, at, rest) => {
      const asked = rest.slice(0, at).some(({ role }) => role === "assistant");
      return later.role === "toolResult" && !asked;
    });
  }
});
