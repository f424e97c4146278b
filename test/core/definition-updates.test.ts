import { describe, expect, test } from "vitest";
import { buildStatus } from "../../src/core/machine/status.ts";
import { play, type Run } from "./support/run.ts";
import { calls, NO_LIMITS, type Setting, says, usageOf } from "./support/script.ts";

const OTHER = {
  other: { model: { id: "model-2" } },
  fewer: { tools: ["bash"], subAgents: [] },
  short: { limits: { ...NO_LIMITS, maxTurns: 1 } },
  wrong: { inputFilters: ["none"] },
} satisfies Setting["definitions"];

const running = (setting: Setting = {}) =>
  play({ definitions: OTHER, replies: [calls("bash"), calls("edit")], ...setting }).until("call-tools");
const changed = (run: Run) =>
  [...run.transcript.listEvents("s.test.1"), ...run.state.outbox.events].flatMap(({ body }) =>
    body.type === "DefinitionChanged" ? [body] : [],
  );

describe("a run that is updated to another definition [3.8]", () => {
  test("uses its current definition until the turn ends, and the new one from the next turn on", async () => {
    const run = await running().update("other");
    expect(buildStatus(run.state)).toMatchObject({
      definitionHash: "hash",
      pendingDefinitionHash: "other",
      model: "model-1",
    });
    expect(run.call(0).definitionHash).toBe("hash");
    await run.step();
    expect(run.command).toMatchObject({ type: "update-definition", from: "hash", to: "other", turn: 1 });
    await run.step();
    expect(run.command).toMatchObject({ type: "call-model", definitionHash: "other", turn: 1 });
    expect(buildStatus(run.state)).toMatchObject({
      definitionHash: "other",
      pendingDefinitionHash: undefined,
      model: "model-2",
    });
    await run.settle();
    const lines = run.eventLines();
    expect(lines[lines.indexOf("DefinitionChanged") - 1]).toMatch(/^TurnEnd 0/);
    expect(lines[lines.indexOf("DefinitionChanged") + 1]).toMatch(/^TurnStart 1/);
  });

  test("keeps the amounts spent: a new limit that is already reached ends it", async () => {
    const run = await running({ replies: [{ ...calls("bash"), usage: usageOf(7, 3), costUsd: 2 }] });
    await run.update("short").settle();
    expect(run.state.last?.outcome).toMatchObject({
      type: "limit-reached",
      reason: expect.stringContaining("1/1"),
    });
    expect(run.state.totals.costUsd).toBe(2);
    expect(run.asked).toHaveLength(1);
  });

  test("keeps limits that an operator has raised when both definitions set the same value", async () => {
    const run = await running({ limits: { maxTurns: 2 } });
    await run
      .tell({ type: "limits-raised", limits: { maxTurns: 9 } })
      .update("other")
      .step()
      .step();
    expect(run.state.pinned?.limits.maxTurns).toBe(9);
  });

  test("notifies the model of removed tools, and answers a call to one with an error", async () => {
    const run = await running().update("fewer").settle();
    const notice = run.lines.find((line) => line.startsWith("machine: The following tools"));
    expect(notice).toBe(
      "machine: The following tools are no longer available: edit, read, scout. Do not call them again.",
    );
    expect(run.lines.indexOf(notice ?? "")).toBe(run.lines.indexOf("bash: bash ok") + 1);
    expect(run.lines).toContain(
      "edit!: Tool edit was removed from this agent while it was working: continue without it",
    );
    expect(run.executed.map(({ toolName }) => toolName)).toEqual(["bash"]);
  });

  test("keeps its definition when the new one is invalid, and records the reason", async () => {
    const run = await running().update("wrong").settle();
    expect(changed(run)).toEqual([
      {
        type: "DefinitionChanged",
        ...{ from: "hash", to: "wrong", applied: false, changes: [], warnings: [] },
        reason: expect.stringContaining('no input filter "none"'),
      },
    ]);
    expect(run.asked.map(({ definitionHash }) => definitionHash)).toEqual(["hash", "hash", "hash"]);
    const failed = await running().update("other").step().fail("invalid", "no such hook").settle();
    expect(changed(failed)).toMatchObject([{ applied: false, reason: "no such hook" }]);
  });

  test("is updated once, however often the worker dies during the update", async () => {
    const run = await running().update("other").step();
    for (let deaths = 0; deaths < 5; deaths++) await run.lose(deaths === 4 ? "stored" : "claimed");
    expect(run.command).toMatchObject({ type: "update-definition", generation: 5 });
    await run.settle();
    expect(changed(run)).toHaveLength(1);
  });

  test("is updated before its loop ends when no turn follows; the next loop opens with the new definition", async () => {
    const run = await play({ definitions: OTHER, mode: "interactive", replies: [says("a")] }).until(
      "call-model",
    );
    await run.update("other").settle();
    expect(run.eventLines().slice(-2)).toEqual([
      "DefinitionChanged",
      expect.stringMatching(/^AgentEnd answered/),
    ]);
    await run.prompt("b");
    expect(run.command).toMatchObject({ type: "open-loop", definitionHash: "other" });
  });

  test("is updated at once while it waits for a prompt, and keeps its idle deadline", async () => {
    const run = await play({ definitions: OTHER, mode: "interactive", idleTimeoutMs: 500 }).settle();
    const { phase } = run.state;
    await run.pass(100).update("other").step();
    expect(run.state.phase).toEqual(phase);
    expect(run.state.pinned?.model).toBe("model-2");
    expect(run.state.lastDefinitionUpdate).toEqual({ to: "other" });
  });

  test("changes to the newest requested definition, or not at all when the request returns to the first", async () => {
    const twice = await running().update("wrong").update("other").settle();
    expect(changed(twice)).toMatchObject([{ to: "other", applied: true }]);
    expect(changed(await running().update("other").update("hash").settle())).toEqual([]);
    const meanwhile = await running().update("other").step().update("hash").step().step();
    expect(changed(meanwhile)).toMatchObject([{ to: "other" }, { to: "hash" }]);
    expect(meanwhile.state.pinned?.definitionHash).toBe("hash");
  });

  test("is updated even when it is stopped or continues as new", async () => {
    const stopped = await running().update("other").stop().settle();
    expect(stopped.eventLines().slice(-2)).toEqual([
      "DefinitionChanged",
      expect.stringMatching(/^AgentEnd stopped/),
    ]);
    const rotated = await running().rotationDue().update("other").settle();
    expect(changed(rotated)).toHaveLength(1);
    expect(rotated.run).toBe("run2");
  });

  test("begins with a definition that was requested before its first loop is open", async () => {
    const run = play({ definitions: OTHER, mode: "interactive", prompts: [] }).update("other").prompt("x");
    expect(run.command).toMatchObject({ type: "open-loop", definitionHash: "other" });
    const opening = await play({ definitions: OTHER }).update("other").step();
    expect(opening.command).toMatchObject({ type: "update-definition", to: "other", turn: 0 });
  });
});
