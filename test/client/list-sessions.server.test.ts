import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { connect, type Holdfast, type SessionSummary } from "../../src/client/index.ts";
import { createTemporaryFolder } from "../tools/tool-context.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";

let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

/** Connects a client without the transcript, which knows only what the server lists. */
async function connectElsewhere(): Promise<Holdfast> {
  const { address, namespace, taskQueue } = stage;
  const holdfast = await connect({ address, namespace, taskQueue, home: await createTemporaryFolder() });
  onTestFinished(() => holdfast.close());
  return holdfast;
}

test("sessions that only the server has are listed once, whatever the size of the pages", async () => {
  const agent = `paged-${randomUUID()}`;
  const ids: string[] = [];
  for (let nth = 0; nth < 3; nth += 1) {
    const session = stage.session({ replies: [{ text: "Done." }], agent: { name: agent } });
    await session.start("Go");
    await session.readResult();
    ids.push(session.id);
  }
  const holdfast = await connectElsewhere();
  const listAll = async (limit: number) => {
    const found: SessionSummary[] = [];
    let after: string | undefined;
    do {
      const page = await holdfast.sessions.list({ agent, limit, ...(after !== undefined && { after }) });
      found.push(...page.sessions);
      after = page.after;
      // A page that does not advance would repeat for ever.
    } while (after !== undefined && found.length <= 2 * ids.length);
    return found;
  };
  // The server's list of runs is late by a moment, and a run that ends between two pages would be on both.
  const completed = ids.map(() => "completed");
  await expect.poll(async () => (await listAll(50)).map(({ status }) => status)).toEqual(completed);
  for (const limit of [1, 2, 3]) {
    const listed = (await listAll(limit)).map(({ session }) => session);
    expect(listed.sort(), `pages of ${limit}`).toEqual(ids.sort());
  }
});
