import { assert, asyncProperty, constantFrom } from "fast-check";
import { describe, expect, test } from "vitest";
import { materialise } from "../../src/conversation/materialise.ts";
import { getRunCount } from "../support/test-depth.ts";
import { anyActions, playAll, settings } from "./actions.ts";
import { textOf } from "./support/lines.ts";
import { play, type Run } from "./support/run.ts";
import { calls, type Judge, type Setting, says } from "./support/script.ts";

const RUNS = Math.min(500, getRunCount(500));
const reason = 'not "bad"';

describe("a rejected prompt", () => {
  test("ends its loop before the first turn: no message, no model call [FILT-03.2-3, EVT-07, LOOP-02.3]", async () => {
    const run = await play({ prompts: ["bad words"], rejects: "bad" }).settle();
    expect(run.eventLines()).toEqual(["AgentStart initial", "InputRejected", "AgentEnd rejected 0..0"]);
    expect(run.transcript.listEvents("s.test.1").slice(1)).toMatchObject([
      { body: { type: "InputRejected", reason } },
      { body: { type: "AgentEnd", rejection: reason, outcome: { type: "rejected", reason } } },
    ]);
    expect(run.asked).toEqual([]);
    expect(run.lines).toEqual([]);
    expect(run.transcript.records).toMatchObject([{ outcome: { type: "rejected", reason } }]);
    expect(run.command).toMatchObject({ type: "finish", last: { outcome: { type: "rejected", reason } } });
  });

  test("discards the prompts submitted with it [FILT-03.3]", async () => {
    const run = await play({ prompts: ["good", "bad"], rejects: "bad" }).settle();
    expect(run.lines).toEqual([]);
  });

  test("does not reject the next prompt, and is not in the conversation [FILT-02.3, FILT-03.3]", async () => {
    const run = await play({ prompts: ["bad"], rejects: "bad", mode: "interactive" }).settle();
    expect(run.phase).toBe("waiting");
    await run.prompt("good").settle();
    expect(run.lines).toEqual(["prompt: good", "model: done"]);
  });

  test("stays rejected if the result of the step is lost [FILT-03.3]", async () => {
    const run = await play({ prompts: ["bad"], rejects: "bad" })
      .lose("stored")
      .settle();
    expect(run.transcript.records).toMatchObject([{ outcome: { type: "rejected" } }]);
    expect(run.asked).toEqual([]);
  });

  test("is the outcome of the run even if a stop arrives first", async () => {
    const run = await play({ prompts: ["bad"], rejects: "bad" })
      .stop()
      .settle();
    expect(run.command).toMatchObject({ last: { outcome: { type: "rejected" } } });
  });
});

describe("messages queued with a rejected prompt", () => {
  test("go to the inbox when the run ends, in order [PHI-10.2, PHI-13b]", async () => {
    const run = play({ prompts: ["bad"], rejects: "bad", held: true })
      .steer("a")
      .steer("b")
      .followUp("c");
    await run.tell({ type: "started" }).steer("late").settle();
    expect(run.command).toMatchObject({ last: { outcome: { type: "rejected" } } });
    expect(run.inboxTexts).toEqual(["a", "b", "late", "c"].map((text) => expect.stringContaining(text)));
    expect(run.lines).toEqual([]);
  });

  test("stay in the inbox if they were there [PHI-10.2, PHI-13b]", async () => {
    const after = await play({ prompts: [], held: true }).steer("early").tell({ type: "started" }).settle();
    const run = await play({ prompts: ["bad"], rejects: "bad", after, run: "second" }).settle();
    expect(run.inboxTexts).toEqual(["early"]);
  });

  test("wait for the next prompt of an interactive run; steering precedes it, follow-ups come after it [PHI-10.2, PHI-13b, LOOP-08]", async () => {
    const run = await play({
      prompts: [],
      rejects: "bad",
      mode: "interactive",
      steeringMode: "all",
    }).settle();
    await run.steer("a").steer("b").followUp("c").prompt("bad").settle();
    expect(run.phase).toBe("waiting");
    expect(run.asked).toEqual([]);
    await run.prompt("good").settle();
    expect(run.lines).toEqual([
      "steering: a",
      "steering: b",
      "prompt: good",
      "model: done",
      "follow-up: c",
      "model: done",
    ]);
  });

  test("go to the inbox when an interactive run ends without another prompt [PHI-13b]", async () => {
    const run = await play({
      prompts: [],
      rejects: "bad",
      mode: "interactive",
      idleTimeoutMs: 1000,
    }).settle();
    await run.steer("a").prompt("bad").settle().pass(2000).timePassed().settle();
    expect(run.inboxTexts).toEqual(["a"]);
  });

  test("survive continue-as-new [PHI-13b]", async () => {
    const run = await play({ prompts: [], rejects: "bad", mode: "interactive" }).settle();
    await run.steer("a").prompt("bad").rotationDue().settle();
    expect(run.run).toBe("run2");
    await run.prompt("good").settle();
    expect(run.lines).toEqual(["steering: a", "prompt: good", "model: done"]);
  });
});

const bad: Judge = (text) => (text.includes("bad") ? { reject: "not bad" } : undefined);
const rude: Judge = (text) => (text.includes("rude") ? { warn: "be kind" } : undefined);

/** A run that reaches the end of its first turn with these messages queued. */
async function waiting(setting: Setting, say: (run: Run) => Run): Promise<Run> {
  return say(await play(setting).until("call-model")).step();
}

describe("queued messages pass the filters before a turn reads them", () => {
  test("steering and follow-ups are accepted, each filtered once [PHI-08.1]", async () => {
    const setting = { judges: bad, replies: [calls("bash"), says("one"), says("two")] };
    const run = await (await waiting(setting, (run) => run.steer("s").followUp("f"))).settle();
    expect(run.judged).toEqual(["hi", "s", "f"]);
    expect(run.lines).toEqual([
      "prompt: hi",
      "model: calling +bash",
      "bash: bash ok",
      "steering: s",
      "model: one",
      "follow-up: f",
      "model: two",
    ]);
  });

  test("a warning is appended to the message that it concerns [FILT-04.1, PHI-08.2]", async () => {
    const run = await (await waiting({ judges: rude }, (run) => run.steer("rude").steer("kind"))).settle();
    expect(run.lines).toContain("steering: rude[Warning: be kind]");
    expect(run.lines).toContain("steering: kind");
  });

  test("a rejection ends the run after a turn, with one InputRejected, then AgentEnd [FILT-03.2-3, EVT-07, PHI-08.3]", async () => {
    const run = await (await waiting({ judges: bad }, (run) => run.followUp("bad words"))).settle();
    expect(run.eventLines().slice(-3)).toEqual([
      "TurnEnd 0 at 1 with 0",
      "InputRejected",
      "AgentEnd rejected 0..3",
    ]);
    expect(run.transcript.listEvents("s.test.1").slice(-2)).toMatchObject([
      { body: { type: "InputRejected", reason: "not bad", position: 2 } },
      { body: { type: "AgentEnd", rejection: "not bad", outcome: { type: "rejected", reason: "not bad" } } },
    ]);
    expect(run.asked).toHaveLength(1);
    expect(run.command).toMatchObject({ last: { outcome: { type: "rejected", reason: "not bad" } } });
  });

  test("a rejected message is stored where no model sees it, and is not delivered again [PHI-08.3, PHI-13b]", async () => {
    const setting: Setting = { judges: bad, mode: "interactive" };
    const run = await (await waiting(setting, (run) => run.steer("bad words"))).settle();
    expect(run.phase).toBe("waiting");
    expect(run.lines.at(-1)).toBe("refused steering: bad words");
    await run.prompt("good").settle();
    expect(run.lines.slice(-3)).toEqual(["refused steering: bad words", "prompt: good", "model: done"]);
    const last = run.asked.at(-1);
    const seen = materialise(last!.view, run.transcript.listEntries(run.state.branch)).map(textOf);
    expect(seen.join()).not.toContain("bad");
  });

  test("messages queued with a rejected message go to the inbox, in order [PHI-08.3, PHI-10.2, PHI-13b]", async () => {
    const setting: Setting = { judges: bad, followUpMode: "all" };
    const run = await (
      await waiting(setting, (run) => run.followUp("a").followUp("bad").followUp("c"))
    ).settle();
    expect(run.judged).toEqual(["hi", "a", "bad"]);
    expect(run.inboxTexts).toEqual(["a", "c"]);
    expect(run.lines.at(-1)).toBe("refused follow-up: bad");
  });

  test("a message that arrives during filtering is filtered too before a turn reads it [PHI-08.1]", async () => {
    const setting: Setting = { judges: bad, steeringMode: "all" };
    const run = await (await waiting(setting, (run) => run.steer("a")))
      .until("filter-input")
      .steer("bad")
      .settle();
    expect(run.judged).toEqual(["hi", "a", "bad"]);
    expect(run.lines.at(-1)).toBe("refused steering: bad");
    expect(run.inboxTexts).toEqual(["a"]);
  });

  test("one step filters at most 16 messages [PHI-08.1]", async () => {
    const run = await play({ judges: rude, steeringMode: "all" }).until("call-model");
    for (let n = 0; n < 20; n++) await run.steer(`words ${n}`);
    await run.step().settle();
    const steps = run.commands.flatMap((one) => (one.type === "filter-input" ? [one.messages.length] : []));
    expect(steps).toEqual([16, 4]);
  });

  test("without filters there is no filter step", async () => {
    const run = await (await waiting({}, (run) => run.steer("bad").followUp("bad"))).settle();
    expect(run.commands.map(({ type }) => type)).not.toContain("filter-input");
  });

  test("a stop during filtering sends the messages to the inbox [PHI-13b]", async () => {
    const run = await (await waiting({ judges: bad }, (run) => run.steer("a").followUp("b"))).until(
      "filter-input",
    );
    expect(run.state.queues.steering).toHaveLength(1);
    await run.stop().setBack({ type: "cancelled" }).settle();
    expect(run.inboxTexts).toEqual(["a", "b"]);
    expect(run.command).toMatchObject({ last: { outcome: { type: "stopped" } } });
  });

  test("a limit reached during filtering sends the messages to the inbox [PHI-13b]", async () => {
    const setting: Setting = { judges: bad, limits: { maxDurationMs: 1000 } };
    const run = await (await waiting(setting, (run) => run.steer("a")))
      .until("filter-input")
      .pass(2000)
      .settle();
    expect(run.inboxTexts).toEqual(["a"]);
    expect(run.command).toMatchObject({ last: { outcome: { type: "limit-reached" } } });
  });

  test("continue-as-new preserves the verdicts of the filters [PHI-08.2, PHI-13b]", async () => {
    const run = await (await waiting({ judges: rude }, (run) => run.steer("rude")))
      .until("filter-input")
      .rotationDue();
    await run.step().until("rotate").step().settle();
    expect(run.run).toBe("run2");
    expect(run.judged).toEqual(["hi", "rude"]);
    expect(run.lines).toContain("steering: rude[Warning: be kind]");
  });

  test("a message that is cleared from its queue during filtering does not reject the run [PHI-08.3]", async () => {
    const run = await (await waiting({ judges: bad }, (run) => run.steer("bad")))
      .until("filter-input")
      .clear("all")
      .settle();
    expect(run.command).toMatchObject({ last: { outcome: { type: "answered" } } });
    expect(run.lines).toEqual(["prompt: hi", "model: done"]);
  });

  test("unavailable filters fail the loop, and the messages go to the inbox [PHI-08.3, PHI-10.2]", async () => {
    const run = await (await waiting({ judges: bad }, (run) => run.steer("a"))).until("filter-input");
    await run.fail("invalid", "This worker has no input filter").settle();
    expect(run.inboxTexts).toEqual(["a"]);
    expect(run.command).toMatchObject({ last: { outcome: { type: "failed", fault: "invalid" } } });
  });

  test("one lost worker repeats the step without calling the filters again; three fail the loop, and the messages go to the inbox [PHI-08.1]", async () => {
    const once = await (await waiting({ judges: rude }, (run) => run.steer("rude")))
      .until("filter-input")
      .lose("stored")
      .settle();
    expect(once.judged).toEqual(["hi", "rude"]);
    expect(once.lines).toContain("steering: rude[Warning: be kind]");
    const thrice = await (await waiting({ judges: bad }, (run) => run.steer("a"))).until("filter-input");
    await thrice.lose().lose().lose().settle();
    expect(thrice.command).toMatchObject({ last: { outcome: { type: "failed", fault: "worker-lost" } } });
    expect(thrice.inboxTexts).toEqual(["a"]);
  });
});

describe("messages that a loop starts with", () => {
  test("steering queued before the prompt is filtered separately, and its rejection ends the loop [PHI-08.3]", async () => {
    const run = await play({ judges: bad, held: true })
      .steer("bad")
      .steer("a")
      .tell({ type: "started" })
      .settle();
    expect(run.eventLines()).toEqual(["AgentStart initial", "InputRejected", "AgentEnd rejected 0..1"]);
    expect(run.lines).toEqual(["refused steering: bad"]);
    expect(run.inboxTexts).toEqual(["a"]);
  });

  test("a rejected message of the inbox leaves the inbox, and does not reject the next loop [PHI-08.3]", async () => {
    const after = await play({ prompts: [], held: true })
      .steer("bad")
      .steer("b")
      .tell({ type: "started" })
      .settle();
    await play({ prompts: ["one"], judges: bad, after, run: "second" }).settle();
    expect(after.inboxTexts).toEqual(["b"]);
    const third = await play({ prompts: ["two"], judges: bad, after, run: "third" }).settle();
    expect(third.lines).toEqual(["refused inbox: bad", "inbox: b", "prompt: two", "model: done"]);
  });
});

test("any script with rejections preserves every invariant and loses no message [I1..I5, PHI-13b, PHI-10.2]", async () => {
  let rejected = 0;
  await assert(
    asyncProperty(
      settings,
      anyActions,
      constantFrom("hi", "prompt words"),
      async (setting, actions, rejects) => {
        const run = await playAll({ ...setting, rejects }, actions);
        expect(run.command.type).toBe("finish");
        rejected += run.transcript.records.filter(({ outcome }) => outcome?.type === "rejected").length;
      },
    ),
    { numRuns: RUNS },
  );
  expect(rejected).toBeGreaterThan(RUNS / 10);
});
