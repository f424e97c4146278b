import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { bearer, sendRawRequest, startServer, type TestApiServer, TOKEN } from "./test-api-server.ts";

let server: TestApiServer;
afterEach(() => server.close());

/** Supports only `sessions.list`. */
const asked = {
  sessions: { list: async () => ({ sessions: [] }) },
  namespace: "default",
} as unknown as Holdfast;
const LIST = "/v1/sessions";

describe("the token", () => {
  test("is required everywhere except for health and the OpenAPI document", async () => {
    server = await startServer(asked);
    const statusOf = async (path: string, headers = {}) =>
      (await sendRawRequest(server, { path, headers })).status;
    expect(await statusOf("/healthz")).toBe(200);
    expect(await statusOf("/openapi.json")).toBe(200);
    for (const path of [LIST, "/v1/chat/x/stream", "/codec/decode", "/nowhere", "/"]) {
      expect(await statusOf(path)).toBe(401);
    }
    expect(await statusOf(LIST, bearer)).toBe(200);
    expect(await statusOf(LIST, { authorization: `bearer  ${TOKEN}` })).toBe(200);
    for (const authorization of [
      TOKEN,
      `Basic ${TOKEN}`,
      `Bearer ${TOKEN}x`,
      "Bearer ",
      `Bearer ${TOKEN.slice(1)}`,
    ]) {
      expect(await statusOf(LIST, { authorization })).toBe(401);
    }
    expect(await statusOf("/nowhere", bearer)).toBe(404);
  });

  test("is never repeated in a rejection, which is a problem that names the remedy", async () => {
    server = await startServer(asked);
    const response = await fetch(`${server.url}${LIST}`, { headers: { authorization: "Bearer nearly-it" } });
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(response.headers.get("www-authenticate")).toContain("Bearer");
    const problem = await response.json();
    expect(problem).toMatchObject({
      type: "urn:holdfast:problem:token-invalid",
      status: 401,
      code: "token-invalid",
      instance: "GET /v1/sessions",
      detail: expect.stringContaining("--token-file"),
    });
    expect(JSON.stringify(problem)).not.toContain("nearly-it");
  });
});

describe("a request that a malicious page triggers in the browser", () => {
  test("is rejected for an unknown host name, whatever its port", async () => {
    server = await startServer(asked, { allowHosts: ["Agents.example.com"] });
    const statusAs = async (host: string) =>
      (await sendRawRequest(server, { path: LIST, headers: { ...bearer, host } })).status;
    for (const host of [
      "evil.example",
      "127.0.0.1.evil.example:8787",
      "localhost.evil.example",
      "evil.example:80",
    ]) {
      expect(await statusAs(host)).toBe(403);
    }
    for (const host of ["localhost:1", "127.0.0.1", "[::1]:99", "LOCALHOST", "agents.example.com"]) {
      expect(await statusAs(host)).toBe(200);
    }
  });

  test("is rejected for another origin, even in a preflight; an allowed origin is accepted", async () => {
    server = await startServer(asked, { allowOrigins: ["http://ui.example:8233"] });
    const from = (origin: string, method = "GET", headers = {}) =>
      fetch(`${server.url}${LIST}`, { method, headers: { origin, ...headers } });
    const preflight = {
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,x-namespace",
    };
    for (const origin of ["http://evil.example", "null", "http://ui.example:8234", "http://localhost"]) {
      const refused = await from(origin, "GET", bearer);
      expect(refused.status).toBe(403);
      expect(refused.headers.get("access-control-allow-origin")).toBeNull();
      expect((await from(origin, "OPTIONS", preflight)).status).toBe(403);
    }
    const may = await from("http://ui.example:8233", "OPTIONS", preflight);
    expect(may.status).toBe(204);
    expect(Object.fromEntries(may.headers)).toMatchObject({
      "access-control-allow-origin": "http://ui.example:8233",
      "access-control-allow-headers": "authorization,x-namespace",
      vary: "Origin",
    });
    const got = await from("http://ui.example:8233", "GET", bearer);
    expect([got.status, got.headers.get("access-control-allow-origin")]).toEqual([
      200,
      "http://ui.example:8233",
    ]);
    // A page reads why it was rejected.
    const refused = await from("http://ui.example:8233");
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([
      401,
      "http://ui.example:8233",
    ]);
  });
});

describe("requests that no client sends", () => {
  const bytes = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(server.port, "127.0.0.1", () => socket.write(text));
      let answer = "";
      socket.setEncoding("utf8");
      socket.on("data", (chunk: string) => {
        answer += chunk;
      });
      socket.on("close", () => resolve(answer));
      socket.on("error", reject);
    });

  test("HTTP/1.0 without a host is rejected with a reason; with a host it is served", async () => {
    server = await startServer(asked);
    const head = (answer: string) => answer.split("\r\n", 1)[0];
    const hostless = await bytes(`GET ${LIST} HTTP/1.0\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`);
    expect(head(hostless)).toContain(" 400 ");
    expect(hostless).toContain("application/problem+json");
    const named = await bytes(
      `GET ${LIST} HTTP/1.0\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`,
    );
    expect(head(named)).toContain(" 200 ");
    expect(named).toContain('{"sessions":[]}');
  });

  test("endless headers, nonsense, and other methods are rejected", async () => {
    server = await startServer(asked);
    const huge = await bytes(
      `GET ${LIST} HTTP/1.1\r\nhost: localhost\r\nx: ${"y".repeat(64 * 1024)}\r\n\r\n`,
    );
    expect(huge).toContain(" 431 ");
    expect(await bytes("\0\0\0\r\n\r\n")).toContain(" 400 ");
    for (const method of ["HEAD", "PUT", "DELETE", "PATCH"]) {
      expect(
        (await sendRawRequest(server, { method, path: "/v1/sessions/x/events", headers: bearer })).status,
      ).toBe(405);
    }
    expect(server.streams).toBe(0);
  });

  test("a body above the limit is not read, whether it states its size or not", async () => {
    server = await startServer({ session: () => ({}) } as unknown as Holdfast);
    const post = (body: string | ReadableStream, more: RequestInit = {}) =>
      fetch(`${server.url}/v1/sessions`, { method: "POST", headers: bearer, body, ...more } as RequestInit);
    const large = "x".repeat(43 * 1024 * 1024);
    const announced = await post(large);
    expect(announced.status).toBe(413);
    expect(await announced.json()).toMatchObject({ code: "body-too-large", maxBytes: 42 * 1024 * 1024 });
    const piece = new Uint8Array(1024 * 1024);
    let sent = 0;
    const endless = new ReadableStream({
      pull: (controller) => {
        sent += 1;
        controller.enqueue(piece);
      },
    });
    const streamed = await post(endless, { duplex: "half" } as RequestInit).then(
      ({ status }) => status,
      () => "cut off",
    );
    expect([413, "cut off"]).toContain(streamed);
    expect(sent).toBeLessThan(100);
  });

  test("an unknown field in a body or a query is rejected by its name", async () => {
    server = await startServer(asked);
    const post = async (body: string) => {
      const response = await fetch(`${server.url}/v1/sessions`, { method: "POST", headers: bearer, body });
      return { status: response.status, detail: ((await response.json()) as { detail: string }).detail };
    };
    expect(await post('{"promt":"x"}')).toMatchObject({
      status: 422,
      detail: expect.stringContaining("promt"),
    });
    expect(await post("{")).toMatchObject({ status: 422, detail: expect.stringContaining("not JSON") });
    const listed = await fetch(`${server.url}${LIST}?limit=-1`, { headers: bearer });
    expect([listed.status, await listed.text()]).toEqual([422, expect.stringContaining("limit")]);
    expect(server.reportedErrors).toEqual([]);
  });
});
