import { answer, call, conversation, READ, result, user } from "./conversation.ts";

const tools = [READ];
const IDS = ["", "x".repeat(300), "call|fc_1", "with space", "ümläut", "a/b:c.d", "日本", "-", "toolu_1"];
const NAMES = ["web.search", "mcp::read", "", "größe", "n".repeat(100), "two words", "ok_name-1"];
const NON_OBJECTS = ["{broken", "", [1, 2], 7, true, null, undefined];

/** Conversations with content of other systems, and with answers that broke off. */
export const INVALID_CONTENT = [
  conversation(
    "ids that do not fit",
    [
      user("Read"),
      answer(
        "elsewhere",
        IDS.map((id) => call(id)),
      ),
      ...IDS.map((id) => result(id, [`of ${id.slice(0, 10)}`])),
    ],
    { tools },
  ),
  ...["anthropic", "openai", "mistral", "google", "bedrock"].map((provider) =>
    conversation(
      `a long id of ${provider}, carried as a short one`,
      [
        user("Read"),
        answer(provider, [call("call_0123456789abcdef", {}, { vendorId: `${"long".repeat(80)}|fc_1` })]),
        result("call_0123456789abcdef"),
      ],
      { tools },
    ),
  ),
  conversation(
    "one id for all calls, in a turn and across turns",
    [
      user("Read"),
      ...[1, 2].flatMap((turn) => [
        answer("google", [call("google-fc-0"), call("google-fc-0", { path: "b" })]),
        result("google-fc-0", [`first of ${turn}`]),
        result("google-fc-0", [`second of ${turn}`]),
      ]),
    ],
    { tools },
  ),
  conversation("names of tools that do not fit", [
    user("Go"),
    answer(
      "elsewhere",
      NAMES.map((name, at) => call(`c${at}`, {}, { name })),
    ),
    ...NAMES.map((toolName, at) => result(`c${at}`, ["done"], { toolName })),
  ]),
  conversation(
    "arguments that are no object",
    [
      user("Read"),
      answer(
        "openai",
        NON_OBJECTS.map((args, at) => ({ type: "toolCall", id: `c${at}`, name: "read", arguments: args })),
      ),
      ...NON_OBJECTS.map((_, at) => result(`c${at}`, ["arguments must be an object"], { isError: true })),
    ],
    { tools },
  ),
  conversation(
    "a call without a result",
    [user("Read"), answer("anthropic", [call("c1"), call("c2")]), result("c1"), user("Never mind")],
    { tools },
  ),
  conversation("no result for anything", [user("Read"), answer("openai", [call("c1"), call("c2")])], {
    tools,
  }),
  conversation(
    "results without a call, and one given twice",
    [
      result("lost"),
      user("Read"),
      answer("anthropic", [call("c1")]),
      result("c1", ["first"]),
      result("c1", ["second"]),
      result("other"),
      user("Well?"),
    ],
    { tools },
  ),
  conversation(
    "answers that broke off, were cancelled, or refused",
    [
      user("Read"),
      answer("anthropic", ["half", call("c1")], { stopReason: "error", errorMessage: "cut" }),
      result("c1"),
      user("Again"),
      answer("openai", ["no"], { stopReason: "aborted" }),
      answer("anthropic", ["I can"], { stopReason: "guardRail", errorMessage: "refused (cyber)" }),
      user("Something else"),
    ],
    { tools },
  ),
  conversation(
    "an answer that was cut at its limit",
    [
      user("Read"),
      answer("openai", ["I will", call("c1", '{"path": "a')], { stopReason: "length" }),
      result("c1", ["The answer was cut off"], { isError: true }),
      answer("openai", ["long text"], { stopReason: "length" }),
      user("Go on"),
    ],
    { tools },
  ),
];
