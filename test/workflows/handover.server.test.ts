import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { connectClient, runCommandLine } from "./support/test-client.ts";
import { openTestEnvironment, TEST_KEY, type TestEnvironment } from "./support/test-environment.ts";

let stage: TestEnvironment;
let client: Holdfast;

beforeAll(async () => {
  stage = await openTestEnvironment();
  client = await connectClient(stage);
});
afterAll(async () => {
  await client.close();
  await stage.close();
});

const call = (name: string, reason: string) => ({ toolCalls: [{ name, arguments: { reason } }] });

test("an agent hands its task over: outcome, status and list say so, and a person's text continues it [HITL-05, IRON-08]", async () => {
  const session = stage.session({
    replies: [call("hand_off", `Sign it. ${TEST_KEY}`), { text: "Thanks." }],
    agent: { tools: ["hand_off"] },
  });
  const outcome = { type: "handoff", by: "hand_off", reason: "Sign it. ***" };
  expect(await session.run("Go")).toMatchObject({ outcome });
  expect(session.listRequests()).toHaveLength(1);
  expect(await session.readConversation()).toEqual([
    "user: Go",
    "assistant: ",
    "toolResult: The task was handed over to a person.",
  ]);
  const { searchAttributes, status } = await session.handle.describe();
  expect([status.name, searchAttributes["HoldfastStatus"]]).toEqual(["COMPLETED", ["handoff"]]);
  expect(await stage.transcript.readLoops(session.id)).toMatchObject([{ status: "completed", outcome }]);
  // The server's list of open runs is late by a moment.
  const list = async () => (await runCommandLine(stage, "list", "--status", "handoff", "--json")).out;
  await expect.poll(list).toContain(session.id);
  const shown = await runCommandLine(stage, "status", session.id);
  expect(shown.out).toContain("handed over by hand_off: Sign it. ***");

  const { delivery } = await client.session(session.id).send("It is signed.");
  expect(delivery).toBe("continued");
  expect(await session.readResult()).toMatchObject({ text: "Thanks.", outcome: { type: "answered" } });
  expect(session.listSeenMessages(1).slice(-2)).toEqual([
    "user: The task was handed over to a person.",
    "user: It is signed.",
  ]);
});

thoroughTest("a paused agent continues from the results, with no more to say [HITL-05]", async () => {
  const session = stage.session({
    replies: [call("pause_work", "the parcel"), { text: "It is here." }],
    agent: { tools: ["pause_work"] },
  });
  const paused = await session.run("Go");
  expect(paused.outcome).toEqual({ type: "paused", by: "pause_work", reason: "the parcel" });
  const continued = await runCommandLine(stage, "continue", session.id);
  expect(continued).toMatchObject({ code: 0, out: expect.stringContaining("It is here.") });
});

thoroughTest("a run with redacted content keeps the reason out of its outcome", async () => {
  const session = stage.session({
    replies: [call("hand_off", "a private reason")],
    agent: { tools: ["hand_off"] },
  });
  expect((await session.run("Go", { settings: { redactContent: true } })).outcome).toEqual({
    type: "handoff",
    by: "hand_off",
    reason: "",
  });
});
