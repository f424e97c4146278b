import { describe, expect, test } from "vitest";
import type { ToolListChange } from "../../src/core/machine/state/run-event.ts";
import { play, type Run } from "./support/run.ts";
import { calls, type Setting, says } from "./support/script.ts";

const change = (run: Run, more: Partial<ToolListChange> = {}): ToolListChange => ({
  loopId: run.state.loop?.loopId ?? "",
  server: "files",
  hash: "h1",
  added: ["files__new"],
  removed: ["files__old", "files__older"],
  changed: [],
  ...more,
});
const tell = (run: Run, more: Partial<ToolListChange> = {}) =>
  run.tell({ type: "tool-list-changed", ...change(run, more) });
const asked = (setting: Setting = {}) => play({ replies: [calls("bash"), says("b")], ...setting });
const told = (run: Run) => run.lines.filter((line) => line.startsWith("machine: The MCP server"));

const WORDS =
  "machine: The MCP server files offers different tools than when you started. New: files__new. No longer offered: " +
  "files__old, files__older. You keep your current tools until you finish this task, and get the new " +
  "ones with the next prompt. Calls to tools that are no longer offered may fail.";

describe("a loop whose MCP servers change their tool lists", () => {
  test("[MCP-05.4] notifies the model once, in the next request, after the results", async () => {
    const run = await asked({ replies: [calls("bash"), calls("bash"), says("c")] }).until("call-model");
    tell(run);
    expect(run.command.type).toBe("call-model");
    await tell(run).step().step();
    expect(run.command).toMatchObject({ type: "call-model", turn: 1 });
    await tell(run).settle();
    expect(told(run)).toEqual([WORDS]);
    expect(run.lines.indexOf(WORDS)).toBe(run.lines.indexOf("bash: bash ok") + 1);
    expect(run.asked).toHaveLength(3);
  });

  test("reports only the newest change of each server when several arrive before the next request", async () => {
    const run = await asked().until("call-model");
    tell(run);
    tell(run, { server: "files-2" });
    await tell(run, { hash: "as-pinned", added: [], removed: [] }).settle();
    expect(told(run)).toEqual([
      expect.stringMatching(/^machine: The MCP server files-2 offers different tools/),
      "machine: The MCP server files offers the same tools again as when you started.",
    ]);
  });

  test("[MCP-05.4] keeps a pending notice across continue-as-new", async () => {
    const run = await asked({ replies: [calls("bash"), calls("bash"), says("c")] }).until("call-model");
    await tell(run).rotationDue().settle();
    expect(run.run).toBe("run2");
    expect(told(run)).toEqual([WORDS]);
  });

  test("starts no turn for a change: a run that is answering, waiting or finished stays unchanged", async () => {
    const last = await asked({ mode: "interactive", replies: [says("a"), says("b")] }).until("call-model");
    const { loop } = last.state;
    await tell(last).settle();
    expect(last.asked).toHaveLength(1);
    const waiting = last.state;
    tell(last, { loopId: loop?.loopId ?? "" });
    expect(last.state).toEqual({ ...waiting, nowMs: last.state.nowMs });
    await last.prompt("again").until("call-model");
    await tell(last, { loopId: loop?.loopId ?? "", hash: "h2" }).settle();
    expect(told(last)).toEqual([]);
    const over = await asked().settle();
    const ended = over.state;
    tell(over, { loopId: "l1" });
    expect(over.state).toEqual({ ...ended, nowMs: over.state.nowMs });
  });
});
