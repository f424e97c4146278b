import { afterAll, beforeAll, expect, test } from "vitest";
import type {
  ContextConverter,
  ContextTransform,
  ContextTranslation,
} from "../../src/hooks/context-functions.ts";
import type { Message } from "../../src/schema/message.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { openTestEnvironment, type TestEnvironment } from "./support/test-environment.ts";

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }], timestamp: 0 });

const transforms: Record<string, ContextTransform> = {
  "rag::inject": (messages, { turn }) => [user(`Facts for turn ${turn}`), ...messages],
  vandal: (messages, { turn }) => {
    if (turn > 0) return messages;
    for (const message of messages) if (message.role === "user") message.content.length = 0;
    return [user("Nothing is left.")];
  },
  keepsLast: (messages) => messages.slice(-1),
  note: (messages) => [...messages, { role: "extension", kind: "mood", data: "cheerful", timestamp: 0 }],
  throws: () => {
    throw new Error("the index is gone");
  },
};
const converters: Record<string, ContextConverter> = {
  moods: (messages) =>
    messages.map((message) => (message.role === "extension" ? user(`Mood: ${message.data}`) : message)),
};

const translations: Record<string, ContextTranslation> = {
  marked: (messages, { protocol, provider }) => [user(`For ${provider} by ${protocol}`), ...messages],
};

let stage: TestEnvironment;
beforeAll(async () => {
  stage = await openTestEnvironment({ registered: { transforms, converters, translations } });
});
afterAll(() => stage.close());

const look = { toolCalls: [{ name: "list_files", arguments: { path: "." } }] };

thoroughTest(
  "a transform's messages are sent with each request and never stored [CB-09.1, CB-10.2, LOOP-22.1]",
  async () => {
    const session = stage.session({
      replies: [look, { text: "Done." }],
      agent: { tools: ["list_files"], transformContext: ["rag::inject"] },
    });
    expect(await session.run("Hello")).toMatchObject({ text: "Done." });
    expect(session.listSeenMessages(0)).toEqual(["user: Facts for turn 0", "user: Hello"]);
    expect(session.listSeenMessages(1).slice(0, 3)).toEqual([
      "user: Facts for turn 1",
      "user: Hello",
      "assistant: calls list_files",
    ]);
    expect((await session.readConversation()).join()).not.toContain("Facts");
  },
);

test("a translation by name is asked for each request, and changes no record; an unknown one is an error [XLAT-02]", async () => {
  const session = stage.session({
    replies: [look, { text: "Done." }],
    agent: { tools: ["list_files"], contextTranslation: "marked" },
  });
  expect(await session.run("Hello")).toMatchObject({ text: "Done." });
  for (const request of [0, 1]) {
    expect(session.listSeenMessages(request).slice(0, 2)).toEqual([
      "user: For anthropic by anthropic_messages",
      "user: Hello",
    ]);
  }
  expect((await session.readConversation()).join()).not.toContain("For anthropic");
  const unknown = stage.session({ agent: { contextTranslation: "markd" } });
  await unknown.start("Hello");
  expect((await unknown.readFailure()).message).toContain(
    'This worker has no context translation "markd"; it has marked; did you mean "marked"?',
  );
});

thoroughTest(
  "without a translation, the thinking of another vendor is sent as if it were the vendor's own [XLAT-02]",
  async () => {
    const thought = { thinking: { text: "hm", signature: "opaque-token" }, text: "One." };
    const sent = async (contextTranslation: string | null) => {
      const agent = { model: { provider: "a-proxy" }, thinking: "low" as const };
      const session = stage.session({ replies: [thought, { text: "Two." }], agent });
      await session.run("Hello");
      await stage.client.workflow.start("agent", {
        ...session.createStartRequest({ prompt: "More" }),
        args: [
          {
            prompt: "More",
            definition: {
              ...session.definition,
              contextTranslation,
              model: { ...session.definition.model, provider: "anthropic" },
            },
          },
        ],
      });
      await session.readResult();
      return JSON.stringify(session.listRequests()[1]?.body);
    };
    expect(await sent("default")).not.toContain("opaque-token");
    expect(await sent(null)).toContain("opaque-token");
  },
);

thoroughTest("changes of its copy affect neither the record nor a later request [CB-10.2]", async () => {
  const session = stage.session({
    replies: [look, { text: "Done." }],
    agent: { tools: ["list_files"], transformContext: ["vandal"] },
  });
  await session.run("Hello");
  expect(session.listSeenMessages(0)).toEqual(["user: Nothing is left."]);
  expect(session.listSeenMessages(1)[0]).toBe("user: Hello");
  expect((await session.readConversation())[0]).toBe("user: Hello");
});

test("an application's own messages are converted by name, and dropped otherwise [CB-10.1, LOOP-22.2, TMP-10.1]", async () => {
  const told = stage.session({ agent: { transformContext: ["note"], convertToLlm: "moods" } });
  await told.run("Hello");
  expect(told.listSeenMessages(0)).toEqual(["user: Hello", "user: Mood: cheerful"]);
  const dropped = stage.session({ agent: { transformContext: ["note"] } });
  await dropped.run("Hello");
  expect(dropped.listSeenMessages(0)).toEqual(["user: Hello"]);
});

test("a function that throws ends the loop with an error that names it; no request is sent, nothing is lost [CB-10.3]", async () => {
  const session = stage.session({ agent: { transformContext: ["rag::inject", "throws"] } });
  await session.start("Hello");
  const { readResult } = await session.readFailure();
  const message = 'The context transform "throws" failed: the index is gone';
  expect(readResult?.outcome).toEqual({ type: "failed", fault: "context", message });
  expect(session.listRequests()).toEqual([]);
  expect((await session.readEventTypes()).at(-1)).toBe("AgentEnd");
  expect((await session.readEntries()).at(-1)?.message).toMatchObject({
    stopReason: "error",
    errorMessage: message,
  });
});

thoroughTest(
  "a function that separates a call from its result is an error, and no request is sent [CB-10.3]",
  async () => {
    const session = stage.session({
      replies: [look, { text: "Done." }],
      agent: { tools: ["list_files"], transformContext: ["keepsLast"] },
    });
    await session.start("Hello");
    const { message } = await session.readFailure();
    expect(message).toContain('"keepsLast" separated a call from its result');
    expect(session.listRequests()).toHaveLength(1);
  },
);

test.each([
  [
    { transformContext: ["rag:inject"] },
    /no context transform "rag:inject"; it has keepsLast, note, rag::inject/,
  ],
  [{ convertToLlm: "mood" }, /no context converter "mood"; it has moods/],
])(
  "a function name that the worker does not have is an error before anything is written [CB-09.3, TMP-10.2]",
  async (agent, said) => {
    const session = stage.session({ agent });
    await session.start("Hello");
    const { message } = await session.readFailure();
    expect(message).toMatch(said);
    expect(await stage.transcript.readLoops(session.id)).toEqual([]);
  },
);
