import { assert, constantFrom, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { anyActions, playAll, settings } from "./actions.ts";
import { play } from "./play.ts";

const reason = 'not "bad"';

describe("a prompt that is rejected", () => {
  test("ends its loop before the first turn: no message, no model call [FILT-03, EVT-07]", () => {
    const run = play({ prompts: ["bad words"], rejects: "bad" }).settle();
    expect(run.eventLines()).toEqual(["AgentStart initial", "InputRejected", "AgentEnd rejected 0..0"]);
    expect(run.transcript.eventsOf("s.test.1").slice(1)).toMatchObject([
      { body: { type: "InputRejected", reason } },
      { body: { type: "AgentEnd", rejection: reason, outcome: { type: "rejected", reason } } },
    ]);
    expect(run.asked).toEqual([]);
    expect(run.lines).toEqual([]);
    expect(run.transcript.loops).toMatchObject([{ outcome: { type: "rejected", reason } }]);
    expect(run.command).toMatchObject({ type: "finish", last: { outcome: { type: "rejected", reason } } });
  });

  test("takes what came together with it along [FILT-03]", () => {
    const run = play({ prompts: ["good", "bad"], rejects: "bad" }).settle();
    expect(run.lines).toEqual([]);
  });

  test("is no rejection of the next, and is not in its view [FILT-02, FILT-03]", () => {
    const run = play({ prompts: ["bad"], rejects: "bad", mode: "interactive" }).settle();
    expect(run.phase).toBe("waiting");
    run.prompt("good").settle();
    expect(run.lines).toEqual(["prompt: good", "model: done"]);
  });

  test("stays rejected when the answer of the step was lost [FILT-03]", () => {
    const run = play({ prompts: ["bad"], rejects: "bad" })
      .lose("stored")
      .settle();
    expect(run.transcript.loops).toMatchObject([{ outcome: { type: "rejected" } }]);
    expect(run.asked).toEqual([]);
  });

  test("is what the run says it ended with, when a stop came before [FILT-03]", () => {
    const run = play({ prompts: ["bad"], rejects: "bad" })
      .stop()
      .settle();
    expect(run.command).toMatchObject({ last: { outcome: { type: "rejected" } } });
  });
});

describe("what waits with a rejected prompt", () => {
  test("goes to the inbox when the run ends, in order [PHI-10, PHI-13b]", () => {
    const run = play({ prompts: ["bad"], rejects: "bad", held: true })
      .steer("a")
      .steer("b")
      .followUp("c");
    run.tell({ type: "begun" }).steer("late").settle();
    expect(run.command).toMatchObject({ last: { outcome: { type: "rejected" } } });
    expect(run.inboxTexts).toEqual(["a", "b", "late", "c"].map((text) => expect.stringContaining(text)));
    expect(run.lines).toEqual([]);
  });

  test("stays in the inbox when it lay there [PHI-10, PHI-13b]", () => {
    const { transcript } = play({ prompts: [], held: true }).steer("early").tell({ type: "begun" }).settle();
    const run = play({ prompts: ["bad"], rejects: "bad", transcript, run: "second" }).settle();
    expect(run.inboxTexts).toEqual(["early"]);
  });

  test("waits in its queue for the next prompt of an interactive run, and precedes it [PHI-10, PHI-13b, LOOP-08]", () => {
    const run = play({ prompts: [], rejects: "bad", mode: "interactive", steeringMode: "all" }).settle();
    run.steer("a").steer("b").followUp("c").prompt("bad").settle();
    expect(run.phase).toBe("waiting");
    expect(run.asked).toEqual([]);
    run.prompt("good").settle();
    expect(run.lines).toEqual([
      "steering: a",
      "steering: b",
      "prompt: good",
      "model: done",
      "follow-up: c",
      "model: done",
    ]);
  });

  test("goes to the inbox when an interactive run ends without another prompt [PHI-13b]", () => {
    const run = play({ prompts: [], rejects: "bad", mode: "interactive", idleTimeoutMs: 1000 }).settle();
    run.steer("a").prompt("bad").settle().pass(2000).timePassed().settle();
    expect(run.inboxTexts).toEqual(["a"]);
  });

  test("is there after the run has continued as new [PHI-13b]", () => {
    const run = play({ prompts: [], rejects: "bad", mode: "interactive" }).settle();
    run.steer("a").prompt("bad").rotationDue().settle();
    expect(run.run).toBe("run2");
    run.prompt("good").settle();
    expect(run.lines).toEqual(["steering: a", "prompt: good", "model: done"]);
  });
});

test("steering and follow-ups are not looked at, whatever they say [FILT-02]", () => {
  const run = play({ rejects: "bad" }).steer("bad steering").until("call-model").followUp("bad one").settle();
  expect(run.lines).toContain("steering: bad steering");
  expect(run.lines).toContain("follow-up: bad one");
});

test("any script with rejections keeps every invariant and loses nothing [I1..I5, FILT-03, PHI-10, PHI-13b]", () => {
  let rejected = 0;
  void assert(
    property(settings, anyActions, constantFrom("hi", "prompt words"), (setting, actions, rejects) => {
      const run = playAll({ ...setting, rejects }, actions);
      expect(run.command.type).toBe("finish");
      rejected += run.transcript.loops.filter(({ outcome }) => outcome?.type === "rejected").length;
    }),
    { numRuns: 500 },
  );
  expect(rejected).toBeGreaterThan(50);
});
