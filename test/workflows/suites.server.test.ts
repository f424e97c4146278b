import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tools/tool.ts";
import { suiteStatusQuery } from "../../src/workflows/messages.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { listTexts } from "./support/list-texts.ts";
import { openTestEnvironment, TEST_KEY, type TestEnvironment } from "./support/test-environment.ts";
import { listCells, listScores, TestSuite } from "./support/test-suite.ts";

let stage: TestEnvironment;
beforeAll(async () => {
  const own = defineTool({
    name: "own",
    description: "An own tool",
    inputSchema: z.object({}),
    replay: "pure",
    execute: async () => "done",
  });
  stage = await openTestEnvironment({ workflowThread: true, tools: [own] });
});
afterAll(() => stage.close());

const usage = { input: 1000, output: 1000 };

/** In the history of a workflow that could not start another one, because a run of the same name is open. */
const TAKEN = "startChildWorkflowExecutionFailedEventAttributes";

describe("cells of one answer", () => {
  test("each case is asked by each configuration as often as it is repeated, and what was asked is not asked again", async () => {
    const suite = new TestSuite(stage);
    suite.script({ one: { text: "one" }, two: { text: "wrong" }, three: { text: "three" } });
    const configurations = [
      { name: "short", agent: suite.agent({ systemPrompt: "Short." }) },
      { name: "long", agent: suite.agent({ systemPrompt: "Long." }) },
    ];
    const base = { configurations, repetitions: 2 };

    const first = await suite.run({ ...base, cases: suite.cases("one", "two") });
    expect(first.result).toMatchObject({ status: "ended", finished: 8, failed: 0, pending: 0 });
    expect(listScores(first.cells)).toEqual([1, 1, 1, 1, 0, 0, 0, 0]);
    expect(suite.listRequests()).toHaveLength(8);
    expect(first.cells.map(({ kind }) => kind)).toEqual(Array(8).fill("answer"));

    const again = await suite.run({ ...base, cases: suite.cases("one", "two") });
    expect(again.result).toMatchObject({ finished: 8, costUsd: first.result.costUsd });
    expect(await again.run.status()).toMatchObject({ reused: 8, paidUsd: 0 });

    const rescored = await suite.run({
      ...base,
      cases: suite.cases("one", "two"),
      scorers: [{ type: "includes" }, { type: "exact", expected: "wrong" }],
    });
    expect(listScores(rescored.cells)).toEqual([1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1]);
    expect(suite.listRequests()).toHaveLength(8);

    const more = await suite.run({ ...base, cases: suite.cases("one", "two", "three"), repetitions: 3 });
    expect(more.result).toMatchObject({ finished: 18 });
    expect(suite.listRequests()).toHaveLength(18);

    const fresh = await suite.run({ ...base, cases: suite.cases("one", "two") }, { fresh: true });
    expect(fresh.result).toMatchObject({ finished: 8 });
    // The stored answers belong to the digest of the request: a fresh run has sessions of its own.
    expect(new Set([...first.cells, ...fresh.cells].map(({ result }) => result?.session)).size).toBe(16);
    expect(suite.listRequests()).toHaveLength(26);
  });

  thoroughTest(
    "a vendor's rejection is the failure of its cell alone; retryFailed asks only such cells",
    async () => {
      const suite = new TestSuite(stage);
      const rejection = { fault: "http" as const, status: 400, body: "{}" };
      suite.script({ one: { text: "one" }, two: rejection });
      const asAgents = await suite.run({ cases: suite.cases("two") }, { cells: "agent" });
      expect((await asAgents.run.status()).failures).toEqual({ api: 1 });
      const { run, result, cells } = await suite.run({ cases: suite.cases("one", "two") }, { fresh: true });
      expect(result).toMatchObject({ status: "ended", finished: 1, failed: 1, pending: 0 });
      expect(cells[1]).toMatchObject({ state: "failed", scores: [], result: { attempt: 1 } });
      const failure = "api";
      expect((await run.status()).failures).toEqual({ [failure]: 1 });

      expect(await run.retryFailed("other")).toBe(0);
      const asked = suite.listRequests().length;
      suite.script({ one: { text: "one" }, two: { text: "two" } });
      expect(await run.retryFailed(failure)).toBe(1);
      expect(await run.result()).toMatchObject({ status: "ended", finished: 2, failed: 0 });
      expect(suite.listRequests()).toHaveLength(asked + 1);
      expect((await listCells(run))[1]).toMatchObject({ state: "finished", result: { attempt: 2 } });
    },
  );

  thoroughTest("after too many failures of one class nothing new begins", async () => {
    const suite = new TestSuite(stage);
    suite.script({ "": { fault: "http", status: 400, body: "{}" } });
    const questions = Array.from({ length: 40 }, (_, at) => `q${at}.`);
    const { run, result } = await suite.run({
      cases: suite.cases(...questions),
      stopAfterFailures: 3,
      concurrency: 2,
    });
    expect(result).toMatchObject({ status: "stopped", stopCode: "failures" });
    expect(await run.status()).toMatchObject({ status: "stopped", stopCode: "failures" });
    expect(suite.listRequests().length).toBeLessThan(12);
  });

  thoroughTest(
    "an output that needs a repair becomes a run of its own, and its first answer is paid once",
    async () => {
      const suite = new TestSuite(stage);
      const output = {
        type: "json-schema" as const,
        schema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
      };
      suite.script({ one: [{ text: "not JSON" }, { text: '{"sum": 2}' }] });
      const { result, cells } = await suite.run({
        configurations: [{ agent: suite.agent({ output, model: { api: "openai_completions" } }) }],
        cases: suite.cases("one"),
        scorers: [{ type: "json", fields: { sum: 2 } }],
      });
      expect(result).toMatchObject({ status: "ended", finished: 1, failed: 0 });
      expect(cells).toMatchObject([
        { kind: "agent", result: { paidAnswers: 2, storedAnswers: 0, turns: 2 } },
      ]);
      expect(listScores(cells)).toEqual([1]);
      expect(suite.listRequests()).toHaveLength(2);
    },
  );
});

describe("control", () => {
  thoroughTest(
    "a paused run begins nothing until it is resumed, also if it is paused again at once",
    async () => {
      const suite = new TestSuite(stage);
      suite.script({ "": { text: "done", firstByteDelayMs: 150 } });
      const questions = Array.from({ length: 20 }, (_, at) => `q${at}.`);
      const run = await suite.start({ cases: suite.cases(...questions), concurrency: 1 });
      await eventually(() => suite.listRequests().length > 0, { what: "the first cell" });
      await run.pause();
      const workflow = stage.client.workflow.getHandle(run.id);
      await eventually(async () => (await workflow.query(suiteStatusQuery)).parts === 0, {
        what: "the end of the parts",
      });
      const { status, pending, finished } = await run.status();
      expect({ status, cells: pending + finished }).toEqual({ status: "paused", cells: 20 });
      expect(pending).toBeGreaterThan(0);
      expect(suite.listRequests()).toHaveLength(finished);
      await run.resume();
      await run.pause();
      await run.resume();
      expect(await run.result()).toMatchObject({ status: "ended", finished: 20 });
      expect(suite.listRequests()).toHaveLength(20);
    },
  );

  thoroughTest(
    "a stop leaves the cells in flight pending within ten seconds, and a resumed run ends",
    async () => {
      const suite = new TestSuite(stage);
      suite.script({ one: { text: "one" }, two: { text: "two", holdUntil: suite.mark } });
      const run = await suite.start({ cases: suite.cases("one", "two") });
      await stage.model.waitForHold(suite.mark);
      const begun = Date.now();
      expect(await run.stop("enough")).toBe(true);
      expect(await run.result()).toMatchObject({
        status: "stopped",
        stopCode: "user",
        reason: "enough",
        pending: 1,
      });
      expect(Date.now() - begun).toBeLessThan(10_000);
      expect(await run.stop()).toBe(false);
      stage.model.release(suite.mark);
      await run.resume();
      expect(await run.result()).toMatchObject({ status: "ended", finished: 2 });
    },
  );

  thoroughTest(
    "the budget is exceeded by the answers in flight at most, and a larger one lets the run end",
    async () => {
      const suite = new TestSuite(stage);
      suite.script({ "": { text: "done", usage } });
      const priceUsd = 0.02;
      const questions = Array.from({ length: 20 }, (_, at) => `q${at}.`);
      const run = await suite.start({ cases: suite.cases(...questions), maxCostUsd: 0.1, concurrency: 2 });
      const stopped = await run.result();
      expect(stopped).toMatchObject({ status: "stopped", stopCode: "budget" });
      const { paidUsd, pending } = await run.status();
      expect(paidUsd).toBeLessThanOrEqual(0.1 + 2 * priceUsd + 1e-9);
      expect(paidUsd).toBeGreaterThanOrEqual(0.1 - 1e-9);
      expect(pending).toBeGreaterThan(0);
      await run.change({ maxCostUsd: 10, concurrency: 8 });
      await run.resume();
      expect(await run.result()).toMatchObject({ status: "ended", finished: 20 });
      expect(suite.listRequests()).toHaveLength(20);
    },
  );

  thoroughTest(
    "the concurrency changes while cells are asked, and what is not valid changes nothing",
    async () => {
      for (const cells of ["answer", "agent"] as const) {
        const suite = new TestSuite(stage);
        suite.script({ "": { text: "done", holdUntil: suite.mark } });
        const questions = Array.from({ length: 8 }, (_, at) => `q${at}.`);
        const configurations = [{ agent: suite.agent({ model: { cost: null } }) }];
        const run = await suite.start(
          { cases: suite.cases(...questions), configurations, concurrency: 1 },
          cells === "agent" ? { cells } : {},
        );
        const asked = (count: number) =>
          eventually(() => suite.listRequests().length === count, { what: `${count} requests` });
        await asked(1);
        await run.change({ concurrency: 4 });
        await asked(4);
        await expect(run.change({ maxCostUsd: 1 })).rejects.toThrow(
          /has a budget, and the price of .* is unknown/,
        );
        await expect(run.change({ concurrency: 0 })).rejects.toThrow(/The change is not valid: concurrency/);
        const workflow = stage.client.workflow.getHandle(run.id);
        for (const given of [{ concurrency: 0 }, { concurrency: "many" }, { state: "lost" }, null, "stop"])
          await workflow.signal("controlSuite", given);
        expect(await workflow.query(suiteStatusQuery)).toMatchObject({ state: "running", concurrency: 4 });
        expect((await run.status()).control).toMatchObject({ concurrency: 4, maxCostUsd: null });
        stage.model.release(suite.mark);
        expect(await run.result()).toMatchObject({ status: "ended", finished: 8 });
      }
    },
  );

  thoroughTest(
    "a run of more parts than one history holds continues as new, and is running meanwhile",
    async () => {
      const suite = new TestSuite(stage);
      // Both kinds of cells, which are parts of their own.
      const cases = Array.from({ length: 40 }, (_, at) => ({
        id: `c${at}`,
        input: at % 2 === 0 ? suite.ask(`q${at}.`) : [suite.ask(`q${at}.`), "Again"],
      }));
      const client = await suite.connect({ rotateAfterEvents: 24 });
      const run = await client.evaluations.start(suite.define({ cases, scorers: [] }));
      const statuses = new Set<string>();
      for await (const { status } of run.watch({ intervalMs: 100 })) statuses.add(status);
      expect([...statuses]).toEqual(["running", "ended"]);
      expect(await run.result()).toMatchObject({ status: "ended", finished: 40, failed: 0 });
      const handle = stage.client.workflow.getHandle(run.id);
      const [started] = (await handle.fetchHistory()).events ?? [];
      expect(started?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId).toBeTruthy();
    },
  );

  thoroughTest("a run whose workflow was terminated can be stopped and resumed", async () => {
    const suite = new TestSuite(stage);
    suite.script({ one: { text: "one", holdUntil: suite.mark } });
    const run = await suite.start({ cases: suite.cases("one") });
    await stage.model.waitForHold(suite.mark);
    await stage.client.workflow.getHandle(run.id).terminate();
    expect(await run.stop()).toBe(false);
    expect(await run.status()).toMatchObject({ status: "stopped", stopCode: "user" });
    stage.model.release(suite.mark);
    await run.resume();
    expect(await run.result()).toMatchObject({ status: "ended", finished: 1 });
  });
});

const readFile = (path: string) => ({ toolCalls: [{ name: "read_file", arguments: { path } }] });
const writeFile = (path: string, content: string) => ({
  toolCalls: [{ name: "write_file", arguments: { path, content } }],
});

describe("cells with a run of their own", () => {
  test("an agent works in a fresh workspace with the files of its case, and its files are scored", async () => {
    const suite = new TestSuite(stage);
    suite.script({ copy: [readFile("in.txt"), writeFile("out.txt", "copied"), { text: "I copied it." }] });
    const input = {
      configurations: [{ agent: suite.agent({ tools: ["read_file", "write_file"] }) }],
      repetitions: 2,
      cases: [{ id: "copy", input: suite.ask("copy"), files: { "in.txt": "copied" } }],
      scorers: [
        { type: "files" as const, files: { "out.txt": { equals: "copied" } } },
        { type: "tool-calls" as const, calls: [{ name: "read_file" }, { name: "write_file" }] },
      ],
    };
    const { run, result, cells } = await suite.run(input);
    expect(result).toMatchObject({ status: "ended", finished: 2, failed: 0 });
    expect(listScores(cells)).toEqual([1, 1, 1, 1]);
    expect(cells[0]).toMatchObject({
      kind: "agent",
      result: { turns: 3, paidAnswers: 3, outcome: "answered" },
    });
    const requests = suite.listRequests().length;
    expect(requests).toBe(6);
    expect((await suite.run(input)).result).toMatchObject({ finished: 2 });
    expect(suite.listRequests()).toHaveLength(requests);

    const history = (await readHistoryTexts(run.id)).join("\n");
    expect(history).not.toContain(suite.ask("copy"));
    expect(history).not.toContain(TEST_KEY);
  });

  thoroughTest("several messages are sent one after the other, and every answer counts", async () => {
    const suite = new TestSuite(stage);
    suite.script({ one: [{ text: "first" }, { text: "second" }] });
    const { result, cells } = await suite.run({
      cases: [{ id: "two", input: [suite.ask("one"), "and two"], expected: "second" }],
    });
    expect(result).toMatchObject({ finished: 1 });
    expect(cells).toMatchObject([{ result: { turns: 2, paidAnswers: 2 } }]);
    expect(listScores(cells)).toEqual([1]);
  });

  thoroughTest("a cell begins with a recorded session, with and without a message of its own", async () => {
    const suite = new TestSuite(stage);
    const recorded = stage.session({ replies: [{ text: "first" }, { text: "recorded" }] });
    await recorded.run(suite.ask("hello"));
    const client = await suite.connect();
    await client.session(recorded.id).prompt("go on");
    await client.session(recorded.id).result();
    suite.script({ hello: [{ text: "zero" }, { text: "instead" }, { text: "after" }] });
    const fork = (turn: number) => ({ session: recorded.id, turn });
    const { result, cells } = await suite.run({
      cases: [
        { id: "instead", fork: fork(1), expected: "instead" },
        { id: "other", fork: fork(1), input: "another way", expected: "instead" },
        { id: "whole", fork: { session: recorded.id }, input: "and more", expected: "after" },
        { id: "beyond", fork: fork(9), input: "never" },
      ],
    });
    expect(result).toMatchObject({ finished: 3, failed: 1 });
    expect(cells.at(-1)?.result?.message).toContain("which has 2 answers");
    expect(listScores(cells)).toEqual([1, 1, 1]);
    expect(cells.slice(0, 3).map(({ result: one }) => one?.turns)).toEqual([1, 1, 1]);
  });

  thoroughTest("two runs of the same cells at the same time pay each answer once", async () => {
    const suite = new TestSuite(stage);
    suite.script({
      alone: { text: "alone", holdUntil: suite.mark },
      work: [writeFile("a.txt", "kept"), { text: "work", holdUntil: suite.mark }],
    });
    const input = {
      configurations: [
        { name: "plain", agent: suite.agent() },
        { name: "tools", agent: suite.agent({ tools: ["write_file"] }) },
      ],
      cases: [
        { id: "alone", input: suite.ask("alone") },
        { id: "work", input: suite.ask("work") },
      ],
      scorers: [{ type: "files" as const, files: { "a.txt": { equals: "kept" } } }],
    };
    const first = await suite.start(input);
    await eventually(() => suite.listRequests("work").length >= 2, { what: "the agent at work" });
    const second = await suite.start(input);
    await eventually(
      async () => (await stage.client.workflow.getHandle(second.id).query("status")) !== undefined,
      { what: "the second run" },
    ).catch(() => undefined);
    stage.model.release(suite.mark);
    const results = await Promise.all([first.result(), second.result()]);
    expect(results).toMatchObject([
      { status: "ended", finished: 4, failed: 0 },
      { status: "ended", finished: 4, failed: 0 },
    ]);
    expect(suite.listRequests("alone")).toHaveLength(2);
    const work = await listCells(first);
    expect(
      work.find(({ caseId, configurationName }) => caseId === "work" && configurationName === "tools")
        ?.scores[0]?.score.value,
    ).toBe(1);
    // No request was sent a second time.
    const sent = suite.listRequests().map(({ body }) => JSON.stringify(body));
    expect(new Set(sent).size).toBe(sent.length);
  });

  thoroughTest("a cell that another run works on takes nothing from the budget", async () => {
    const suite = new TestSuite(stage);
    suite.script({ shared: { text: "shared", holdUntil: suite.mark } });
    const configurations = [{ agent: suite.agent({ tools: ["read_file"] }) }];
    const first = await suite.start({ configurations, cases: suite.cases("shared") });
    await eventually(() => suite.listRequests("shared").length > 0, { what: "the agent at work" });
    // So many that the first part has the shared cell and another one.
    const cases = suite.cases("shared", "q1", "q2", "q3", "q4");
    const second = await suite.start({ configurations, cases, maxCostUsd: 1, concurrency: 1 });
    const isTaken = async () => (await readHistoryTexts(second.id)).includes(TAKEN);
    await eventually(isTaken, { what: "the second run to find the agent at work" });
    stage.model.release(suite.mark);
    expect(await second.result()).toMatchObject({ status: "ended", finished: 5 });
    expect(await first.result()).toMatchObject({ finished: 1 });
    expect(suite.listRequests()).toHaveLength(5);
    const texts = await readHistoryTexts(second.id);
    expect(texts).toContain("done");
    expect(texts).not.toContain("budget");
  });

  thoroughTest("equal cells of one run are asked once", async () => {
    const suite = new TestSuite(stage);
    suite.script({ same: [writeFile("a.txt", "kept"), { text: "same" }] });
    const agent = suite.agent({ tools: ["write_file"] });
    const { result } = await suite.run({
      configurations: [
        { name: "a", agent },
        { name: "b", agent: { ...agent, name: "another-name" } },
      ],
      cases: suite.cases("same"),
      concurrency: 1,
    });
    expect(result).toMatchObject({ status: "ended", finished: 2, failed: 0 });
    expect(suite.listRequests()).toHaveLength(2);
  });

  thoroughTest(
    "a cell that the budget cuts off is no result, and a resumed run asks the rest of it",
    async () => {
      const suite = new TestSuite(stage);
      suite.script({
        "": [writeFile("a.txt", "1"), writeFile("a.txt", "2"), { text: "done" }].map((one) => ({
          ...one,
          usage,
        })),
      });
      const run = await suite.start({
        configurations: [{ agent: suite.agent({ tools: ["write_file"] }) }],
        cases: suite.cases("q1.", "q2."),
        scorers: [],
        maxCostUsd: 0.07,
        concurrency: 2,
      });
      await run.result();
      const cut = (await listCells(run)).filter(({ result }) => result?.outcome === "budget");
      expect(cut.length).toBeGreaterThan(0);
      expect(cut.every(({ state }) => state === "failed")).toBe(true);
      await run.change({ maxCostUsd: 10 });
      await run.resume();
      expect(await run.result()).toMatchObject({ status: "ended", finished: 2, failed: 0 });
      expect(suite.listRequests()).toHaveLength(6);
    },
  );

  thoroughTest("the session of a cell can be continued, and what was added is not scored", async () => {
    const suite = new TestSuite(stage);
    suite.script({ one: [{ text: "one" }, { text: "later" }] });
    const first = await suite.run({ cases: suite.cases("one") });
    const session = first.cells[0]?.result?.session ?? "";
    const client = await suite.connect();
    await client.session(session).prompt("go on");
    expect(await client.session(session).result()).toMatchObject({ text: "later" });
    const again = await suite.run({
      cases: suite.cases("one"),
      scorers: [{ type: "exact", expected: "one", name: "new" }],
    });
    expect(listScores(again.cells)).toEqual([1]);
    expect(suite.listRequests()).toHaveLength(2);
  });

  thoroughTest("a stopped agent cell goes on with the answers that it has paid", async () => {
    const suite = new TestSuite(stage);
    suite.script({ work: [writeFile("a.txt", "1"), { text: "work", holdUntil: suite.mark }] });
    const run = await suite.start({
      configurations: [{ agent: suite.agent({ tools: ["write_file"] }) }],
      cases: suite.cases("work"),
    });
    await stage.model.waitForHold(suite.mark);
    const begun = Date.now();
    await run.stop();
    expect(await run.result()).toMatchObject({ status: "stopped", pending: 1 });
    expect(Date.now() - begun).toBeLessThan(10_000);
    stage.model.release(suite.mark);
    await run.resume();
    expect(await run.result()).toMatchObject({ status: "ended", finished: 1 });
    expect(await listCells(run)).toMatchObject([{ result: { paidAnswers: 1, storedAnswers: 1 } }]);
    expect(suite.listRequests()).toHaveLength(3);
  });

  thoroughTest("cells with an own tool are shared only by runs that state its version", async () => {
    const suite = new TestSuite(stage);
    suite.script({ one: [{ toolCalls: [{ name: "own", arguments: {} }] }, { text: "one" }] });
    const input = {
      configurations: [{ agent: suite.agent({ tools: ["own"] }) }],
      cases: suite.cases("one"),
    };
    const runAs = async (versions?: Readonly<Record<string, string>>) => {
      const { run } = await suite.run({ ...input, versions });
      return (await run.status()).reused;
    };
    expect([await runAs(), await runAs()]).toEqual([0, 0]);
    expect([await runAs({ own: "1" }), await runAs({ own: "1" }), await runAs({ own: "2" })]).toEqual([
      0, 1, 0,
    ]);
  });

  thoroughTest("a sub-agent's answers are taken from the store like its caller's", async () => {
    const suite = new TestSuite(stage);
    const child = suite.agent({ name: "scout", systemPrompt: `You scout ${suite.mark}.` });
    stage.model.script({
      conversations: [
        { match: ({ system }) => system.includes(`scout ${suite.mark}`), replies: [{ text: "Seen." }] },
        {
          match: ({ firstUserText }) => firstUserText.startsWith(suite.ask("one")),
          replies: [{ toolCalls: [{ name: "scout", arguments: { task: "Look" } }] }, { text: "one" }],
        },
      ],
    });
    const input = {
      configurations: [{ agent: suite.agent({ subAgents: [{ name: "scout", agent: child }] }) }],
      cases: suite.cases("one"),
    };
    const scouts = () =>
      stage.model.requests.filter(({ body }) => JSON.stringify(body).includes(`scout ${suite.mark}`)).length;
    expect((await suite.run(input)).result).toMatchObject({ finished: 1, failed: 0 });
    expect(scouts()).toBe(1);
    const { run } = await suite.run({ ...input, repetitions: 2 });
    expect(await run.status()).toMatchObject({ finished: 2, reused: 1 });
    expect(scouts()).toBe(2);
  });

  thoroughTest(
    "a stop does not wait for a command that scores, and the cell is not asked again",
    async () => {
      const suite = new TestSuite(stage);
      suite.script({ one: [writeFile("a.txt", "1"), { text: "one" }] });
      const run = await suite.start({
        configurations: [{ agent: suite.agent({ tools: ["write_file"] }) }],
        cases: suite.cases("one"),
        scorers: [{ type: "command", command: "sleep 50" }],
      });
      await eventually(() => suite.listRequests().length === 2, { what: "the agent's last answer" });
      await eventually(async () => (await listPartActivities(run.id)).includes("finish-cells"), {
        what: "the scoring",
      });
      const begun = Date.now();
      await run.stop();
      expect(await run.result()).toMatchObject({ status: "stopped", pending: 1 });
      expect(Date.now() - begun).toBeLessThan(10_000);
      expect(suite.listRequests()).toHaveLength(2);
    },
  );

  thoroughTest("a judge grades each answer once", async () => {
    const suite = new TestSuite(stage);
    suite.script({ one: { text: "one" } });
    const judge = suite.agent({ systemPrompt: `You judge ${suite.mark}.` });
    stage.model.script({
      conversations: [
        {
          match: ({ system }) => system.includes(`judge ${suite.mark}`),
          replies: [{ text: '{"points": {"right": 1}}' }],
        },
        { replies: [{ text: "one" }] },
      ],
    });
    const rubric = [{ id: "right", description: "It is right.", points: 2 }];
    const scorers = [{ type: "judge" as const, agent: judge, rubric }];
    const { cells, result } = await suite.run({ cases: suite.cases("one"), scorers });
    expect(result).toMatchObject({ finished: 1 });
    expect(cells[0]?.scores[0]?.score).toMatchObject({ class: "scored", value: 0.5 });
    const judged = () =>
      stage.model.requests.filter(({ body }) => JSON.stringify(body).includes(`judge ${suite.mark}`));
    expect(judged()).toHaveLength(1);
    await suite.run({ cases: suite.cases("one"), scorers });
    expect(judged()).toHaveLength(1);
  });
});

/** Every text in the histories of a suite's workflow and of its parts. */
async function readHistoryTexts(run: string): Promise<readonly string[]> {
  const texts = listTexts(await stage.client.workflow.getHandle(run).fetchHistory());
  const parts = stage.client.workflow.list({ query: `ParentWorkflowId = "${run}"` });
  for await (const { workflowId } of parts)
    texts.push(...listTexts(await stage.client.workflow.getHandle(workflowId).fetchHistory()));
  return texts;
}

/** The activities that the open parts of a suite wait for. */
async function listPartActivities(run: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { workflowId } of stage.client.workflow.list({ query: `ParentWorkflowId = "${run}"` })) {
    const { raw } = await stage.client.workflow.getHandle(workflowId).describe();
    for (const { activityType } of raw.pendingActivities ?? []) names.push(activityType?.name ?? "");
  }
  return names;
}
