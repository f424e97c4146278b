import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { OpenStreams } from "../../src/apps/server/open-streams.ts";
import type { Holdfast } from "../../src/client/index.ts";
import { sendRawRequest, sendRequest, startServer, type TestApiServer } from "./test-api-server.ts";

let server: TestApiServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const session = {
  id: "s",
  status: async () => ({ session: "s", open: true, status: "running", loopId: "s.main.2" }),
  messages: { list: async () => [] },
  async *events({ signal }: { signal: AbortSignal }) {
    yield* [];
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  },
};
const holdfast = {
  namespace: "default",
  session: () => session,
  sessions: {
    list: async () => {
      throw new TypeError("a bug");
    },
  },
} as unknown as Holdfast;

async function read(way: string, body?: unknown, headers: Record<string, string> = {}) {
  server ??= await startServer(holdfast);
  const answer = await sendRequest(server, way, body, headers);
  return [answer.status, answer.body["code"]];
}

test("a request without a token, and one with another, are told apart", async () => {
  server = await startServer(holdfast);
  const { status, body } = await sendRawRequest(server, { path: "/v1/sessions" });
  expect([status, JSON.parse(body)]).toMatchObject([401, { code: "token-missing" }]);
  expect(await read("GET /v1/sessions", undefined, { authorization: "Bearer x" })).toEqual([
    401,
    "token-invalid",
  ]);
});

test("an unknown host, an unknown origin and an unknown address are named", async () => {
  server = await startServer(holdfast);
  const { status, body } = await sendRawRequest(server, {
    path: "/v1/sessions",
    headers: { host: "evil.example" },
  });
  expect([status, JSON.parse(body)]).toMatchObject([403, { code: "host-not-allowed" }]);
  expect(await read("GET /v1/sessions", undefined, { origin: "http://evil.example" })).toEqual([
    403,
    "origin-not-allowed",
  ]);
  expect(await read("GET /v1/nowhere")).toEqual([404, "route-unknown"]);
});

test("a request without a host is no proper request", async () => {
  server = await startServer(holdfast);
  const { port } = server;
  const answer = await new Promise<string>((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write("GET /healthz HTTP/1.0\r\n\r\n"));
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    socket.on("close", () => resolve(text)).on("error", reject);
  });
  expect(answer).toContain('"code":"request-invalid"');
});

test("one stream more than the maximum is rejected, and every stream while the server closes", async () => {
  server = await startServer(holdfast, { limits: { maxStreams: 0 } });
  expect(await read("GET /v1/sessions/s/events")).toEqual([503, "too-many-streams"]);
  const streams = new OpenStreams({} as never, () => {});
  await streams.close();
  expect(() => streams.open({} as never)).toThrow(expect.objectContaining({ code: "server-closing" }));
});

test("an answer to a question of an earlier loop is stale", async () => {
  const part = { type: "dynamic-tool", state: "approval-responded", toolCallId: "c" };
  const message = {
    id: "s.main.1",
    role: "assistant",
    metadata: { holdfast: { seenEvents: 1 } },
    parts: [{ ...part, approval: { id: "1.c", approved: true } }],
  };
  const body = { id: "s", messages: [message], trigger: "submit-message" };
  expect(await read("POST /v1/chat", body)).toEqual([409, "chat-stale"]);
});

test("an error that no code foresees is logged, and its text is not sent", async () => {
  server = await startServer(holdfast);
  const { status, body } = await sendRequest(server, "GET /v1/sessions");
  expect([status, body["code"]]).toEqual([500, "internal-error"]);
  expect(JSON.stringify(body)).not.toContain("a bug");
  expect(server.reportedErrors).toHaveLength(1);
});
