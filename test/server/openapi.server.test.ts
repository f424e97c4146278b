import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { connectClient } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import { checkedAnswers } from "./openapi-checker.ts";
import { readEvents, sendRequest, startServer, type TestApiServer } from "./test-api-server.ts";

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

const touch = (file: string) => ({
  toolCalls: [{ name: "bash", arguments: { command: `touch ${file}` } }],
});

test("every answer of a running server is as the OpenAPI document describes it", async () => {
  checkedAnswers.clear();
  const session = stage.session({
    replies: [
      touch("one"),
      touch("two"),
      { text: "Done." },
      { text: "Again." },
      { text: "Steered." },
      { text: "More." },
    ],
    agent: { name: "described", tools: ["bash"], permissions: { rules: [], otherwise: "ask" } },
  });
  const at = `/v1/sessions/${session.id}`;
  const send = (route: string, body?: unknown) => sendRequest(server, route, body);
  const findCall = async () => {
    for (;;) {
      const { body } = await send(`GET ${at}/approvals`);
      const [call] = body["approvals"] as { toolCallId: string }[];
      if (call !== undefined) return call.toolCallId;
    }
  };
  await send("POST /v1/sessions", { agent: session.definition, prompt: "Go", session: session.id });
  const first = await findCall();
  // The status of an open run, which is waiting for a user.
  expect((await send(`GET ${at}`)).body).toMatchObject({ source: "run", approvals: [{ toolCallId: first }] });
  expect((await send(`POST ${at}/answer`, { values: {} })).status).toBe(422);
  await send(`POST ${at}/approve`, { toolCallId: first });
  await expect.poll(findCall).not.toBe(first);
  await send(`POST ${at}/deny`, { reason: "no" });
  // The last event is the result, which the document describes, too.
  let last: unknown;
  for await (const { data } of readEvents(server, `${at}/events?from=session`)) last = data;
  const { body: status } = await send(`GET ${at}`);
  const { outcome, turns, usage, costUsd, durationMs, loopId } = status;
  expect(status).toMatchObject({
    status: "completed",
    open: false,
    turns: 3,
    usage: { output: expect.any(Number) },
  });
  expect(last).toEqual({
    ...{ type: "result", session: session.id, status: "completed" },
    ...{ outcome, turns, usage, costUsd, durationMs, loopId },
  });
  expect((await send(`PUT ${at}/title`, { title: "A title" })).body).toMatchObject({ title: "A title" });
  expect((await send(`PUT ${at}/title`, { title: "x".repeat(121) })).status).toBe(422);
  await send(`GET ${at}/messages?limit=2`);
  await send("GET /v1/sessions?agent=described");
  await send(`GET /v1/chat/${session.id}`);
  await send(`POST ${at}/prompt`, { text: "Again" });
  await session.readResult();
  await send(`POST ${at}/send`, { text: "More" });
  await session.readResult();
  await send(`POST ${at}/steer`, { text: "Be quick" });
  await send(`POST ${at}/follow-up`, { text: "And more" });
  await send(`POST ${at}/stop`, {});
  await session.readResult().catch(() => undefined);
  await send(`DELETE ${at}?stop=true`);
  const nowhere = `/v1/sessions/${session.id}-nowhere`;
  for (const route of [
    `GET ${nowhere}`,
    `GET ${nowhere}/messages`,
    `POST ${nowhere}/steer`,
    `GET ${nowhere}/approvals`,
  ]) {
    expect((await send(route, route.startsWith("POST") ? { text: "x" } : undefined)).status, route).toBe(404);
  }
  await send("GET /healthz");
  await send("GET /openapi.json");
  expect([...checkedAnswers].filter((one) => / 2\d\d$/.test(one)).sort()).toEqual([
    "approveCall 200",
    "checkHealth 200",
    "deleteSession 200",
    "denyCall 200",
    "followUp 202",
    "getChat 200",
    "getOpenApi 200",
    "getSession 200",
    "listApprovals 200",
    "listMessages 200",
    "listSessions 200",
    "promptSession 202",
    "sendMessage 202",
    "setTitle 200",
    "startSession 201",
    "steerSession 202",
    "stopSession 202",
  ]);
  expect(server.reportedErrors).toEqual([]);
});
