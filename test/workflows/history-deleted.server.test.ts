import { afterAll, beforeAll, expect } from "vitest";
import { isRunNotFound } from "../../src/client/client-errors.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { runCommandLine } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

/** The server deletes a history after its queue has processed the run's end, which takes up to a minute. */
const SERVER_MS = 180_000;

thoroughTest(
  "`delete --history`: the server deletes the given run, in its own time, and no other",
  async () => {
    const replies = [{ text: "Bye." }];
    const [deleted, kept] = [stage.session({ replies }), stage.session({ replies })];
    for (const session of [deleted, kept]) await session.run("Go");
    const done = await runCommandLine(stage, "delete", deleted.id, "--yes", "--history", "--json");
    expect(JSON.parse(done.out)).toMatchObject({ histories: 1 });
    const gone = (work: Promise<unknown>) => work.then(() => false, isRunNotFound);
    await eventually(() => gone(deleted.handle.describe()), {
      timeoutMs: SERVER_MS,
      everyMs: 500,
      what: "the deletion of a history",
    });
    expect(await gone(deleted.handle.fetchHistory())).toBe(true);
    const again = await runCommandLine(stage, "delete", deleted.id, "--yes", "--history");
    expect([again.code, again.err]).toEqual([2, expect.stringContaining(deleted.id)]);
    expect((await kept.handle.describe()).status.name).toBe("COMPLETED");
  },
  SERVER_MS + 20_000,
);
