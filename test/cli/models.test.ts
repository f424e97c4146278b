import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LoopbackServer } from "../providers/loopback-server.ts";
import { runHoldfast } from "./terminal.ts";

let folder: string;
let env: NodeJS.ProcessEnv;
const KEY = "test-key-0123456789";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-models-cli-"));
  env = { HOLDFAST_HOME: folder, ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("models", () => {
  test("are listed with sizes, prices, abilities and the date", async () => {
    const { code, out } = await runHoldfast(["models", "opus-5-5", "--provider", "anthropic"], env);
    expect(out).toMatch(/^MODEL +CONTEXT +ANSWER +IN +OUT +READ +WRITE +THINKING +TAKES +AS OF$/m);
    expect(out).toMatch(
      /^anthropic\/claude-opus-5-5 +1,000,000 +128,000 +4 +20 +0\.2 +5 +adaptive +tools images pdf schema +2026-09-23$/m,
    );
    expect(out.trim().split("\n")).toHaveLength(2);
    expect(code).toBe(0);
  });

  test("of the user's own file are listed, as JSON too", async () => {
    await writeFile(join(folder, "models.toml"), '[models."local/mine"]\ncontext_window = 9\n');
    const { out } = await runHoldfast(["models", "local/*", "--json"], env);
    expect(JSON.parse(out)).toMatchObject({ type: "model", name: "local/mine", contextWindow: 9 });
  });

  test("unknown models print nothing and exit with 1, and an unknown provider is bad usage", async () => {
    expect(await runHoldfast(["models", "nothing"], env)).toMatchObject({ code: 1, out: "" });
    expect((await runHoldfast(["models", "--provider", "antropic"], env)).err).toContain(
      'Did you mean "anthropic"?',
    );
    const { code, err } = await runHoldfast(["models", "--provider", "x"], env);
    expect(err).toContain("anthropic, bedrock, google");
    expect(code).toBe(2);
  });
});

describe("doctor --vendor", () => {
  let vendor: LoopbackServer | undefined;
  afterEach(() => vendor?.stop());

  type Answer = { status: number; type?: string; body: string; headers?: Record<string, string> };
  const ask = async (answer: Answer, more: readonly string[] = [], model = "anthropic/claude-opus-5") => {
    vendor = await LoopbackServer.start((response) => {
      response.writeHead(answer.status, {
        "content-type": answer.type ?? "application/json",
        ...answer.headers,
      });
      response.end(answer.body);
    });
    const url = model.startsWith("openai") ? `${vendor.url}/v1` : vendor.url;
    return await runHoldfast(["doctor", "--vendor", model, "--base-url", url, "--json", ...more], env);
  };
  const refusal = (type: string, message: string) =>
    JSON.stringify({ type: "error", error: { type, message } });
  const DONE = [
    { type: "message_start", message: { id: "m", usage: { input_tokens: 9, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "OK." } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
    { type: "message_stop" },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");

  test("makes the smallest request and states its cost", async () => {
    const { code, out } = await ask({ status: 200, type: "text/event-stream", body: DONE });
    expect(JSON.parse(out)).toMatchObject({
      type: "vendor",
      model: "anthropic/claude-opus-5",
      protocol: "anthropic_messages",
      address: vendor?.url,
      key: "ANTHROPIC_API_KEY",
      ok: true,
      answer: "answered",
      usage: { input: 9, output: 3 },
    });
    expect(code).toBe(0);
    const [asked] = vendor?.received ?? [];
    expect(JSON.parse(asked?.body ?? "")).toMatchObject({ model: "claude-opus-5", max_tokens: 16 });
    expect(asked?.headers["x-api-key"]).toBe(KEY);
  });

  test.each<[string, Answer, string, RegExp]>([
    [
      "a key that is refused",
      { status: 401, body: refusal("authentication_error", `bad ${KEY}`) },
      "key-rejected",
      /ANTHROPIC_API_KEY/,
    ],
    [
      "a model that is not there",
      { status: 404, body: refusal("not_found_error", "model: claude-opus-5") },
      "model-unknown",
      /check the name claude-opus-5/,
    ],
    ["a wrong path", { status: 404, body: '{"detail":"Not Found"}' }, "not-a-vendor", /base URL/],
    [
      "a page of a proxy",
      { status: 200, type: "text/html", body: "<html>Log in</html>" },
      "not-a-vendor",
      /proxy/,
    ],
    [
      "a redirect",
      { status: 302, body: "", headers: { location: "https://login.example" } },
      "not-a-vendor",
      /base URL/,
    ],
    [
      "an account that is empty",
      { status: 400, body: refusal("invalid_request_error", "Your credit balance is too low") },
      "quota",
      /billing/,
    ],
    [
      "too many questions",
      { status: 429, body: refusal("rate_limit_error", "slow down"), headers: { "retry-after": "7" } },
      "rate-limited",
      /in 7 s/,
    ],
    [
      "a vendor in trouble",
      { status: 500, body: refusal("api_error", "oops") },
      "vendor-error",
      /status page/,
    ],
    [
      "a question that is not taken",
      { status: 400, body: refusal("invalid_request_error", "max_tokens: too small") },
      "request-rejected",
      /see its message/,
    ],
    [
      "half an answer",
      { status: 200, type: "text/event-stream", body: DONE.slice(0, 200) },
      "connection-broken",
      /did not end/,
    ],
  ])("explains %s", async (_, reply, answer, advice) => {
    const { code, out, err } = await ask(reply);
    expect(JSON.parse(out)).toMatchObject({ ok: false, answer, advice: expect.stringMatching(advice) });
    expect(code).toBe(1);
    expect(out + err).not.toContain(KEY);
  });

  test("explains silence, a closed port and a missing key", async () => {
    vendor = await LoopbackServer.start(() => undefined);
    const at = ["doctor", "--vendor", "openai", "--json", "--base-url"];
    const silent = await runHoldfast([...at, vendor.url, "--timeout", "0.3"], env);
    expect(JSON.parse(silent.out)).toMatchObject({ answer: "timeout", details: "no answer within 0.3 s" });
    await vendor.stop();
    const closed = await runHoldfast([...at, vendor.url], env);
    expect(JSON.parse(closed.out)).toMatchObject({
      answer: "unreachable",
      details: expect.stringContaining("ECONNREFUSED"),
    });
    vendor = undefined;
    const keyless = await runHoldfast([...at, "http://127.0.0.1:1"], { HOLDFAST_HOME: folder });
    expect(JSON.parse(keyless.out)).toMatchObject({
      answer: "key-missing",
      advice: expect.stringContaining("set OPENAI_API_KEY"),
    });
  });

  test("displays the request, the address, the response and advice", async () => {
    vendor = await LoopbackServer.start((response) =>
      response.writeHead(401).end(refusal("authentication_error", "no")),
    );
    const { out } = await runHoldfast(["doctor", "--vendor", "anthropic", "--base-url", vendor.url], env);
    expect(out).toMatch(/model +anthropic\/claude-haiku-5-5 by anthropic_messages\n +address +http:\/\/127/);
    expect(out).toMatch(
      /key +in ANTHROPIC_API_KEY\n +response +key-rejected, after \d+ ms: .*\n +advice +check/,
    );
  });

  test("requires a known provider, and a deployment for a vendor whose models only a deployment identifies", async () => {
    expect(await runHoldfast(["doctor", "--vendor", "antropic"], env)).toMatchObject({
      code: 2,
      err: expect.stringContaining('Did you mean "anthropic"?'),
    });
    expect((await runHoldfast(["doctor", "--vendor", "azure"], env)).err).toContain("--vendor azure/ID");
  });

  test("rejects an invalid address, and vendor options without a vendor", async () => {
    const vendor = ["doctor", "--vendor", "anthropic", "--base-url"];
    for (const url of ["nowhere", "ftp://127.0.0.1"]) {
      expect(await runHoldfast([...vendor, url], env)).toMatchObject({
        code: 2,
        err: expect.stringContaining(`--base-url "${url}" is not a URL`),
      });
    }
    for (const option of ["--base-url", "--timeout"]) {
      expect(await runHoldfast(["doctor", option, "5"], env)).toMatchObject({
        code: 2,
        err: expect.stringContaining(`${option} needs a vendor`),
      });
    }
  });
});
