import { describe, expect, test } from "vitest";
import { resolveHeaders } from "../../src/models/secrets.ts";
import { McpServer } from "../../src/schema/mcp.ts";
import { ModelConfig } from "../../src/schema/model.ts";
import { OpenApiSettings } from "../../src/schema/openapi.ts";
import { resolveHeaderReferences } from "../../src/tools/sources/mcp/secret-references.ts";

const KEY = "0123456789abcdefABCDEF";

const DOORS = {
  "a model": (headers: object) =>
    ModelConfig.safeParse({
      id: "m",
      api: "openai_completions",
      provider: "p",
      baseUrl: "https://h.example",
      contextWindow: 1000,
      headers,
    }),
  "a vendor of one's own": (headers: object) =>
    ModelConfig.safeParse({
      id: "m",
      api: "custom_mine",
      provider: "p",
      baseUrl: "https://h.example",
      contextWindow: 1000,
      headers,
    }),
  "an MCP server": (headers: object) =>
    McpServer.safeParse({ name: "s", transport: { type: "http", url: "https://h.example", headers } }),
  "an API": (headers: object) => OpenApiSettings.safeParse({ name: "a", spec: "s.json", headers }),
};

describe.each(Object.entries(DOORS))("headers of %s", (_, parse) => {
  test.each<readonly [string, string]>([
    ["Authorization", `Bearer ${KEY}`],
    ["Authorization", "x"],
    ["Proxy-Authorization", KEY],
    ["X-Api-Key", KEY],
    ["api_key", KEY],
    ["Ocp-Apim-Subscription-Key", KEY],
    ["X-Auth-Token", KEY],
    ["Cookie", `session=${KEY}`],
    ["X-Team", "sk-proj-0123456789abcdefghij"],
    ["X-Note", `Bearer ${KEY}`],
    ["Authorization", `Bearer ${KEY} \${ALSO}`],
  ])("%s accepts its secret by reference only", (name, value) => {
    const parsed = parse({ [name]: value });
    expect(parsed.error?.issues.map(({ message }) => message)).toEqual([
      `"${name}" looks like a secret; write a reference to it, as \${NAME}: the worker's environment has the value, never the definition`,
    ]);
    expect(JSON.stringify(parsed.error?.issues)).not.toContain(KEY);
  });

  test.each<readonly [string, string]>([
    ["Authorization", "Bearer ${TOKEN}"],
    ["Authorization", "Token token=${TOKEN}"],
    ["X-Api-Key", "${KEY}"],
    ["X-Api-Key", ""],
    ["Idempotency-Key", "per-call"],
    ["anthropic-beta", "context-1m-2025-08-07"],
    ["X-Max-Tokens", "1000"],
    ["X-Team", "research, München"],
  ])("%s may be %s", (name, value) => {
    expect(parse({ [name]: value }).error).toBeUndefined();
  });

  test.each<readonly [string, string, RegExp]>([
    ["X-A\r\nX-Evil", "1", /is not a header name/],
    ["X A", "1", /is not a header name/],
    ["", "1", /is not a header name/],
    ["X-Ä", "1", /is not a header name/],
    ["X-A", "1\r\nX-Evil: 2", /line break/],
    ["X-A", "1\u0000", /a character that is not allowed in a header/],
    ["X-A", "€", /a character that is not allowed in a header/],
  ])("a header that cannot be sent is rejected: %j: %j", (name, value, why) => {
    expect(parse({ [name]: value }).error?.issues[0]?.message).toMatch(why);
  });
});

test("a model's address contains no key", () => {
  const baseUrl = "https://h.example/v1?api_key=0123456789abcdef";
  const model = { id: "m", api: "openai_completions", provider: "p", baseUrl, contextWindow: 1000 };
  const parsed = ModelConfig.safeParse(model);
  expect(parsed.error?.issues[0]?.message).toMatch(/remove keys and passwords from the address/);
});

test("an MCP server's address, arguments and variables contain no key, nor do an API's address and user", () => {
  const stdio = (fields: object) =>
    McpServer.safeParse({ name: "s", transport: { type: "stdio", command: "c", ...fields } }).success;
  expect(stdio({ args: ["--token", KEY] })).toBe(false);
  expect(stdio({ args: [`--token=${KEY}`] })).toBe(false);
  expect(stdio({ args: ["--token", "${TOKEN}", "--token=${TOKEN}", "--verbose"] })).toBe(true);
  expect(stdio({ env: { SETTINGS: "postgres://u:p4ssw0rd@h/d" } })).toBe(false);
  expect(stdio({ env: { SETTINGS: "postgres://u:${PASSWORD}@h/d" } })).toBe(true);
  const http = (url: string) => McpServer.safeParse({ name: "s", transport: { type: "http", url } }).success;
  expect(http(`https://h.example/mcp?token=${KEY}`)).toBe(false);
  expect(http("https://h.example/mcp?page=2")).toBe(true);
  const api = (fields: object) => OpenApiSettings.safeParse({ name: "a", spec: "s.json", ...fields }).success;
  expect(api({ spec: `https://h.example/s.json?token=${KEY}` })).toBe(false);
  expect(api({ baseUrl: "https://u:p4ssw0rd@h.example" })).toBe(false);
  expect(api({ auth: { type: "basic", username: "sk_live_0123456789abcdefghij" } })).toBe(false);
  expect(api({ auth: { type: "basic", username: "somebody" } })).toBe(true);
  expect(api({ auth: { type: "api-key", name: "X\r\nY", value: "${K}" } })).toBe(false);
  expect(api({ idempotencyHeader: "X\r\nY" })).toBe(false);
});

test("an environment value that is invalid in a header is rejected by name before the request", () => {
  const secrets = () => "first\r\nsecond";
  const why =
    /The request was not sent: the value of "X-Api-Key" has a line break.*; correct KEY in the worker's environment/;
  expect(() => resolveHeaders({ "X-Api-Key": "${KEY}" }, secrets)).toThrow(why);
  expect(() => resolveHeaderReferences({ "X-Api-Key": "${KEY}" }, secrets)).toThrow(/line break/);
  expect(resolveHeaders({ "X-Api-Key": "${KEY}" }, () => "key\n")).toEqual({ "X-Api-Key": "key" });
});
