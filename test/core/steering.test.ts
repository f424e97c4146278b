import { describe, expect, test } from "vitest";
import { getTurnId } from "../../src/client/interop/agent-message.ts";
import { buildStatus } from "../../src/core/machine/status.ts";
import { play } from "./support/run.ts";
import { calls, says } from "./support/script.ts";

const turns = (count: number) => Array.from({ length: count }, () => calls("bash"));

describe("queues", () => {
  test("deliver one steering message per turn [STEER-02.1, LOOP-20.1]", async () => {
    const run = await play({ replies: [calls("bash")] })
      .until("call-tools")
      .steer("a")
      .steer("b")
      .settle();
    expect(run.lines.slice(3)).toEqual(["steering: a", "model: done", "steering: b", "model: done"]);
  });

  test("deliver all steering at once if configured [STEER-02.2]", async () => {
    const run = play({ steeringMode: "all", replies: [calls("bash")] });
    await run.until("call-tools").steer("a").steer("b").settle();
    expect(run.lines.slice(3)).toEqual(["steering: a", "steering: b", "model: done"]);
  });

  test("deliver follow-ups one at a time, or all at once if configured [STEER-02.1-2, STEER-10.1]", async () => {
    const one = await play().until("call-model").followUp("a").followUp("b").settle();
    expect(one.lines.slice(1)).toEqual([
      "model: done",
      "follow-up: a",
      "model: done",
      "follow-up: b",
      "model: done",
    ]);
    const all = await play({ followUpMode: "all" }).until("call-model").followUp("a").followUp("b").settle();
    expect(all.lines.slice(1)).toEqual(["model: done", "follow-up: a", "follow-up: b", "model: done"]);
  });

  test("have separate modes that can be changed during a run [STEER-03.2, STEER-02.3]", async () => {
    const run = await play({ replies: turns(1) })
      .until("call-tools")
      .steer("a")
      .steer("b")
      .setMode("steering", "all");
    await run.followUp("x").followUp("y").settle();
    expect(run.lines.slice(3)).toEqual([
      "steering: a",
      "steering: b",
      "model: done",
      "follow-up: x",
      "model: done",
      "follow-up: y",
      "model: done",
    ]);
    const back = await play({ followUpMode: "all" })
      .until("call-model")
      .setMode("follow-up", "one-at-a-time");
    await back.followUp("x").followUp("y").settle();
    expect(back.lines.slice(2, 4)).toEqual(["follow-up: x", "model: done"]);
  });

  test("can be cleared separately or together [STEER-03.1, STEER-01.1]", async () => {
    const cleared = async (queue: "steering" | "follow-up" | "all") => {
      const run = await play().until("call-model").steer("s").followUp("f").clear(queue);
      return [run.state.queues.steering.length, run.state.queues.followUps.length];
    };
    expect(await cleared("steering")).toEqual([0, 1]);
    expect(await cleared("follow-up")).toEqual([1, 0]);
    expect(await cleared("all")).toEqual([0, 0]);
  });

  test("start another turn for steering that arrives during the last model call [LOOP-20.2, LOOP-11.2]", async () => {
    const run = await play({ replies: [says("bye"), says("oh")] })
      .until("call-model")
      .steer("wait")
      .settle();
    expect(run.lines).toEqual(["prompt: hi", "model: bye", "steering: wait", "model: oh"]);
    expect(run.transcript.records).toHaveLength(1);
  });

  test("deliver steering before follow-ups [STEER-06.2]", async () => {
    const run = await play().until("call-model").followUp("f").steer("s").settle();
    expect(run.lines.slice(1)).toEqual([
      "model: done",
      "steering: s",
      "model: done",
      "follow-up: f",
      "model: done",
    ]);
  });

  test("deliver follow-ups only when the agent would otherwise stop, in the same loop [STEER-10.1-2, LOOP-21.1, LOOP-09.2]", async () => {
    const run = await play({ replies: turns(2) })
      .followUp("later")
      .settle();
    expect(run.lines.slice(-3)).toEqual(["model: done", "follow-up: later", "model: done"]);
    expect(run.transcript.records.map(({ loopId }) => loopId)).toEqual(["s.test.1"]);
    const triggers = run.eventLines().filter((line) => line.startsWith("TurnStart"));
    expect(triggers.slice(1).every((line) => line.endsWith("continuation"))).toBe(true);
  });

  test("apply the loop's limits to follow-ups too [STEER-10.3]", async () => {
    const run = await play({ limits: { maxTurns: 2 } })
      .followUp("a")
      .followUp("b")
      .settle();
    expect(run.asked).toHaveLength(2);
    expect(run.inboxTexts).toEqual(["b"]);
  });

  test("deliver the first steering message sent with the start before the prompt [LOOP-08, STEER-06.1]", async () => {
    const run = play({ held: true, prompts: ["the prompt"] })
      .steer("first")
      .steer("second");
    await run.tell({ type: "started" }).settle();
    expect(run.lines).toEqual([
      "steering: first",
      "prompt: the prompt",
      "model: done",
      "steering: second",
      "model: done",
    ]);
  });

  test("keep the origins of the messages that open a loop", () => {
    const run = play({ held: true }).steer("s");
    run.tell({ type: "started" });
    expect(run.command).toMatchObject({ prompts: [{ origin: "steering" }, { origin: "prompt" }] });
  });

  test("a delivered message has its pair of events in its turn, after TurnStart [LOOP-11.1]", async () => {
    const run = await play({ replies: turns(1) })
      .until("call-tools")
      .steer("x")
      .settle();
    const lines = run.eventLines();
    const at = lines.indexOf("TurnStart 1 continuation");
    expect(lines.slice(at, at + 3)).toEqual(["TurnStart 1 continuation", "MessageStart 3", "MessageEnd 3"]);
  });

  test("a delivered message has the id of its turn [TYP-13.2]", async () => {
    const run = await play({ replies: turns(1) })
      .until("call-tools")
      .steer("x")
      .settle();
    expect(run.transcript.listEntries("main")[3]?.message).toMatchObject({
      turnId: { loopId: "s.test.1", turnIndex: 1 },
    });
  });

  test("every message has the id of its loop and turn, and each loop counts its turns from 0 [TYP-13.1-5, LOOP-25.2]", async () => {
    const run = await play({ mode: "interactive", replies: turns(1) })
      .until("call-tools")
      .steer("s")
      .followUp("f")
      .settle()
      .prompt("more")
      .settle();
    const ids = run.transcript.listEntries("main").map(({ message }) => {
      const { loopId, turnIndex } = getTurnId(message) ?? { loopId: "none", turnIndex: -1 };
      return `${loopId} ${turnIndex}`;
    });
    expect(run.lines.map((line, at) => `${line.split(":")[0]}: ${ids[at]}`)).toEqual([
      "prompt: s.test.1 0",
      "model: s.test.1 0",
      "bash: s.test.1 0",
      "steering: s.test.1 1",
      "model: s.test.1 1",
      "follow-up: s.test.1 2",
      "model: s.test.1 2",
      "prompt: s.test.2 0",
      "model: s.test.2 0",
    ]);
  });

  test("are empty when a run begins [STEER-03.3]", () => {
    const { steering, followUps } = play().state.queues;
    expect([steering, followUps]).toEqual([[], []]);
  });

  test("a text that was stored before it is sent is passed by reference, and estimated as the longest inline text", async () => {
    const run = await play({ replies: turns(1) }).until("call-tools");
    const before = run.state.view.spans.reduce((sum, { tokens }) => sum + tokens, 0);
    await run.tell({ type: "steered", message: { id: "long", ref: "abcd", atMs: 1 } }).step();
    const after = run.state.view.spans.at(-1)?.tokens ?? 0;
    expect(after).toBe(8196);
    expect(before).toBeGreaterThan(0);
    expect(run.state.outbox.entries.map(({ body }) => body)).toContainEqual({
      type: "user",
      message: { id: "long", ref: "abcd", atMs: 1 },
    });
  });
});

test("a run is running from its prompt until it waits for the next one [STEER-12.2]", async () => {
  const statuses: string[] = [];
  const run = play({ mode: "interactive", replies: turns(1) });
  while (run.command.type !== "wait") {
    statuses.push(buildStatus(run.state).status);
    await run.step();
  }
  expect(statuses.length).toBeGreaterThan(3);
  expect(new Set(statuses)).toEqual(new Set(["running"]));
  expect(buildStatus(run.state).status).toBe("waiting");
  run.prompt("more");
  expect(buildStatus(run.state).status).toBe("running");
});

describe("messages sent twice", () => {
  test("are accepted once per id, whichever queue they are repeated in [STEER-01.3]", async () => {
    const run = await play().until("call-model").steer("a", "id-1").steer("a", "id-1").followUp("a", "id-1");
    expect(run.state.queues.steering).toHaveLength(1);
    expect(run.state.queues.followUps).toHaveLength(0);
    await run.settle().steer("a", "id-1");
    expect(run.command.type).toBe("finish");
    expect(run.lines.filter((line) => line.endsWith(": a"))).toHaveLength(1);
  });

  test("are ignored if they have the prompt's id [STEER-01.3]", () => {
    const run = play().steer("hi again", "m1");
    expect(run.state.queues.steering).toEqual([]);
  });

  test("are detected across continue-as-new [STEER-01.3]", async () => {
    const run = await play({ replies: turns(1) })
      .until("call-model")
      .steer("a", "id-1")
      .rotationDue()
      .until("rotate");
    await run.continueAsNew().steer("a", "id-1").settle();
    expect(run.lines.filter((line) => line === "steering: a")).toHaveLength(1);
  });

  test("are accepted once if they are prompts of a waiting run", async () => {
    const run = await play({ mode: "interactive" }).settle().prompt("more", "p2").settle();
    const before = run.lines;
    await run.prompt("more", "p2");
    expect(run.command.type).toBe("wait");
    expect(run.lines).toEqual(before);
  });

  test("are detected by the newest two hundred ids", async () => {
    const run = await play({ light: true }).until("call-model");
    for (let i = 0; i < 250; i++) await run.steer("x", `id-${i}`).clear("all");
    expect(run.state.recentIds).toHaveLength(200);
    expect(run.state.recentIds[0]).toBe("id-50");
    expect(run.state.recentIds.at(-1)).toBe("id-249");
  });
});
