import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Holdfast, PositionOptions } from "../../src/client/index.ts";
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
const texts = async (id: string, branch?: string) =>
  (await holdfast.session(id).messages.list(branch === undefined ? {} : { branch })).map(({ message }) =>
    message.role === "extension"
      ? "extension"
      : `${message.role}: ${message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")}`,
  );

describe("a fork", () => {
  thoroughTest(
    "continues with another prompt and another model, and the branch that it left stays [HITL-01.2, SES-08.2]",
    async () => {
      const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
      await session.run("First");
      await session.run("Second");
      const own = holdfast.session(session.id);
      const { branch, from } = await own.branches.fork({
        afterTurn: 0,
        loop: `${session.id}.anthropic.test-model.1`,
      });
      expect([branch, from.position]).toEqual(["branch-1", 2]);
      await holdfast.session(session.id).prompt("Something else", { branch });
      await own.result();
      expect(session.listSeenMessages(2)).toEqual(["user: First", "assistant: One.", "user: Something else"]);
      expect(await texts(session.id)).toEqual([
        "user: First",
        "assistant: One.",
        "user: Something else",
        "assistant: Two.",
      ]);
      expect(await texts(session.id, "main")).toHaveLength(4);
      const loops = await stage.transcript.readLoops(session.id);
      expect(loops.at(-1)).toMatchObject({
        branch,
        kind: { type: "branch" },
        parentLoopId: loops[0]?.loopId,
      });
    },
  );

  test("during a run leaves that run alone, and its own session runs beside it", async () => {
    const session = stage.session({
      replies: [hold("beside"), { text: "Here." }, { text: "There." }],
      agent: { tools: ["hold"] },
    });
    await session.start("Go");
    await gates.get("beside").arrived;
    const other = `${session.id}-other`;
    const forked = await cli("fork", session.id, "--at", "1", "--as", other, "--json");
    expect(JSON.parse(forked.out)).toMatchObject({
      type: "forked",
      session: other,
      branch: "main",
      from: { session: session.id, branch: "main", position: 1 },
      workspace: stage.home,
    });
    const beside = await holdfast.session(other).continue();
    gates.get("beside").open();
    const [mine, theirs] = await Promise.all([session.readResult(), beside.result()]);
    expect([mine.outcome.type, theirs.outcome.type]).toEqual(["answered", "answered"]);
    expect((await texts(session.id)).at(-1)).not.toBe("extension");
    expect((await texts(other))[0]).toBe("user: Go");
    expect(await stage.transcript.readBranches(session.id)).toEqual([{ id: "main" }]);
    const shown = await holdfast.session(other).messages.request();
    expect(shown.messages[0]?.message.content).toEqual([{ type: "text", text: "Go" }]);
  });

  thoroughTest("is rejected with an error that users can act on", async () => {
    const session = stage.session({ replies: [{ text: "One." }] });
    await session.run("First");
    const said = async (...args: string[]) => {
      const { code, err } = await cli(...args);
      return `${code} ${err}`;
    };
    expect(await said("fork", session.id, "--at", "9")).toMatch(/has 2 messages on its branch main/);
    expect(await said("fork", session.id, "--after-turn", "4")).toMatch(/no answer 4 in .*: 1 of its turns/);
    expect(await said("fork", session.id, "--name", "back-1")).toMatch(/the transcript itself assigns/);
    expect(await said("fork", session.id, "--at", "1", "--after-turn", "0")).toMatch(
      /at and afterTurn are different positions/,
    );
    expect(await said("fork", session.id, "--at", "-1")).toMatch(/^2 .*whole number/s);
    expect(await said("fork", "nobody")).toMatch(/no session nobody/);
    expect(await said("rewind", session.id)).toMatch(/^2 .*No position is given/s);
    expect(
      await said(
        "run",
        "x",
        "--session",
        session.id,
        "--branch",
        "b",
        "--model",
        "local/x@http://127.0.0.1:1/v1",
      ),
    ).toMatch(/has no branch b; it has main/);
  });
});

thoroughTest(
  "a fork into a new session shows what its model was sent, through the compaction of the original session [DBG-01.1-2]",
  async () => {
    const long = "All work and no play makes a long day. ".repeat(60);
    const look = {
      text: long,
      toolCalls: [{ name: "list_files", arguments: { path: "." } }],
      usage: { input: 0, output: 0 },
    };
    const session = stage.session({
      replies: Array.from({ length: 14 }, (_, n) => (n === 10 ? { text: "Done." } : look)),
      agent: {
        tools: ["list_files"],
        limits: { maxTurns: 14 },
        context: {
          maxContextTokens: 6000,
          systemPromptTokens: 100,
          compaction: { keepFirstTurns: 1, keepRecentTurns: 2, maxSummaryTokens: 200 },
        },
      },
    });
    await session.run("Go");
    const before = session.listRequests().length;
    const { session: other } = await holdfast.session(session.id).branches.fork({ as: `${session.id}-next` });
    stage.model.script({
      conversations: [
        {
          match: ({ conversation }) => conversation === session.id,
          replies: Array.from({ length: 14 }, () => ({ text: "Yes." })),
        },
      ],
    });
    await holdfast.session(other).prompt("And now?");
    await holdfast.session(other).result();
    const sent = session.listSeenMessages(before);
    expect(sent.some((line) => line.includes("[Summary]"))).toBe(true);
    const shown = async () =>
      (await holdfast.session(other).messages.request()).messages.flatMap(({ message }) =>
        message.content.map((part) => (part.type === "text" ? part.text : part.type)),
      );
    const made = await shown();
    expect(made.filter((text) => text !== "toolCall")).toEqual(
      sent.filter((line) => !line.startsWith("assistant: calls ")).map((line) => line.replace(/^\w+: /, "")),
    );
    await stage.transcript.detachForks(session.id);
    expect(await shown()).toEqual(made);
  },
);

describe("a rewind", () => {
  test("moves the head back and forward again, and the tree lists every branch", async () => {
    const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }, { text: "New." }] });
    await session.run("First");
    await session.run("Second");
    const back = await cli("rewind", session.id, "--at", "2");
    expect([back.code, back.out.trim()]).toEqual([0, "head now: back-1, after 2 messages"]);
    expect(back.err).toContain(`The files in ${stage.home} do not change`);
    expect(await texts(session.id)).toEqual(["user: First", "assistant: One."]);
    await session.run("Third");
    expect(session.listSeenMessages(2)).toEqual(["user: First", "assistant: One.", "user: Third"]);
    const tree = await cli("show", session.id, "--branches");
    expect(tree.out).toMatch(/● main 4 messages\n.*#0 .*initial.*\n.*#2 .*initial/);
    expect(tree.out).toMatch(/ {2}● back-1 from #2 · 4 messages · a rewind.*← head\n.*#2 .*\.3 /);
    const forward = await holdfast.session(session.id).branches.rewind({ to: { branch: "main" } });
    expect(forward).toMatchObject({
      head: { branch: "main", position: 4 },
      previousHead: { branch: "back-1" },
    });
    expect(await texts(session.id)).toHaveLength(4);
    expect((await cli("show", session.id, "--branch", "back-1")).out).toContain("Third");
  });

  thoroughTest(
    "determines where the next change, checkpoint and fork of a turn begin [PER-06.3, HITL-01.1]",
    async () => {
      const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
      await session.run("First");
      await session.run("Second");
      const handle = holdfast.session(session.id);
      const saved = (await handle.messages.list()).map(({ message }) => message);
      const { loopId } = await handle.branches.rewind({ to: { at: 2 } });
      expect((await handle.checkpoints.create()).lastLoopId).toBe(loopId);
      expect((await handle.branches.fork({ afterTurn: 0 })).from).toMatchObject({
        branch: "main",
        position: 2,
      });
      expect(await handle.messages.replace(saved)).toMatchObject({ length: 4 });
    },
  );

  thoroughTest(
    "is rejected while a run is open, even a waiting one, and possible after that run was terminated",
    async () => {
      const session = stage.session({
        replies: [hold("open"), { text: "Done." }],
        agent: { tools: ["hold"] },
      });
      await session.start("Go", { mode: "interactive" });
      await gates.get("open").arrived;
      const refused = await cli("rewind", session.id, "--at", "0");
      expect(refused.code).not.toBe(0);
      expect(refused.err).toContain("it has an open run");
      expect(refused.err).toContain(`holdfast stop ${session.id}`);
      await session.handle.terminate("by hand");
      gates.get("open").open();
      const { head } = await holdfast.session(session.id).branches.rewind({ to: { at: 1 } });
      expect(head.position).toBe(1);
      expect((await stage.transcript.readLoops(session.id))[0]).toMatchObject({ status: "aborted" });
    },
  );
});

describe("starting again from a past turn [SES-08.2]", () => {
  test("sends the model the same request again, or sends it to another model, or with another prompt [DBG-01.1, HITL-01.2, GAP-01]", async () => {
    gates.get("past").open();
    const session = stage.session({
      replies: [hold("past"), { text: "An answer." }, { text: "Another." }],
      agent: { tools: ["hold"] },
    });
    await session.run("Look");
    const sent = await cli("show", session.id, "--turn", "1", "--as-sent");
    expect(sent.code).toBe(0);
    expect(sent.out).toMatch(/turn 1 · answer at #3 of main/);
    expect(sent.out).toMatch(/\[user\] #0 · prompt\nLook\n/);
    expect(sent.out).toMatch(/● hold \{"gate":"past"\}/);
    expect(sent.out).toMatch(/\[result of hold\] #2 · turn 0 of/);
    expect(JSON.parse((await cli("show", session.id, "--turn", "1", "--as-sent", "--json")).out)).toEqual(
      JSON.parse(JSON.stringify(await holdfast.session(session.id).messages.request({ turn: 1 }))),
    );
    const again = await cli("branch", session.id, "--before-turn", "1", "--json");
    expect(again.code).toBe(0);
    expect(session.listSeenMessages(2)).toEqual(session.listSeenMessages(1));
    const first = `${session.id}.anthropic.test-model.1`;
    const run = await holdfast.session(session.id).branches.start({
      loop: first,
      beforeTurn: 0,
      prompt: "Look elsewhere",
      changes: { systemPrompt: "Be brief." },
    });
    expect((await run.result()).outcome.type).toBe("answered");
    expect(session.listSeenMessages(3)).toEqual(["user: Look elsewhere"]);
    expect(JSON.stringify(session.listRequests()[3]?.body?.["system"])).toContain("Be brief.");
    const behind = await holdfast
      .session(session.id)
      .branches.start({ loop: first, beforeTurn: 1, prompt: "And now?" });
    await behind.result();
    const asked = session.listSeenMessages(5);
    expect(asked.slice(0, session.listSeenMessages(1).length)).toEqual(session.listSeenMessages(1));
    expect(asked.at(-1)).toContain("And now?");
    const loops = await stage.transcript.readLoops(session.id);
    expect(loops.map(({ kind }) => kind.type)).toEqual(["initial", "branch", "branch", "branch"]);
    expect(new Set(loops.map(({ branch }) => branch)).size).toBe(4);
    expect(loops.slice(1).map(({ parentLoopId }) => parentLoopId)).toEqual([first, loops[1]?.loopId, first]);
    expect(await texts(session.id, "main")).toHaveLength(4);
    expect((await cli("branch", session.id)).code).toBe(2);
  });
});

thoroughTest(
  "a turn has the same number before and after a branch starts in its place [HITL-01.2]",
  async () => {
    gates.get("again").open();
    const session = stage.session({
      replies: [
        hold("again"),
        { text: "One." },
        { text: "Two." },
        { text: "Three." },
        { text: "Four." },
        { text: "Five." },
      ],
      agent: { tools: ["hold"] },
    });
    await session.run("Look");
    for (const request of [2, 3, 4]) {
      const again = await cli("branch", session.id, "--before-turn", "1", "--json");
      expect(again.err).not.toContain("no answer");
      expect(again.code).toBe(0);
      expect(session.listSeenMessages(request)).toEqual(session.listSeenMessages(1));
    }
    expect((await holdfast.session(session.id).messages.request({ turn: 1 })).messages).toHaveLength(3);
    expect((await holdfast.session(session.id).messages.request({ turn: 0 })).messages).toHaveLength(1);
    // The position after turn 0 is where turn 1 begins.
    const { from } = await holdfast.session(session.id).branches.fork({ afterTurn: 0 });
    expect(from.position).toBe(3);
    const refused = await cli("branch", session.id, "--before-turn", "2");
    expect(refused.err).toMatch(/no answer/);
    // At the first turn, another prompt replaces the old one, and the count restarts.
    const anew = await holdfast
      .session(session.id)
      .branches.start({ beforeTurn: 0, prompt: "Look elsewhere" });
    await anew.result();
    expect(session.listSeenMessages(5)).toEqual(["user: Look elsewhere"]);
    expect((await holdfast.session(session.id).messages.request({ turn: 0 })).messages).toHaveLength(1);
  },
);

test("the position after a turn that ends its loop is that after its tool results [HITL-01.2]", async () => {
  const session = stage.session({
    replies: [{ toolCalls: [{ name: "hand_off", arguments: { reason: "Sign it." } }] }],
    agent: { tools: ["hand_off"] },
  });
  await session.run("Go");
  // user, call, result.
  const { from } = await holdfast.session(session.id).branches.fork({ afterTurn: 0 });
  expect(from.position).toBe(3);
});

test("positions before and after a turn or a loop are the same wherever they are given [HITL-01.2]", async () => {
  gates.get("named").open();
  const session = stage.session({
    replies: [hold("named"), { text: "One." }, { text: "Two." }],
    agent: { tools: ["hold"] },
  });
  await session.run("First");
  await session.run("Second");
  const handle = holdfast.session(session.id);
  const [first = "", second = ""] = (await stage.transcript.readLoops(session.id)).map(
    ({ loopId }) => loopId,
  );
  // user, call, result, answer; user, answer.
  const positions: [PositionOptions, number][] = [
    [{}, 6],
    [{ at: 1 }, 1],
    [{ beforeTurn: 0 }, 5],
    [{ afterTurn: 0 }, 6],
    [{ beforeTurn: 0, loop: first }, 1],
    [{ afterTurn: 0, loop: first }, 3],
    [{ beforeTurn: 1, loop: first }, 3],
    [{ afterTurn: 1, loop: first }, 4],
    [{ beforeLoop: first }, 0],
    [{ afterLoop: first }, 4],
    [{ beforeLoop: second }, 4],
    [{ branch: "main" }, 6],
    [{ branch: "main", at: 2 }, 2],
  ];
  for (const [position, expected] of positions) {
    const what = JSON.stringify(position);
    const { from } = await handle.branches.fork(position);
    expect([what, from.position]).toEqual([what, expected]);
    if (Object.keys(position).length === 0) continue;
    const { head } = await handle.branches.rewind({ to: position });
    expect([what, head.position]).toEqual([what, expected]);
    await handle.branches.rewind({ to: { branch: "main" } });
  }
  const wrong: [object, RegExp][] = [
    [{ beforeTurn: 0, afterTurn: 0 }, /beforeTurn and afterTurn are different positions/],
    [{ loop: first }, /loop says where turns are counted/],
    [{ afterLoop: first, branch: "main" }, /Do not specify a branch with afterLoop/],
    [{ turn: 0 }, /position\.turn: unknown key/],
    [{ at: -1 }, /position\.at: must be/],
  ];
  for (const [position, problem] of wrong) {
    await expect(handle.branches.fork(position), JSON.stringify(position)).rejects.toThrow(problem);
    await expect(handle.branches.start(position), JSON.stringify(position)).rejects.toThrow(problem);
  }
});

describe("a session that is replaced by a new one", () => {
  thoroughTest(
    "passes on the agent and its definition, not the conversation [SES-13.3, SES-19.1, ID-01.1-2, ID-02.1]",
    async () => {
      const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
      await session.run("First");
      const next = await holdfast.sessions.createNext(session.id);
      expect(next.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
      await next.prompt("Second");
      expect((await next.result()).outcome.type).toBe("answered");
      expect(session.listSeenMessages(1)).toEqual(["user: Second"]);
      const [old, young] = await Promise.all(
        [session.id, next.id].map((id) => stage.transcript.readSession(id)),
      );
      expect(young).toMatchObject({
        agentId: old?.agentId,
        origin: { type: "explicit", previousSession: session.id },
        loops: 1,
      });
      expect(old?.agentId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect((await stage.transcript.readLoops(next.id))[0]?.loopId).toBe(
        `${next.id}.anthropic.test-model.1`,
      );
    },
  );

  thoroughTest(
    "when it was idle for longer than the limit; messages to the old one reach the new one [SES-13.2, SES-19.2]",
    async () => {
      const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }, { text: "Three." }] });
      await session.run("First");
      expect(await holdfast.sessions.rotateAfter(session.id, 60_000)).toBeUndefined();
      const stayed = await holdfast.session(session.id).prompt("Second", { rotateAfterMs: 60_000 });
      expect(stayed.session).toBe(session.id);
      await session.readResult();
      const { lastActiveAtMs = 0 } = (await stage.transcript.readSession(session.id)) ?? {};
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, lastActiveAtMs + 5 - Date.now())));
      const moved = await holdfast.session(session.id).prompt("Third", { rotateAfterMs: 1 });
      expect(moved.session).not.toBe(session.id);
      expect((await holdfast.session(moved.session).result()).outcome.type).toBe("answered");
      expect(session.listSeenMessages(2)).toEqual(["user: Third"]);
      expect((await stage.transcript.readSession(moved.session))?.origin).toEqual({
        type: "inactivity_timeout",
        thresholdSecs: 0.001,
        previousSession: session.id,
      });
      const found = await holdfast.session(session.id).send("Fourth", { rotateAfterMs: 3_600_000 });
      expect(found.session).toBe(moved.session);
      await holdfast.session(moved.session).result();
      const wrong = await cli("send", session.id, "x", "--rotate-after", "soon");
      expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("must be a time")]);
    },
  );
});
