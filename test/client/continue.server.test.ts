import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { Gates } from "../workflows/support/gates.ts";
import { connectClient, runCommandLine } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";

const gates = new Gates();
let stage: TestEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [gates.createTool()] });
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

const cli = (...args: readonly string[]) => runCommandLine(stage, ...args);

const hold = (gate: string) => ({ toolCalls: [{ name: "hold", arguments: { gate } }] });

thoroughTest(
  "a run that reached a limit continues with a raised limit, by client and command line [LOOP-04.1, LOOP-04.3]",
  async () => {
    gates.get("more").open();
    const session = stage.session({
      replies: [hold("more"), hold("more"), { text: "At last." }],
      agent: { tools: ["hold"], limits: { maxTurns: 1 } },
    });
    await session.run("Go");
    const more = await holdfast.session(session.id).continue();
    expect((await more.result()).outcome.type).toBe("limit-reached");
    const { code, out, err } = await cli("continue", session.id, "--max-turns", "5");
    expect([code, out]).toEqual([0, expect.stringContaining("At last.")]);
    expect(err).toContain("answered");
    const nothing = await cli("continue", session.id);
    expect([nothing.code, nothing.err]).toEqual([1, expect.stringContaining("ends with an answer")]);
  },
);

thoroughTest("a rerun of a loop keeps the first answer [LOOP-06.2]", async () => {
  const session = stage.session({ replies: [{ text: "First." }] });
  await session.run("Say something");
  const { code, out } = await cli("rerun", session.id, "--json");
  expect(code).toBe(0);
  const last = JSON.parse(out.trim().split("\n").at(-1) ?? "");
  expect(last).toMatchObject({ type: "result", outcome: { type: "answered" } });
  const loops = await stage.transcript.readLoops(session.id);
  expect(loops.map(({ kind }) => kind.type)).toEqual(["initial", "rerun"]);
  expect(new Set(loops.map(({ branch }) => branch)).size).toBe(2);
  expect(await session.readConversation()).toEqual(["user: Say something", "assistant: First."]);
  expect((await cli("rerun", session.id, "--loop", "nope")).err).toMatch(/has no loop nope; it has .*\.1/);
});

test("the limits of a run can be raised while it runs; invalid limits and an idle session are rejected", async () => {
  const session = stage.session({
    replies: [hold("raise"), { text: "Done." }],
    agent: { tools: ["hold"], limits: { maxTurns: 1 } },
  });
  await session.start("Go");
  await gates.get("raise").arrived;
  expect((await cli("raise-limit", session.id)).code).toBe(2);
  const lower = await cli("raise-limit", session.id, "--max-tokens", "5");
  expect([lower.code, lower.err]).toEqual([2, expect.stringContaining("can only be raised")]);
  const raised = await cli("raise-limit", session.id, "--max-turns", "7", "--json");
  expect(JSON.parse(raised.out)).toMatchObject({ type: "limits", maxTurns: 7 });
  gates.get("raise").open();
  expect((await session.readResult()).outcome.type).toBe("answered");
  const rest = await cli("raise-limit", session.id, "--max-turns", "9");
  expect(rest.code).not.toBe(0);
  expect(rest.err).toContain("is idle; it has no running loop whose limits can be raised");
  expect(rest.err).toContain(`holdfast continue ${session.id}`);
  await expect(holdfast.session(session.id).raiseLimits({ maxTurns: 9 })).rejects.toMatchObject({
    code: "session-ended",
    message: expect.not.stringContaining("answer"),
  });
});

thoroughTest("an unknown session is reported as unknown", async () => {
  const { code, err } = await cli("continue", "never-heard-of");
  expect([code, err]).toEqual([2, expect.stringContaining("There is no session never-heard-of")]);
});
