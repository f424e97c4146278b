import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import type { AgentEvent } from "../../src/schema/agent-event.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { connectClient } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import {
  bearer,
  readEvents,
  type SentEvent,
  sendRawRequest,
  sendRequest,
  startServer,
  type TestApiServer,
} from "./test-api-server.ts";

let stage: TestEnvironment;
let holdfast: Holdfast;
let server: TestApiServer;
beforeAll(async () => {
  stage = await openTestEnvironment();
  holdfast = await connectClient(stage);
  server = await startServer(holdfast);
});
afterAll(async () => {
  await server.close();
  await holdfast.close();
  await stage.close();
});

const LONG = "one two three four five six seven eight";
const eventsOf = (id: string, from = "loop") => `/v1/sessions/${id}/events?from=${from}`;

thoroughTest("a session is started, steered, followed and read over HTTP", async () => {
  const session = stage.session({
    replies: [{ text: LONG, chunkSize: 4, holdUntil: "http" }, { text: "Steered." }],
    agent: { name: "http" },
  });
  const begun = await sendRequest(server, "POST /v1/sessions", {
    agent: session.definition,
    prompt: "Go",
    session: session.id,
  });
  expect([begun.status, begun.headers.get("location")]).toEqual([201, `/v1/sessions/${session.id}`]);
  expect(begun.body).toMatchObject({ session: session.id, runId: expect.any(String) });
  await session.waitForRequest(0);
  const seen: SentEvent[] = [];
  for await (const event of readEvents(server, eventsOf(session.id))) {
    seen.push(event);
    if (event.data["type"] !== "MessageUpdate" || seen.some(({ event: kind }) => kind === "steered"))
      continue;
    const sent = await sendRequest(server, `POST /v1/sessions/${session.id}/steer`, {
      text: "Be quick.",
      acknowledge: true,
    });
    expect([sent.status, sent.body]).toMatchObject([202, { open: true, queued: 1 }]);
    seen.push({ event: "steered", data: {} });
    stage.model.release("http");
  }
  const told = seen.filter(({ event }) => event !== "steered");
  expect(told.at(0)?.data).toMatchObject({ type: "AgentStart", agentName: "http" });
  expect(told.at(-1)).toMatchObject({
    event: "result",
    data: {
      type: "result",
      session: session.id,
      status: "completed",
      outcome: { type: "answered" },
      turns: 2,
      costUsd: 0,
      usage: { totalTokens: expect.any(Number) },
      durationMs: expect.any(Number),
    },
  });
  expect(told.slice(0, -1).every(({ id }) => /^[\w.-]+$/.test(id ?? ""))).toBe(true);
  // The first update is complete; later ones are as long as the new text.
  const updates = told.filter(({ data }) => data["type"] === "MessageUpdate");
  expect(updates[0]?.data["message"]).toBeDefined();
  expect(
    updates
      .slice(1)
      .filter(({ data }) => "message" in data && (data["delta"] as { index: number }).index > 0),
  ).toEqual([]);

  const read = await sendRequest(server, `GET /v1/sessions/${session.id}/messages?limit=2`);
  expect(read.body).toMatchObject({
    messages: [{ position: 0, origin: "prompt" }, { position: 1 }],
    next: 2,
  });
  const rest = await sendRequest(server, `GET /v1/sessions/${session.id}/messages?from=2`);
  expect(rest.body).toMatchObject({ next: null, messages: [{ origin: "steering" }, { origin: "model" }] });
  expect((await sendRequest(server, `GET /v1/sessions/${session.id}`)).body).toMatchObject({
    status: "completed",
    open: false,
  });
  const { body } = await sendRequest(server, "GET /v1/sessions?agent=http&limit=5");
  expect(body["sessions"]).toMatchObject([{ session: session.id, status: "completed" }]);
});

test("a reader that reconnects continues at its position and is informed when nothing is left", async () => {
  const session = stage.session({ replies: [{ text: LONG, chunkSize: 4, holdUntil: "again" }] });
  await session.start("Go");
  await session.waitForRequest(0);
  const before: SentEvent[] = [];
  for await (const event of readEvents(server, eventsOf(session.id))) {
    before.push(event);
    if (event.data["type"] === "MessageUpdate") break;
  }
  const last = before.at(-1)?.id ?? "";
  stage.model.release("again");
  const after: SentEvent[] = [];
  for await (const event of readEvents(server, eventsOf(session.id), {
    headers: { "last-event-id": last },
  })) {
    after.push(event);
  }
  const types = [...before, ...after].map(({ data }) => data["type"] as AgentEvent["type"]);
  const recorded = types.filter((type) => type !== "MessageUpdate");
  expect(recorded).toEqual([...(await session.readEventTypes()), "result"]);
  // The replacement of the message and its additions are the whole answer.
  let words = "";
  for (const { data } of [...before, ...after]) {
    if (data["type"] !== "MessageUpdate") continue;
    const { message, delta } = data as {
      message?: { content: { text: string }[] };
      delta: { delta: string };
    };
    words = message?.content[0]?.text ?? words + delta.delta;
  }
  expect(LONG.startsWith(words)).toBe(true);

  const response = await fetch(`${server.url}${eventsOf(session.id)}`, {
    headers: { authorization: "Bearer a-token-of-these-tests", "last-event-id": after.at(-2)?.id ?? "" },
  });
  expect(response.status).toBe(204);
});

test("an impossible request is rejected with what was tried and the remedy", async () => {
  const session = stage.session({ replies: [{ text: "done" }] });
  await session.run("Go");
  const problem = async (way: string, body?: unknown, headers = {}) => {
    const answer = await sendRequest(server, way, body, headers);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.body).toMatchObject({
      instance: way.split("?")[0],
      detail: expect.stringMatching(/.{20}/),
    });
    return [answer.status, answer.body["code"]];
  };
  const at = `/v1/sessions/${session.id}`;
  expect(await problem("GET /v1/sessions/nobody")).toEqual([404, "session-unknown"]);
  expect(await problem("GET /v1/sessions/nobody/events")).toEqual([404, "session-unknown"]);
  expect(await problem("POST /v1/sessions/nobody/steer", { text: "x" })).toEqual([404, "session-unknown"]);
  expect(await problem("POST /v1/sessions/nobody/prompt", { text: "x" })).toEqual([404, "session-unknown"]);
  expect(await problem("POST /v1/sessions", { prompt: "x" })).toEqual([422, "body-invalid"]);
  expect(await problem("POST /v1/sessions", { agent: "nobody", prompt: "x" })).toEqual([422, "body-invalid"]);
  expect(await problem("POST /v1/sessions", { agent: { model: 1 }, prompt: "x" })).toEqual([
    422,
    "definition-invalid",
  ]);
  expect(await problem("POST /v1/sessions", { model: "antropic/x", prompt: "x" })).toEqual([
    422,
    "definition-invalid",
  ]);
  for (const query of ["limit=0", "limit=x", "limti=1"]) {
    expect(await problem(`GET /v1/sessions?${query}`)).toEqual([422, "query-invalid"]);
  }
  expect(await problem(`POST ${at}/approve`, {})).toEqual([409, "approval-unknown"]);
  for (const id of ["never given", "a/b", "x".repeat(3000), "é"]) {
    const headers = { "last-event-id": encodeURI(id) };
    expect(await problem(`GET ${at}/events`, undefined, headers)).toEqual([400, "cursor-invalid"]);
  }
  expect(await problem(`GET ${at}/events`, undefined, { "last-event-id": "1abcde.0" })).toEqual([
    422,
    "input-invalid",
  ]);
  // Path tricks lead nowhere except to an invalid id.
  for (const path of [
    "..%2f..%2fetc",
    "%2e%2e%2fx",
    "a%00b",
    "a%5cb",
    "x".repeat(300),
    "a%20b",
    "%ff",
    "../../etc",
  ]) {
    const { status } = await sendRawRequest(server, { path: `/v1/sessions/${path}`, headers: bearer });
    expect([path, [404, 422].includes(status)]).toEqual([path, true]);
  }
  expect(server.reportedErrors).toEqual([]);
  expect(server.streams).toBe(0);
});

test.each([
  ["PUT /v1/sessions", "GET, POST"],
  ["POST /v1/sessions/s", "GET, DELETE"],
  ["GET /v1/sessions/s/stop", "POST"],
  ["DELETE /v1/chat/s", "GET"],
  ["DELETE /healthz", "GET, HEAD"],
])("%s is rejected with the methods that are allowed there: %s", async (way, allow) => {
  const { status, headers, body } = await sendRequest(server, way, way.startsWith("GET") ? undefined : {});
  expect([status, headers.get("allow")]).toEqual([405, allow]);
  expect(body).toMatchObject({ code: "method-not-allowed", allow: allow.split(", ") });
});

test("invalid input is explained in sentences: the location, the expected value, and the value received", async () => {
  const detail = async (way: string, body?: unknown) => (await sendRequest(server, way, body)).body["detail"];
  const at = "/v1/sessions/s";
  expect(await detail("POST /v1/sessions", [])).toBe(
    "The body is not valid: body: must be an object, not a list.",
  );
  expect(await detail(`POST ${at}/prompt`, {})).toBe(
    "The body is not valid: body: needs either `text` or `parts`.",
  );
  expect(await detail(`POST ${at}/prompt`, { text: ["x"] })).toContain("text: must be a text, not a list");
  expect(await detail("POST /v1/sessions", { agent: 5 })).toContain(
    "agent: must be a text or an object, not 5",
  );
  expect(await detail(`POST ${at}/send`, { text: "x", whileRunning: "y" })).toContain(
    'whileRunning: must be "reject", "steer" or "follow-up", not a text',
  );
  expect(await detail("GET /v1/sessions?limit=0")).toContain("limit: must be above 0, not 0");
  const agent = {
    model: { ...stage.session({ replies: [] }).definition.model, contextWindow: -1 },
    tools: {},
  };
  const said = await detail("POST /v1/sessions", { agent, prompt: "x" });
  expect(said).toContain("model.contextWindow: must be above 0, not -1");
  expect(said).toContain("tools: must be a list, not an object");
  const unpriced = { model: "local/m@http://127.0.0.1:1/v1", limits: { maxCostUsd: 1 } };
  const refused = await sendRequest(server, "POST /v1/sessions", { agent: unpriced, prompt: "x" });
  expect(refused).toMatchObject({ status: 422, body: { code: "definition-invalid" } });
  expect(refused.body["detail"]).toMatch(
    /limits\.maxCostUsd: .*local\/m is unknown.*or remove the cost limit/,
  );
});

thoroughTest(
  "a model is named as on a command line, a session is deleted, and an unknown price is null",
  async () => {
    const session = stage.session({ replies: [{ text: "Here." }], agent: { model: { cost: null } } });
    const { model } = session.definition;
    await session.run("Go");
    expect((await sendRequest(server, `GET /v1/sessions/${session.id}`)).body["costUsd"]).toBeNull();
    // The server's list of open runs is late by a moment.
    const readListed = async () => {
      const { body } = await sendRequest(server, "GET /v1/sessions");
      const { sessions } = body as { sessions: { session: string; costUsd: unknown }[] };
      return sessions.find((one) => one.session === session.id);
    };
    await expect.poll(async () => (await readListed())?.costUsd).toBeNull();
    const named = { model: `local/${model.id}@${model.baseUrl}` };
    const busy = await sendRequest(server, "POST /v1/sessions", { agent: named, mode: "interactive" });
    expect(busy.status).toBe(201);
    const way = `DELETE /v1/sessions/${String(busy.body["session"])}`;
    expect(await sendRequest(server, way)).toMatchObject({ status: 409, body: { code: "session-busy" } });
    expect(await sendRequest(server, `${way}?stop=true`)).toMatchObject({
      status: 200,
      body: { session: busy.body["session"] },
    });
    expect(await sendRequest(server, `DELETE /v1/sessions/${session.id}`)).toMatchObject({ status: 200 });
    expect(await sendRequest(server, `GET /v1/sessions/${session.id}/messages`)).toMatchObject({
      status: 404,
    });
  },
);

thoroughTest("a pending call is listed, answered, and signed", async () => {
  const session = stage.session({
    replies: [
      { toolCalls: [{ name: "bash", arguments: { command: "touch over-http" } }] },
      { text: "Done." },
    ],
    agent: { tools: ["bash"], permissions: { rules: [], otherwise: "ask" } },
  });
  await session.start("Go");
  let waiting: unknown[] = [];
  while (waiting.length === 0) {
    waiting = (await sendRequest(server, `GET /v1/sessions/${session.id}/approvals`)).body[
      "approvals"
    ] as unknown[];
  }
  expect(waiting).toMatchObject([{ tool: "bash", arguments: { command: "touch over-http" } }]);
  const answered = await sendRequest(server, `POST /v1/sessions/${session.id}/deny`, {
    reason: "no",
    by: "ada",
  });
  expect(answered).toMatchObject({ status: 200, body: { tool: "bash", waiting: 0 } });
  await session.readResult();
  const ended = (await session.readEvents()).find(({ body }) => body.type === "ToolExecutionEnd")?.body;
  expect(ended).toMatchObject({ permission: { answer: "denied", by: "ada" } });
  const stopped = await sendRequest(server, `POST /v1/sessions/${session.id}/stop`, {});
  expect(stopped).toMatchObject({ status: 202, body: { open: false } });
});
