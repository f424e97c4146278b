import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { AnthropicMessages } from "../../src/providers/anthropic-messages/provider.ts";
import { OpenAiCompletions } from "../../src/providers/openai-completions/provider.ts";
import { ProviderRegistry } from "../../src/providers/registry.ts";
import { RecordingsError, type Replayed, replayFolder, tableLine } from "../../src/testing/conform/index.ts";
import type { Recording } from "../../src/testing/conform/recordings.ts";
import { roadOf, roadOfHost } from "../../src/testing/conform/road.ts";
import { sse } from "../providers/play.ts";

describe("which protocol a recording belongs to", () => {
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
    expect(roadOf({ host: "h", uri })).toMatchObject({ protocol, prefix });
  });

  test("the model of an address is decoded", () => {
    const uri = "https://h/model/us.amazon.nova-micro-v1%3A0/converse-stream";
    expect(roadOf({ host: "h", uri })?.model).toBe("us.amazon.nova-micro-v1:0");
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
  ])("%s: none", (uri) => expect(roadOf({ host: "h", uri })).toBeUndefined());

  test("other endpoints belong to their host's protocol only when asked by host", () => {
    const other = (uri: string) => roadOfHost({ host: "h", uri })?.protocol;
    expect(other("https://api.anthropic.com/v1/messages/count_tokens")).toBe("anthropic_messages");
    expect(other("https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/count-tokens")).toBe(
      "bedrock_converse_stream",
    );
    expect(other("https://api.voyageai.com/v1/embeddings")).toBeUndefined();
  });
});

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folderOf(entries: readonly (Partial<Recording> & { readonly bytes?: string | Buffer })[]): string {
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
const ANSWER = sse([chat(null, { content: "Grüße 🌍" }), chat("stop", {}), "[DONE]"], false);
const LIMIT = JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "slow down" } });
const COMPLETIONS = { host: "api.openai.com", uri: "https://api.openai.com/v1/chat/completions" };
const MESSAGES = { host: "api.anthropic.com", uri: "https://api.anthropic.com/v1/messages" };

async function replayed(
  folder: string,
  options: Parameters<typeof replayFolder>[1] = {},
): Promise<Replayed[]> {
  const lines: Replayed[] = [];
  for await (const line of replayFolder(folder, options)) lines.push(line);
  return lines;
}

describe("recordings through the adapters", () => {
  const two = (http: ConstructorParameters<typeof AnthropicMessages>[0]["http"]) =>
    new ProviderRegistry()
      .register(new AnthropicMessages({ http }))
      .register(new OpenAiCompletions({ http }));

  test("a whole answer, a cut one, an error with its delay, and what nobody can read", async () => {
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
      ["r#4", "openai_completions", false, "unreadable"],
      ["r#5", "azure_openai_responses", false, "no-adapter"],
    ]);
    expect(lines[0]).toMatchObject({
      stopReason: "stop",
      message: { content: [{ type: "text", text: "Grüße 🌍" }], provider: "openai" },
      usage: { totalTokens: 0 },
    });
    expect(lines[2]?.error).toMatchObject({ status: 429, retryAfterMs: 7000, type: "rate_limit_error" });
    expect(lines[4]?.error?.message).toBe("no adapter is registered for azure_openai_responses");
    expect(tableLine(lines[0]!)).toMatch(/^ok +openai_completions +stop +0 +r#0 +Grüße 🌍$/);
    expect(tableLine(lines[4]!)).toMatch(/^FAIL /);
    const every = await replayed(folder, { registry: two, everyEndpoint: true });
    expect(every).toHaveLength(6);
  });

  test("a folder that is none is said", async () => {
    const folder = folderOf([]);
    await expect(replayed(join(folder, "none"))).rejects.toThrow(RecordingsError);
    writeFileSync(join(folder, "index.json"), '[{"id": 1}]');
    await expect(replayed(folder)).rejects.toThrow(/no list of recordings[\s\S]*uri/);
  });

  test("npm run conform prints a JSON line for each", () => {
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
      .map((line) => JSON.parse(line) as Replayed);
    expect(lines.map(({ ok }) => ok)).toEqual([true, false]);
    expect(lines[1]?.error).toMatchObject({ fault: "api", status: 500 });
    expect(run(join(folder, "none")).status).toBe(2);
    expect(run("--nonsense").status).toBe(2);
    expect(run("--help").stdout).toContain("left out: counting of tokens, embeddings");
  });
});
