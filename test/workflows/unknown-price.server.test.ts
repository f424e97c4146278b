import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { anthropic, compareCosts, type Holdfast, local, openai } from "../../src/client/index.ts";
import { TEST_KEY_NAME } from "../../src/testing/test-agent.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createAgentTree, createTaskCall, findChildSession } from "./support/agent-tree.ts";
import { connectClient, runCommandLine } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import { TestEvaluation } from "./support/test-evaluation.ts";

let stage: TestEnvironment;
let client: Holdfast;

beforeAll(async () => {
  stage = await openTestEnvironment({
    registered: {
      evaluationStrategies: {
        cheapest: ({ responses }) =>
          [...responses].sort((one, other) => compareCosts(one.costUsd, other.costUsd))[0]?.index ?? 0,
      },
    },
  });
  client = await connectClient(stage);
});
afterAll(async () => {
  await client.close();
  await stage.close();
});

const unpriced = { cost: null };
const priced = { cost: { input: 1000, output: 1000 } };
const usage = { input: 1000, output: 1000 };
const REFUSED = {
  name: "HoldfastError",
  message: expect.stringMatching(
    /a cost limit cannot be enforced: the price of .* is unknown\..*or remove the cost limit/,
  ),
};

describe("an unknown price is null in JSON, and a dash in text, everywhere [LIM-04.2]", () => {
  thoroughTest(
    "in status, lists, records and exports, on the command line and in Temporal's search attributes",
    async () => {
      const session = stage.session({ replies: [{ text: "One.", usage }], agent: { model: unpriced } });
      await session.run("Go");
      const { id } = session;
      expect((await client.session(id).status()).costUsd).toBeNull();
      // The server's list of open runs is late by a moment.
      const readListed = async () =>
        (await client.sessions.list({ limit: 500 })).sessions.find((one) => one.session === id);
      await expect.poll(readListed).toMatchObject({ status: "completed", costUsd: null });
      const record = await client.session(id).record();
      expect(record.totals.costUsd).toBeNull();
      expect(record.loops[0]?.costUsd).toBeNull();
      let lines = "";
      for await (const line of client.session(id).export()) lines += line;
      expect(lines).toContain('"costUsd":null');
      expect((await session.handle.describe()).searchAttributes).not.toHaveProperty("HoldfastCostUsd");
      const rowOf = (out: string) => out.split("\n").find((line) => line.includes(id)) ?? "";
      expect(rowOf((await runCommandLine(stage, "list", "--limit", "500")).out)).toMatch(/ — /);
      expect((await runCommandLine(stage, "status", id)).out).toMatch(/cost +—/);
      expect(JSON.parse((await runCommandLine(stage, "status", id, "--json")).out)).toMatchObject({
        costUsd: null,
      });
      const free = stage.session({ replies: [{ text: "One.", usage }] });
      await free.run("Go");
      expect((await client.session(free.id).status()).costUsd).toBe(0);
      expect((await runCommandLine(stage, "status", free.id)).out).toMatch(/cost +\$0\.00/);
    },
  );

  thoroughTest("of a tree, where one sub-agent's price is unknown", async () => {
    const parent = createAgentTree(
      stage,
      [
        { toolCalls: [createTaskCall("scout", "look")], usage },
        { text: "Done.", usage, holdUntil: "seen" },
      ],
      { scout: [{ text: "Seen.", usage }] },
      { model: priced },
      { model: unpriced },
    );
    await parent.start("Go");
    await stage.model.waitForHold("seen");
    expect(await parent.readStatus()).toMatchObject({
      costUsd: null,
      budget: { usd: { limit: null, used: null, remaining: null } },
    });
    const metadata = await parent.handle.query<{ currentDetails?: string }>("__temporal_workflow_metadata");
    expect(metadata.currentDetails).toContain("- **Cost**: —, — of it by sub-agents");
    stage.model.release("seen");
    await parent.readResult();
    const child = await findChildSession(stage, parent);
    expect((await client.session(child.id).status()).costUsd).toBeNull();
    expect((await client.session(parent.id).status()).costUsd).toBeNull();
    // The price of its own loop is known.
    expect((await stage.transcript.readLoops(parent.id))[0]?.costUsd).toBe(4);
  });

  test("of a loop, where a fallback without a price gave one answer", async () => {
    const backup = {
      ...stage.session({ replies: [] }).definition.model,
      ...unpriced,
      id: "backup-model",
      api: "openai_completions" as const,
      baseUrl: stage.model.openaiBaseUrl,
    };
    const session = stage.session({
      faults: [{ fault: "overloaded", times: 1, onTurn: 0 }],
      replies: [{ text: "never" }],
      agent: { model: priced, fallbacks: [backup], retry: { maxRetries: 0, initialDelayMs: 1 } },
    });
    await session.run("Go");
    expect((await stage.transcript.readLoops(session.id))[0]?.costUsd).toBeNull();
  });

  test("of an evaluation, where no branch wins by an unknown price", async () => {
    const contest = new TestEvaluation(stage, [
      { replies: [{ text: "unknown", usage }], agent: { model: unpriced } },
      { replies: [{ text: "dear", usage }], agent: { model: priced } },
    ]);
    const result = await contest.run("Compare", { strategy: { type: "custom", name: "cheapest" } });
    expect(result.selected).toMatchObject({ index: 1, costUsd: 2 });
    expect(result.otherBranches[0]?.costUsd).toBeNull();
    expect(result.costUsd).toBeNull();
    expect((await client.session(contest.id).status()).costUsd).toBeNull();
  });

  thoroughTest("of a job, where one part's price is unknown", async () => {
    const one = stage.session({ replies: [{ text: "One.", usage }], agent: { name: "one", model: priced } });
    const two = stage.session({
      replies: [{ text: "Two.", usage }],
      agent: { name: "two", model: unpriced },
    });
    const job = await client.jobs.start({
      mode: {
        type: "pipeline",
        stages: [
          { name: "one", agent: one.definition },
          { name: "two", agent: two.definition },
        ],
      },
      task: "Go",
    });
    expect(await job.result()).toMatchObject({
      costUsd: null,
      parts: [{ costUsd: expect.any(Number) }, { costUsd: null }],
    });
    expect((await runCommandLine(stage, "job", "status", job.id)).out).toMatch(/two +two +answered +1 +— /);
  });
});

describe("a cost limit is rejected where a price is unknown, whatever sets it [LIM-04.1]", () => {
  const definition = (model: object, limits: object = {}) =>
    stage.session({ replies: [], agent: { model, limits } }).definition;
  const limited = { maxCostUsd: 1 };

  test("by a definition, its fallbacks and its sub-agents", async () => {
    const known = definition(priced, limited);
    const other = definition(unpriced);
    for (const agent of [
      definition(unpriced, limited),
      { ...known, fallbacks: [other.model] },
      { ...known, subAgents: [{ name: "scout", agent: other }] },
      { ...definition(priced), subAgents: [{ name: "scout", agent: other, limits: limited }] },
      { ...known, model: local("http://127.0.0.1:1/v1", "m") },
      { ...known, model: openai("nobody-knows-it") },
    ]) {
      await expect(client.start({ agent, prompt: "x" })).rejects.toMatchObject({
        ...REFUSED,
        code: "definition-invalid",
      });
    }
    expect(anthropic("claude-sonnet-5-5").cost).not.toBeNull();
  });

  test("by a job, an evaluation, several branches, a continued loop and an update under a limit", async () => {
    const session = stage.session({ replies: [{ text: "One.", usage }], agent: { model: unpriced } });
    await session.run("Go");
    const agent = session.definition;
    const handle = client.session(session.id);
    const judge = definition(unpriced);
    const doors = [
      () => client.jobs.start({ mode: { type: "autonomous", agent, limits: limited }, task: "x" }),
      () =>
        client.evaluate({
          agents: [agent],
          strategy: { type: "transparent" },
          prompt: "x",
          limits: limited,
        }),
      () =>
        client.evaluate({
          agents: [definition(priced)],
          strategy: { type: "judge", judge },
          prompt: "x",
          limits: limited,
        }),
      () => handle.branches.explore([{ prompt: "x" }], { limits: limited }),
      () => handle.continue({ limits: limited }),
      () => handle.branches.rerun({ limits: limited }),
      () => handle.branches.start({ beforeTurn: 0, limits: limited }),
    ];
    for (const door of doors) await expect(door()).rejects.toMatchObject(REFUSED);
    const continued = await runCommandLine(stage, "continue", session.id, "--max-cost", "1");
    expect(continued.code).not.toBe(0);
    expect(continued.err).toMatch(/is unknown/);
    const waiting = stage.session({
      replies: [{ text: "One.", usage, holdUntil: "under a limit" }],
      agent: { model: priced, limits: { maxCostUsd: 100 } },
    });
    await waiting.start("Go");
    await stage.model.waitForHold("under a limit");
    await expect(client.session(waiting.id).update(definition(unpriced))).rejects.toMatchObject({
      code: "update-rejected",
      message: REFUSED.message,
    });
    stage.model.release("under a limit");
    await waiting.readResult();
  });
});

test("invalid options of a factory and of a definition are rejected in sentences, with a HoldfastError", async () => {
  const invalid = (message: RegExp) =>
    expect.objectContaining({
      name: "HoldfastError",
      code: "definition-invalid",
      message: expect.stringMatching(message),
    });
  expect(() => openai("gpt-5", { apiKey: "x" })).toThrow(
    invalid(/openai\("gpt-5"\).*apiKey: name the environment variable that holds the key, as \$\{NAME\}/),
  );
  expect(() => anthropic("", {})).toThrow(invalid(/id: must not be empty/));
  expect(() => anthropic(undefined as never)).toThrow(invalid(/id: is missing; it must be a text/));
  expect(() => anthropic("x", { contextWindw: 5 } as never)).toThrow(invalid(/did you mean "contextWindow"/));
  expect(() => anthropic("x", { contextWindow: "5" as never })).toThrow(
    invalid(/contextWindow: must be a number, not a text/),
  );
  const agent = { model: anthropic("claude-sonnet-5-5", { apiKey: `\${${TEST_KEY_NAME}}` }) };
  const refused = async (work: Promise<unknown>, message: RegExp) =>
    await expect(work).rejects.toMatchObject({
      name: "HoldfastError",
      message: expect.stringMatching(message),
    });
  await refused(client.start(undefined as never), /start\(\) takes an object of options, but got nothing/);
  await refused(client.start({} as never), /agent: is missing/);
  await refused(client.start({ agent: "coder" as never }), /definition: must be an object, not a text/);
  await refused(client.start({ agent, prompt: ["Go"] as never }), /The prompt's part 1 needs/);
  await refused(
    client.start({ agent, prompt: "x", mode: "once" as never }),
    /mode: must be "run" or "interactive"/,
  );
  await refused(client.start({ agent, prompt: "x", session: 5 as never }), /session: must be a text, not 5/);
  await refused(
    client.evaluate({ agents: agent as never, strategy: { type: "elaborate" } }),
    /agents: must be a list/,
  );
  await refused(
    client.jobs.start({ mode: { type: "pipelin" as never } as never }),
    /type: must be .*"pipeline"/,
  );
  await refused(client.session("s").steer(["x"] as never), /The steering message's part 1 needs/);
  await refused(
    client.session("s").raiseLimits({ maxTurns: -1 }),
    /limits\.maxTurns: must be above 0, not -1/,
  );
  await refused(client.retention.set({ rules: 5 } as never), /rules: must be a list, not 5/);
});
