import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DelegateRequest, DelegateResult } from "../../src/core/job/team-messages.ts";
import { stopSignal } from "../../src/workflows/messages.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { createMembers } from "./support/job-agents.ts";
import { connectClient } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";
import { listRequestMessages } from "./support/test-session.ts";
import { TestTeam } from "./support/test-team.ts";

let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment();
});
afterAll(() => stage.close());

const calls = (...toolCalls: { name: string; arguments: Record<string, unknown> }[]) => ({ toolCalls });
const delegate = (agent: string, task: string) => ({ name: "delegate", arguments: { agent, task } });
const wait = (args: Record<string, unknown> = {}) => ({ name: "wait_for_agents", arguments: args });
const POLL = { timeout: 15_000, interval: 50 };

describe("a supervisor", () => {
  test("delegates tasks, and the agents' answers are in its lead's context [ORC-01.1, ORC-02.4]", async () => {
    const team = new TestTeam(
      stage,
      [calls(delegate("scout", "Look"), delegate("writer", "Write")), calls(wait()), { text: "All done." }],
      { scout: [{ text: "Seen 42." }], writer: [{ text: "Written." }] },
    );
    await team.start();
    const result = await team.result();
    expect(result).toMatchObject({
      outcome: { type: "answered" },
      text: "All done.",
      count: 2,
      agents: [
        { id: "scout-1", session: `${team.job}.scout-1`, status: "completed" },
        { id: "writer-1", status: "completed" },
      ],
    });
    expect(await team.readToolResults()).toEqual([
      "scout-1 has started.",
      "writer-1 has started.",
      "[scout-1: completed] Look\nSeen 42.\n\n[writer-1: completed] Write\nWritten.",
    ]);
    const [request] = team.countRequests();
    expect(JSON.stringify(request?.body)).toContain("- scout: Does what scout does");
    expect(listRequestMessages(team.countRequests("scout")[0])).toEqual(["user: Look"]);
    expect(await team.status()).toMatchObject({ status: "completed", turns: result.turns });
  });

  thoroughTest(
    "steers one, stops another, and continues with the available answers when the time is up [ORC-01.2]",
    async () => {
      const team = new TestTeam(
        stage,
        [
          calls(delegate("writer", "Write"), delegate("idler", "Idle")),
          calls(
            { name: "steer_agent", arguments: { id: "writer-1", message: "Be brief" } },
            { name: "stop_agent", arguments: { id: "idler-1", reason: "no need" } },
          ),
          calls(wait({ ids: ["idler-1"] })),
          calls(wait({ timeoutSecs: 0.3 })),
          calls({ name: "check_agents", arguments: {} }),
          { text: "Enough.", holdUntil: "end" },
        ],
        {
          writer: [
            { ...calls({ name: "list_files", arguments: {} }), holdUntil: "writer" },
            { text: "Brief." },
          ],
          idler: [{ text: "never", holdUntil: "idler" }],
        },
      );
      await team.start();
      await stage.model.waitForHold("end");
      const [, , steered, stopped, ended, late, seen] = await team.readToolResults();
      expect(steered).toBe("writer-1 reads the message before its next answer.");
      expect(stopped).toContain("idler-1 is stopping");
      expect(ended).toBe("[idler-1: stopped (its lead stopped it: no need)] Idle\n(it has no answer)");
      expect(late).toBe(
        `The timeout has passed; agents that still run: 1.\n\n[writer-1: running] Write\n\n${ended}`,
      );
      expect(seen).toContain("[idler-1: stopped");
      expect(await team.status()).toMatchObject({
        status: "running",
        children: {
          running: 2,
          ended: 1,
          rows: [{ agent: "lead" }, { agent: "writer" }, { agent: "idler" }],
        },
      });
      stage.model.release("writer");
      await expect.poll(() => team.countRequests("writer").length, POLL).toBe(2);
      expect(listRequestMessages(team.countRequests("writer")[1])).toContain("user: Be brief");
      stage.model.release("end");
      expect((await team.result()).text).toBe("Enough.");
    },
  );

  thoroughTest("the end of the lead ends the others, and the result names them [ORC-01.2]", async () => {
    const team = new TestTeam(stage, [calls(delegate("slow", "Wait")), { text: "I do not wait." }], {
      slow: [{ text: "never", holdUntil: "slow" }],
    });
    await team.start();
    expect(await team.result()).toMatchObject({
      outcome: { type: "answered" },
      agents: [{ id: "slow-1", status: "stopped" }],
    });
    const [loop] = await stage.transcript.readLoops(`${team.job}.slow-1`);
    expect(loop).toMatchObject({ status: "aborted" });
  });

  thoroughTest(
    "a stop reaches lead and agents within seconds, and all close their records [ABT-01.3]",
    async () => {
      const team = new TestTeam(stage, [calls(delegate("slow", "Wait")), calls(wait()), { text: "never" }], {
        slow: [{ text: "never", holdUntil: "slow-2" }],
      });
      await team.start();
      await stage.model.waitForHold("slow-2");
      await expect.poll(() => team.countRequests().length, POLL).toBe(2);
      const since = Date.now();
      await team.handle.signal(stopSignal, "enough");
      expect(await team.result()).toMatchObject({
        outcome: { type: "stopped", reason: "enough" },
        agents: [{ id: "slow-1", status: "stopped" }],
      });
      expect(Date.now() - since).toBeLessThan(5_000);
      for (const part of ["lead", "slow-1"]) {
        expect(await stage.transcript.readLoops(`${team.job}.${part}`)).toMatchObject([
          { status: "aborted" },
        ]);
      }
    },
  );

  test("agents have shares of the job's budget; an agent without a share does not begin", async () => {
    const team = new TestTeam(
      stage,
      [
        calls(delegate("scout", "one"), delegate("scout", "two"), delegate("ghost", "three")),
        calls(wait()),
        { text: "Done." },
      ],
      { scout: [{ text: "ok" }] },
      { limits: { maxTurns: 8 }, maxAgents: 1 },
    );
    await team.start();
    const result = await team.result();
    expect(await team.readToolResults()).toEqual([
      "scout-1 has started.",
      "Not started: 1 tasks were delegated, which is the maximum.",
      'Unknown agent "ghost". Known agents: scout.',
      "[scout-1: completed] one\nok",
    ]);
    expect(result).toMatchObject({ outcome: { type: "answered" }, turns: 4 });
  });

  thoroughTest(
    "pending calls of its agents are listed at the job, and answered there [TMP-11.1]",
    async () => {
      const team = new TestTeam(
        stage,
        [calls(delegate("scout", "Look")), calls(wait()), { text: "Done." }],
        { scout: [calls({ name: "list_files", arguments: {} }), { text: "Seen." }] },
        { agent: { tools: ["list_files"], permissions: { otherwise: "ask" } } },
      );
      const holdfast = await connectClient(stage);
      await team.start();
      await expect
        .poll(
          () =>
            holdfast
              .session(team.job)
              .approvals.list()
              .catch(() => []),
          POLL,
        )
        .toMatchObject([{ session: `${team.job}.scout-1`, path: ["scout"], tool: "list_files" }]);
      expect(await holdfast.session(team.job).status()).toMatchObject({ status: "running", waitingBelow: 1 });
      expect(await holdfast.session(team.job).approvals.approve()).toMatchObject({
        session: `${team.job}.scout-1`,
        waiting: 0,
      });
      expect(await team.result()).toMatchObject({ text: "Done." });
      await holdfast.close();
    },
  );

  thoroughTest(
    "is started as a job like the others: its lead knows its agents and has its tools",
    async () => {
      const { lead, scout } = createMembers(stage, {
        lead: { replies: [calls(delegate("scout", "Look")), calls(wait()), { text: "Done." }] },
        scout: { replies: [{ text: "Seen." }] },
      });
      const holdfast = await connectClient(stage);
      const agents = [{ name: "scout", agent: scout.definition }];
      const job = await holdfast.jobs.start({
        mode: { type: "supervisor", lead: lead.definition, agents },
        task: "Go",
      });
      expect(await job.result()).toMatchObject({
        mode: "supervisor",
        text: "Done.",
        parts: [
          { name: "lead", turns: 3, outcome: { type: "answered" } },
          { name: "scout-1", session: `${job.id}.scout-1`, turns: 1, outcome: { type: "answered" } },
        ],
      });
      await holdfast.close();
    },
  );

  thoroughTest("a delegation that is requested again is the one that began", async () => {
    const team = new TestTeam(stage, [{ text: "Nothing to do.", holdUntil: "again" }], {
      scout: [{ text: "Seen." }],
    });
    await team.start();
    await stage.model.waitForHold("again");
    const ref = await stage.transcript.putText("Look", Date.now());
    const words: DelegateRequest = { id: "run/1/0", agent: "scout", ref, task: "Look" };
    const ask = () =>
      team.handle.executeUpdate<DelegateResult, [DelegateRequest]>("delegate", {
        args: [words],
        updateId: words.id,
      });
    const begun = { type: "started", id: "scout-1", session: `${team.job}.scout-1` };
    expect(await ask()).toEqual(begun);
    expect(await ask()).toEqual(begun);
    stage.model.release("again");
    expect(await team.result()).toMatchObject({ count: 1 });
  });

  thoroughTest("its tools report to an agent without agents that it leads none", async () => {
    const session = stage.session({
      replies: [calls(delegate("scout", "Look")), { text: "Alone." }],
      agent: { tools: ["delegate"] },
    });
    await session.run("Go");
    expect((await session.readConversation())[2]).toContain("You lead no agents");
  });
});
