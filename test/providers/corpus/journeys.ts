import type { Content, Message } from "../../../src/schema/message.ts";
import { answer, call, conversation, PNG, READ, result, text, user } from "./conversation.ts";
import { type VendorSample, vendorSamples } from "./makers.ts";

const tools = [READ];

/** A whole turn as a vendor produces it: thinking, text, two calls, results. */
function createTurn(maker: VendorSample, at: number): Message[] {
  const { provider, callId, callSignature, textSignature } = maker;
  const textPart: Content = {
    type: "text",
    text: `I am ${provider}.`,
    ...(textSignature && { signature: textSignature }),
  };
  const id = `${callId}${at}`;
  return [
    user(`Prompt ${at}`),
    answer(provider, [
      maker.thinking,
      textPart,
      call(id, { path: `${at}` }, callSignature === undefined ? {} : { signature: callSignature }),
      call(`${id}b`, { path: `${at}b` }),
    ]),
    result(id, [`content ${at}`]),
    result(`${id}b`, ["not found"], { isError: true }),
    answer(provider, [text(`Read ${at}.`)]),
  ];
}

const own = (kind: string, data: object): Content => ({
  type: "vendor",
  kind,
  data: { ...data, type: kind },
});

const SERVER_SEARCHES: readonly (readonly [provider: string, before: Content[]])[] = [
  [
    "anthropic",
    [
      own("server_tool_use", { id: "srvtoolu_01", name: "web_search", input: { query: "weather" } }),
      own("web_search_tool_result", {
        tool_use_id: "srvtoolu_01",
        content: [
          {
            type: "web_search_result",
            title: "Weather",
            url: "https://example.com/",
            encrypted_content: "EqgfCioIARgB",
            page_age: null,
          },
        ],
      }),
    ],
  ],
  [
    "openai",
    [
      own("web_search_call", {
        id: "ws_1",
        status: "completed",
        action: { type: "search", query: "weather" },
      }),
    ],
  ],
  [
    "google",
    [
      {
        type: "vendor",
        kind: "executableCode",
        data: { executableCode: { language: "PYTHON", code: "print(1)" } },
      },
      {
        type: "vendor",
        kind: "codeExecutionResult",
        data: { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1\n" } },
      },
    ],
  ],
];

const LONG = "The quick brown fox jumps over the lazy dog. 🦊 ".repeat(8_000);
const ROUNDS = 120;

export const JOURNEYS = [
  ...vendorSamples.map((maker) =>
    conversation(
      `two turns of ${maker.provider}`,
      [...createTurn(maker, 1), ...createTurn(maker, 2), user("And?")],
      {
        tools,
        thinking: "medium",
        systemPrompt: "Be brief.",
      },
    ),
  ),
  conversation(
    "through every vendor and back",
    [
      ...vendorSamples.flatMap(createTurn),
      ...[...vendorSamples].reverse().flatMap((maker, at) => createTurn(maker, vendorSamples.length + at)),
      user("Sum up"),
    ],
    { tools, thinking: "low" },
  ),
  ...SERVER_SEARCHES.map(([provider, before]) =>
    conversation(`${provider} searched by itself`, [
      user("Weather?"),
      answer(provider, [...before, "Sunny."]),
      user("Sure?"),
    ]),
  ),
  conversation(
    "another model of the same vendor",
    [
      user("Hi"),
      answer("anthropic", [{ type: "thinking", thinking: "hm", signature: "b3RoZXI=" }, "Hi"], {
        model: "claude-old",
      }),
      user("And?"),
    ],
    { thinking: "low" },
  ),
  conversation("a very long text", [user(LONG), answer("google", [LONG]), user("Shorter")]),
  conversation("a very long result", [user("Read"), answer("openai", [call("c1")]), result("c1", [LONG])], {
    tools,
  }),
  conversation("a very long system prompt", [user("Hi")], { systemPrompt: LONG }),
  conversation(
    "two hundred and forty messages",
    [
      ...Array.from({ length: ROUNDS }, (_, at) => [
        user(`Question ${at}`),
        answer("anthropic", [`Answer ${at}`]),
      ]).flat(),
      user("The last one"),
    ],
    { cache: { enabled: true, strategy: "auto" } },
  ),
  conversation(
    "a picture in the middle of a long way",
    [
      ...vendorSamples.slice(0, 3).flatMap(createTurn),
      user("See", PNG),
      answer("openai", ["I see."]),
      user("What?"),
    ],
    { tools },
  ),
];
