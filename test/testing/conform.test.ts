import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import {
  formatRow,
  RecordingsError,
  type ReplayResult,
  replayFolder,
} from "../../src/devkit/conform/index.ts";
import { buildModel } from "../../src/devkit/conform/model-config.ts";
import { Recording } from "../../src/devkit/conform/recordings.ts";
import { findRoute, findRouteByHost } from "../../src/devkit/conform/route.ts";
import { AnthropicMessages } from "../../src/models/anthropic-messages/anthropic-messages.ts";
import { OpenAiCompletions } from "../../src/models/openai-completions/openai-completions.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import type { Protocol } from "../../src/schema/model.ts";
import { encodeSse } from "../providers/answer-reader.ts";
import { thoroughTest } from "../support/test-depth.ts";

describe("the protocol of a recording", () => {
  test.each([
    ["https://api.anthropic.com/v1/messages?beta=true", "anthropic_messages", ""],
    ["https://api.deepseek.com/anthropic/v1/messages", "anthropic_messages", "/anthropic"],
    ["https://gateway.example/claude/messages/", "anthropic_messages", "/claude"],
    ["https://api.openai.com/v1/chat/completions", "openai_completions", "/v1"],
    ["https://api.mistral.ai/v1/chat/completions#stream", "openai_completions", "/v1"],
    ["https://api.z.ai/api/paas/v4/chat/completions", "openai_completions", "/api/paas/v4"],
    [
      "https://r.openai.azure.com/openai/deployments/d/chat/completions",
      "openai_completions",
      "/openai/deployments/d",
    ],
    ["https://api.openai.com/v1/responses", "openai_responses", "/v1"],
    ["https://bedrock-mantle.us-east-1.api.aws/openai/v1/responses", "openai_responses", "/openai/v1"],
    ["https://r.openai.azure.com/openai/v1/responses", "azure_openai_responses", "/openai/v1"],
    ["https://r.services.ai.azure.com/openai/v1/responses", "azure_openai_responses", "/openai/v1"],
    [
      "https://gw.example/openai/responses?api-version=2025-01-01-preview",
      "azure_openai_responses",
      "/openai",
    ],
    [
      "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
      "google_generative_ai",
      "/v1beta",
    ],
    ["https://gw.example/x/v1beta/models/gemini-3-pro:generateContent", "google_generative_ai", "/x/v1beta"],
    [
      "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent",
      "google_vertex",
      "/v1/projects/p/locations/l/publishers/google",
    ],
    ["https://aiplatform.googleapis.com/v1beta1/models/m:streamGenerateContent", "google_vertex", "/v1beta1"],
    ["https://aiplatform.eu.rep.googleapis.com/v1/models/m:streamGenerateContent", "google_vertex", "/v1"],
    [
      "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-micro-v1%3A0/converse-stream",
      "bedrock_converse_stream",
      "",
    ],
  ])("%s: %s", (uri, protocol, prefix) => {
    expect(findRoute({ host: "h", uri })).toMatchObject({ protocol, prefix });
  });

  test("the model of an address is decoded", () => {
    const uri = "https://h/model/us.amazon.nova-micro-v1%3A0/converse-stream";
    expect(findRoute({ host: "h", uri })?.model).toBe("us.amazon.nova-micro-v1:0");
  });

  test.each([
    "https://api.anthropic.com/v1/messages/count_tokens",
    "https://api.anthropic.com/v1/messages/batches",
    "https://api.openai.com/v1/embeddings",
    "https://api.openai.com/v1/completions",
    "https://api.openai.com/v1/responses/compact",
    "https://generativelanguage.googleapis.com/v1beta/models/m:batchEmbedContents",
    "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/count-tokens",
    "https://mcp.deepwiki.com/mcp",
    "https://api.cohere.com/v2/chat",
    "http://[broken",
  ])("%s: none", (uri) => expect(findRoute({ host: "h", uri })).toBeUndefined());

  test.each([
    ["https://api.anthropic.com/v1/messages/count_tokens", "anthropic_messages"],
    ["https://api.openai.com/v1/embeddings", "openai_responses"],
    ["https://generativelanguage.googleapis.com/v1beta/models/m:batchEmbedContents", "google_generative_ai"],
    ["https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/l/endpoints", "google_vertex"],
    ["https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/count-tokens", "bedrock_converse_stream"],
    ["https://r.openai.azure.com/openai/files", "azure_openai_responses"],
    ["https://api.cerebras.ai/v1/models", "openai_completions"],
    ["https://openrouter.ai/api/v1/models", "openai_completions"],
    ["https://api.voyageai.com/v1/embeddings", undefined],
    ["https://notgroq.com/v1/models", undefined],
  ])("%s, by its host: %s", (uri, protocol) => {
    expect(findRouteByHost({ host: "h", uri })?.protocol).toBe(protocol);
  });
});

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Entry = Readonly<Record<string, unknown>> & { readonly bytes?: string | Buffer };

function folderOf(entries: readonly Entry[]): string {
  const folder = mkdtempSync(join(tmpdir(), "conform-"));
  made.push(folder);
  const index = entries.map(({ bytes, ...entry }, at) => {
    if (bytes !== undefined) writeFileSync(join(folder, `${at}.bin`), bytes);
    return { id: `r#${at}`, status: 200, ct: "text/event-stream", kind: "sse", file: `${at}.bin`, ...entry };
  });
  writeFileSync(join(folder, "index.json"), JSON.stringify(index));
  return folder;
}

const chat = (finish: string | null, delta: object) => ({
  id: "c",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const ANSWER = encodeSse([chat(null, { content: "Grüße 🌍" }), chat("stop", {}), "[DONE]"], false);
const LIMIT = JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "slow down" } });
const COMPLETIONS = { host: "api.openai.com", uri: "https://api.openai.com/v1/chat/completions" };
const MESSAGES = { host: "api.anthropic.com", uri: "https://api.anthropic.com/v1/messages" };

async function replayed(
  folder: string,
  options: Parameters<typeof replayFolder>[1] = {},
): Promise<ReplayResult[]> {
  const lines: ReplayResult[] = [];
  for await (const line of replayFolder(folder, options)) lines.push(line);
  return lines;
}

describe("recordings through the adapters", () => {
  const two = (http: ConstructorParameters<typeof AnthropicMessages>[0]["http"]) =>
    new ProviderRegistry()
      .register(new AnthropicMessages({ http }))
      .register(new OpenAiCompletions({ http }));

  test("a whole answer, a truncated one, an error with its delay, and unreadable data", async () => {
    const json = { status: 429, ct: "application/json", kind: "json", headers: { "retry-after": "7" } };
    const folder = folderOf([
      { ...COMPLETIONS, bytes: ANSWER },
      { ...COMPLETIONS, bytes: ANSWER.subarray(0, 60) },
      { ...MESSAGES, ...json, bytes: LIMIT },
      { host: "api.openai.com", uri: "https://api.openai.com/v1/embeddings", ...json, bytes: LIMIT },
      { ...COMPLETIONS, file: "gone.bin" },
      { host: "r.openai.azure.com", uri: "https://r.openai.azure.com/openai/v1/responses", bytes: "" },
    ]);
    const lines = await replayed(folder, { registry: two });
    expect(lines.map(({ id, protocol, ok, error }) => [id, protocol, ok, error?.fault])).toEqual([
      ["r#0", "openai_completions", true, undefined],
      ["r#1", "openai_completions", false, "network"],
      ["r#2", "anthropic_messages", false, "rate-limited"],
      ["r#3", "openai_responses", false, "no-adapter"],
      ["r#4", "openai_completions", false, "unreadable"],
      ["r#5", "azure_openai_responses", false, "no-adapter"],
    ]);
    expect(lines[0]).toMatchObject({
      stopReason: "stop",
      message: { content: [{ type: "text", text: "Grüße 🌍" }], provider: "openai" },
      usage: { totalTokens: 0 },
    });
    expect(lines[2]?.error).toMatchObject({ status: 429, retryAfterMs: 7000, type: "rate_limit_error" });
    expect(lines[5]?.error?.message).toBe("no adapter is registered for azure_openai_responses");
    expect(formatRow(lines[0]!)).toMatch(/^ok +openai_completions +stop +0 +r#0 +Grüße 🌍$/);
    expect(formatRow(lines[5]!)).toMatch(/^FAIL /);
    const generating = await replayed(folder, { registry: two, generatingOnly: true });
    expect(generating.map(({ id }) => id)).toEqual(["r#0", "r#1", "r#2", "r#4", "r#5"]);
  });

  test("every recording has its line, whatever it contains", async () => {
    const whole = { id: "c", object: "chat.completion", choices: [{ index: 0, message: { content: "Hi" } }] };
    const json = { status: 200, ct: "application/json" };
    const gzip = { "Content-Encoding": "gzip", "Content-Length": "7", "Transfer-Encoding": "chunked" };
    const host = (uri: string) => ({ host: "h", uri });
    const cut = gzipSync(ANSWER).subarray(0, 40);
    const rows: [Record<string, unknown>, string | true][] = [
      [{ ...COMPLETIONS, ...json, bytes: JSON.stringify(whole) }, "api"],
      [{ ...COMPLETIONS, ct: "", bytes: ANSWER }, true],
      [{ ...COMPLETIONS, ct: null, status: null, headers: null, bytes: ANSWER }, true],
      [{ ...COMPLETIONS, headers: gzip, bytes: gzipSync(ANSWER) }, true],
      [{ ...COMPLETIONS, headers: gzip, bytes: ANSWER }, true],
      [{ ...COMPLETIONS, headers: gzip, bytes: cut }, "network"],
      [{ ...COMPLETIONS, headers: { "content-encoding": ["br"] }, bytes: brotliCompressSync(ANSWER) }, true],
      [
        {
          ...COMPLETIONS,
          headers: { "b\nad": "x", bad: "a\r\nb", n: 7, "x-list": ["a", "b"] },
          bytes: ANSWER,
        },
        true,
      ],
      [{ ...COMPLETIONS, id: "again", bytes: ANSWER }, true],
      [{ ...COMPLETIONS, id: "again", bytes: "" }, "network"],
      [{ ...COMPLETIONS, file: "gone.bin" }, "unreadable"],
      [{ ...COMPLETIONS, file: undefined }, "unreadable"],
      [{ ...COMPLETIONS, status: 204, bytes: "" }, "network"],
      [{ ...COMPLETIONS, status: 302, headers: { location: "/x" }, bytes: "" }, "api"],
      [{ ...host("https://api.openai.com/v1/embeddings"), ...json, bytes: '{"data": []}' }, "api"],
      [
        {
          ...host("https://api.anthropic.com/v1/messages/count_tokens"),
          ...json,
          bytes: '{"input_tokens": 9}',
        },
        "api",
      ],
      [
        {
          ...host("https://generativelanguage.googleapis.com/v1beta/models/m:batchEmbedContents"),
          ...json,
          bytes: "{}",
        },
        "api",
      ],
      [
        {
          ...host("https://bedrock-runtime.us-east-1.amazonaws.com/model/m/count-tokens"),
          ...json,
          bytes: "{}",
        },
        "api",
      ],
    ];
    const lines = await replayed(folderOf(rows.map(([recording]) => recording)));
    expect(lines.map(({ ok, error }) => (ok ? true : error?.fault))).toEqual(rows.map(([, made]) => made));
    expect(new Set(lines.map(({ file }) => file)).size).toBe(rows.length);
    expect(lines[3]).toMatchObject({ message: { content: [{ type: "text", text: "Grüße 🌍" }] } });
  });

  test("an adapter that crashes is a line too", async () => {
    const crash = (http: ConstructorParameters<typeof AnthropicMessages>[0]["http"]) => {
      const adapter = new OpenAiCompletions({ http });
      adapter.stream = async () => {
        throw new TypeError("undefined is no function");
      };
      return new ProviderRegistry().register(adapter);
    };
    const [line] = await replayed(folderOf([{ ...COMPLETIONS, bytes: ANSWER }]), { registry: crash });
    expect(line).toMatchObject({
      ok: false,
      error: { fault: "crashed", message: "TypeError: undefined is no function" },
    });
    expect(formatRow(line!)).toMatch(/^FAIL /);
  });

  test("messages bear the name of the adapter, or of the vendor that speaks chat completions [PROV-04.2]", async () => {
    const paths: [string, string, string][] = [
      ["https://api.openai.com/v1/responses", "openai_responses", "openai_responses"],
      ["https://r.openai.azure.com/openai/v1/responses", "azure_openai_responses", "azure_openai"],
      [
        "https://aiplatform.googleapis.com/v1/models/m:streamGenerateContent",
        "google_vertex",
        "google_vertex",
      ],
      ["https://api.groq.com/openai/v1/chat/completions", "openai_completions", "groq"],
      ["https://gw.example/v1/chat/completions", "openai_completions", "local"],
    ];
    for (const [uri, protocol, provider] of paths) {
      const recording = Recording.parse({ id: "r", uri, host: "h", file: "f" });
      const road = findRoute(recording)!;
      expect(buildModel("http://127.0.0.1:9", recording, road)).toMatchObject({ api: protocol, provider });
      if (provider === protocol || protocol === "azure_openai_responses")
        expect(ProviderRegistry.createDefault().get(protocol as Protocol)?.id).toBe(provider);
    }
  });

  test("a path that is not a folder is reported", async () => {
    const folder = folderOf([]);
    await expect(replayed(join(folder, "none"))).rejects.toThrow(RecordingsError);
    writeFileSync(join(folder, "index.json"), '[{"id": 1}]');
    await expect(replayed(folder)).rejects.toThrow(/not a list of recordings[\s\S]*uri/);
  });

  thoroughTest("npm run conform prints a JSON line for each", () => {
    const folder = folderOf([
      { ...COMPLETIONS, bytes: ANSWER },
      { ...MESSAGES, status: 500, ct: "", bytes: "" },
    ]);
    const run = (...args: string[]) =>
      spawnSync(process.execPath, ["scripts/conform.mjs", ...args], { encoding: "utf8" });
    const { stdout, status } = run(folder, "--json");
    expect(status).toBe(0);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as ReplayResult);
    expect(lines.map(({ ok }) => ok)).toEqual([true, false]);
    expect(lines[1]?.error).toMatchObject({ fault: "api", status: 500 });
    expect(run(join(folder, "none")).status).toBe(2);
    expect(run("--nonsense").status).toBe(2);
    expect(run("--help").stdout).toContain("other endpoints are included too (token counting, embeddings");
  });
});
