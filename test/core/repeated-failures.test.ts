import { describe, expect, test } from "vitest";
import { listPendingApprovals } from "../../src/core/machine/approvals.ts";
import type { OpenLoopCommand } from "../../src/core/machine/state/activity-command.ts";
import { RepeatSettings } from "../../src/schema/recovery.ts";
import { play } from "./support/run.ts";
import { calls, type Reply, says } from "./support/script.ts";

const DEFAULTS = RepeatSettings.parse({});
const ask = RepeatSettings.parse({ action: "ask" });
const missing = calls("nope");
const invalid = { name: "bash", invalid: true } as const;
const MISFIT = "text: found nothing, expected text";

const repeated = (reply: Reply, times: number) => Array.from({ length: times }, () => reply);
const results = (run: ReturnType<typeof play>) =>
  run.lines.filter((line) => /^(bash|read|nope)!?: /.test(line));
const asked = (run: ReturnType<typeof play>) => run.asked.length;

describe("a call that fails repeatedly in the same way", () => {
  test.each([
    ["of an unknown tool", missing, "nope", "Tool nope not found"],
    ["with invalid arguments", calls(invalid), "bash", `Invalid arguments: ${MISFIT}`],
  ])(
    "%s: the result warns the model from the fifth answer on, and the loop ends after the eighth",
    async (_, reply, tool, why) => {
      const run = await play({ repeats: DEFAULTS, replies: repeated(reply, 50) }).settle();
      expect(asked(run)).toBe(8);
      const told = results(run).map(
        (line) => /has failed in the same way in (\d+) of your answers/.exec(line)?.[1],
      );
      expect(told).toEqual([undefined, undefined, undefined, undefined, "5", "6", "7", "8"]);
      expect(results(run)[4]).toContain("If it fails in the same way 3 times more, your work ends here.");
      expect(results(run)[7]).not.toContain("more");
      const reason = `Call of ${tool} failed in the same way 8 times (8/8): ${why}`;
      expect(run.state.last?.outcome).toEqual({ type: "limit-reached", reason });
      expect(run.lines.at(-1)).toBe(`machine: [Agent stopped: ${reason}]`);
    },
  );

  test("because a rule denies it is counted only if it is the same call", async () => {
    const permissions = { otherwise: "deny" as const };
    const denied = (summary: string) => calls({ name: "bash", arguments: { text: "", command: summary } });
    const same = await play({
      repeats: DEFAULTS,
      permissions,
      replies: repeated(denied("git push"), 50),
    }).settle();
    expect([asked(same), same.state.last?.outcome.type]).toEqual([8, "limit-reached"]);
    const others = Array.from({ length: 20 }, (_, index) => denied(`git push ${index}`));
    const different = await play({ repeats: DEFAULTS, permissions, replies: others }).settle();
    expect([asked(different), different.state.last?.outcome.type]).toEqual([21, "answered"]);
  });

  test("counts once per answer, because the model has not read the other results yet", async () => {
    const run = await play({
      repeats: DEFAULTS,
      replies: [calls(...repeatedNames(20)), says("I see")],
    }).settle();
    expect(run.state.last?.outcome.type).toBe("answered");
    const twice = await play({ repeats: DEFAULTS, replies: repeated(calls("nope", "nope"), 50) }).settle();
    expect(asked(twice)).toBe(8);
  });

  test("counts even if other calls of the same answer succeed", async () => {
    const run = await play({ repeats: DEFAULTS, replies: repeated(calls("read", "nope"), 50) }).settle();
    expect([asked(run), run.state.last?.outcome.type]).toEqual([8, "limit-reached"]);
  });

  test("is counted from zero after a successful call of the tool, after another failure, and after three turns without it", async () => {
    const replies = (between: readonly Reply[]) => [
      ...repeated(calls(invalid), 7),
      ...between,
      ...repeated(calls(invalid), 7),
      says("ok"),
    ];
    const ends = async (between: readonly Reply[]) =>
      (await play({ repeats: DEFAULTS, replies: replies(between) }).settle()).state.last?.outcome.type;
    expect(await ends([calls("bash")])).toBe("answered");
    expect(await ends([calls({ name: "bash", arguments: { text: "", command: 7 } })])).toBe("answered");
    expect(await ends(repeated(calls("read"), 3))).toBe("answered");
    expect(await ends(repeated(calls("read"), 2))).toBe("limit-reached");
    expect(await ends([])).toBe("limit-reached");
  });

  test("counts only if it is not run: repeated calls that run do not end the loop", async () => {
    const run = await play({ repeats: DEFAULTS, replies: repeated(calls("bash"), 20) }).settle();
    expect([asked(run), run.state.last?.outcome.type]).toEqual([21, "answered"]);
  });

  test("never ends the loop if the definition sets no limit, or if the run was pinned before the limit existed", async () => {
    const endless = { ...DEFAULTS, endAfter: null };
    const told = await play({ repeats: endless, replies: repeated(missing, 12) }).settle();
    expect([asked(told), told.state.last?.outcome.type]).toEqual([13, "answered"]);
    expect(results(told).at(-1)).toContain("in 12 of your answers");
    expect(results(told).at(-1)).not.toContain("more");
    const old = play({ replies: repeated(missing, 12) });
    const opened = await old.perform(old.command as OpenLoopCommand);
    if (opened.type !== "loop-opened") throw new Error(opened.type);
    const { repeatedFailures: _, ...before } = opened.digest;
    await old.tell({ ...opened, digest: before }).settle();
    expect(asked(old)).toBe(13);
    expect(results(old).join("\n")).not.toContain("of your answers");
  });

  test("is counted from zero after the user steers the agent", async () => {
    const run = play({ repeats: DEFAULTS, replies: [...repeated(missing, 8), says("ok")] });
    while (asked(run) < 7) await run.step();
    await run.until("call-model").steer("there is no such tool").settle();
    expect(run.state.last?.outcome.type).toBe("answered");
    expect(run.lines).toContain("steering: there is no such tool");
  });

  test("the count survives JSON serialization and continue-as-new", async () => {
    const run = play({ repeats: DEFAULTS, throughJson: true, replies: repeated(missing, 50) });
    while (asked(run) < 4) await run.step();
    await run.rotationDue().settle();
    expect(run.run).not.toBe("run1");
    expect(asked(run)).toBe(8);
  });

  describe("when the user is asked", () => {
    const stuck = async (approvalTimeoutMs?: number) => {
      const run = play({
        repeats: ask,
        replies: repeated(missing, 50),
        ...(approvalTimeoutMs === undefined ? {} : { approvalTimeoutMs }),
      });
      while (run.state.phase.type !== "ended" && listPendingApprovals(run.state).length === 0)
        await run.step();
      return run;
    };
    const waiting = (run: ReturnType<typeof play>) => listPendingApprovals(run.state)[0]?.toolCallId ?? "";

    test("the call waits for approval with the reason, and the approval has no `failed` field", async () => {
      const run = await stuck();
      expect(asked(run)).toBe(8);
      expect(listPendingApprovals(run.state)).toMatchObject([
        {
          tool: "nope",
          reason:
            "Call of nope failed in the same way 8 times (8/8): Tool nope not found. May the agent continue?",
        },
      ]);
      expect(Object.keys(listPendingApprovals(run.state)[0] ?? {})).not.toContain("failed");
    });

    test("approval lets the agent continue with a new count; the call itself is not run", async () => {
      const run = await stuck();
      run.answer(waiting(run), true);
      while (asked(run) < 9) await run.step();
      expect(run.executed).toEqual([]);
      expect(results(run)[7]).toContain("Tool nope not found");
      while (run.state.phase.type !== "ended" && listPendingApprovals(run.state).length === 0)
        await run.step();
      expect(asked(run)).toBe(16);
    });

    test("denial ends the loop", async () => {
      const run = await stuck();
      await run.answer(waiting(run), false).settle();
      expect(asked(run)).toBe(8);
      expect(run.state.last?.outcome).toMatchObject({ type: "limit-reached" });
      expect(results(run)[7]).toContain("Tool nope not found");
    });

    test("an approval timeout ends the loop as well", async () => {
      const run = await stuck(1_000);
      await run.pass(1_001).timePassed().settle();
      expect(run.state.last?.outcome).toMatchObject({ type: "limit-reached" });
    });

    test("a stop ends the loop with the stop's reason", async () => {
      const run = await stuck();
      await run.stop("enough").settle();
      expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
    });
  });
});

function repeatedNames(count: number): readonly string[] {
  return Array.from({ length: count }, () => "nope");
}
