import { describe, expect, test } from "vitest";
import { chooseModels } from "../../../src/apps/git/agents/choose-models.ts";
import { type AgentRequest, defineGitAgent } from "../../../src/apps/git/agents/define-agent.ts";
import { formatMovedChange, formatTask } from "../../../src/apps/git/agents/task-prompt.ts";
import { findCapability, loadGitCapabilities, usesCritic } from "../../../src/apps/git/runs/build-run.ts";
import { loadStyles } from "../../../src/apps/git/style/presets.ts";
import { listModels } from "../../../src/client/index.ts";
import { AgentDefinition } from "../../../src/schema/definition.ts";

const LOADED = loadGitCapabilities("/nowhere", undefined);
const STYLES = loadStyles();
const MODELS = chooseModels({ provider: "openai", env: {} });

const define = (name: string, options: Partial<AgentRequest> = {}) =>
  AgentDefinition.parse(
    defineGitAgent({
      capability: findCapability(LOADED, name),
      models: MODELS,
      style: {},
      styles: STYLES,
      workspace: "/repository",
      ...options,
    }),
  );

describe("the models", () => {
  test.each(["anthropic", "openai", "google"])(
    "of %s are in the catalogue, and the fast one is cheaper [IRIS-32]",
    (provider) => {
      const { main, sub } = chooseModels({ provider, env: {} });
      const known = listModels()
        .filter((one) => one.provider === provider)
        .map(({ id }) => id);
      expect(known).toEqual(expect.arrayContaining([main.id, sub.id]));
      expect(sub.cost!.output).toBeLessThan(main.cost!.output);
    },
  );

  test("the vendor is that of the first key, and gemini is google", () => {
    const provider = (env: Record<string, string>, name?: string) =>
      chooseModels({ env, provider: name }).main.provider;
    expect(provider({ OPENAI_API_KEY: "k", GEMINI_API_KEY: "k" })).toBe("openai");
    expect(provider({ ANTHROPIC_API_KEY: "", GOOGLE_API_KEY: "k" })).toBe("google");
    expect(provider({}, "gemini")).toBe("google");
    expect(() => provider({}, "acme")).toThrow("Unsupported provider: acme");
    expect(() => provider({})).toThrow("ANTHROPIC_API_KEY");
  });

  test("a setting chooses the model of sub-agents, and a vendor without a fast one has the main one", () => {
    const sub = (subagentModel?: string, model = "anthropic/claude-opus-4-5") =>
      chooseModels({ model, subagentModel, env: {} }).sub.id;
    expect(sub()).toMatch(/^claude-haiku-/);
    expect(sub("main")).toBe("claude-opus-4-5");
    expect(sub("openai/gpt-5-mini")).toBe("gpt-5-mini");
    expect(sub(undefined, "local/qwen@http://127.0.0.1:1/v1")).toBe("qwen");
  });
});

describe("the definition of a capability's agent", () => {
  test("has the schema with repair, 50 turns, the core tools and those of the main agent [IRIS-10] [IRIS-13] [IRIS-16]", () => {
    const agent = define("review");
    expect(agent.output).toMatchObject({ type: "json-schema", name: "Review", recovery: "repair" });
    expect(agent.systemPrompt).toContain("=== CRITICAL: RESPONSE FORMAT ===");
    expect(agent.systemPrompt).toContain("Review the change that you are given");
    expect(agent.limits.maxTurns).toBe(50);
    expect(agent.maxTokens).toBe(16_384);
    expect(agent.tools).toHaveLength(13);
    expect(agent.thinking).toBe("medium");
  });

  test("delegates to agents with the eleven core tools, 20 turns, 120 s and 4,096 tokens [IRIS-14] [IRIS-24] [IRIS-25]", () => {
    const { subAgents = [], delegation } = define("review");
    expect(subAgents.map(({ name }) => name)).toEqual(["parallel_analyze", "analyze_subagent"]);
    for (const { agent, limits, acceptsMaxTurns } of subAgents) {
      expect(acceptsMaxTurns).toBe(true);
      expect(agent.tools).toHaveLength(11);
      expect(agent.subAgents).toBeUndefined();
      expect(agent).toMatchObject({ maxTokens: 4_096, thinking: "low", model: { id: MODELS.sub.id } });
      expect(limits).toMatchObject({ maxTurns: 20, maxDurationMs: 120_000 });
    }
    // The turns of sub-agents do not take those of the main agent.
    expect(delegation?.maxTreeTurns).toBe(50 + 32 * 20);
  });

  test.each([
    [0, 1],
    [7, 7],
    [500, 100],
  ])("clamps %i turns of a sub-agent to %i", (maxTurns, clamped) => {
    const { subAgents = [] } = define("review", { subAgents: { maxTurns } });
    expect(subAgents[0]?.limits.maxTurns).toBe(clamped);
  });

  test("a chat answers with text and may change an artifact; a capability may have few tools", () => {
    const chat = define("chat", { hasArtifact: true });
    expect(chat.output).toBeUndefined();
    expect(chat.tools).toContain("update_review");
    const few = define("review", {
      capability: { ...findCapability(LOADED, "review"), tools: ["git_diff", "analyze_subagent"] },
    });
    expect(few.tools).toEqual(["git_diff"]);
    expect(few.subAgents?.map(({ name }) => name)).toEqual(["analyze_subagent"]);
    expect(define("review").tools).not.toContain("update_review");
  });

  test("the style and gitmoji are appended for a commit [IRIS-28]", () => {
    const { systemPrompt } = define("commit", { style: { preset: "detailed", gitmoji: true } });
    expect(systemPrompt).toContain("=== STYLE INSTRUCTIONS ===");
    expect(systemPrompt).toContain("=== GITMOJI INSTRUCTIONS ===");
  });
});

test("the critic judges what is published, a commit only on request, and a chat never [IRIS-20]", () => {
  const uses = (name: string, wanted?: boolean) => usesCritic(findCapability(LOADED, name), wanted);
  expect([uses("review"), uses("review", false)]).toEqual([true, false]);
  expect([uses("commit"), uses("commit", true)]).toEqual([false, true]);
  expect([uses("chat"), uses("chat", true)]).toEqual([false, false]);
});

test("a task names the ids of commits, and a change that has moved only its difference", () => {
  const pin = (from: string, to: string) => ({
    source: { type: "commits" as const, from, to },
    label: "main...x",
  });
  const task = formatTask({ change: pin("a1", "b2"), instructions: "Mind the queue." });
  expect(task).toContain('from="a1" and to="b2"');
  expect(task).toContain("Mind the queue.");
  expect(formatMovedChange(pin("a1", "b2"), pin("a1", "c3"))).toContain('from="b2" and to="c3"');
  expect(formatMovedChange(pin("a1", "b2"), pin("a0", "c3"))).toContain('from="a0" and to="c3"');
});
