import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  compareDefinitions,
  findChangedLimits,
  findMissingTools,
  listToolNames,
  TAKES_EFFECT,
} from "../../src/core/machine/definition-changes.ts";
import { AgentDefinition, type AgentDefinitionInput } from "../../src/schema/definition.ts";

const MODEL = {
  id: "small",
  api: "anthropic_messages" as const,
  provider: "anthropic",
  baseUrl: "http://127.0.0.1:1",
  contextWindow: 1000,
  headers: { "x-team": "blue" },
  cost: { input: 1, output: 2 },
};
const definition = (rest: Partial<AgentDefinitionInput> = {}) =>
  AgentDefinition.parse({ model: MODEL, ...rest });
const between = (from: Partial<AgentDefinitionInput>, to: Partial<AgentDefinitionInput>) =>
  compareDefinitions(definition(from), definition(to));
const said = (from: Partial<AgentDefinitionInput>, to: Partial<AgentDefinitionInput>) =>
  between(from, to).changes.map((change) => `${change.field}: ${change.description}`);

describe("the differences between two definitions [3.8]", () => {
  test("are described field by field, briefly", () => {
    expect(said({}, {})).toEqual([]);
    expect(said({ tools: ["a", "b"] }, { tools: ["b", "c"] })).toEqual(["tools: added c; removed a"]);
    expect(said({ tools: ["a", "b"] }, { tools: ["b", "a"] })).toEqual(["tools: in another order"]);
    expect(said({}, { model: { ...MODEL, id: "large", headers: { "x-team": "red" } } })).toEqual([
      "model: id small → large, headers changed",
    ]);
    expect(said({ limits: { maxTurns: 5 } }, { limits: { maxTurns: 9, maxCostUsd: 1 } })).toEqual([
      "limits: maxTurns 5 → 9, maxCostUsd none → 1",
    ]);
    expect(said({ temperature: 1 }, { thinking: "low" })).toEqual([
      "thinking: off → low",
      "temperature: 1 → not set",
    ]);
    expect(said({}, { output: { type: "json" } })).toEqual(["output: added"]);
    expect(said({}, { hooks: { "before-turn": ["x"] } })).toEqual(["hooks: before-turn changed"]);
  });

  test("contain no prompt text and nothing that looks like a key, and are short", () => {
    const prompt = "Never tell the word CANDLE to anybody who asks for it, whatever they say.";
    expect(said({ systemPrompt: prompt }, { systemPrompt: `${prompt}!` })).toEqual([
      `systemPrompt: ${prompt.length} → ${prompt.length + 1} characters`,
    ]);
    expect(said({}, { description: "sk-abcdefghijklmnopqrstuvwx" })).toEqual(["description: not set → ***"]);
    const many = Array.from({ length: 100 }, (_, index) => `tool-${index}`);
    expect(Buffer.byteLength(said({}, { tools: many })[0] ?? "")).toBeLessThan(180);
  });

  test("warn that a changed prompt or tool list breaks the vendor's cache, if caching is enabled", () => {
    const [warning, ...others] = between(
      {},
      { systemPrompt: "x", tools: ["a"], limits: { maxTurns: 1 } },
    ).warnings;
    expect(warning).toMatch(/^systemPrompt, tools: breaks the vendor's prompt cache/);
    expect(others).toEqual([]);
    expect(between({}, { limits: { maxTurns: 1 } }).warnings).toEqual([]);
    const off = { cache: { enabled: false } };
    expect(between(off, { ...off, systemPrompt: "x" }).warnings).toEqual([]);
  });

  test("are rejected if they remove the permission policy, and cause a warning if they make it laxer", () => {
    const rules = [{ tool: "bash", outcome: "deny" as const }];
    const strict = { permissions: { rules } };
    expect(between(strict, {}).rejections[0]).toMatch(
      /would remove the permission policy \(1 rule, otherwise ask-unsafe\)/,
    );
    expect(between({ permissions: { otherwise: "ask" } }, {}).rejections).toHaveLength(1);
    expect(between(strict, { permissions: { rules: [], otherwise: "deny" } }).rejections).toEqual([]);
    expect(between({}, strict).rejections).toEqual([]);
    const laxer = between(strict, { permissions: { rules, otherwise: "allow" } });
    expect([laxer.rejections, laxer.warnings]).toEqual([
      [],
      [expect.stringMatching(/were decided by "ask-unsafe", and are now decided by "allow"/)],
    ]);
  });

  test("name changed, added and removed sub-agents", () => {
    const scout = { name: "scout", agent: { model: MODEL } };
    const other = { name: "scout", agent: { model: MODEL, systemPrompt: "x" } };
    expect(said({ subAgents: [scout] }, { subAgents: [other] })).toEqual(["subAgents: changed scout"]);
    expect(said({ subAgents: [scout] }, { subAgents: [{ ...other, name: "judge" }] })).toEqual([
      "subAgents: added judge; removed scout",
    ]);
  });

  test("do not include limits with the same value as before", () => {
    const from = definition({ limits: { maxTurns: 5, maxCostUsd: 1 } }).limits;
    const to = definition({ limits: { maxTurns: 5, maxCostUsd: null } }).limits;
    expect(findChangedLimits(from, to)).toEqual({ maxCostUsd: null });
  });

  test("name a call that waits for approval and whose tool would be removed", () => {
    const names = listToolNames({ tools: ["file_read"] });
    expect(findMissingTools([{ tool: "read_file", toolCallId: "1" }], names)).toEqual([]);
    expect(findMissingTools([{ tool: "bash", toolCallId: "1" }], names)).toEqual([
      expect.stringContaining("The call 1 of bash waits for approval"),
    ]);
  });

  test("take effect as listed in docs/updating.md, field by field [3.8]", () => {
    const page = readFileSync(new URL("../../docs/updating.md", import.meta.url), "utf8");
    const rows = [...page.matchAll(/^\| `(\w+)` +\| (next turn|next loop) +\| (breaks it)?/gm)];
    const written = rows.map(([, field, when, cache]) => [field, when, cache === "breaks it"]);
    const coded = Object.entries(TAKES_EFFECT).map(([field, row]) => [
      field,
      row.takesEffect.replace("-", " "),
      "breaksCache" in row,
    ]);
    expect(written).toEqual(coded);
    // An author does not set `pinned`: it records what a loop was pinned to.
    const said = Object.keys(AgentDefinition.shape).filter((field) => field !== "pinned");
    expect(Object.keys(TAKES_EFFECT).sort()).toEqual(said.sort());
  });
});
