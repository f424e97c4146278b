import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { raiseLimitsUpdate } from "../../src/workflows/messages.ts";
import { thorough } from "../support/depth.ts";
import { Gates } from "./support/gates.ts";
import { openStage, type Stage } from "./support/temporal.ts";

const gates = new Gates();
let stage: Stage;

beforeAll(async () => {
  stage = await openStage({ tools: [gates.tool()] });
});
afterAll(() => stage.close());

const hold = (gate: string) => ({ toolCalls: [{ name: "hold", arguments: { gate } }] });
const DEFAULT = { kind: { type: "default" as const } };

describe("a session goes on without a prompt [LOOP-04, LOOP-06, LOOP-07, LIM-02, HITL-04]", () => {
  test("after a limit, with more of it: the model reads why it was stopped (PHI-13h)", async () => {
    gates.of("limited").open();
    const session = stage.session({
      replies: [hold("limited"), hold("limited"), { text: "Now it is done." }],
      agent: { tools: ["hold"], limits: { maxTurns: 1 } },
    });
    expect(await session.run("Go")).toMatchObject({ outcome: { type: "limit-reached" } });
    await session.start(undefined, { continuation: { ...DEFAULT, limits: { maxTurns: 5 } } });
    expect(await session.result()).toMatchObject({ text: "Now it is done.", outcome: { type: "answered" } });
    expect(session.seen(1).at(-1)).toContain("[Agent stopped: Max turns reached (1/1)]");
    const loops = await stage.transcript.loops(session.id);
    expect(loops.map(({ kind }) => kind.type)).toEqual(["initial", "default"]);
    const [started, turn] = (await session.events(1)).map(({ body }) => body);
    expect(started).toMatchObject({ type: "AgentStart", parentLoopId: loops[0]?.loopId });
    expect(turn).toMatchObject({ type: "TurnStart", trigger: "continuation" });
  });

  thorough("after a failure of the vendor: the failed answer is not sent (X-09, PHI-13d)", async () => {
    const session = stage.session({
      faults: [{ fault: "server-error", status: 500 }],
      replies: [{ text: "Back." }],
    });
    await session.start("Go");
    await session.failure();
    await session.start(undefined, { continuation: DEFAULT });
    expect(await session.result()).toMatchObject({ text: "Back." });
    expect(session.seen(1)).toEqual(["user: Go"]);
  });

  test("is refused when it ends with an answer, when it holds nothing, when there is none", async () => {
    const answered = stage.session({ replies: [{ text: "One." }] });
    await answered.run("Go");
    await answered.start(undefined, { continuation: DEFAULT });
    expect((await answered.failure()).message).toContain("ends with an answer: there is nothing to continue");
    const unknown = stage.session({});
    await unknown.start(undefined, { continuation: DEFAULT });
    expect((await unknown.failure()).message).toContain("There is no session");
  });

  thorough("with a prompt beside it: both are read, in a loop of the kind that was asked for", async () => {
    const session = stage.session({ replies: [{ text: "One." }, { text: "Two." }] });
    await session.run("Go");
    await session.start("And more", { continuation: DEFAULT });
    expect(await session.result()).toMatchObject({ text: "Two." });
    expect(session.seen(1)).toEqual(["user: Go", "assistant: One.", "user: And more"]);
    expect((await stage.transcript.loops(session.id)).map(({ kind }) => kind.type)).toEqual([
      "initial",
      "default",
    ]);
  });

  thorough("nonsense instead of a continuation is refused, and says which field", async () => {
    const say = async (continuation: object) => {
      const session = stage.session({ replies: [{ text: "One." }] });
      await session.start(undefined, { continuation: continuation as never });
      return (await session.failure()).message;
    };
    expect(await say({})).toContain("continuation.kind: must be an object");
    expect(await say({ ...DEFAULT, limits: { maxTurns: "many" } })).toContain("limits.maxTurns");
    expect(await say({ ...DEFAULT, at: { branch: "main", position: -1 } })).toContain("at.position");
    expect(await say({ kind: { type: "compaction" }, focus: "x".repeat(3000) })).toContain("focus");
  });

  thorough(
    "a rerun answers the same prompt once more, on a branch of its own; what was there stays",
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
      const result = await session.result();
      expect(result).toMatchObject({ text: "Second try." });
      expect(await session.conversation()).toEqual(["user: Go", "assistant: First try."]);
      const record = await stage.transcript.session(session.id);
      expect(record?.headBranch).not.toBe("main");
      const rerun = await session.entries(record?.headBranch);
      expect(rerun.map(({ message }) => message.role)).toEqual(["user", "assistant"]);
    },
  );
});

describe("limits of a loop that runs can be raised [LIM-02]", () => {
  thorough("and it goes on where it would have stopped", async () => {
    const session = stage.session({
      replies: [hold("raised"), { text: "Done." }],
      agent: { tools: ["hold"], limits: { maxTurns: 1 } },
    });
    await session.start("Go");
    await gates.of("raised").arrived;
    const now = await session.handle.executeUpdate(raiseLimitsUpdate, { args: [{ maxTurns: 9 }] });
    expect(now.maxTurns).toBe(9);
    gates.of("raised").open();
    expect(await session.result()).toMatchObject({ text: "Done.", outcome: { type: "answered" } });
  });

  thorough("nonsense is refused, and says what is there", async () => {
    const session = stage.session({
      replies: [hold("nonsense"), { text: "Done." }],
      agent: { tools: ["hold"], limits: { maxTurns: 7 } },
    });
    await session.start("Go");
    await gates.of("nonsense").arrived;
    const say = async (limits: object) => {
      const thrown = await session.handle
        .executeUpdate(raiseLimitsUpdate, { args: [limits as never] })
        .catch((error: Error) => error);
      return String((thrown as Error).cause);
    };
    expect(await say({})).toContain("Say at least one of maxTurns");
    expect(await say({ maxFun: 1 })).toContain("There is no limit maxFun");
    expect(await say({ maxTurns: 0 })).toContain("maxTurns is a number above 0");
    expect(await say({ maxTurns: 3 })).toContain("maxTurns is 7 now");
    gates.of("nonsense").open();
    await session.result();
  });
});
