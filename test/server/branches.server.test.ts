import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { connectClient } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import { sendRequest, startServer, type TestApiServer } from "./test-api-server.ts";

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

const send = (route: string, body?: unknown) => sendRequest(server, route, body);

test("a session is forked, continued on the branch, rewound and forked into a new session over HTTP", async () => {
  const session = stage.session({
    replies: ["One.", "Two.", "On the branch.", "Back."].map((text) => ({ text })),
  });
  await session.run("First");
  await session.run("Second");
  const at = `/v1/sessions/${session.id}`;
  const forked = await send(`POST ${at}/fork`, { at: 2, name: "other" });
  expect([forked.status, forked.headers.get("location")]).toEqual([201, at]);
  expect(forked.body).toMatchObject({
    ...{ session: session.id, branch: "other" },
    from: { session: session.id, branch: "main", position: 2 },
  });

  expect((await send(`POST ${at}/prompt`, { text: "Differently", branch: "other" })).status).toBe(202);
  await session.readResult();
  expect(session.listSeenMessages(2)).toEqual(["user: First", "assistant: One.", "user: Differently"]);

  const rewound = await send(`POST ${at}/rewind`, { branch: "main" });
  expect([rewound.status, rewound.body]).toMatchObject([
    200,
    { head: { branch: "main", position: 4 }, previousHead: { branch: "other", position: 4 } },
  ]);
  expect((await send(`POST ${at}/prompt`, { text: "Third" })).status).toBe(202);
  await session.readResult();
  expect(session.listSeenMessages(3)).toEqual([
    ...["user: First", "assistant: One.", "user: Second", "assistant: Two."],
    "user: Third",
  ]);

  const copy = `${session.id}-copy`;
  const begun = await send(`POST ${at}/fork`, { at: 1, as: copy });
  expect([begun.headers.get("location"), begun.body["session"]]).toEqual([`/v1/sessions/${copy}`, copy]);
  const { body } = await send(`GET /v1/sessions/${copy}/messages`);
  expect(body["messages"]).toMatchObject([{ message: { role: "user" } }]);
});

test("an idle session is compacted over HTTP, and its compaction removed", async () => {
  const look = {
    text: "All work and no play makes a long day. ".repeat(60),
    toolCalls: [{ name: "list_files", arguments: { path: "." } }],
  };
  const session = stage.session({
    replies: [look, look, look, { text: "Done." }],
    agent: {
      tools: ["list_files"],
      context: { compaction: { keepFirstTurns: 1, keepRecentTurns: 1, maxSummaryTokens: 200 } },
    },
  });
  await session.run("Go");
  const at = `/v1/sessions/${session.id}`;
  const { status, body } = await send(`POST ${at}/compact`, { focus: "the prices" });
  expect([status, body]).toEqual([202, { session: session.id, by: "own-loop", runId: expect.any(String) }]);
  expect(await session.readResult()).toMatchObject({ outcome: { stopReason: "contextCompacted" } });
  const removed = await send(`POST ${at}/compact`, { undo: true });
  expect([removed.status, removed.body]).toMatchObject([200, { by: "removal", loopId: expect.any(String) }]);
});

test("an open run compacts before its next answer, and keeps the head; a fork begins beside it", async () => {
  const session = stage.session({ replies: [{ text: "Done.", holdUntil: "forked" }] });
  await session.start("Go");
  await stage.model.waitForHold("forked");
  const at = `/v1/sessions/${session.id}`;
  const { status, body } = await send(`POST ${at}/compact`);
  expect([status, body]).toEqual([202, { session: session.id, by: "open-run" }]);
  expect((await send(`POST ${at}/rewind`, { at: 0 })).body).toMatchObject({
    ...{ status: 409, code: "session-busy" },
    detail: expect.stringContaining("fork instead"),
  });
  expect((await send(`POST ${at}/fork`)).body).toMatchObject({ branch: "branch-1" });
  stage.model.release("forked");
  await session.readResult();
});

test("a position that is missing, unknown or ambiguous is rejected, and so is an unknown session", async () => {
  const session = stage.session({ replies: [{ text: "Done." }] });
  await session.run("Go");
  const at = `/v1/sessions/${session.id}`;
  const refuse = async (route: string, body: unknown) => {
    const { status, body: problem } = await send(`POST ${route}`, body);
    return [status, problem["code"], problem["detail"]];
  };
  const invalid = (detail: string) => [422, "input-invalid", expect.stringContaining(detail)];
  expect(await refuse(`${at}/rewind`, {})).toEqual(invalid("Specify a position"));
  expect(await refuse(`${at}/rewind`, { at: 9 })).toEqual(invalid("2 messages on its branch main"));
  expect(await refuse(`${at}/fork`, { at: 1, afterTurn: 0 })).toEqual(invalid("are different positions"));
  expect(await refuse(`${at}/fork`, { branch: "none" })).toEqual(invalid("no branch none; it has main"));
  expect(await refuse(`${at}/fork`, { name: "no/slash" })).toEqual(invalid("not a valid branch name"));
  const rejected = (detail: string) => [422, "body-invalid", expect.stringContaining(detail)];
  expect(await refuse(`${at}/fork`, { restoreWorkspace: { to: "in-place" } })).toEqual(
    rejected("restoreWorkspace"),
  );
  expect(await refuse(`${at}/compact`, { focus: "x", undo: true })).toEqual(rejected("exclude each other"));
  expect(await refuse(`${at}/compact`, { focus: "x".repeat(2049) })).toEqual([
    ...[413, "input-too-large"],
    expect.stringContaining("2049 bytes"),
  ]);
  for (const verb of ["fork", "rewind", "compact"]) {
    const [status, code] = await refuse(`${at}-nowhere/${verb}`, verb === "rewind" ? { at: 0 } : {});
    expect([status, code], verb).toEqual([404, "session-unknown"]);
  }
  expect(server.reportedErrors).toEqual([]);
});
