import type { Message } from "../../../src/schema/message.ts";
import type { ToolDefinition } from "../../../src/schema/tool.ts";
import { answer, call, conversation, READ, result, user } from "./conversation.ts";

const tools = [READ];

/** A schema like those of real tools: choices, references, limits, defaults, unions. */
const SEARCH: ToolDefinition = {
  name: "search_files",
  description: 'Finds text.\n\nUse "quotes" for phrases; 🌍 works.',
  parameters: {
    type: "object",
    properties: {
      query: { type: "string", minLength: 1, description: "What to find" },
      mode: { type: "string", enum: ["text", "regex"], default: "text" },
      limit: { type: "integer", minimum: 1, maximum: 100 },
      ratio: { type: "number", exclusiveMinimum: 0 },
      filter: { anyOf: [{ $ref: "#/$defs/filter" }, { type: "null" }] },
      paths: { type: "array", items: { type: "string" }, minItems: 1 },
      options: { type: "object", additionalProperties: { type: "boolean" } },
    },
    required: ["query"],
    additionalProperties: false,
    $defs: {
      filter: { type: "object", properties: { suffix: { type: ["string", "null"] } }, required: ["suffix"] },
    },
  },
};
const NOW: ToolDefinition = { name: "now", description: "", parameters: { type: "object", properties: {} } };
const MANY: ToolDefinition[] = Array.from({ length: 40 }, (_, at) => ({
  ...READ,
  name: `tool_${at}`,
  description: `The tool of number ${at}`,
}));

const ARGUMENTS = {
  query: 'a "b"\n\\c\u0000 🌍',
  limit: 9007199254740991,
  ratio: 1.5e-7,
  big: 1e21,
  minus: -0.5,
  yes: true,
  none: null,
  list: [[], {}, [1, [2, [3]]]],
  filter: { suffix: ".ts", deep: { deeper: { deepest: ["x"] } } },
  "odd key \u2028": "",
};

const turns: Message[] = Array.from({ length: 25 }, (_, turn) => [
  answer("openai", [`Step ${turn}`, call(`call_${turn}`, { path: `${turn}.txt` })]),
  result(`call_${turn}`, [`content ${turn}`]),
]).flat();

export const TOOLS = [
  conversation("a tool that is offered", [user("Hello")], { tools, systemPrompt: "Use tools." }),
  conversation("tools with schemas of every kind", [user("Hello")], { tools: [SEARCH, NOW, READ] }),
  conversation("forty tools", [user("Hello")], { tools: MANY }),
  conversation(
    "a call and its result",
    [user("Read"), answer("anthropic", ["I look.", call("toolu_1")]), result("toolu_1", ["content"])],
    { tools },
  ),
  conversation(
    "parallel calls",
    [
      user("Read"),
      answer("openai", [call("c1"), call("c2", { path: "b" }), call("c3", { path: "c" })]),
      result("c1", ["A"]),
      result("c2", ["B"]),
      result("c3", ["C"]),
    ],
    { tools },
  ),
  conversation(
    "parallel calls of several tools, results in another order",
    [
      user("Read"),
      answer("google", [
        call("c1"),
        call("c2", {}, { name: "now" }),
        call("c3", ARGUMENTS, { name: "search_files" }),
      ]),
      result("c3", ["found"], { toolName: "search_files" }),
      result("c1", ["A"]),
      result("c2", ["noon"], { toolName: "now" }),
      user("Thanks"),
    ],
    { tools: [READ, NOW, SEARCH] },
  ),
  conversation(
    "an error as a result",
    [user("Read"), answer("bedrock", [call("c1")]), result("c1", ["no such file: a.txt"], { isError: true })],
    { tools },
  ),
  conversation(
    "results of nothing",
    [
      user("Read"),
      answer("anthropic", [call("c1"), call("c2"), call("c3"), call("c4")]),
      result("c1", []),
      result("c2", [""]),
      result("c3", [" \n"]),
      result("c4", [], { isError: true }),
    ],
    { tools },
  ),
  conversation(
    "a result of several texts",
    [user("Read"), answer("openai", [call("c1")]), result("c1", ["one", "", "two", "three"])],
    { tools },
  ),
  conversation(
    "arguments of every kind of value",
    [user("Find"), answer("openai", [call("c1", ARGUMENTS, { name: "search_files" })]), result("c1")],
    { tools: [SEARCH] },
  ),
  conversation(
    "a call without arguments",
    [
      user("Time?"),
      answer("google", [call("c1", {}, { name: "now" })]),
      result("c1", ["noon"], { toolName: "now" }),
    ],
    { tools: [NOW] },
  ),
  conversation("a turn of twenty-five calls", [user("Read all"), ...turns], { tools }),
  conversation(
    "many parallel calls",
    [
      user("Read all"),
      answer(
        "openai",
        Array.from({ length: 64 }, (_, at) => call(`c${at}`, { path: `${at}` })),
      ),
      ...Array.from({ length: 64 }, (_, at) =>
        result(`c${at}`, [`content ${at}`], { isError: at % 7 === 0 }),
      ),
    ],
    { tools },
  ),
  conversation("a tool in history that is offered no more", [
    user("Read"),
    answer("anthropic", [call("c1")]),
    result("c1"),
    user("Thanks"),
  ]),
];
