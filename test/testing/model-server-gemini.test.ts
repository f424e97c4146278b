import { type Content, type GenerateContentResponse, GoogleGenAI, type Part } from "@google/genai";
import { describe, expect, test } from "vitest";
import type { Reply } from "../../src/testing/model-server/reply.ts";
import type { ModelServer } from "../../src/testing/model-server/server.ts";
import { catchFailure, startServer } from "./vendor-clients.ts";

const REPLY: Reply = {
  thinking: "The user greets me. 😀",
  text: "Hello, wörld 😀. I look at both files.",
  toolCalls: [
    { name: "read_file", arguments: { path: "a.txt", deep: [1, { two: "ü" }] } },
    { id: "mine", name: "list_files" },
  ],
  usage: { input: 120, output: 45, reasoning: 9, cacheRead: 1000 },
  chunkSize: 7,
};

const MODEL = "gemini-3-test";
const SIGNED = expect.stringMatching(/^[A-Za-z0-9]{88}$/);
const HI: Content = { role: "user", parts: [{ text: "hello" }] };

function client(server: ModelServer, vertexai: boolean): GoogleGenAI {
  const httpOptions = { baseUrl: server.googleBaseUrl };
  if (!vertexai) return new GoogleGenAI({ apiKey: "k-secret", vertexai, httpOptions });
  const authClient = { getRequestHeaders: async () => new Headers({ authorization: "Bearer t" }) };
  const googleAuthOptions = { authClient: authClient as never };
  return new GoogleGenAI({ project: "p", location: "l", vertexai, httpOptions, googleAuthOptions });
}

async function streamed(server: ModelServer, contents: Content[] = [HI], vertexai = false, model = MODEL) {
  const chunks: GenerateContentResponse[] = [];
  const { models } = client(server, vertexai);
  for await (const chunk of await models.generateContentStream({ model, contents })) chunks.push(chunk);
  const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
  return { parts, last: chunks.at(-1)! };
}

const joined = (parts: readonly Part[], thought: boolean) =>
  parts.flatMap((part) => ((part.thought ?? false) === thought ? [part.text ?? ""] : [])).join("");

const USAGE = {
  promptTokenCount: 1120,
  candidatesTokenCount: 36,
  thoughtsTokenCount: 9,
  cachedContentTokenCount: 1000,
  totalTokenCount: 1165,
};
const CALLS = [
  {
    functionCall: { name: "read_file", args: { path: "a.txt", deep: [1, { two: "ü" }] } },
    thoughtSignature: SIGNED,
  },
  { functionCall: { id: "mine", name: "list_files", args: {} } },
];

describe("the vendor's SDK reads the script from the Gemini stream", () => {
  test.each([
    ["Gemini", false],
    ["Vertex", true],
  ])("of %s: content, usage and finish reason", async (_name, vertexai) => {
    const server = await startServer({ replies: [REPLY] });
    const { parts, last } = await streamed(server, [HI], vertexai);
    expect(joined(parts, true)).toBe(REPLY.thinking);
    expect(joined(parts, false)).toBe(REPLY.text);
    expect(parts.filter((part) => part.functionCall !== undefined)).toEqual(CALLS);
    expect(last).toMatchObject({
      candidates: [{ finishReason: "STOP" }],
      usageMetadata: USAGE,
      modelVersion: MODEL,
    });
    expect(server.requests[0]).toMatchObject({
      protocol: vertexai ? "google_vertex" : "google_generative_ai",
      model: MODEL,
      stream: true,
      turn: 0,
    });
    expect(JSON.stringify(server.requests[0]?.headers)).not.toContain("k-secret");
  });

  test("the same without streaming", async () => {
    const server = await startServer({ replies: [{ ...REPLY, thinking: undefined }] });
    const answer = await client(server, false).models.generateContent({ model: MODEL, contents: [HI] });
    expect(answer.candidates?.[0]?.content?.parts).toEqual([{ text: REPLY.text }, ...CALLS]);
  });

  test("an answer without calls is signed at its end", async () => {
    const { parts } = await streamed(await startServer({ replies: [{ text: "hi" }] }));
    expect(parts).toEqual([{ text: "hi" }, { text: "", thoughtSignature: SIGNED }]);
  });

  test("errors have Google's form, with a key and with a token", async () => {
    const server = await startServer({ apiKey: "other", replies: [{ text: "hi" }] });
    expect(await catchFailure(streamed(server))).toMatchObject({
      status: 400,
      message: expect.stringContaining("API_KEY_INVALID"),
    });
    expect(await catchFailure(streamed(server, [HI], true))).toMatchObject({
      status: 401,
      message: expect.stringContaining("UNAUTHENTICATED"),
    });
    server.script({ faults: [{ fault: "overloaded" }] });
    expect(await catchFailure(streamed(server))).toMatchObject({ status: 503 });
  });
});

const model = (...parts: Part[]): Content => ({ role: "model", parts });
const user = (...parts: Part[]): Content => ({ role: "user", parts });
const call = (thoughtSignature?: string): Part => ({
  functionCall: { name: "t", args: { a: 1 } },
  ...(thoughtSignature !== undefined && { thoughtSignature }),
});
const response: Part = { functionResponse: { name: "t", response: { result: "1" } } };
const ANYWAY = "skip_thought_signature_validator";

describe("requests that Google would reject are rejected", () => {
  test.each<[string, Content[], RegExp]>([
    [
      "a call that is not signed",
      [HI, model(call()), user(response)],
      /missing a thought_signature.*default_api:t/,
    ],
    [
      "a call that somebody else signed",
      [HI, model(call("YQ==")), user(response)],
      /Thought signature is not valid/,
    ],
    [
      "a call without its result",
      [HI, model(call(ANYWAY)), user({ text: "x" })],
      /number of function response parts/,
    ],
    ["a call that waits at the end", [HI, model(call(ANYWAY))], /number of function response parts/],
    ["a result without its call", [HI, user(response)], /immediately after a function call turn/],
    ["a call at the beginning", [model(call(ANYWAY)), user(response)], /immediately after a user turn/],
    ["contents without parts", [HI, model()], /parts must not be empty/],
  ])("%s", async (_name, contents, message) => {
    const server = await startServer({ replies: [] });
    expect(await catchFailure(streamed(server, contents))).toMatchObject({
      status: 400,
      message: expect.stringMatching(message),
    });
  });

  test("calls before the user's last message, or to an older model, need no signature", async () => {
    const server = await startServer({});
    await streamed(server, [HI, model(call()), user(response), model({ text: "so" }), HI]);
    await streamed(server, [HI, model(call()), user(response)], false, "gemini-2.5-flash");
    await streamed(server, [HI, model(call(ANYWAY)), user(response)]);
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(["answered", "answered", "answered"]);
  });

  test("the server's own answer is accepted back", async () => {
    const server = await startServer({ replies: [REPLY, { text: "over" }] });
    const { parts } = await streamed(server);
    const responses = ["read_file", "list_files"].map((name) => ({
      functionResponse: { name, response: { result: "fine" } },
    }));
    const { parts: second } = await streamed(server, [HI, model(...parts), user(...responses)]);
    expect(joined(second, false)).toBe("over");
    expect(server.requests.map(({ turn }) => turn)).toEqual([0, 1]);
  });
});
