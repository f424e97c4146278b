import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, type UIMessage } from "ai";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { connectClient } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import type { TestSession } from "../workflows/support/test-session.ts";
import { bearer, sendRequest, startServer, type TestApiServer } from "./test-api-server.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PNG_URL = `data:image/png;base64,${PNG}`;

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

const listImages = (session: TestSession, nth: number) =>
  [
    ...JSON.stringify(session.listRequests()[nth]?.body).matchAll(
      /"media_type":"image\/png","data":"([^"]+)"/g,
    ),
  ].map(([, data]) => data);

test("an image travels over HTTP as a part, and no request makes the server read a file or an address", async () => {
  const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
  const image = { type: "image", data: PNG, name: "a.png" };
  const started = await sendRequest(server, "POST /v1/sessions", {
    agent: session.definition,
    session: session.id,
    prompt: [{ type: "text", text: "See" }, image],
  });
  expect(started.status).toBe(201);
  await holdfast.session(session.id).result();
  const sent = await sendRequest(server, `POST /v1/sessions/${session.id}/send`, { parts: [image] });
  expect(sent.status).toBe(202);
  await holdfast.session(session.id).result();
  expect([listImages(session, 0), listImages(session, 1)]).toEqual([[PNG], [PNG, PNG]]);

  const refused: [object, string][] = [
    [{ parts: [{ type: "image", path: "/etc/passwd" }] }, "path"],
    [{ parts: [{ type: "file", data: "AAAA", path: "/etc/passwd" }] }, "path"],
    [{ parts: [image], text: "See" }, "either `text` or `parts`"],
    [{}, "either `text` or `parts`"],
    [{ parts: [] }, "must not be empty"],
    [{ parts: [{ type: "image", data: "not base64!" }] }, "not base64"],
    [{ parts: [{ type: "image", data: "AAAA" }] }, "is not a PNG"],
  ];
  for (const [body, reason] of refused) {
    for (const route of ["prompt", "send", "steer", "follow-up"]) {
      const { status, body: problem } = await sendRequest(
        server,
        `POST /v1/sessions/${session.id}/${route}`,
        body,
      );
      expect([status, problem["detail"]], route).toEqual([422, expect.stringContaining(reason)]);
    }
  }
});

test("an image that the model cannot read is refused with the reason", async () => {
  const session = stage.session({ agent: { model: { input: [] } } });
  const { status, body } = await sendRequest(server, "POST /v1/sessions", {
    agent: session.definition,
    prompt: [{ type: "image", data: PNG }],
  });
  expect(status).toBe(422);
  expect(body).toMatchObject({
    code: "input-unsupported",
    detail: expect.stringContaining("does not read images"),
  });
});

test("a page of the AI SDK sends files, and sees them again when it is opened later", async () => {
  const session = stage.session({ replies: [{ text: "A dot." }] });
  const chat = new Chat<UIMessage>({
    id: session.id,
    transport: new DefaultChatTransport({
      api: `${server.url}/v1/chat`,
      headers: bearer,
      body: { agent: session.definition },
    }),
  });
  const notes = `data:text/markdown;base64,${Buffer.from("# Hi").toString("base64")}`;
  const files = [
    { type: "file" as const, mediaType: "image/png", url: PNG_URL, filename: "dot.png" },
    { type: "file" as const, mediaType: "text/markdown", url: notes, filename: "notes.md" },
  ];
  await chat.sendMessage({ text: "What is it?", files });
  expect([chat.status, chat.error]).toEqual(["ready", undefined]);
  expect(listImages(session, 0)).toEqual([PNG]);
  expect(JSON.stringify(session.listRequests()[0]?.body)).toContain("[File notes.md, text/markdown]\\n# Hi");
  const { body } = await sendRequest(server, `GET /v1/chat/${session.id}`);
  expect((body["messages"] as UIMessage[])[0]?.parts).toEqual([
    { type: "text", text: "What is it?", state: "done" },
    ...files.map((file) => expect.objectContaining(file)),
  ]);
});
