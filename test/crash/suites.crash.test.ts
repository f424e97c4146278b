import { afterAll, beforeAll, expect } from "vitest";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { listCells, listScores, TestSuite } from "../workflows/support/test-suite.ts";
import { type CrashEnvironment, openCrashEnvironment } from "./support/crash-environment.ts";

let stage: CrashEnvironment;
beforeAll(async () => {
  stage = await openCrashEnvironment();
});
afterAll(() => stage.close());

/** What a request asks: two requests that ask the same are one answer that was asked twice. */
const listSent = (suite: TestSuite) => suite.listRequests().map(({ body }) => JSON.stringify(body));

thoroughTest("killed while cells of one answer are asked: each stored answer is paid once", async () => {
  const suite = new TestSuite(stage);
  const questions = Array.from({ length: 24 }, (_, at) => `q${at}.`);
  suite.script({
    "q5.": { text: "q5.", holdUntil: suite.mark },
    ...Object.fromEntries(questions.filter((one) => one !== "q5.").map((one) => [one, { text: one }])),
  });
  const first = await stage.startWorker();
  const run = await suite.start({ cases: suite.cases(...questions), concurrency: 4 });
  await stage.model.waitForHold(suite.mark, { timeoutMs: 60_000 });
  await eventually(async () => (await run.status()).finished >= 3, { what: "some finished cells" });
  await first.kill("SIGKILL");
  stage.model.release(suite.mark);
  const finished = new Set(
    (await listCells(run)).flatMap(({ state, caseId }) => (state === "finished" ? [caseId] : [])),
  );
  const before = new Set(listSent(suite)).size;
  const second = await stage.startWorker();
  expect(await run.result()).toMatchObject({ status: "ended", finished: 24, failed: 0, pending: 0 });
  expect(listScores(await listCells(run))).toEqual(Array(24).fill(1));
  const sent = listSent(suite);
  // Only what was in flight at the moment of the kill may be asked a second time.
  expect(sent.length - new Set(sent).size).toBeLessThanOrEqual(4);
  expect(before).toBeLessThan(24);
  for (const id of finished) expect(suite.listRequests(id)).toHaveLength(1);
  expect(first.stderr() + second.stderr()).not.toContain("Invalid RunId");
});

thoroughTest(
  "killed while agents of cells work: each stored answer is paid once, and their files are scored",
  async () => {
    const suite = new TestSuite(stage);
    const write = { toolCalls: [{ name: "write_file", arguments: { path: "a.txt", content: "kept" } }] };
    suite.script({
      one: [write, { text: "one", holdUntil: suite.mark }],
      two: [write, { text: "two" }],
    });
    const first = await stage.startWorker();
    const run = await suite.start({
      configurations: [{ agent: suite.agent({ tools: ["write_file"] }) }],
      cases: suite.cases("one", "two"),
      scorers: [{ type: "files", files: { "a.txt": { equals: "kept" } } }],
    });
    await stage.model.waitForHold(suite.mark, { timeoutMs: 60_000 });
    await first.kill("SIGKILL");
    stage.model.release(suite.mark);
    const second = await stage.startWorker();
    expect(await run.result()).toMatchObject({ status: "ended", finished: 2, failed: 0 });
    expect(listScores(await listCells(run))).toEqual([1, 1]);
    // The answer that was in flight is asked again.
    expect(suite.listRequests("one")).toHaveLength(3);
    expect(suite.listRequests("two").length).toBeLessThanOrEqual(3);
    expect(first.stderr() + second.stderr()).not.toContain("Invalid RunId");
  },
);
