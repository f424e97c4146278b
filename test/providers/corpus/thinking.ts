import type { Content } from "../../../src/schema/message.ts";
import { answer, call, conversation, READ, result, text, user } from "./conversation.ts";
import { VENDOR_SAMPLES, vendorSamples } from "./makers.ts";

const tools = [READ];
const createRedactedThinking = (signature: string): Content => ({
  type: "thinking",
  thinking: "",
  signature,
  redacted: true,
});
const createThinking = (thinking: string, signature?: string): Content => ({
  type: "thinking",
  thinking,
  ...(signature !== undefined && { signature }),
});

export const THINKING = [
  ...vendorSamples.map((maker) => {
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
  ...vendorSamples.map((maker) => {
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
        createRedactedThinking("EmwKAhgBEgy3va3pzix/LafPsn4a"),
        VENDOR_SAMPLES.anthropic.thinking,
        call("toolu_1"),
      ]),
      result("toolu_1"),
      answer("anthropic", [createRedactedThinking("EmwKAhgBEgzzz"), call("toolu_2", { path: "b.txt" })]),
      result("toolu_2"),
    ],
    { tools, thinking: "high" },
  ),
  conversation(
    "hidden thinking of bedrock",
    [
      user("Show"),
      answer("bedrock", [createRedactedThinking("ZW5jcnlwdGVk"), call("tooluse_1")]),
      result("tooluse_1"),
    ],
    { tools, thinking: "high" },
  ),
  conversation(
    "signed thinking without its text",
    [
      user("Show"),
      answer("anthropic", [createThinking("", "EqoBCkgIARABGAI="), call("toolu_1")]),
      result("toolu_1"),
      user("And?"),
    ],
    { tools, thinking: "low" },
  ),
  conversation("thinking that nobody signed", [
    user("Hello"),
    answer("anthropic", [createThinking("hm"), "Hi"]),
    answer("openai", [createThinking("hm"), "Hi"]),
    user("?"),
  ]),
  conversation("an answer that is only thinking", [
    user("Hello"),
    answer("anthropic", [VENDOR_SAMPLES.anthropic.thinking]),
    answer("openrouter", [VENDOR_SAMPLES.openrouter.thinking]),
    answer("google", [createThinking("hm")]),
    user("Well?"),
  ]),
  conversation(
    "thinking between parallel calls, signed on the first of them only",
    [
      user("Show both"),
      answer("google", [
        createThinking("two files"),
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
        createThinking("first", "czE="),
        "One.",
        createThinking("second", "czI="),
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
