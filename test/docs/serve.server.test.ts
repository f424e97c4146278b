import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MAX_BODY_BYTES, MAX_MESSAGE_BODY_BYTES } from "../../src/apps/server/body.ts";
import { DEFAULT_LIMITS } from "../../src/apps/server/open-streams.ts";
import type { Holdfast } from "../../src/client/index.ts";
import { startServer, type TestApiServer, TOKEN } from "../server/test-api-server.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { connectClient } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";

const page = readFileSync(new URL("../../docs/serve.md", import.meta.url), "utf8");
const commands = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = ""]) =>
  block
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line !== ""),
);

let stage: TestEnvironment;
let holdfast: Holdfast;
let server: TestApiServer;
beforeAll(async () => {
  stage = await openTestEnvironment();
  holdfast = await connectClient(stage);
  const agent = stage.session({ replies: [{ text: "Two files." }, { text: "None." }] }).definition;
  server = await startServer(holdfast, { agents: new Map([["coder", agent]]) });
});
afterAll(async () => {
  await server.close();
  await holdfast.close();
  await stage.close();
});

thoroughTest("the commands of docs/serve.md do what the page states, one after the other", async () => {
  const env = { PATH: process.env["PATH"], URL: server.url, TOKEN };
  const said: string[] = [];
  for (const command of commands) {
    const { stdout } = await promisify(execFile)("bash", ["-c", command], { env });
    said.push(stdout);
    if (command.includes("/send")) await holdfast.session("docs-1").result();
  }
  const [begun, events, status, messages, sent, forked, stopped, list, approved, evaluated] = said;
  expect(JSON.parse(begun ?? "")).toMatchObject({ session: "docs-1" });
  expect(events).toMatch(
    /^retry: 1000\n\nid: \S+\ndata: \{"session":"docs-1","cursor":"\S+","event":\{"type":"AgentStart"[\s\S]*\nevent: result\ndata: \{"type":"result"/,
  );
  expect(JSON.parse(status ?? "")).toMatchObject({ session: "docs-1", status: "completed" });
  expect(JSON.parse(messages ?? "").messages).toHaveLength(2);
  expect(JSON.parse(sent ?? "")).toMatchObject({ session: "docs-1", delivery: "prompted" });
  expect(JSON.parse(forked ?? "")).toMatchObject({ branch: "other", from: { position: 2 } });
  expect(JSON.parse(stopped ?? "")).toMatchObject({ open: false });
  expect(JSON.parse(list ?? "")).toMatchObject({ sessions: expect.any(Array) });
  expect(JSON.parse(approved ?? "")).toMatchObject({ code: "approval-unknown", status: 409 });
  expect(JSON.parse(evaluated ?? "")).toMatchObject({ id: expect.any(String), links: {} });
});

test("the limits in docs/serve.md equal those of the code", () => {
  expect(page).toContain(`A body has ${MAX_BODY_BYTES / 1024 / 1024} MiB`);
  expect(page).toContain(`one with a message ${MAX_MESSAGE_BODY_BYTES / 1024 / 1024} MiB`);
  expect(page).toContain(`${DEFAULT_LIMITS.maxStreams} streams may be open`);
  expect(page).toContain(`takes nothing for ${DEFAULT_LIMITS.stallMs / 1000} seconds`);
  expect(page).toContain(`A comment every ${DEFAULT_LIMITS.heartbeatMs / 1000} seconds`);
});
