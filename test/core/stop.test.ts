import { describe, expect, test } from "vitest";
import { play, type Run } from "./support/run.ts";
import { calls, says } from "./support/script.ts";

/** Runs until the end, and checks that an opened loop has one AgentEnd event. */
async function ended(run: Run): Promise<Run> {
  await run.settle();
  expect(run.command.type).toBe("finish");
  const ends = run.eventLines().filter((line) => line.startsWith("AgentEnd"));
  if (run.transcript.records.length > 0) expect(ends).toHaveLength(1);
  return run;
}

const stopped = { type: "stopped", reason: "enough" };

describe("stop", () => {
  test("before the loop is open: the loop is opened, and closed without a turn [X-01, ABT-03, IRON-09.2]", async () => {
    const run = await ended(play().stop());
    expect(run.asked).toEqual([]);
    expect(run.lines).toEqual(["prompt: hi"]);
    expect(run.eventLines()).toEqual([
      "AgentStart initial",
      "MessageStart 0",
      "MessageEnd 0",
      "AgentEnd stopped 0..1",
    ]);
    expect(run.state.last?.outcome).toEqual(stopped);
  });

  test("during a model call: the partial text is discarded, and the answer is aborted [ABT-02, PHI-13c]", async () => {
    const run = await play().until("call-model").stop().setBack({ type: "cancelled" });
    await ended(run);
    expect(run.lines).toEqual(["prompt: hi", "aborted: enough"]);
    expect(run.transcript.listEntries("main")[1]?.message).toMatchObject({
      content: [{ type: "text", text: "" }],
      stopReason: "aborted",
    });
    expect(run.asked).toEqual([]);
    expect(run.state.last?.outcome).toEqual(stopped);
    expect(run.eventLines().slice(-2)).toEqual(["TurnEnd 0 at 1 with 0", "AgentEnd stopped 0..2"]);
  });

  test("just before the last answer arrives: the answer stays, and the loop is stopped [PHI-13c]", async () => {
    const run = await ended(await play().until("call-model").stop());
    expect(run.lines).toEqual(["prompt: hi", "model: done"]);
    expect(run.state.last?.outcome).toEqual(stopped);
  });

  test("just before an answer with calls arrives: none of the calls is run [PHI-13c, TOOL-08.3, ABT-02]", async () => {
    const run = await play({ replies: [calls("bash", "edit")] })
      .until("call-model")
      .stop();
    await ended(run);
    expect(run.executed).toEqual([]);
    expect(run.lines.slice(2)).toEqual(["bash!: Cancelled", "edit!: Cancelled"]);
  });

  test("while tools run: the running calls are cancelled, and the others never start [PHI-13c, X-06.2, ABT-02]", async () => {
    const run = play({ strategy: { type: "batched", size: 2 }, replies: [calls("bash", "edit", "bash")] });
    await run.until("call-tools").tool(1).stop().setBack({ type: "cancelled" }, "claimed", 0);
    await ended(run);
    expect(run.lines.slice(2)).toEqual(["bash!: Cancelled", "edit: edit ok", "bash!: Cancelled"]);
    expect(run.eventLines().filter((line) => line.startsWith("ToolExecutionStart"))).toHaveLength(2);
    expect(run.asked).toHaveLength(1);
    expect(run.state.last?.outcome).toEqual(stopped);
  });

  test("a call that is lost or cannot run locally is not dispatched again [PHI-13c]", async () => {
    for (const setback of [{ type: "lost", attempts: 0 }, { type: "not-local" }] as const) {
      const run = await play({ replies: [calls("read")] })
        .until("call-tools")
        .stop()
        .setBack(setback);
      expect(run.phase).toBe("closing");
      await ended(run);
      expect(run.executed).toEqual([]);
      expect(run.lines[2]).toBe("read!: Cancelled");
    }
  });

  test("a lost model call is not dispatched again [PHI-13c]", async () => {
    const run = await play().until("call-model").stop().lose();
    expect(run.phase).toBe("closing");
    await ended(run);
    expect(run.state.last?.outcome).toEqual(stopped);
  });

  test("the third loss in a row still counts as a stop [PHI-13c]", async () => {
    const run = await play().until("call-model").lose().lose().stop().lose();
    await ended(run);
    expect(run.state.last?.outcome).toEqual(stopped);
  });

  test("a vendor's failure after a stop still counts as a stop [PHI-13c]", async () => {
    const run = await ended(await play().until("call-model").stop().fail("network"));
    expect(run.lines[1]).toBe("aborted: enough");
    expect(run.state.last?.outcome).toEqual(stopped);
  });

  test("a failed or aborted answer after a stop counts as a stop with its reason [PHI-13c]", async () => {
    for (const stopReason of ["aborted", "error"] as const) {
      const run = await play({ replies: [says("half", { stopReason })] })
        .until("call-model")
        .stop();
      expect((await ended(run)).state.last?.outcome).toEqual(stopped);
    }
  });

  test("while the loop closes: its outcome does not change [ABT-03]", async () => {
    const run = await ended(await play({ mode: "interactive" }).until("close-loop").stop());
    expect(run.state.last?.outcome).toEqual({ type: "answered", stopReason: "stop" });
  });

  test("while the run waits: the run ends immediately [ABT-03]", async () => {
    const run = await play({ mode: "interactive" }).settle().stop();
    expect(run.command.type).toBe("finish");
    run.checkEnd();
  });

  test("before the run has begun: the prompt is recorded, and the loop is stopped [ABT-03]", async () => {
    const run = play({ held: true }).stop().tell({ type: "started" });
    await ended(run);
    expect(run.lines).toEqual(["prompt: hi"]);
    expect(run.state.last?.outcome).toEqual(stopped);
  });

  test("just before continue-as-new, between turns or while the run waits: the run ends [ABT-03]", async () => {
    const turn = await play({ replies: [calls("bash")] })
      .until("call-model")
      .rotationDue()
      .until("record")
      .stop();
    await ended(turn);
    expect(turn.asked).toHaveLength(1);
    expect(turn.state.last?.outcome).toEqual(stopped);
    const wait = await play({ mode: "interactive" }).settle().rotationDue();
    expect(wait.command.type).toBe("rotate");
    await ended(await wait.stop());
  });

  test("a second stop does not replace the first one's reason [ABT-01.1]", async () => {
    const run = await ended(await play().until("call-model").stop("first").stop("second"));
    expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "first" });
  });

  test("queued messages go to the inbox, also in an interactive run [PHI-13b]", async () => {
    const run = await play({ mode: "interactive", replies: [calls("bash")] }).until("call-tools");
    await ended(await run.steer("a").followUp("b").stop());
    expect(run.inboxTexts).toEqual(["a", "b"]);
    expect(run.lines).toEqual(["prompt: hi", "model: calling +bash", "bash: bash ok"]);
  });

  test("a message that arrives after the stop goes to the inbox too [PHI-13b]", async () => {
    const run = await ended(
      await play().until("call-model").stop().steer("still").setBack({ type: "cancelled" }),
    );
    expect(run.inboxTexts).toEqual(["still"]);
  });

  test("the state has the stop with its reason", async () => {
    const run = await ended(await play().until("call-model").stop());
    expect(run.state.stop).toEqual({ reason: "enough" });
  });

  test("an activity that is cancelled without a stop ends the loop, but not an interactive run", async () => {
    const run = await play({ mode: "interactive" })
      .until("call-model")
      .setBack({ type: "cancelled" })
      .settle();
    expect(run.lines).toEqual(["prompt: hi", "aborted: cancelled"]);
    expect(run.command.type).toBe("wait");
    await run.prompt("again").settle();
    expect(run.lines.at(-1)).toBe("model: done");
  });

  test("steps that only write are dispatched again if they are cancelled [ABT-03]", async () => {
    for (const type of ["open-loop", "close-loop"] as const) {
      const run = await play().until(type);
      await run.setBack({ type: "cancelled" });
      expect(run.command).toMatchObject({ type, generation: 1 });
      await ended(run);
    }
  });

  test("a waiting run that is stopped keeps its last loop's outcome [ABT-03]", async () => {
    const run = await play({ mode: "interactive", replies: [says("x")] })
      .settle()
      .stop();
    expect(run.command).toMatchObject({ type: "finish", last: { outcome: { type: "answered" } } });
  });
});
