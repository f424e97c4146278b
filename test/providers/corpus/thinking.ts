import type { Content } from "../../../src/schema/message.ts";
import { answer, call, conversation, READ, result, text, user } from "./conversation.ts";
import { MAKERS, makers } from "./makers.ts";

const tools = [READ];
const redacted = (signature: string): Content => ({
  type: "thinking",
  thinking: "",
  signature,
  redacted: true,
});
const thought = (thinking: string, signature?: string): Content => ({
  type: "thinking",
  thinking,
  ...(signature !== undefined && { signature }),
});

export const THINKING = [
  ...makers.map((maker) => {
    const signature = maker.callSignature;
    const own = call(maker.callId, { path: "a.txt" }, signature === undefined ? {} : { signature });
    return conversation(
      `${maker.provider} thought, called, and thinks on`,
      [
        user("Show a.txt"),
        answer(maker.provider, [maker.thinking, own]),
        result(maker.callId, ["content of a"]),
      ],
      { tools, thinking: "medium" },
    );
  }),
  ...makers.map((maker) => {
    const signed: Content =
      maker.textSignature === undefined
        ? text("It is empty.")
        : { type: "text", text: "It is empty.", signature: maker.textSignature };
    return conversation(
      `${maker.provider} thought and answered`,
      [user("Is it empty?"), answer(maker.provider, [maker.thinking, signed]), user("Sure?")],
      { thinking: "low" },
    );
  }),
  conversation(
    "hidden thinking of anthropic, before a call and between calls",
    [
      user("Show both"),
      answer("anthropic", [
        redacted("EmwKAhgBEgy3va3pzix/LafPsn4a"),
        MAKERS.anthropic.thinking,
        call("toolu_1"),
      ]),
      result("toolu_1"),
      answer("anthropic", [redacted("EmwKAhgBEgzzz"), call("toolu_2", { path: "b.txt" })]),
      result("toolu_2"),
    ],
    { tools, thinking: "high" },
  ),
  conversation(
    "hidden thinking of bedrock",
    [user("Show"), answer("bedrock", [redacted("ZW5jcnlwdGVk"), call("tooluse_1")]), result("tooluse_1")],
    { tools, thinking: "high" },
  ),
  conversation(
    "signed thinking without its text",
    [
      user("Show"),
      answer("anthropic", [thought("", "EqoBCkgIARABGAI="), call("toolu_1")]),
      result("toolu_1"),
      user("And?"),
    ],
    { tools, thinking: "low" },
  ),
  conversation("thinking that nobody signed", [
    user("Hello"),
    answer("anthropic", [thought("hm"), "Hi"]),
    answer("openai", [thought("hm"), "Hi"]),
    user("?"),
  ]),
  conversation("an answer that is only thinking", [
    user("Hello"),
    answer("anthropic", [MAKERS.anthropic.thinking]),
    answer("openrouter", [MAKERS.openrouter.thinking]),
    answer("google", [thought("hm")]),
    user("Well?"),
  ]),
  conversation(
    "thinking between parallel calls, signed on the first of them only",
    [
      user("Show both"),
      answer("google", [
        thought("two files"),
        call("google-fc-0", { path: "a.txt" }, { signature: "CiQBjz1rX2E=" }),
        call("google-fc-1", { path: "b.txt" }),
      ]),
      result("google-fc-0", ["a"]),
      result("google-fc-1", ["b"]),
    ],
    { tools, thinking: "low" },
  ),
  conversation(
    "two thoughts and two texts in turns",
    [
      user("Go"),
      answer("anthropic", [
        thought("first", "czE="),
        "One.",
        thought("second", "czI="),
        "Two.",
        call("toolu_1"),
      ]),
      result("toolu_1"),
      user("On"),
    ],
    { tools, thinking: "medium" },
  ),
  conversation(
    "a turn that began without thinking",
    [user("Show"), answer("anthropic", [call("toolu_1")]), result("toolu_1")],
    { tools, thinking: "high" },
  ),
];
