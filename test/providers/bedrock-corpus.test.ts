import {
  type ContentBlock,
  ConverseStreamCommand,
  type ConverseStreamCommandInput,
  type SystemContentBlock,
  type Tool,
  type ToolResultContentBlock,
  type Message as WireMessage,
} from "@aws-sdk/client-bedrock-runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bedrock } from "../../src/config/vendor-models.ts";
import { BedrockConverse } from "../../src/models/bedrock-converse/bedrock-converse.ts";
import type { Content, Message } from "../../src/schema/message.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server/server.ts";
import { createHttp } from "./answer-reader.ts";
import { createSdkClient, encodeEvent, type SdkRequest } from "./bedrock-stream.ts";
import { captureRequest } from "./captured-request.ts";
import { COMPARED, CORPUS_KEY, type CorpusRequest, createRequest, toFileText } from "./corpus/index.ts";

// Every conversation of the corpus, sent by our adapter and by Amazon's SDK: an independent reading of the SDK's types.

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
const POINT = { cachePoint: { type: "default" as const } };
const KINDS = [
  { id: "us.anthropic.claude-sonnet-4-5-20250929-v1:0", family: "budget" },
  { id: "global.anthropic.claude-opus-5-5-v1", family: "adaptive" },
  { id: "us.amazon.nova-2-lite-v1:0", family: "nova" },
] as const;
type Kind = (typeof KINDS)[number];

class Ids {
  readonly #taken = new Set<string>();
  of(id: string, own: boolean): string {
    const fits = own ? /^[\w.:-]{1,64}$/ : /^[\w-]{1,64}$/;
    const clean = fits.test(id) ? id : (id.replace(/[^\w-]/g, "_") || "call").slice(0, 64);
    let free = clean;
    const base = id.replace(/[^\w-]/g, "_") || "call";
    for (let copy = 2; this.#taken.has(free); copy += 1) {
      const first = copy === 2 && base.slice(0, 64) !== clean ? base.slice(0, 64) : undefined;
      free = first ?? `${base.slice(0, 64 - `_${copy}`.length)}_${copy}`;
    }
    this.#taken.add(free);
    return free;
  }
}

/** Letters, digits, single spaces, hyphens, parentheses and brackets; each name once. */
class Names {
  readonly #taken: string[] = [];
  of(file: string): string {
    const plain = file.replace(/\.\w+$/, "").replace(/[^\w \-()[\]]|_/g, " ");
    const base = plain.split(" ").filter(Boolean).join(" ");
    const copies = this.#taken.filter((one) => one === base.toLowerCase()).length;
    this.#taken.push(base.toLowerCase());
    return copies === 0 ? base : `${base} (${copies + 1})`;
  }
}

const shown = (content: readonly Content[], names: Names): (ContentBlock & ToolResultContentBlock)[] => {
  const blocks = content.flatMap((part): (ContentBlock & ToolResultContentBlock)[] => {
    if (part.type === "text") return part.text.trim() === "" ? [] : [{ text: part.text }];
    if (part.type === "file") {
      if (part.mimeType !== "application/pdf") return [{ text: toFileText(part) }];
      const source = { bytes: Buffer.from(part.data, "base64") };
      return [{ document: { format: "pdf", name: names.of(part.name), source } }];
    }
    if (part.type !== "image") return [];
    const format = part.mimeType.replace("image/", "").replace("jpg", "jpeg");
    if (!["png", "jpeg", "gif", "webp"].includes(format))
      return [{ text: `(An image of type ${part.mimeType} is omitted.)` }];
    return [{ image: { format: format as "png", source: { bytes: Buffer.from(part.data, "base64") } } }];
  });
  const isBare = blocks.some(({ document }) => document) && !blocks.some(({ text }) => text !== undefined);
  return isBare ? [...blocks, { text: "(see the attached document)" }] : blocks;
};

function messagesOf(history: readonly Message[]): WireMessage[] {
  const made: WireMessage[] = [];
  const add = (role: "user" | "assistant", content: ContentBlock[]) => {
    const last = made.at(-1);
    if (content.length === 0) return;
    if (last?.role === role) last.content?.push(...content);
    else made.push({ role, content });
  };
  const ids = new Ids();
  const names = new Names();
  const sent = history.filter(
    (one) => one.role !== "assistant" || !["error", "aborted", "guardRail"].includes(one.stopReason),
  );
  for (const [at, message] of sent.entries()) {
    if (message.role === "toolResult") continue;
    if (message.role === "user") {
      add("user", shown(message.content, names));
      continue;
    }
    const own = message.provider === "bedrock";
    const until = sent.findIndex((one, index) => index > at && one.role === "assistant");
    const results = sent
      .slice(at + 1, until < 0 ? undefined : until)
      .filter((one) => one.role === "toolResult");
    const content: ContentBlock[] = [];
    const open: [string, string][] = [];
    for (const part of message.content) {
      if (part.type === "text") content.push(...shown([part], names));
      if (part.type === "thinking" && own && part.signature !== undefined) {
        const { signature, thinking } = part;
        content.push({
          reasoningContent: part.redacted
            ? { redactedContent: Buffer.from(signature, "base64") }
            : { reasoningText: { text: thinking, signature } },
        });
      }
      if (part.type !== "toolCall") continue;
      const toolUseId = ids.of(own ? (part.vendorId ?? part.id) : part.id, own);
      const name = /^[\w-]{1,64}$/.test(part.name)
        ? part.name
        : part.name.replace(/[^\w-]/g, "_").slice(0, 64);
      const plain = typeof part.arguments === "object" && !Array.isArray(part.arguments);
      const input = ((plain && part.arguments) || {}) as Record<string, never>;
      content.push({ toolUse: { toolUseId, name: name || "unknown", input } });
      open.push([part.id, toolUseId]);
    }
    const answers: ContentBlock[] = [];
    for (const result of results) {
      const place = open.findIndex(([id]) => id === result.toolCallId);
      const [found] = place < 0 ? [] : open.splice(place, 1);
      if (found === undefined) continue;
      const said = shown(result.content, names);
      answers.push({
        toolResult: {
          toolUseId: found[1],
          content: said.length === 0 ? [{ text: "(no output)" }] : said,
          status: result.isError ? "error" : "success",
        },
      });
    }
    for (const [, toolUseId] of open)
      answers.push({
        toolResult: { toolUseId, content: [{ text: "No result is known for this call." }], status: "error" },
      });
    add("assistant", content);
    add("user", answers);
  }
  if (made[0]?.role === "assistant")
    made.unshift({ role: "user", content: [{ text: "(The conversation begins.)" }] });
  return made;
}

function translated(asked: CorpusRequest, { family }: Kind): Omit<ConverseStreamCommandInput, "modelId"> {
  const messages = messagesOf(asked.messages);
  const prompt = messages.findLastIndex(
    ({ role, content }) => role === "user" && !content?.some((block) => block.toolResult !== undefined),
  );
  const begun = messages[prompt + 1]?.content?.[0];
  const last = asked.messages.findLast(
    (one) =>
      one.role === "user" ||
      (one.role === "assistant" && !["error", "aborted", "guardRail"].includes(one.stopReason)),
  );
  const waits = messages.at(-1)?.role === "user" && last?.role === "assistant";
  const without = family === "budget" && waits && begun !== undefined && begun.reasoningContent === undefined;
  const level = asked.thinking === "off" || without ? undefined : asked.thinking;
  const { cacheSystem, cacheTools, cacheMessages } = marksOf(asked.cache);
  const system: SystemContentBlock[] = asked.systemPrompt.trim() === "" ? [] : [{ text: asked.systemPrompt }];
  if (cacheSystem && system.length > 0) system.push(POINT);
  const tools = toolsOf(asked, messages);
  if (cacheTools && tools.length > 0 && family !== "nova") tools.push(POINT);
  const before = cacheMessages ? messages.at(-2)?.content : undefined;
  const place = before?.findLastIndex((block) => block.reasoningContent === undefined) ?? -1;
  if (place >= 0) before?.splice(place + 1, 0, POINT);

  const room = Math.min(asked.maxTokens ?? LIMIT, LIMIT);
  const forced =
    asked.forcedTool !== undefined && family !== "adaptive" && (family === "nova" || level === undefined);
  const highest = level === "high" || level === "xhigh" || level === "max";
  const cool =
    asked.temperature !== undefined &&
    family !== "adaptive" &&
    (level === undefined || (family === "nova" && !highest));
  const budget = level !== undefined && family === "budget" ? BUDGETS[level] : undefined;
  const unlimited = family === "nova" && highest;
  const inference = {
    ...(!unlimited && { maxTokens: budget === undefined ? room : Math.max(room, budget + 1024) }),
    ...(cool && { temperature: asked.temperature }),
  };
  const fields = {
    budget: { thinking: { type: "enabled", budget_tokens: budget ?? 0 } },
    adaptive: {
      thinking: { type: "adaptive", display: "summarized" },
      output_config: { effort: EFFORTS[level ?? "low"] },
    },
    nova: {
      reasoningConfig: { type: "enabled", maxReasoningEffort: highest ? "high" : EFFORTS[level ?? "low"] },
    },
  }[family];
  return {
    messages,
    ...(system.length > 0 && { system }),
    ...(Object.keys(inference).length > 0 && { inferenceConfig: inference }),
    ...(tools.length > 0 && {
      toolConfig: { tools, ...(forced && { toolChoice: { tool: { name: asked.forcedTool } } }) },
    }),
    ...(level !== undefined && { additionalModelRequestFields: fields }),
    ...(asked.output?.type === "json-schema" && {
      outputConfig: {
        textFormat: {
          type: "json_schema" as const,
          structure: {
            jsonSchema: {
              schema: JSON.stringify(asked.output.schema),
              name: asked.output.name ?? "final_answer",
            },
          },
        },
      },
    }),
  };
}

function toolsOf(asked: CorpusRequest, messages: readonly WireMessage[]): Tool[] {
  const offered = asked.tools.map(
    ({ name, description, parameters }): Tool => ({
      toolSpec: {
        name,
        ...(description.trim() !== "" && { description }),
        inputSchema: { json: parameters as never },
      },
    }),
  );
  if (offered.length > 0) return offered;
  const called = messages.flatMap(({ content }) => (content ?? []).map((block) => block.toolUse?.name));
  return [...new Set(called.filter((name) => name !== undefined))].map((name) => ({
    toolSpec: {
      name,
      description: "No longer available. Do not call it.",
      inputSchema: { json: { type: "object" } },
    },
  }));
}

function marksOf({ enabled, strategy }: CorpusRequest["cache"]) {
  if (enabled && strategy === "auto") return { cacheSystem: true, cacheTools: true, cacheMessages: true };
  const none = { cacheSystem: false, cacheTools: false, cacheMessages: false };
  return enabled && typeof strategy === "object" ? strategy : none;
}

/** The SDK writes half a character as an escape, which the API refuses. */
const wellFormed = (json: string): unknown =>
  JSON.parse(json, (_, field: unknown) => {
    if (typeof field === "string") return field.replace(/\p{Surrogate}/gu, "\ufffd");
    if (typeof field !== "object" || field === null || Array.isArray(field)) return field;
    return Object.fromEntries(
      Object.entries(field).map(([key, inner]) => [key.replace(/\p{Surrogate}/gu, "\ufffd"), inner]),
    );
  });

async function theirs(
  input: ConverseStreamCommandInput,
): Promise<{ readonly path: string; readonly body: unknown }> {
  let sent: SdkRequest | undefined;
  const client = createSdkClient(
    (request) => {
      sent = request;
      return { bytes: [encodeEvent("messageStart", { role: "assistant" })] };
    },
    { token: { token: CORPUS_KEY }, authSchemePreference: ["httpBearerAuth"] },
  );
  await client.send(new ConverseStreamCommand(input));
  const { path, body } = sent!;
  return { path, body: wellFormed(Buffer.from(body as Uint8Array).toString("utf8")) };
}

const pool = createHttp();
const signal = new AbortController().signal;
let vendor: ModelServer;
beforeAll(async () => {
  vendor = await startModelServer({ apiKey: CORPUS_KEY });
});
afterAll(async () => {
  await vendor.stop();
  await pool.close();
});

describe.each(KINDS)("every conversation sent to $id", (kind) => {
  test.each(COMPARED)(
    "$name: the request is the SDK's, and contains nothing that the API rejects",
    async (conversation) => {
      const provider = new BedrockConverse({ http: pool });
      const ask = (baseUrl: string) =>
        provider.stream(createRequest(bedrock(kind.id, { baseUrl, maxTokens: LIMIT }), conversation), {
          signal,
        });
      const ours = await captureRequest(ask);
      const expected = await theirs({ modelId: kind.id, ...translated(conversation.request, kind) });
      expect(ours.body).toEqual(expected.body);
      expect(ours.url).toBe(expected.path);
      expect(ours.headers).toMatchObject({
        "content-type": "application/json",
        authorization: `Bearer ${CORPUS_KEY}`,
      });
      await expect(ask(vendor.bedrockBaseUrl)).resolves.toMatchObject({ stopReason: "stop" });
    },
  );
});
