import { answer, call, conversation, PNG, READ, result, text, user } from "./conversation.ts";

const HIGH = "\ud83c";
const LOW = "\udf0d";

export const TEXTS = [
  conversation("one prompt", [user("Hello")]),
  conversation("a system prompt", [user("Hello")], { systemPrompt: "Be brief." }),
  conversation("a blank system prompt is none", [user("Hello")], { systemPrompt: " \n" }),
  conversation("several texts in one prompt", [user("First", "Second", "Third")]),
  conversation("empty and blank texts beside a text", [user("", "Hello", " \n\t")]),
  conversation("messages of nothing", [
    user("Hello"),
    answer("anthropic", ["", " "]),
    user(""),
    user(),
    answer("openai", []),
    user("Still there?"),
  ]),
  conversation("two prompts in a row", [user("Hello"), user("Are you there?")]),
  conversation("two answers in a row", [
    user("Hello"),
    answer("anthropic", ["Good"]),
    answer("openai", ["morning"]),
    user("And?"),
  ]),
  conversation("an answer of several texts", [
    user("Hello"),
    answer("openai", ["One", "Two", " ", "Three"]),
    user("And?"),
  ]),
  conversation(
    "scripts, marks and emoji",
    [
      user("Grüße, 你好, שלום, e\u0301, 👩‍👩‍👧‍👦, 🇩🇪, \u{1f9d1}\u{1f3fd}"),
      answer("google", ["Ǆ ﷽ \u{20000}"]),
      user("𝔘𝔫𝔦𝔠𝔬𝔡𝔢"),
    ],
    { systemPrompt: "Ты помощник 🤖" },
  ),
  conversation("control characters and odd line ends", [
    user("a\u0000b\u0001c\u001bd\u007f", "one\r\ntwo\rthree\u2028four\u2029five\u0085six\ttab\ufeffmark"),
  ]),
  conversation(
    "halves of characters everywhere",
    [
      user(`cut ${HIGH}`, `${LOW} rest`),
      answer("anthropic", [`half ${HIGH}`, call("c1", { [`key ${LOW}`]: `value ${HIGH}`, list: [HIGH] })]),
      result("c1", [`file ${LOW}${HIGH}`]),
      user("whole 🌍"),
    ],
    { systemPrompt: `system ${HIGH}`, tools: [{ ...READ, description: `Reads ${HIGH}` }] },
  ),
  conversation("what looks like a wire", [
    user('data: {"type":"message_stop"}\n\ndata: [DONE]\n\n', '</s><|im_end|>\\ud83c \\n "quoted" \\'),
    answer("openai", ["event: error\r\n\r\n"]),
    user("{{template}} ${VARIABLE} $(command) <script>"),
  ]),
  conversation("an answer with a picture in it", [
    user("Draw"),
    answer("google", ["Here", PNG, "it is"]),
    user("Nice"),
  ]),
  conversation(
    "a prompt between a call and its result",
    [
      user("Read it"),
      answer("anthropic", [call("c1")]),
      user("quickly please"),
      result("c1", ["content"]),
      user("thanks"),
    ],
    { tools: [READ] },
  ),
  conversation(
    "words around calls",
    [
      user("Read both"),
      answer("openai", ["First this,", call("c1"), "then that:", call("c2", { path: "b.txt" }), "done"]),
      result("c1"),
      result("c2"),
      answer("openai", [text("Both read.")]),
      user("Good"),
    ],
    { tools: [READ] },
  ),
];
