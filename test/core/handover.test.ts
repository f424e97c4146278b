import { describe, expect, test } from "vitest";
import { buildStatus } from "../../src/core/machine/status.ts";
import type { LoopEnding } from "../../src/tools/tool-execution.ts";
import { play } from "./support/run.ts";
import { calls, says } from "./support/script.ts";

const HANDOFF: LoopEnding = { type: "handoff", reason: "a person must sign" };
const PAUSE: LoopEnding = { type: "paused", reason: "the parcel" };

describe("a call that ends the loop", () => {
  test.each([HANDOFF, PAUSE])(
    "adds its result, and gives the outcome $type [IRON-08, HITL-05]",
    async (ending) => {
      const run = await play({
        replies: [calls("edit", "bash"), says("never")],
        ends: { bash: ending },
      }).settle();
      expect(run.lines).toEqual([
        "prompt: hi",
        "model: calling +edit +bash",
        "edit: edit ok",
        "bash: bash ok",
      ]);
      expect(run.asked).toHaveLength(1);
      expect(run.eventLines().slice(-2)).toEqual(["TurnEnd 0 at 1 with 2", `AgentEnd ${ending.type} 0..4`]);
      expect(run.command).toMatchObject({ type: "finish", last: { outcome: { ...ending, by: "bash" } } });
      expect(buildStatus(run.state).status).toBe(ending.type);
    },
  );

  test("that fails, or that is denied, ends nothing [IRON-08]", async () => {
    const replies = [calls("bash"), says("done")];
    const failed = await play({ replies, ends: { bash: HANDOFF } })
      .until("call-tools")
      .tool(0, true)
      .settle();
    expect(failed.state.last?.outcome.type).toBe("answered");
    const permissions = { rules: [{ tool: "bash", outcome: "deny" as const }] };
    const denied = await play({ replies, permissions, ends: { bash: HANDOFF } }).settle();
    expect(denied.state.last?.outcome.type).toBe("answered");
  });

  test("keeps calls of later units from running; of two, the first in call order counts [IRON-08]", async () => {
    const ends = { bash: HANDOFF, edit: PAUSE };
    const later = await play({
      replies: [calls("bash", "edit")],
      strategy: { type: "sequential" },
      ends,
    }).settle();
    expect(later.executed.map(({ toolName }) => toolName)).toEqual(["bash"]);
    expect(later.lines.at(-1)).toBe("edit!: Not run: an earlier call of this answer has ended your work.");
    const both = await play({ replies: [calls("bash", "edit")], ends })
      .until("call-tools")
      .tool(1)
      .tool(0)
      .settle();
    expect(both.state.last?.outcome).toEqual({ ...HANDOFF, by: "bash" });
  });

  test("yields to a stop [ABT-02]", async () => {
    const run = await play({ replies: [calls("bash")], ends: { bash: HANDOFF } })
      .until("call-tools")
      .stop()
      .settle();
    expect(run.state.last?.outcome).toEqual({ type: "stopped", reason: "enough" });
  });

  test("leaves queued messages to the inbox; the session continues from the results [HITL-05]", async () => {
    const run = await play({ replies: [calls("bash")], ends: { bash: PAUSE } })
      .until("call-tools")
      .steer("and?")
      .followUp("then")
      .settle();
    expect(run.inboxTexts).toEqual(["and?", "then"]);
    const again = await play({
      kind: { type: "default" },
      after: run,
      run: "later",
      replies: [says("on")],
    }).settle();
    expect(again.lines.slice(-3)).toEqual(["inbox: and?", "inbox: then", "model: on"]);
    expect(again.state.last?.outcome.type).toBe("answered");
  });

  test("lets an interactive run wait for the next prompt, with its follow-ups; steering is answered [HITL-05]", async () => {
    const setting = {
      mode: "interactive",
      replies: [calls("bash"), says("on")],
      ends: { bash: HANDOFF },
    } as const;
    const waiting = await play(setting).until("call-tools").followUp("then").settle();
    expect(waiting.command.type).toBe("wait");
    expect(buildStatus(waiting.state)).toMatchObject({ status: "waiting", outcome: { type: "handoff" } });
    await waiting.prompt("signed").settle();
    expect(waiting.lines.slice(3)).toEqual(["prompt: signed", "model: on", "follow-up: then", "model: done"]);
    const steered = await play(setting).until("call-tools").steer("go on").settle();
    expect(steered.lines.slice(-2)).toEqual(["steering: go on", "model: on"]);
  });

  test("notifies hooks as any other does, and asks none whether the loop may end", async () => {
    const hooks = ["after-tool", "after-turn", "on-text"] as const;
    const run = await play({ replies: [calls("bash")], ends: { bash: HANDOFF }, hooks }).settle();
    expect(run.hooked.map(({ line }) => line)).toEqual(["after-tool bash", "after-turn 0"]);
    expect(run.state.last?.outcome.type).toBe("handoff");
  });
});
