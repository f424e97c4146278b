import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Holdfast, SessionEvent } from "../../src/client/index.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { Gates } from "./support/gates.ts";
import { connectClient, runCommandLine } from "./support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

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

const texts = async (id: string, branch: string) =>
  (await holdfast.session(id).messages.list({ branch })).map(({ message }) =>
    message.role === "extension"
      ? "extension"
      : message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
  );

describe("several branches from one position", () => {
  test("run in parallel with prompts and definitions of their own, have one parent, and all stay [HITL-03.1-2]", async () => {
    const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }, { text: "Three." }] });
    await session.run("First");
    await session.run("Second");
    const exploration = await holdfast
      .session(session.id)
      .branches.explore(
        [
          { prompt: "This way" },
          { prompt: "That way", changes: { name: "other", systemPrompt: "Be brief." } },
          { prompt: "A long way ".repeat(500) },
        ],
        { at: 2 },
      );
    const events: SessionEvent[] = [];
    for await (const item of exploration.events(1)) events.push(item);
    const result = await exploration.result();
    expect(result).toMatchObject({
      outcome: { type: "answered" },
      branch: "main",
      decision: { selected: -1, decidedBy: "none", reason: "All 3 branches are retained." },
      branches: [{ index: 0 }, { index: 1, agentName: "other" }, { index: 2 }],
    });
    const loops = (await stage.transcript.readLoops(session.id)).slice(2);
    const first = (await stage.transcript.readLoops(session.id))[0];
    expect(loops).toHaveLength(3);
    for (const loop of loops) {
      expect(loop).toMatchObject({ from: 2, kind: { type: "branch" }, parentLoopId: first?.loopId });
      expect(loop.parallel?.isSelected).toBe(false);
    }
    const branches = result.branches.map(({ branch }) => branch ?? "");
    expect(new Set(branches).size).toBe(3);
    expect(await texts(session.id, branches[0] ?? "")).toEqual(["First", "One.", "This way", "Two."]);
    expect((await texts(session.id, branches[1] ?? ""))[2]).toBe("That way");
    expect((await texts(session.id, branches[2] ?? ""))[2]).toHaveLength(5500);
    const own = result.branches[1]?.loopId;
    const named = events.flatMap(({ event }) => ("loopId" in event ? [event.loopId] : []));
    expect([...new Set(named)]).toEqual([own]);
    expect(events.at(-1)).toMatchObject({ event: { type: "AgentEnd" } });
    expect((await stage.transcript.readSession(session.id))?.headBranch).toBe("main");
    // The session continues from its own position, or on the branch that the user prefers.
    await session.run("Third");
    expect(await texts(session.id, "main")).toHaveLength(6);
    await holdfast.session(session.id).prompt("On", { branch: branches[1] ?? "" });
    await session.readResult();
    const last = (await stage.transcript.readLoops(session.id)).at(-1);
    expect(last).toMatchObject({ branch: branches[1], parentLoopId: own });
    const { events: history = [] } = await session.handle.fetchHistory();
    expect(JSON.stringify(history)).not.toContain("A long way A long way");
  });

  thoroughTest(
    "one of them is stopped, and the others continue; without prompts the model is called again [HITL-03.3]",
    async () => {
      const session = stage.session({
        replies: [
          { text: "Where?", toolCalls: [{ name: "hold", arguments: { gate: "first" } }] },
          { text: "Done." },
        ],
        agent: { tools: ["hold"] },
      });
      gates.get("first").open();
      await session.run("Go");
      const exploration = await holdfast
        .session(session.id)
        .branches.explore([{}, { changes: { tools: [] } }], { beforeTurn: 1 });
      const result = await exploration.result();
      expect(result.branches.map(({ status }) => status.type)).toEqual(["answered", "answered"]);
      expect(session.listSeenMessages(2)).toEqual(session.listSeenMessages(1));

      const other = stage.session({
        replies: [{ toolCalls: [{ name: "hold", arguments: { gate: "stay" } }] }, { text: "Done." }],
        agent: { tools: ["hold"] },
      });
      const made = await holdfast.session(session.id).branches.fork({ at: 0, as: other.id });
      expect(made.branch).toBe("main");
      const two = await holdfast.session(other.id).branches.explore([
        { prompt: "A", agent: other.definition },
        { prompt: "B", agent: session.definition },
      ]);
      await gates.get("stay").arrived;
      await expect.poll(async () => (await two.status()).branches?.[1]?.status).toBe("answered");
      expect(await two.stop(1)).toBe(false);
      expect(await two.stop(0, "enough")).toBe(true);
      const ended = await two.result();
      expect(ended.branches.map(({ status }) => status.type)).toEqual(["stopped", "answered"]);
      expect(ended.outcome.type).toBe("answered");
      gates.get("stay").open();
    },
  );

  thoroughTest(
    "from the command line, with the branches' names; invalid input is reported [HITL-03.1]",
    async () => {
      const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
      await session.run("First");
      const { code, out, err } = await runCommandLine(
        stage,
        "explore",
        session.id,
        "-p",
        "This",
        "-p",
        "That",
      );
      expect(code).toBe(0);
      expect(out).toMatch(
        /agent +model +status .*branch\n.*answered.*loop-[0-9a-f]{16}\n.*answered.*loop-[0-9a-f]{16}/,
      );
      expect(err).toContain("All 2 branches are retained.");
      expect((await runCommandLine(stage, "explore", session.id)).code).toBe(2);
      const nothing = await holdfast.session(session.id).branches.explore([{}]);
      await expect(nothing.result()).rejects.toThrow(/ends with an answer/);
      await expect(holdfast.session("nobody").branches.explore([{ prompt: "x" }])).rejects.toMatchObject({
        code: "session-unknown",
      });
    },
  );
});
