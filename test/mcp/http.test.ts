import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import type { McpServer } from "../../src/schema/mcp.ts";
import { discoverTokenUrl } from "../../src/tools/sources/mcp/sdk/discover-token-url.ts";
import { formatContent, toToolResult } from "../../src/tools/sources/mcp/tool-result.ts";
import {
  answerHandshake,
  createTextResult,
  HttpServer,
  parseMessage,
  type ReceivedRequest,
  writeJson,
} from "./support/http-server.ts";
import { createHttpServer, createPool, OUTSIDE } from "./support/mcp-servers.ts";

const { signal } = new AbortController();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serving(
  answer: (request: ReceivedRequest, response: ServerResponse) => unknown,
): Promise<HttpServer> {
  const server = await HttpServer.start(answer);
  closing.push(() => server.close());
  return server;
}

async function call(server: McpServer, secrets: Record<string, string> = {}, times = 1): Promise<string> {
  const { pool } = createPool(secrets);
  closing.unshift(() => pool.close());
  const texts: string[] = [];
  for (let time = 0; time < times; time += 1) {
    const { result } = await pool.getServer(server, OUTSIDE).callTool("ok", {}, { signal });
    texts.push(formatContent(toToolResult(result).content));
  }
  return texts.join(", ");
}

/** Answers a call as the test specifies, and everything else correctly. */
const calls = (
  answer: (id: number | undefined, response: ServerResponse, request: ReceivedRequest) => unknown,
) =>
  serving((request, response) => {
    if (!answerHandshake(request, response)) return answer(parseMessage(request).id, response, request);
  });

const events = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" });

describe("streamable HTTP", () => {
  test("[MCP-01.2] sends headers of the definition with their secrets, and accepts JSON and streams", async () => {
    let streamed = false;
    const server = await calls((id, response) => {
      streamed = !streamed;
      if (!streamed) return writeJson(response, createTextResult(id));
      events(response).end(
        `: hello\r\n\r\nevent: message\r\ndata: ${JSON.stringify(createTextResult(id, "streamed"))}\r\n\r\n`,
      );
    });
    const definition = createHttpServer(`${server.origin}/mcp`, {
      headers: { "x-api-key": "${KEY}", "x-team": "blue" },
    });
    expect(await call(definition, { KEY: "k-123456" }, 2)).toBe("streamed, fine");
    expect(server.received.at(-1)?.headers).toMatchObject({
      "x-api-key": "k-123456",
      "x-team": "blue",
      "mcp-protocol-version": "2025-11-25",
    });
  });

  test("a stream that ends before its answer is reported at once", async () => {
    const server = await calls((_, response) => events(response).end(": nothing more\n\n"));
    await expect(call(createHttpServer(server.origin))).rejects.toMatchObject({
      fault: "closed",
      message: 'The MCP server "test" ended its answer before it was complete',
    });
  });

  test("a stream that breaks off is reported at once", async () => {
    const server = await calls((_, response) => {
      events(response).write(": wait\n\n");
      setTimeout(() => response.destroy(), 50);
    });
    await expect(call(createHttpServer(server.origin))).rejects.toMatchObject({ fault: "closed" });
  });

  test.each([
    ["an event that is no JSON", "data: {broken\n\n", "protocol"],
    ["an event that is no message", 'data: {"hello":1}\n\n', "protocol"],
  ])("%s is reported at once", async (_, event, fault) => {
    const server = await calls((_id, response) => void events(response).write(event));
    await expect(call(createHttpServer(server.origin))).rejects.toMatchObject({ fault });
  });

  test("an endless message is rejected before it fills the memory", async () => {
    const server = await calls((_, response) => {
      events(response);
      const more = () => {
        while (!response.destroyed && response.write(`data: ${"x".repeat(64 * 1024)}\n`));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    });
    await expect(call(createHttpServer(server.origin))).rejects.toMatchObject({
      fault: "protocol",
      message: expect.stringMatching(/sent a message that is too long/),
    });
  });

  test("an HTML page, an error and a closed port are reported in plain words", async () => {
    const page = await calls((_, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<h1>Hi</h1>"),
    );
    await expect(call(createHttpServer(page.origin))).rejects.toThrow(/Unexpected content type: text\/html/);
    const broken = await calls((_, response) => response.writeHead(503).end("come back later"));
    await expect(call(createHttpServer(broken.origin))).rejects.toMatchObject({
      fault: "transport",
      code: 503,
      message: 'The MCP server "test" answered 503: come back later',
    });
    await broken.close();
    await expect(call(createHttpServer(broken.origin))).rejects.toThrow(
      /cannot be reached at http:\/\/127.0.0.1:\d+: .*ECONNREFUSED/,
    );
  });

  test("a redirect to another origin is not followed and receives no key", async () => {
    const thief = await serving((_, response) => response.writeHead(200).end());
    const server = await serving((_, response) =>
      response.writeHead(307, { location: `${thief.origin}/mcp` }).end(),
    );
    const definition = createHttpServer(server.origin, { auth: { type: "bearer", token: "${TOKEN}" } });
    await expect(call(definition, { TOKEN: "t-123456" })).rejects.toThrow(/Redirect to .* not followed/);
    expect(thief.received).toEqual([]);
  });

  test("a session that the server has forgotten is started again, and the call is made once", async () => {
    let sessions = 0;
    const carried: string[] = [];
    const server = await serving((request, response) => {
      const { method, id } = parseMessage(request);
      if (method === "initialize") sessions += 1;
      if (answerHandshake(request, response, { "mcp-session-id": `session-${sessions}` })) return;
      const session = String(request.headers["mcp-session-id"]);
      if (session === "session-1" && carried.length === 1)
        return writeJson(response, { error: "unknown" }, 404);
      carried.push(session);
      writeJson(response, createTextResult(id));
    });
    expect(await call(createHttpServer(server.origin), {}, 2)).toBe("fine, fine");
    expect(carried).toEqual(["session-1", "session-2"]);
  });
});

describe("credentials", () => {
  /** Accepts the tokens that it considers valid and issues tokens at /token. */
  async function guarded(
    accepts: (token: string) => boolean,
    give: (form: URLSearchParams, basic: string) => object,
  ) {
    return await serving((request, response) => {
      if (request.path === "/token") {
        const basic = String(request.headers.authorization ?? "");
        const answer = give(new URLSearchParams(request.body), basic);
        return writeJson(response, answer, "error" in answer ? 400 : 200);
      }
      const token = String(request.headers.authorization ?? "").replace(/^Bearer /, "");
      if (!accepts(token)) return response.writeHead(401).end("who are you?");
      if (!answerHandshake(request, response))
        writeJson(response, createTextResult(parseMessage(request).id, token));
    });
  }
  const basicOf = (header: string) => Buffer.from(header.replace(/^Basic /, ""), "base64").toString();
  const nothing = () => ({ error: "none" });

  test("a bearer token is sent; a rejected one is named and never displayed", async () => {
    const server = await guarded((token) => token === "good-token", nothing);
    const definition = createHttpServer(server.origin, { auth: { type: "bearer", token: "${TOKEN}" } });
    // The answer repeats the token: the tool decides what is displayed of it, the log is masked.
    expect(await call(definition, { TOKEN: "good-token" })).toBe("good-token");
    await expect(call(definition, { TOKEN: "stale-token" })).rejects.toMatchObject({
      fault: "auth",
      message: 'The MCP server "test" refused the token in ${TOKEN}: put a valid token there',
    });
    await expect(call(createHttpServer(server.origin))).rejects.toMatchObject({ fault: "auth" });
  });

  test("client credentials are exchanged once, and again when the token is rejected", async () => {
    let given = 0;
    const asked: string[] = [];
    let valid = "";
    const server = await guarded(
      (token) => token === valid,
      (form, basic) => {
        given += 1;
        asked.push(
          `${form.get("grant_type")} ${form.get("scope")} ${form.get("resource")} ${basicOf(basic)}`,
        );
        valid = `token-${given}`;
        return { access_token: valid, token_type: "Bearer", expires_in: 3600 };
      },
    );
    const { pool } = createPool({ SECRET: "a:b c" });
    closing.unshift(() => pool.close());
    const auth = {
      type: "oauth",
      clientId: "me",
      clientSecret: "${SECRET}",
      scope: "read",
      tokenUrl: `${server.origin}/token`,
    };
    const definition = createHttpServer(`${server.origin}/mcp`, { auth });
    const once = async () =>
      formatContent(
        toToolResult((await pool.getServer(definition, OUTSIDE).callTool("ok", {}, { signal })).result)
          .content,
      );
    expect(await once()).toBe("token-1");
    expect(await once()).toBe("token-1");
    valid = "revoked";
    expect(await once()).toBe("token-2");
    expect(asked).toEqual(Array(2).fill(`client_credentials read ${server.origin}/mcp me:a%3Ab+c`));
  });

  test("a token that is about to expire is renewed before it is rejected", async () => {
    let given = 0;
    const server = await guarded(
      () => true,
      () => {
        given += 1;
        return { access_token: `token-${given}`, token_type: "Bearer", expires_in: 0 };
      },
    );
    const auth = {
      type: "oauth",
      clientId: "me",
      clientSecret: "${SECRET}",
      tokenUrl: `${server.origin}/token`,
    };
    await call(createHttpServer(server.origin, { auth }), { SECRET: "secret" }, 2);
    const calls = server.received.filter(({ body }) => body.includes("tools/call"));
    const [first, second] = calls.map(({ headers }) => headers.authorization);
    expect(first).toMatch(/^Bearer token-\d+$/);
    expect(second).not.toBe(first);
  });

  test("an existing token is refreshed when it is rejected", async () => {
    const server = await guarded(
      (token) => token === "fresh-token",
      (form) =>
        form.get("grant_type") === "refresh_token" &&
        form.get("refresh_token") === "refresh-1" &&
        form.get("client_id") === "me"
          ? { access_token: "fresh-token", refresh_token: "refresh-2", token_type: "Bearer" }
          : { error: "invalid_grant" },
    );
    const auth = {
      type: "oauth-token",
      accessToken: "${ACCESS}",
      refreshToken: "${REFRESH}",
      clientId: "me",
      tokenUrl: `${server.origin}/token`,
    };
    const definition = createHttpServer(server.origin, { auth });
    expect(await call(definition, { ACCESS: "old-token", REFRESH: "refresh-1" })).toBe("fresh-token");
    await expect(call(definition, { ACCESS: "old-token", REFRESH: "gone-refresh" })).rejects.toMatchObject({
      fault: "auth",
      message: expect.stringMatching(/needs a token, and http:.* gave none: it answered 400, invalid_grant/),
    });
  });

  test("an issued token and the client's secret are masked where a server repeats them", async () => {
    let refuses = false;
    const server = await serving((request, response) => {
      const { authorization } = request.headers;
      if (request.path === "/token" && refuses)
        return writeJson(response, { error: `no ${authorization}` }, 400);
      if (request.path === "/token")
        return writeJson(response, { access_token: "given/out+1", token_type: "Bearer" });
      if (!answerHandshake(request, response)) response.writeHead(500).end(`no ${authorization}`);
    });
    const auth = {
      type: "oauth",
      clientId: "me",
      clientSecret: "${SECRET}",
      tokenUrl: `${server.origin}/token`,
    };
    await expect(call(createHttpServer(server.origin, { auth }), { SECRET: "secret" })).rejects.toThrow(
      /answered 500: no Bearer \*\*\*$/,
    );
    refuses = true;
    await expect(call(createHttpServer(server.origin, { auth }), { SECRET: "secret" })).rejects.toThrow(
      /gave none: it answered 400, no Basic \*\*\*$/,
    );
  });

  test("a published description sends no secret unencrypted", async () => {
    const answer = async () =>
      Response.json({
        issuer: "https://a.example",
        authorization_endpoint: "https://a.example/authorize",
        token_endpoint: "http://a.example/token",
        response_types_supported: ["code"],
      });
    await expect(discoverTokenUrl("https://a.example", answer)).rejects.toThrow(
      /it names http:\/\/a\.example\/token, where the secret would be sent unencrypted/,
    );
  });

  test("an issuer's published description names the token address; another issuer's is ignored", async () => {
    let issuer = "";
    const server = await serving((request, response) => {
      if (request.path === "/.well-known/oauth-authorization-server") {
        return writeJson(response, {
          issuer,
          authorization_endpoint: `${server.origin}/authorize`,
          token_endpoint: `${server.origin}/token`,
          response_types_supported: ["code"],
        });
      }
      if (request.path === "/token")
        return writeJson(response, { access_token: "found", token_type: "Bearer" });
      if (!answerHandshake(request, response))
        writeJson(
          response,
          createTextResult(parseMessage(request).id, String(request.headers.authorization)),
        );
    });
    issuer = server.origin;
    const auth = { type: "oauth", clientId: "me", clientSecret: "${SECRET}", issuer };
    expect(await call(createHttpServer(server.origin, { auth }), { SECRET: "secret" })).toBe("Bearer found");
    issuer = "https://elsewhere.example";
    await expect(call(createHttpServer(server.origin, { auth }), { SECRET: "secret" })).rejects.toThrow(
      /its metadata belongs to another issuer/,
    );
  });
});
