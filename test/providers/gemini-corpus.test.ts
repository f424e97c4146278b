import {
  type Content as Contents,
  FunctionCallingConfigMode,
  type GenerateContentConfig,
  type Part,
  ThinkingLevel,
} from "@google/genai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { google } from "../../src/config/vendor-models.ts";
import { GoogleGenerativeAi } from "../../src/models/google-generative-ai/google-generative-ai.ts";
import type { Content, Message } from "../../src/schema/message.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server/server.ts";
import { createHttp } from "./answer-reader.ts";
import { captureRequest } from "./captured-request.ts";
import { COMPARED, CORPUS_KEY, type CorpusRequest, createRequest, toFileText } from "./corpus/index.ts";
import { createSdk } from "./gemini-sdk.ts";

// Every conversation of the corpus, sent by our adapter and by the SDK: an independent reading of the SDK's types.

const MODEL = "gemini-3-flash-preview";
const LEVELS = {
  off: ThinkingLevel.MINIMAL,
  minimal: ThinkingLevel.MINIMAL,
  low: ThinkingLevel.LOW,
  medium: ThinkingLevel.MEDIUM,
  high: ThinkingLevel.HIGH,
  xhigh: ThinkingLevel.HIGH,
  max: ThinkingLevel.HIGH,
};
const UNSIGNED = "skip_thought_signature_validator";

const isPdf = (part: Content) => part.type === "file" && part.mimeType === "application/pdf";
const inline = (part: Extract<Content, { type: "image" | "file" }>) => ({
  inlineData: { mimeType: part.mimeType, data: part.data },
});
const shown = (content: readonly Content[]): Part[] =>
  content.flatMap((part): Part[] => {
    if (part.type === "text") return part.text.trim() === "" ? [] : [{ text: part.text }];
    if (part.type === "file" && !isPdf(part)) return [{ text: toFileText(part) }];
    return part.type === "image" || part.type === "file" ? [inline(part)] : [];
  });
const given = (id: string) => !/^(google|vertex)-fc-\d+$/.test(id);
const base64 = (token: string | undefined) => token !== undefined && /^[\w+/-]+=*$/.test(token);

function response(name: string, id: string | undefined, content: readonly Content[], isError: boolean): Part {
  const parts = shown(content).flatMap(({ inlineData }) =>
    inlineData === undefined ? [] : [{ inlineData }],
  );
  const texts = shown(content).flatMap((part) => (part.text === undefined ? [] : [part.text]));
  const said =
    texts.length === 0 && parts.length > 0
      ? content.some(isPdf)
        ? "(see the attached file)"
        : "(see the attached image)"
      : texts.join("\n");
  return {
    functionResponse: {
      ...(id !== undefined && { id }),
      name,
      response: isError ? { error: said } : { result: said },
      ...(parts.length > 0 && { parts }),
    },
  };
}

function contentsOf(history: readonly Message[]): Contents[] {
  const made: Contents[] = [];
  const taken = new Set<string>();
  const sent = history.filter(
    (one) => one.role !== "assistant" || !["error", "aborted", "guardRail"].includes(one.stopReason),
  );
  for (const [at, message] of sent.entries()) {
    if (message.role === "toolResult") continue;
    if (message.role === "user") {
      made.push({ role: "user", parts: shown(message.content) });
      continue;
    }
    const own = message.provider === "google";
    const until = sent.findIndex((one, index) => index > at && one.role === "assistant");
    const results = sent
      .slice(at + 1, until < 0 ? undefined : until)
      .filter((one) => one.role === "toolResult");
    const parts: Part[] = [];
    const answers: Part[] = [];
    let calls = 0;
    for (const part of message.content) {
      if (part.type === "vendor" && own) parts.push(part.data as Part);
      const token = "signature" in part && own && base64(part.signature) ? part.signature : undefined;
      const signed = token === undefined ? {} : { thoughtSignature: token };
      if (part.type === "text" && (part.text.trim() !== "" || token !== undefined))
        parts.push({ text: part.text, ...signed });
      if (part.type === "thinking" && own && (part.signature === undefined || token !== undefined))
        if (part.thinking !== "" || token !== undefined)
          parts.push({ text: part.thinking, thought: true, ...signed });
      if (part.type !== "toolCall") continue;
      let id = own ? (part.vendorId ?? part.id) : part.id;
      for (let copy = 2; taken.has(id) || id === ""; copy += 1) id = `${part.id || "call"}_${copy}`;
      taken.add(id);
      const wire = own && given(part.id) ? { id } : {};
      const name = /^[\w-]{1,64}$/.test(part.name)
        ? part.name
        : part.name.replace(/[^\w-]/g, "_").slice(0, 64);
      const plain = typeof part.arguments === "object" && !Array.isArray(part.arguments);
      const args = ((plain && part.arguments) || {}) as Record<string, unknown>;
      calls += 1;
      const token3 = calls === 1 && token === undefined ? { thoughtSignature: UNSIGNED } : signed;
      parts.push({ functionCall: { ...wire, name: name || "unknown", args }, ...token3 });
      const place = results.findIndex((one) => one.toolCallId === part.id);
      const [found] = place < 0 ? [] : results.splice(place, 1);
      const none: Content[] = [{ type: "text", text: "No result is known for this call." }];
      answers.push(response(name || "unknown", wire.id, found?.content ?? none, found?.isError ?? true));
    }
    made.push({ role: "model", parts }, { role: "user", parts: answers });
  }
  return made.filter(({ parts = [] }) => parts.length > 0);
}

function configOf(asked: CorpusRequest): GenerateContentConfig {
  const { output, forcedTool, temperature, thinking } = asked;
  const declared = asked.tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: parameters,
  }));
  const allowed = { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: [forcedTool ?? ""] };
  return {
    maxOutputTokens: Math.min(asked.maxTokens ?? 65_536, 65_536),
    thinkingConfig: { ...(thinking !== "off" && { includeThoughts: true }), thinkingLevel: LEVELS[thinking] },
    ...(asked.systemPrompt.trim() !== "" && { systemInstruction: asked.systemPrompt }),
    ...(declared.length > 0 && { tools: [{ functionDeclarations: declared }] }),
    ...(forcedTool !== undefined && { toolConfig: { functionCallingConfig: allowed } }),
    ...(temperature !== undefined && { temperature }),
    ...(output !== undefined && { responseMimeType: "application/json" }),
    ...(output?.type === "json-schema" && { responseJsonSchema: output.schema }),
  };
}

/** The SDK writes half a character as an escape, which not every JSON reader accepts. */
const whole = (text: string) => text.replace(/\p{Surrogate}/gu, "\ufffd");
const wellFormed = (value: unknown): unknown => {
  if (typeof value === "string") return whole(value);
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [whole(key), wellFormed(inner)]));
};

const pool = createHttp();
const provider = new GoogleGenerativeAi({ http: pool });
const signal = new AbortController().signal;
let vendor: ModelServer;
beforeAll(async () => {
  vendor = await startModelServer();
});
afterAll(async () => {
  await vendor.stop();
  await pool.close();
});

describe("every conversation sent to Gemini", () => {
  test.each(COMPARED)(
    "$name: the request is the SDK's, and contains nothing that the API rejects [PROV-20.1-4]",
    async (one) => {
      const ask = (baseUrl: string) =>
        provider.stream(createRequest(google(MODEL, { baseUrl }), one), { signal });
      const ours = await captureRequest(ask);
      const theirs = await captureRequest(async (baseUrl) => {
        const { models } = createSdk("google", { apiKey: CORPUS_KEY, httpOptions: { baseUrl } });
        const config = configOf(one.request);
        return await models.generateContentStream({
          model: MODEL,
          contents: contentsOf(one.request.messages),
          config,
        });
      });
      expect(ours.body).toEqual(wellFormed(theirs.body));
      expect([ours.url, ours.headers["x-goog-api-key"]]).toEqual([
        theirs.url,
        theirs.headers["x-goog-api-key"],
      ]);
      const refused = await ask(vendor.googleBaseUrl).then(
        () => undefined,
        (error: Error) => error.message,
      );
      // The corpus has invented signatures, which the scripted vendor recognises as not its own.
      expect(refused ?? "signature is not valid").toContain("signature is not valid");
    },
  );
});
