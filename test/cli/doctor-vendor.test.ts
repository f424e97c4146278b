import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type ModelServer, startModelServer } from "../../src/testing/model-server/server.ts";
import { LoopbackServer } from "../providers/loopback-server.ts";
import { runHoldfast } from "./terminal.ts";

// `doctor --vendor` on all seven protocols, against a vendor of each that speaks its own protocol.

const KEY = "key-0123456789-abcdef";
const WRONG = "key-of-somebody-else-0123";

type Vendor = {
  readonly protocol: string;
  /** The value of `--vendor`; the provider alone if the catalogue knows its models. */
  readonly named: string;
  readonly at: (model: ModelServer) => string;
  /** The variable of the key, as the vendor's factory names it. */
  readonly key?: string;
  readonly unknownModel: { readonly status: number; readonly body: object; readonly headers?: object };
};

const NOT_FOUND = { status: 404 };
const VENDORS: readonly Vendor[] = [
  {
    protocol: "anthropic_messages",
    named: "anthropic",
    at: ({ anthropicBaseUrl }) => anthropicBaseUrl,
    key: "ANTHROPIC_API_KEY",
    unknownModel: {
      ...NOT_FOUND,
      body: { type: "error", error: { type: "not_found_error", message: "model: claude-haiku-0" } },
    },
  },
  {
    protocol: "openai_completions",
    named: "openai",
    at: ({ openaiBaseUrl }) => openaiBaseUrl,
    key: "OPENAI_API_KEY",
    unknownModel: {
      ...NOT_FOUND,
      body: {
        error: {
          message: "The model `gpt-0` does not exist or you do not have access to it.",
          type: "invalid_request_error",
          param: null,
          code: "model_not_found",
        },
      },
    },
  },
  {
    protocol: "openai_responses",
    named: "openai-responses",
    at: ({ openaiBaseUrl }) => openaiBaseUrl,
    key: "OPENAI_API_KEY",
    unknownModel: {
      status: 400,
      body: {
        error: {
          message: "The requested model 'gpt-0' does not exist.",
          type: "invalid_request_error",
          param: "model",
          code: "model_not_found",
        },
      },
    },
  },
  {
    protocol: "azure_openai_responses",
    named: "azure/our-deployment",
    at: ({ url }) => url,
    key: "AZURE_OPENAI_API_KEY",
    unknownModel: {
      ...NOT_FOUND,
      body: {
        error: {
          code: "DeploymentNotFound",
          message: "The API deployment for this resource does not exist. Please wait a moment and try again.",
        },
      },
    },
  },
  {
    protocol: "google_generative_ai",
    named: "google",
    at: ({ googleBaseUrl }) => googleBaseUrl,
    key: "GEMINI_API_KEY",
    unknownModel: {
      ...NOT_FOUND,
      body: {
        error: {
          code: 404,
          message:
            "models/gemini-0 is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.",
          status: "NOT_FOUND",
        },
      },
    },
  },
  {
    protocol: "google_vertex",
    named: "vertex",
    at: ({ vertexBaseUrl }) => vertexBaseUrl,
    unknownModel: {
      ...NOT_FOUND,
      body: {
        error: {
          code: 404,
          message:
            "Publisher Model `projects/p/locations/global/publishers/google/models/gemini-0` was not found or your project does not have access to it.",
          status: "NOT_FOUND",
        },
      },
    },
  },
  {
    protocol: "bedrock_converse_stream",
    named: "bedrock",
    at: ({ bedrockBaseUrl }) => bedrockBaseUrl,
    key: "AWS_BEARER_TOKEN_BEDROCK",
    unknownModel: {
      ...NOT_FOUND,
      headers: { "x-amzn-errortype": "ResourceNotFoundException:http://internal.amazon.com/" },
      body: { message: "Could not resolve the foundation model from the provided model identifier." },
    },
  },
];

let home: string;
let model: ModelServer;
let metadata: LoopbackServer;
/** The response of Google's metadata server. */
let token = KEY;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "holdfast-doctor-"));
  model = await startModelServer();
  metadata = await LoopbackServer.start((response, { url }) => {
    response.writeHead(200, { "content-type": "application/json", "metadata-flavor": "Google" });
    response.end(url.includes("/token") ? JSON.stringify({ access_token: token, expires_in: 3600 }) : "p");
  });
});
afterAll(async () => {
  await model.stop();
  await metadata.stop();
  await rm(home, { recursive: true, force: true });
});
beforeEach(() => {
  vi.stubEnv("HOME", home);
  vi.stubEnv("CLOUDSDK_CONFIG", home);
  vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", undefined);
  vi.stubEnv("GCE_METADATA_HOST", metadata.url.replace("http://", ""));
  vi.stubEnv("METADATA_SERVER_DETECTION", "assume-present");
  for (const name of [
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_BEDROCK_CREDENTIALS",
  ])
    vi.stubEnv(name, undefined);
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  model.script({ apiKey: KEY, replies: [{ text: "OK.", usage: { input: 9, output: 3 } }] });
  token = KEY;
});
afterEach(() => vi.unstubAllEnvs());

/** The deployment in `azure/our-deployment`. */
const named = (name: string) => name.slice(name.indexOf("/") + 1);

async function doctor(vendor: Vendor, key: string | undefined, url = vendor.at(model), json = true) {
  token = key ?? "";
  if (vendor.key !== undefined) vi.stubEnv(vendor.key, key);
  const env = {
    HOLDFAST_HOME: home,
    ...(vendor.key !== undefined && key !== undefined && { [vendor.key]: key }),
  };
  const args = ["doctor", "--vendor", vendor.named, "--base-url", url, ...(json ? ["--json"] : [])];
  const { code, out, err } = await runHoldfast(args, env);
  expect(out + err).not.toContain(key);
  return { code, out, said: json ? JSON.parse(out) : undefined };
}

describe.each(VENDORS.map((vendor) => [vendor.protocol, vendor] as const))(
  "doctor --vendor, %s",
  (protocol, vendor) => {
    const keyName = new RegExp(vendor.key ?? "credentials");

    test("answers, and the time and cost are displayed", async () => {
      const from = model.requests.length;
      const { code, said } = await doctor(vendor, KEY);
      expect([code, said]).toMatchObject([
        0,
        { type: "vendor", protocol, ok: true, answer: "answered", usage: { input: 9, output: 3 } },
      ]);
      expect(said.key).toBe(vendor.key);
      const asked = model.requests.slice(from);
      expect(asked.map(({ outcome, validationError }) => [outcome, validationError])).toEqual([
        ["answered", undefined],
      ]);
      const { out } = await doctor(vendor, KEY, vendor.at(model), false);
      expect(out).toMatch(
        new RegExp(
          `^ok +model +\\S+ by ${protocol}\\n[\\s\\S]*response +answered, after \\d+ ms: an answer with 3 output tokens to 9`,
        ),
      );
    });

    test("does not know the key", async () => {
      const { code, said } = await doctor(vendor, WRONG);
      expect([code, said]).toMatchObject([1, { ok: false, answer: "key-rejected" }]);
      expect(said.advice).toMatch(keyName);
      expect([400, 401, 403]).toContain(said.status);
    });

    test("is not called without a key", async () => {
      vi.stubEnv("METADATA_SERVER_DETECTION", "none");
      const from = model.requests.length;
      const { code, said } = await doctor(vendor, undefined);
      expect([code, said]).toMatchObject([1, { ok: false, answer: "key-missing" }]);
      expect(said.advice).toMatch(new RegExp(vendor.key ?? "GOOGLE_APPLICATION_CREDENTIALS"));
      expect(model.requests.length).toBe(from);
    });

    test("does not know the model", async () => {
      const { status, body, headers = {} } = vendor.unknownModel;
      const fault = { fault: "http", status, body: JSON.stringify(body), headers: { ...headers } } as const;
      model.script({ apiKey: KEY, faults: [{ ...fault, times: 9 }] });
      const { code, said } = await doctor(vendor, KEY);
      expect([code, said]).toMatchObject([1, { ok: false, answer: "model-unknown", status }]);
      expect(said.advice).toMatch(/check the name/);
      expect(said.advice).toContain(named(said.model));
    });

    test("is busy, and states for how long", async () => {
      model.script({ apiKey: KEY, faults: [{ fault: "rate-limited", retryAfterSeconds: 7, times: 9 }] });
      const { code, said } = await doctor(vendor, KEY);
      expect([code, said]).toMatchObject([
        1,
        { ok: false, answer: "rate-limited", status: 429, advice: "the key works; try again in 7 s" },
      ]);
    });

    test("is unreachable", async () => {
      const closed = await LoopbackServer.start(() => undefined);
      await closed.stop();
      const { pathname } = new URL(vendor.at(model));
      const { code, said } = await doctor(vendor, KEY, `${closed.url}${pathname === "/" ? "" : pathname}`);
      expect([code, said]).toMatchObject([1, { ok: false, answer: "unreachable" }]);
      expect(said.advice).toContain(new URL(closed.url).host);
      expect(said).not.toHaveProperty("status");
    });
  },
);

test("an account without credit is not reported as busy, whatever delay the vendor states", async () => {
  const error = {
    message: "You exceeded your current quota.",
    type: "insufficient_quota",
    code: "insufficient_quota",
  };
  const fault = { fault: "http", status: 429, body: JSON.stringify({ error }) } as const;
  model.script({ faults: [{ ...fault, headers: { "retry-after": "7" } }] });
  const openai = VENDORS.find(({ protocol }) => protocol === "openai_completions")!;
  expect((await doctor(openai, KEY)).said).toMatchObject({
    answer: "quota",
    advice: expect.stringContaining("billing"),
  });
});
