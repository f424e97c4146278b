import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { vertex } from "../../src/config/vendor-models.ts";
import { GoogleVertex } from "../../src/models/google-vertex/google-vertex.ts";
import {
  type VertexCredentialOptions,
  VertexCredentials,
} from "../../src/models/google-vertex/vertex-credentials.ts";
import type { ModelRequest } from "../../src/models/provider.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { catchProviderError, createHttp, createRequest, encodeSse } from "./answer-reader.ts";
import { LoopbackServer } from "./loopback-server.ts";

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const step of cleanup.splice(0).reverse()) await step();
});

const ANSWER = encodeSse(
  [{ candidates: [{ content: { parts: [{ text: "ok" }] }, finishReason: "STOP" }] }],
  false,
);
const SECRET_PART = "MIIEvSECRETSECRETSECRET";

/** Nothing on the machine that runs the tests is used as credentials. */
beforeEach(() => {
  const empty = mkdtempSync(join(tmpdir(), "holdfast-google-"));
  cleanup.push(() => rmSync(empty, { recursive: true }));
  for (const name of ["GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_QUOTA_PROJECT", "APPDATA"])
    vi.stubEnv(name, undefined);
  vi.stubEnv("HOME", empty);
  vi.stubEnv("CLOUDSDK_CONFIG", empty);
  vi.stubEnv("METADATA_SERVER_DETECTION", "none");
});

/** Vertex, which answers 401 to the given tokens. */
async function vertexServer(refused: readonly string[] = []): Promise<LoopbackServer> {
  const server = await LoopbackServer.start((response, { headers }) => {
    if (!refused.includes(headers.authorization ?? "")) {
      return response.writeHead(200, { "content-type": "text/event-stream" }).end(ANSWER);
    }
    const error = { code: 401, status: "UNAUTHENTICATED", message: `no: ${headers.authorization}` };
    return response.writeHead(401, { "content-type": "application/json" }).end(JSON.stringify({ error }));
  });
  cleanup.push(async () => await server.stop());
  return server;
}

function asker(
  server: LoopbackServer,
  options: VertexCredentialOptions = {},
  path = "/v1/projects/p/locations/l",
) {
  const pool = createHttp();
  cleanup.push(async () => await pool.close());
  const provider = new GoogleVertex({ http: pool }, new VertexCredentials(options));
  return async (more: Partial<ModelRequest> = {}, signal = new AbortController().signal) => {
    const model = vertex("m", { baseUrl: `${server.url}${path}` });
    await provider.stream(createRequest(model, { apiKey: undefined, ...more }), { signal });
    const { headers } = server.received.at(-1)!;
    return { authorization: headers.authorization, key: headers["x-goog-api-key"] };
  };
}

/** A substitute for Google's token endpoint. */
function tokens(answer: (count: number, body: string, url: string) => Response | Promise<Response>) {
  let count = 0;
  const fetch = async (input: unknown, init?: RequestInit) => {
    count += 1;
    const url = input instanceof Request ? input.url : String(input);
    return await answer(count, String(init?.body ?? ""), url);
  };
  return { fetch: fetch as typeof globalThis.fetch, asked: () => count };
}
const json = (body: object, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const ACCOUNT = JSON.stringify({
  type: "service_account",
  project_id: "p",
  private_key_id: "1",
  private_key: privateKey,
  client_email: "agent@p.iam.gserviceaccount.com",
});
const USER = JSON.stringify({
  type: "authorized_user",
  client_id: "id",
  client_secret: `client-${SECRET_PART}`,
  refresh_token: `refresh-${SECRET_PART}`,
});

describe("credentials for Vertex [PROV-22.2]", () => {
  test.each([
    ["AIzaSyA0123456789012345678901234567890123", "/v1/projects/p/locations/l", "key"],
    ["AQ.Ab8RN6I_express-key", "/v1/projects/p/locations/l", "key"],
    ["some-key-in-express-mode", "", "key"],
    ["ya29.token", "", "authorization"],
    ["ya29.token", "/v1/projects/p/locations/l", "authorization"],
    ["some-other-token", "/v1/projects/p/locations/l", "authorization"],
  ] as const)("%s at %s is sent as %s", async (apiKey, path, name) => {
    const said = await asker(await vertexServer(), {}, path)({ apiKey });
    const value = name === "key" ? apiKey : `Bearer ${apiKey}`;
    expect(said).toEqual({ authorization: undefined, key: undefined, [name]: value });
  });

  test("a configured header is sufficient", async () => {
    const said = await asker(await vertexServer())({ headers: { Authorization: "Bearer mine" } });
    expect(said).toEqual({ authorization: "Bearer mine", key: undefined });
    const keyed = await asker(await vertexServer())({ headers: { "X-Goog-Api-Key": "mine" } });
    expect(keyed).toEqual({ authorization: undefined, key: "mine" });
  });

  test("a service account is exchanged for a token, which is cached until it is rejected", async () => {
    const server = await vertexServer(["Bearer token-2"]);
    const google = tokens((n, body) => {
      expect(body).toContain("urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer");
      return json({ access_token: `token-${n}`, expires_in: 3600, token_type: "Bearer" });
    });
    const ask = asker(server, google);
    expect(await ask({ apiKey: ACCOUNT })).toMatchObject({ authorization: "Bearer token-1" });
    expect(await ask({ apiKey: ACCOUNT })).toMatchObject({ authorization: "Bearer token-1" });
    const file = join(process.env["HOME"]!, "account.json");
    writeFileSync(file, ACCOUNT);
    expect(await catchProviderError(ask({ apiKey: file }))).toMatchObject({
      fault: "auth",
      status: 401,
      message: "vertex answered 401: no: *** (UNAUTHENTICATED)",
    });
    expect(await ask({ apiKey: file })).toMatchObject({ authorization: "Bearer token-3" });
    expect(google.asked()).toBe(3);
  });

  test("without a key they are a file that the environment names", async () => {
    const file = join(process.env["HOME"]!, "user.json");
    writeFileSync(file, USER);
    vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", file);
    const google = tokens(() => json({ access_token: "ambient", expires_in: 3600 }));
    expect(await asker(await vertexServer(), google)()).toMatchObject({ authorization: "Bearer ambient" });
  });

  test("without a key and a file they are the machine's own account", async () => {
    const metadata = await LoopbackServer.start((response, { url }) => {
      const head = { "content-type": "application/json", "metadata-flavor": "Google" };
      if (!url.includes("/token")) return response.writeHead(200, head).end("p");
      return response.writeHead(200, head).end(JSON.stringify({ access_token: "machine", expires_in: 3600 }));
    });
    cleanup.push(async () => await metadata.stop());
    vi.stubEnv("METADATA_SERVER_DETECTION", "assume-present");
    vi.stubEnv("GCE_METADATA_HOST", metadata.url.replace("http://", ""));
    expect(await asker(await vertexServer())()).toMatchObject({ authorization: "Bearer machine" });
  });

  test("that are missing or of an unknown type are an auth fault", async () => {
    const server = await vertexServer();
    const error = await catchProviderError(asker(server)());
    expect(error.fault).toBe("auth");
    expect(error.message).toMatch(/^vertex: no token from Google: Could not load the default credentials/);
    expect(await catchProviderError(asker(server, {}, "")())).toMatchObject({
      fault: "auth",
      message: expect.stringContaining("needs a project"),
    });
    expect(await catchProviderError(asker(server)({ apiKey: "/nowhere/account.json" }))).toMatchObject({
      fault: "auth",
    });
    expect(
      await catchProviderError(
        asker(server)({ apiKey: `{"type":"external_account","token_url":"http://h"}` }),
      ),
    ).toMatchObject({
      fault: "auth",
      message:
        'the credentials for Vertex are of type "external_account"; they must be of type service_account or authorized_user',
    });
    expect(server.received).toEqual([]);
  });

  test("that Google rejects are reported with its error, without the secrets", async () => {
    const google = tokens((_n, body) =>
      json({ error: "invalid_grant", error_description: `no: ${decodeURIComponent(body)}` }, 400),
    );
    const error = await catchProviderError(asker(await vertexServer(), google)({ apiKey: USER }));
    expect(error).toMatchObject({ fault: "auth", status: 400 });
    expect(error.message).toContain("it answered 400");
    expect(error.message).not.toContain(SECRET_PART);
  });

  thoroughTest("an unreachable or failing Google server is a network fault, which is retried", async () => {
    const lost = tokens(() => {
      throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    });
    expect(await catchProviderError(asker(await vertexServer(), lost)({ apiKey: USER }))).toMatchObject({
      fault: "network",
    });
    const failing = tokens(() => json({ error: "internal_failure" }, 503));
    expect(await catchProviderError(asker(await vertexServer(), failing)({ apiKey: USER }))).toMatchObject({
      fault: "network",
      status: 503,
    });
  });

  test("a token is awaited up to the time limit, and no longer than the request lives", async () => {
    const silent = { ...tokens(() => new Promise<Response>(() => {})), timeoutMs: 50 };
    const server = await vertexServer();
    expect(await catchProviderError(asker(server, silent)({ apiKey: USER }))).toMatchObject({
      fault: "network",
      message: "vertex: no token from Google within 50 ms",
    });
    const gone = asker(server, { ...silent, timeoutMs: 60_000 })({ apiKey: USER }, AbortSignal.timeout(20));
    expect(await catchProviderError(gone)).toMatchObject({ fault: "cancelled" });
  });
});
