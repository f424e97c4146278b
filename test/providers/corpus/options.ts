import type { CacheConfig, ThinkingLevel } from "../../../src/schema/model.ts";
import type { StructuredOutput } from "../../../src/schema/output.ts";
import { answer, call, conversation, READ, result, user } from "./conversation.ts";

const LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];
const tools = [READ, { ...READ, name: "write", description: "Writes a file" }];

const CACHES: Readonly<Record<string, CacheConfig>> = {
  "a cache, placed by itself": { enabled: true, strategy: "auto" },
  "a cache that is off": { enabled: false, strategy: "auto" },
  "a cache without a place": { enabled: true, strategy: "disabled" },
  "a cache of the system prompt": manual({ cacheSystem: true }),
  "a cache of the tools": manual({ cacheTools: true }),
  "a cache of the messages": manual({ cacheMessages: true }),
  "a cache of everything, by hand": manual({ cacheSystem: true, cacheTools: true, cacheMessages: true }),
};

function manual(flags: object): CacheConfig {
  return {
    enabled: true,
    strategy: { cacheSystem: false, cacheTools: false, cacheMessages: false, ...flags },
  };
}

const CLOSED = {
  type: "object",
  properties: { verdict: { type: "string", enum: ["good", "bad"] }, score: { type: "number" } },
  required: ["verdict", "score"],
  additionalProperties: false,
};
const OPEN = { type: "object", properties: { verdict: { type: "string" }, note: { type: "string" } } };

const OUTPUTS: Readonly<Record<string, StructuredOutput>> = {
  "any JSON object": { type: "json" },
  "an object of a closed schema": { type: "json-schema", schema: CLOSED },
  "an object of an open schema": { type: "json-schema", schema: OPEN },
  "an object with a name, strictly": { type: "json-schema", schema: CLOSED, name: "report", strict: true },
  "an object, not strictly": { type: "json-schema", schema: CLOSED, strict: false },
};

const longer = [
  user("Read"),
  answer("anthropic", ["I look.", call("toolu_1")]),
  result("toolu_1", ["content"]),
  answer("anthropic", ["It says content."]),
  user("And now?"),
];

export const OPTIONS = [
  ...LEVELS.map((thinking) => conversation(`thinking ${thinking}`, [user("Think")], { thinking })),
  ...LEVELS.map((thinking) =>
    conversation(`thinking ${thinking}, with tools`, [user("Think")], { thinking, tools, systemPrompt: "S" }),
  ),
  conversation("thinking high, little room", [user("Think")], { thinking: "high", maxTokens: 1500 }),
  ...[0, 0.7, 1].map((temperature) =>
    conversation(`temperature ${temperature}`, [user("Hi")], { temperature }),
  ),
  conversation("a temperature beside thinking", [user("Hi")], { temperature: 0.3, thinking: "medium" }),
  conversation("a short answer", [user("Hi")], { maxTokens: 16 }),
  conversation("a longer answer than the model gives", [user("Hi")], { maxTokens: 10_000_000 }),
  ...Object.entries(CACHES).map(([name, cache]) =>
    conversation(name, longer, { cache, tools, systemPrompt: "Be brief." }),
  ),
  conversation("a cache of one prompt", [user("Hi")], { cache: { enabled: true, strategy: "auto" } }),
  ...Object.entries(OUTPUTS).map(([name, output]) =>
    conversation(`an output: ${name}`, [user("Judge")], { output, systemPrompt: "Answer in JSON." }),
  ),
  conversation("an output beside tools", longer, { output: OUTPUTS["an object of a closed schema"]!, tools }),
  conversation("a tool that must be called", [user("Judge")], { tools, forcedTool: "write" }),
  conversation("a tool that must be called, while thinking", [user("Judge")], {
    tools,
    forcedTool: "write",
    thinking: "high",
  }),
];
