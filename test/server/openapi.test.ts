import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { createApp } from "../../src/apps/server/app.ts";
import { DEFAULT_LIMITS, OpenStreams } from "../../src/apps/server/open-streams.ts";
import { Token } from "../../src/apps/server/token.ts";
import type { Holdfast } from "../../src/client/index.ts";
import { runHoldfast } from "../cli/terminal.ts";
import { checkDescriptions } from "../support/property-descriptions.ts";
import { openApi } from "./openapi-checker.ts";
import { startServer, TOKEN } from "./test-api-server.ts";

const ignore = () => {};

test("the document is valid OpenAPI 3.1, and all of its references lead somewhere", async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(openApi))).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
  expect(() => validator.resolveRefs()).not.toThrow();
});

test("each schema is valid JSON Schema, and each object in it is open or closed on purpose", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(openApi, "openapi");
  for (const name of Object.keys(openApi.components.schemas)) {
    expect(() => ajv.compile({ $ref: `openapi#/components/schemas/${name}` }), name).not.toThrow();
  }
  // Answers may get further fields; bodies reject unknown ones.
  expect(JSON.stringify(openApi.components)).not.toContain('"additionalProperties":false');
  expect(openApi.paths["/v1/sessions/{id}/approve"]?.["post"]?.requestBody).toMatchObject({
    required: false,
    content: {
      "application/json": {
        schema: {
          additionalProperties: false,
          properties: { always: { type: "boolean", description: expect.any(String) } },
        },
      },
    },
  });
});

test("every property in the document has a description", () => {
  const { all, bare } = checkDescriptions(openApi);
  expect(all.length).toBeGreaterThan(500);
  expect(bare).toEqual([]);
});

test("the document has each route of the server with its method, and no other", () => {
  const app = createApp({
    holdfast: {} as Holdfast,
    version: "0",
    token: new Token(TOKEN),
    agents: new Map(),
    streams: new OpenStreams(DEFAULT_LIMITS, ignore),
    host: "127.0.0.1",
    allowHosts: [],
    allowOrigins: [],
    reportError: ignore,
  });
  const routes = app.routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}").replace(/(.)\/$/, "$1")}`);
  const described = Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(described.sort()).toEqual([...new Set(routes)].sort());
});

test("every operation has a name of its own, a summary, a success and the problems of its access", () => {
  const operations = Object.values(openApi.paths).flatMap((methods) => Object.values(methods));
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  for (const { operationId, summary, security, responses } of operations) {
    expect(summary, operationId).toMatch(/^[A-Z].{10}/);
    expect(
      Object.keys(responses).some((status) => status.startsWith("2")),
      operationId,
    ).toBe(true);
    expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(["403", "500"]));
    if (security === undefined) expect(responses, operationId).toHaveProperty("401");
  }
});

test("a server sends the document without a token, and the command line prints the same", async () => {
  const server = await startServer(undefined);
  try {
    const response = await fetch(`${server.url}/openapi.json`);
    expect([response.status, await response.json()]).toEqual([200, openApi]);
    const post = await fetch(`${server.url}/openapi.json`, { method: "POST" });
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  } finally {
    await server.close();
  }
  const { code, out } = await runHoldfast(["serve", "--openapi"]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ openapi: "3.1.1", paths: openApi.paths });
});
