import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { raiseLimitsUpdate } from "../../src/workflows/messages.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { Gates } from "./support/gates.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

const gates = new Gates();
let stage: TestEnvironment;

beforeAll(async () => {
  stage = await openTestEnvironment({ tools: [gates.createTool()] });
});
afterAll(() => stage.close());

const hold = (gate: string) => ({ toolCalls: [{ name: "hold", arguments: { gate } }] });
const DEFAULT = { kind: { type: "default" as const } };

describe("a session continues without a prompt", () => {
  test("after a limit, with a higher one: the model reads why it was stopped (PHI-13h) [LOOP-06.1, LOOP-07.2]", async () => {
    gates.get("limited").open();
    const session = stage.session({
      replies: [hold("limited"), hold("limited"), { text: "Now it is done." }],
      agent: { tools: ["hold"], limits: { maxTurns: 1 } },
    });
    expect(await session.run("Go")).toMatchObject({ outcome: { type: "limit-reached" } });
    await session.start(undefined, { continuation: { ...DEFAULT, limits: { maxTurns: 5 } } });
    expect(await session.readResult()).toMatchObject({
      text: "Now it is done.",
      outcome: { type: "answered" },
    });
    expect(session.listSeenMessages(1).at(-1)).toContain("[Agent stopped: Max turns reached (1/1)]");
    const loops = await stage.transcript.readLoops(session.id);
    expect(loops.map(({ kind }) => kind.type)).toEqual(["initial", "default"]);
    const [started, turn] = (await session.readEvents(1)).map(({ body }) => body);
    expect(started).toMatchObject({ type: "AgentStart", parentLoopId: loops[0]?.loopId });
    expect(turn).toMatchObject({ type: "TurnStart", trigger: "continuation" });
  });

  thoroughTest(
    "after a failure of the vendor: the failed answer is not sent (X-09, PHI-13d) [X-09.4]",
    async () => {
      const session = stage.session({
        faults: [{ fault: "server-error", status: 500 }],
        replies: [{ text: "Back." }],
      });
      await session.start("Go");
      await session.readFailure();
      await session.start(undefined, { continuation: DEFAULT });
      expect(await session.readResult()).toMatchObject({ text: "Back." });
      expect(session.listSeenMessages(1)).toEqual(["user: Go"]);
    },
  );

  test("is rejected when it ends with an answer, when it is empty, and when it does not exist [LOOP-04.2-3]", async () => {
    const answered = stage.session({ replies: [{ text: "One." }] });
    await answered.run("Go");
    await answered.start(undefined, { continuation: DEFAULT });
    expect((await answered.readFailure()).message).toContain(
      "ends with an answer: there is nothing to continue",
    );
    const unknown = stage.session({});
    await unknown.start(undefined, { continuation: DEFAULT });
    expect((await unknown.readFailure()).message).toContain("There is no session");
  });

  thoroughTest("with a prompt as well: both are read, in a loop of the requested kind", async () => {
    const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
    await session.run("Go");
    await session.start("And more", { continuation: DEFAULT });
    expect(await session.readResult()).toMatchObject({ text: "Two." });
    expect(session.listSeenMessages(1)).toEqual(["user: Go", "assistant: One.", "user: And more"]);
    expect((await stage.transcript.readLoops(session.id)).map(({ kind }) => kind.type)).toEqual([
      "initial",
      "default",
    ]);
  });

  thoroughTest("an invalid continuation is rejected with the field's name", async () => {
    const say = async (continuation: object) => {
      const session = stage.session({ replies: [{ text: "One." }] });
      await session.start(undefined, { continuation: continuation as never });
      return (await session.readFailure()).message;
    };
    expect(await say({})).toContain("continuation.kind: must be an object");
    expect(await say({ ...DEFAULT, limits: { maxTurns: "many" } })).toContain("limits.maxTurns");
    expect(await say({ ...DEFAULT, at: { branch: "main", position: -1 } })).toContain("at.position");
    expect(await say({ kind: { type: "compaction" }, focus: "x".repeat(3000) })).toContain("focus");
  });

  thoroughTest(
    "a rerun answers the same prompt once more, on a branch of its own; the earlier answer stays [HITL-01.3]",
    async () => {
      const session = stage.session({ replies: [{ text: "First try." }] });
      await session.run("Go");
      stage.model.script({
        conversations: [
          { match: ({ conversation }) => conversation === session.id, replies: [{ text: "Second try." }] },
        ],
      });
      const kind = { type: "rerun" as const, tag: "2026-11-22T00:00:00Z" };
      await session.start(undefined, { continuation: { kind, at: { branch: "main", position: 1 } } });
      const result = await session.readResult();
      expect(result).toMatchObject({ text: "Second try." });
      expect(await session.readConversation()).toEqual(["user: Go", "assistant: First try."]);
      const record = await stage.transcript.readSession(session.id);
      expect(record?.headBranch).not.toBe("main");
      const rerun = await session.readEntries(record?.headBranch);
      expect(rerun.map(({ message }) => message.role)).toEqual(["user", "assistant"]);
    },
  );
});

describe("the limits of an active loop can be raised", () => {
  thoroughTest("the loop continues where it would have stopped", async () => {
    const session = stage.session({
      replies: [hold("raised"), { text: "Done." }],
      agent: { tools: ["hold"], limits: { maxTurns: 1 } },
    });
    await session.start("Go");
    await gates.get("raised").arrived;
    const now = await session.handle.executeUpdate(raiseLimitsUpdate, { args: [{ maxTurns: 9 }] });
    expect(now.maxTurns).toBe(9);
    gates.get("raised").open();
    expect(await session.readResult()).toMatchObject({ text: "Done.", outcome: { type: "answered" } });
  });

  thoroughTest("invalid limits are rejected with the current ones", async () => {
    const session = stage.session({
      replies: [hold("nonsense"), { text: "Done." }],
      agent: { tools: ["hold"], limits: { maxTurns: 7 } },
    });
    await session.start("Go");
    await gates.get("nonsense").arrived;
    const say = async (limits: object) => {
      const thrown = await session.handle
        .executeUpdate(raiseLimitsUpdate, { args: [limits as never] })
        .catch((error: Error) => error);
      return String((thrown as Error).cause);
    };
    expect(await say({})).toContain("Specify at least one of maxTurns");
    expect(await say({ maxFun: 1 })).toContain("Unknown limit maxFun");
    expect(await say({ maxTurns: 0 })).toContain("maxTurns must be a number above 0");
    expect(await say({ maxTurns: 3 })).toContain("maxTurns is currently 7");
    gates.get("nonsense").open();
    await session.readResult();
  });
});
