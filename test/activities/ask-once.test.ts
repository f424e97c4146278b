import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { askOnce } from "../../src/activities/model/ask-once.ts";
import { toFailure } from "../../src/activities/step/failure.ts";
import { createCredentialSource } from "../../src/models/credentials/credential-source.ts";
import type { ModelRequest } from "../../src/models/provider.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import { resolveHeaders, resolveSecrets, type SecretSource } from "../../src/models/secrets.ts";
import { Credentials, type CredentialsInput } from "../../src/schema/credentials.ts";
import { ModelConfig } from "../../src/schema/model.ts";
import { catchProviderError, createRequest } from "../providers/answer-reader.ts";
import { LoopbackServer } from "../providers/loopback-server.ts";

// A key that the vendor rejects, tested over HTTP with every source that a key can come from and every protocol.

const OLD = "sk-old-0123456789abcdef";
const NEW = "sk-new-0123456789abcdef";
const NAME = "HOLDFAST_TEST_ISSUED";

const cleanup: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  delete process.env[NAME];
  for (const end of cleanup.splice(0)) await end();
});

/** A vendor that accepts one key and repeats the rejected key in its error. */
async function vendor(taken: string | undefined, status = 401) {
  const server = await LoopbackServer.start((response, { headers }) => {
    const shown = JSON.stringify(headers);
    if (taken !== undefined && shown.includes(taken)) {
      const events = [{ choices: [{ delta: { content: "Let in." }, finish_reason: "stop" }] }, "[DONE]"];
      const body = events.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`);
      return response.writeHead(200, { "content-type": "text/event-stream" }).end(body.join(""));
    }
    const message = `no access with ${shown}`;
    return response
      .writeHead(status, { "content-type": "application/json", "x-request-id": `for ${OLD}` })
      .end(JSON.stringify({ error: { message, code: 1 } }));
  });
  cleanup.push(async () => await server.stop());
  return server;
}

async function asking(server: LoopbackServer, secrets: SecretSource, more: Partial<ModelConfig> = {}) {
  const model = ModelConfig.parse({
    ...{ id: "m", api: "openai_completions", provider: "openai", baseUrl: `${server.url}/v1` },
    ...{ apiKey: `\${${NAME}}`, contextWindow: 1000 },
    ...more,
  });
  const request = (): ModelRequest =>
    createRequest(model, {
      apiKey: model.apiKey === undefined ? undefined : resolveSecrets(model.apiKey, secrets),
      headers: resolveHeaders(model.headers, secrets),
    });
  const providers = ProviderRegistry.createDefault();
  return await askOnce(model, request, { providers, secrets }, { signal: new AbortController().signal });
}

/** Sources that return the old key, then the new one; two of them cannot return another one. */
async function sources(next: string) {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-keys-"));
  cleanup.push(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "key");
  await writeFile(file, OLD, { mode: 0o600 });
  const code = `const fs = require("fs"), at = ${JSON.stringify(file)};
    console.log(fs.readFileSync(at, "utf8")); fs.writeFileSync(at, ${JSON.stringify(next)})`;
  const from = (credential: CredentialsInput[string]) =>
    createCredentialSource(Credentials.parse({ [NAME]: credential }));
  process.env[NAME] = OLD;
  return {
    file,
    source: {
      command: from({ command: [process.execPath, "-e", code] }),
      file: from({ file }),
      environment: from({ environment: NAME }),
      value: from({ value: OLD }),
    },
  };
}

describe("a key that the vendor rejects [CRED-01.1]", () => {
  test.each([401, 403])(
    "with %s is requested from its command again, and the new one is accepted",
    async (status) => {
      const server = await vendor(NEW, status);
      const { source } = await sources(NEW);
      expect((await asking(server, source.command)).content).toEqual([{ type: "text", text: "Let in." }]);
      expect(server.received.map(({ headers }) => headers.authorization)).toEqual([
        `Bearer ${OLD}`,
        `Bearer ${NEW}`,
      ]);
    },
  );

  test("is read from its file again, and the new one is accepted", async () => {
    const { file, source } = await sources(NEW);
    const server = await vendor(NEW);
    const secrets = Object.assign((name: string) => source.file(name), {
      prepare: source.file.prepare,
      invalidate: async (name: string, refused?: string) => {
        await writeFile(file, `${NEW}\n`);
        return await source.file.invalidate?.(name, refused);
      },
    });
    await asking(server, secrets as SecretSource);
    expect(server.received).toHaveLength(2);
  });

  test.each([
    ["command", 2],
    ["file", 2],
    ["environment", 1],
    ["value", 1],
  ] as const)("from %s fails for good after %i requests and is never displayed", async (kind, questions) => {
    const server = await vendor(undefined);
    const { source } = await sources(NEW);
    const error = await catchProviderError(asking(server, source[kind]));
    expect(error).toMatchObject({ fault: "auth", status: 401 });
    expect(server.received).toHaveLength(questions);
    const failure = toFailure(error);
    const said = [error.message, error.requestId, error.stack, failure.message, failure.stack];
    expect(said.join()).toContain("no access");
    expect(JSON.stringify([said, failure])).not.toMatch(/sk-(old|new)-0123456789abcdef/);
  });

  const protocols: Partial<ModelConfig>[] = [
    { api: "anthropic_messages" },
    { api: "openai_completions" },
    { api: "openai_responses" },
    { api: "azure_openai_responses" },
    { api: "azure_openai_responses", apiVersion: "2025-01-01-preview" },
    { api: "google_generative_ai" },
    { api: "google_vertex" },
    { api: "bedrock_converse_stream" },
    { api: "openai_completions", apiKey: undefined, headers: { "x-own-key": `key \${${NAME}}` } },
  ];
  test.each(protocols)(
    "is requested again once and never displayed: $api $apiVersion $headers",
    async (more) => {
      const server = await vendor(undefined);
      const { source } = await sources(NEW);
      const error = await catchProviderError(asking(server, source.command, more));
      expect(error).toMatchObject({ fault: "auth", status: 401 });
      const shown = server.received.map(({ headers, url }) => `${JSON.stringify(headers)}${url}`);
      expect(shown.map((one) => [one.includes(OLD), one.includes(NEW)])).toEqual([
        [true, false],
        [false, true],
      ]);
      expect(`${error.message} ${error.requestId}`).not.toMatch(/sk-(old|new)-0123456789abcdef/);
    },
  );
});
