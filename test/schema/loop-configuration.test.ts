import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { buildModelRequest } from "../../src/activities/model/call-model.ts";
import { TextModel } from "../../src/activities/model/text-model.ts";
import { checkDefinition } from "../../src/config/check-definition.ts";
import { anthropic } from "../../src/config/vendor-models.ts";
import { buildAnthropicRequest } from "../../src/models/anthropic-messages/request.ts";
import { Outages } from "../../src/models/outages.ts";
import { ProviderRegistry } from "../../src/models/provider-registry.ts";
import { AgentDefinition } from "../../src/schema/definition.ts";
import type { AssistantMessage, Message } from "../../src/schema/message.ts";
import { createViewTools } from "../../src/tools/builtin/view-tools.ts";
import { ToolRegistry } from "../../src/tools/tool-registry.ts";
import { followUpSignal, steerSignal } from "../../src/workflows/messages.ts";

const model = anthropic("claude-sonnet-4-5");
const { apiKey: _, ...keyless } = model;

const bare = {
  tools: new ToolRegistry(createViewTools()),
  secrets: () => undefined,
  providers: ProviderRegistry.createDefault(),
  outages: new Outages(),
};

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }], timestamp: 0 });
const said = (content: AssistantMessage["content"]): AssistantMessage => ({
  role: "assistant",
  content,
  stopReason: "stop",
  model: "m",
  provider: "openai",
  usage: { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
  timestamp: 0,
});

/**
 * A field of the sources' configuration: its location in a definition, a value other than its default, and the
 * requirements whose tests prove its behaviour.
 */
const FIELDS: readonly (readonly [
  field: string,
  path: string,
  value: unknown,
  shownBy: readonly string[],
])[] = [
  ["config_id", "configId", "mine", ["ID-02"]],
  ["thinking_level", "thinking", "high", ["THK-01", "THK-02"]],
  ["max_tokens", "maxTokens", 77, ["LOOP-26"]],
  ["temperature", "temperature", 0.3, ["LOOP-26"]],
  ["convert_to_llm", "convertToLlm", "moods", ["LOOP-22", "CB-10"]],
  ["transform_context", "transformContext", ["facts"], ["LOOP-22", "CB-09"]],
  ["get_steering_messages", "steeringMode", "all", ["STEER-01", "STEER-02"]],
  ["get_follow_up_messages", "followUpMode", "all", ["STEER-10", "STEER-02"]],
  ["context_config", "context.maxContextTokens", 50_000, ["CTX-07", "CTX-09", "CTX-16"]],
  ["context_config: none", "context", null, ["CTX-17"]],
  ["execution_limits", "limits.maxTurns", 3, ["LIM-01", "LIM-03"]],
  ["execution_limits: none", "limits.maxTurns", null, ["LIM-01"]],
  ["cache_config", "cache.enabled", false, ["CACHE-01", "CACHE-03"]],
  ["tool_execution", "toolStrategy", { type: "batched", size: 2 }, ["TOOL-07", "STEER-08"]],
  ["retry_config", "retry.maxRetries", 9, ["RTY-01", "RTY-05"]],
  ["before_loop", "hooks.before-loop", ["audit"], ["CB-01", "CB-05"]],
  ["after_loop", "hooks.after-loop", ["audit"], ["CB-01", "CB-06"]],
  ["before_turn", "hooks.before-turn", ["audit"], ["CB-01", "LOOP-13"]],
  ["after_turn", "hooks.after-turn", ["audit"], ["CB-01", "CB-06"]],
  ["on_error", "hooks.on-error", ["audit"], ["CB-01", "CB-06"]],
  ["before_tool_execution", "hooks.before-tool", ["audit"], ["CB-01", "TOOL-13"]],
  ["after_tool_execution", "hooks.after-tool", ["audit"], ["CB-01", "CB-04"]],
  ["before_tool_execution_update", "hooks.before-tool-update", ["audit"], ["CB-01", "CB-03"]],
  ["after_tool_execution_update", "hooks.after-tool-update", ["audit"], ["CB-01", "CB-03"]],
  ["before_compaction_start", "hooks.before-compaction", ["audit"], ["CB-01", "CB-05"]],
  ["after_compaction_end", "hooks.after-compaction", ["audit"], ["CB-01", "CB-02"]],
  ["input_filters", "inputFilters", ["moderation"], ["FILT-01", "FILT-02"]],
  ["prun_pending", "tools", ["prun"], ["PRUN-08", "PRUN-10"]],
  ["context_translation", "contextTranslation", "own", ["XLAT-02", "XLAT-03"]],
  ["context_translation: none", "contextTranslation", null, ["XLAT-02"]],
];

/** { a: { b: value } } for "a.b". */
const nested = (path: string, value: unknown): object =>
  path.split(".").reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as object;

const at = (definition: unknown, path: string): unknown =>
  path.split(".").reduce((inner, key) => (inner as Record<string, unknown> | null)?.[key], definition);

const proven = new Set(
  readFileSync(new URL("../../docs/contributing/conformance.md", import.meta.url), "utf8")
    .split("\n")
    .flatMap((line) => /^\| ([A-Z]+-\d+) \|.*\| proven \|$/.exec(line)?.[1] ?? []),
);

describe("each field of a loop's configuration has its location [LOOP-27]", () => {
  test.each(FIELDS)("%s is `%s` of the definition", (_field, path, value, shownBy) => {
    const plain = AgentDefinition.parse({ model });
    const checked = checkDefinition({ model, ...nested(path, value) });
    if (!checked.ok) throw new Error(checked.problems.join("; "));
    expect(at(checked.definition, path)).toEqual(value);
    expect(at(plain, path)).not.toEqual(value);
    expect(shownBy.filter((id) => !proven.has(id))).toEqual([]);
  });

  test("model_config alone is required", () => {
    const required = Object.entries(AgentDefinition.shape).flatMap(([name, field]) =>
      field.safeParse(undefined).success ? [] : [name],
    );
    expect(required).toEqual(["model"]);
    const made = AgentDefinition.parse({ model }).model;
    expect(Object.keys(made)).toEqual(expect.arrayContaining(["id", "api", "provider", "baseUrl", "cost"]));
  });

  test("the settings of vendor requests come from there", () => {
    const definition = AgentDefinition.parse({
      model: keyless,
      thinking: "high",
      maxTokens: 77,
      temperature: 0.3,
      cache: { enabled: false },
      tools: ["prun"],
    });
    const asked = buildModelRequest(definition, [], bare, { isRepair: false, formats: [] });
    expect(asked).toMatchObject({
      model: definition.model,
      thinking: "high",
      maxTokens: 77,
      temperature: 0.3,
      cache: { enabled: false },
    });
    expect(asked.tools.map(({ name }) => name)).toContain("prun");
  });

  test("provider_override: a vendor of the application is called in place of the protocol's own", async () => {
    const providers = ProviderRegistry.createDefault();
    providers.register({
      id: "own",
      protocol: model.api,
      stream: async () => said([{ type: "text", text: "mine" }]),
    });
    const asked = new TextModel(AgentDefinition.parse({ model: keyless }), {
      providers,
      secrets: () => undefined,
      outages: new Outages(),
    });
    const question = { instructions: "i", text: "t", maxTokens: 1 };
    expect(await asked.ask(question, new AbortController().signal)).toBe("mine");
  });

  test("sources of steering and follow-ups are signals to the run, read at its checkpoints", () => {
    expect([steerSignal.name, followUpSignal.name]).toEqual(["steer", "followUp"]);
    expect(proven).toContain("STEER-06");
  });

  test("first_turn_trigger follows from what began the loop; it is not set", () => {
    expect(proven).toContain("LOOP-07");
    const { success, error } = AgentDefinition.safeParse({ model, firstTurnTrigger: "subAgent" });
    expect(success).toBe(false);
    expect(error?.message).toContain("firstTurnTrigger");
  });

  test("context_translation is done for each request and does not change the record", () => {
    const thought = said([
      { type: "thinking", thinking: "hm", signature: "opaque" },
      { type: "text", text: "ok" },
    ]);
    const sent = (answer: AssistantMessage) =>
      JSON.stringify(
        buildAnthropicRequest(
          buildModelRequest(
            AgentDefinition.parse({ model: keyless }),
            [user("hi"), answer, user("go on")],
            bare,
            {
              isRepair: false,
              formats: [],
            },
          ),
        ),
      );
    const before = structuredClone(thought);
    expect(sent({ ...thought, provider: "anthropic" })).toContain("opaque");
    expect(sent(thought)).not.toContain("opaque");
    expect(sent(thought)).toContain('"ok"');
    expect(thought).toEqual(before);
  });
});
