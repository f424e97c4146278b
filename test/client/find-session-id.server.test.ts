import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { createTestAgent } from "../../src/testing/test-agent.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { connectClient, runCommandLine } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";

let stage: TestEnvironment;
let holdfast: Holdfast;
beforeAll(async () => {
  stage = await openTestEnvironment();
  holdfast = await connectClient(stage);
});
afterAll(async () => {
  await holdfast.close();
  await stage.close();
});

const create = (session: string) =>
  holdfast.sessions.create({
    agent: createTestAgent(stage.model, {}),
    messages: [{ role: "user", content: [{ type: "text", text: `In ${session}` }], timestamp: 0 }],
    session,
  });

const find = (reference: string) => holdfast.sessions.find(reference);

test("an id, its beginning if no other id has it, or `last` names a session", async () => {
  for (const id of ["rose-1-aaaa", "rose-1-bbbb", "tulip", "tulip-2"]) await create(id);
  expect(await find("rose-1-a")).toBe("rose-1-aaaa");
  expect(await find("tulip"), "a whole id, although another one begins with it").toBe("tulip");
  await expect(find("rose")).rejects.toMatchObject({
    code: "input-invalid",
    message: expect.stringContaining("rose-1-aaaa, rose-1-bbbb."),
  });
  await expect(find("violet")).rejects.toMatchObject({ code: "session-unknown" });
  await expect(find("rose 1")).rejects.toMatchObject({ code: "input-invalid" });
});

test("a sub-agent's id does not make its caller's beginning ambiguous", async () => {
  for (const id of ["lily-7777", "lily-7777.sub-12345678"]) await create(id);
  expect(await find("lily")).toBe("lily-7777");
  expect(await find("lily-7777.sub")).toBe("lily-7777.sub-12345678");
  expect(await find("lily.sub"), "as lists at a terminal shorten it").toBe("lily-7777.sub-12345678");
});

test("a run that only the server has is found by its beginning; `last` is the newest session, then a job", async () => {
  const session = stage.session({ replies: [{ text: "Done." }] });
  await session.run("Go");
  const elsewhere = await connectClient({ ...stage, home: `${stage.home}/elsewhere` });
  await eventually(
    async () => (await elsewhere.sessions.find(session.id.slice(0, -1)).catch(() => "")) === session.id,
  );
  await elsewhere.close();

  const latest = stage.session({ replies: [{ text: "Done." }] });
  await latest.run("Go");
  const shown = await runCommandLine(stage, "show", "last");
  expect(shown).toMatchObject({ code: 0, out: expect.stringContaining("Done.") });
  const status = await runCommandLine(stage, "status", "last", "--json");
  expect(JSON.parse(status.out)).toMatchObject({ session: latest.id });
  await expect(holdfast.jobs.find("no-such-job")).rejects.toMatchObject({ code: "session-unknown" });
});

thoroughTest(
  "a command that may create a session takes a name as it is, and the beginning of a generated id",
  async () => {
    await create("0a1b2c3d-0000-4000-8000-000000000000");
    await create("garden-of-roses");
    const agent = ["--model", `anthropic/test-model@${stage.model.url}`];
    const send = (id: string) => runCommandLine(stage, "send", id, "Hello", "--detach", "--json", ...agent);
    const sent = async (id: string) =>
      JSON.parse((await send(id)).out.split("\n")[0] ?? "") as { session: string };
    expect((await sent("0a1b2c3d")).session).toBe("0a1b2c3d-0000-4000-8000-000000000000");
    expect((await sent("garden")).session).toBe("garden");
  },
);
