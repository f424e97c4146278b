import { Chat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  readUIMessageStream,
  type UIMessage,
} from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Holdfast } from "../../src/client/index.ts";
import { eventually } from "../support/eventually.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { connectClient } from "../workflows/support/test-client.ts";
import { openTestEnvironment, type TestEnvironment } from "../workflows/support/test-environment.ts";
import type { TestSession } from "../workflows/support/test-session.ts";
import { bearer, sendRequest, startServer, type TestApiServer } from "./test-api-server.ts";

let stage: TestEnvironment;
let holdfast: Holdfast;
let server: TestApiServer;
beforeAll(async () => {
  stage = await openTestEnvironment();
  holdfast = await connectClient(stage);
  server = await startServer(holdfast);
});
afterAll(async () => {
  await server.close();
  await holdfast.close();
  await stage.close();
});

const LONG = "one two three four five six seven eight";
const bash = (command: string) => ({ name: "bash", arguments: { command } });

/** A page with the SDK's own transport; the session's settings are sent with each request. */
function chatOf(session: TestSession, more: object = {}): Chat<UIMessage> {
  return new Chat({
    id: session.id,
    transport: new DefaultChatTransport({
      api: `${server.url}/v1/chat`,
      headers: bearer,
      body: { agent: session.definition },
    }),
    ...more,
  });
}

function saysNow({ id }: TestSession, text: string): void {
  stage.model.script({
    conversations: [{ match: ({ conversation }) => conversation === id, replies: [{ text }] }],
  });
}

const shown = ({ messages }: Chat<UIMessage>, type = "text") =>
  messages.map(
    ({ role, parts }) =>
      `${role}: ${parts.map((part) => (part.type === type && "text" in part ? part.text : "")).join("")}`,
  );

const toolOf = ({ messages }: Chat<UIMessage>) =>
  messages.flatMap(({ parts }) => parts).find((part) => part.type === "dynamic-tool");

describe("a page of the AI SDK displays a session", () => {
  test("a turn with a tool: reasoning, text, the call, its output, the answer; a page that is opened later sees the same", async () => {
    const session = stage.session({
      replies: [
        { thinking: "Let me see.", text: "I look.", toolCalls: [bash("echo out")] },
        { text: "It says out." },
        { text: "Again." },
      ],
      agent: { tools: ["bash"] },
    });
    const chat = chatOf(session);
    await chat.sendMessage({ text: "What does it say?" });
    expect([chat.status, chat.error]).toEqual(["ready", undefined]);
    expect(shown(chat)).toEqual(["user: What does it say?", "assistant: I look.It says out."]);
    expect(shown(chat, "reasoning")[1]).toBe("assistant: Let me see.");
    expect(toolOf(chat)).toMatchObject({
      toolName: "bash",
      state: "output-available",
      input: { command: "echo out" },
      output: { content: [{ type: "text", text: expect.stringContaining("out") }] },
    });
    expect(chat.messages[1]?.metadata).toMatchObject({ holdfast: { outcome: { type: "answered" } } });

    const opened = await sendRequest(server, `GET /v1/chat/${session.id}`);
    const messages = opened.body["messages"] as UIMessage[];
    expect(messages.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id));
    const plain = (message: UIMessage | undefined) =>
      message?.parts.map(({ type, ...part }) => {
        const { text, state, toolCallId, input, output } = part as Record<string, unknown>;
        return { type, text, state, toolCallId, input, output };
      });
    expect(plain(messages[1])).toEqual(plain(chat.messages[1]));

    // The page continues the conversation: a new loop, a new message.
    const later = chatOf(session, { messages });
    await later.sendMessage({ text: "And now?" });
    expect(shown(later).slice(2)).toEqual(["user: And now?", "assistant: Again."]);
  });

  test("an answer is displayed while it is generated; a page that was closed meanwhile resumes it", async () => {
    const session = stage.session({ replies: [{ text: LONG, chunkSize: 4, holdUntil: "page" }] });
    const closed = chatOf(session);
    const sent = closed.sendMessage({ text: "Count" });
    await eventually(() => /: one/.test(shown(closed)[1] ?? ""), { what: "the beginning of the answer" });
    expect(shown(closed)[1]).not.toContain("eight");
    await closed.stop();
    await sent;

    const opened = (await sendRequest(server, `GET /v1/chat/${session.id}`)).body["messages"] as UIMessage[];
    const back = chatOf(session, { messages: opened });
    const resumed = back.resumeStream();
    await eventually(() => /: one/.test(shown(back)[1] ?? ""), { what: "what was shown before" });
    stage.model.release("page");
    await resumed;
    expect(shown(back)).toEqual(["user: Count", `assistant: ${LONG}`]);
    expect(back.status).toBe("ready");
    // Nothing is being generated any more.
    await back.resumeStream();
    expect([back.status, shown(back).length]).toEqual(["ready", 2]);
  });

  thoroughTest("readUIMessageStream works with the transport alone", async () => {
    const session = stage.session({ replies: [{ text: "Hello." }] });
    const transport = new DefaultChatTransport({
      api: `${server.url}/v1/chat`,
      headers: bearer,
      body: { agent: session.definition },
    });
    const user: UIMessage = { id: "u1", role: "user", parts: [{ type: "text", text: "Hi" }] };
    const stream = await transport.sendMessages({
      chatId: session.id,
      messages: [user],
      trigger: "submit-message",
      messageId: undefined,
      abortSignal: undefined,
    });
    let last: UIMessage | undefined;
    for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = message;
    expect(last?.parts.at(-1)).toMatchObject({ type: "text", text: "Hello.", state: "done" });
    expect(await transport.reconnectToStream({ chatId: session.id })).toBeNull();
  });
});

describe("a call that waits for a user", () => {
  const asking = (replies: Parameters<TestEnvironment["session"]>[0]) =>
    stage.session({ ...replies, agent: { tools: ["bash"], permissions: { rules: [], otherwise: "ask" } } });

  const auto = { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses };

  thoroughTest(
    "is displayed for approval on the page and approved there, and the same message continues",
    async () => {
      const session = asking({
        replies: [{ text: "May I?", toolCalls: [bash("echo yes")] }, { text: "Thanks." }],
      });
      const chat = chatOf(session, auto);
      await chat.sendMessage({ text: "Go" });
      const part = toolOf(chat);
      expect(part).toMatchObject({ state: "approval-requested", input: { command: "echo yes" } });
      expect(chat.status).toBe("ready");
      const id = part?.type === "dynamic-tool" && part.state === "approval-requested" ? part.approval.id : "";
      await chat.addToolApprovalResponse({ id, approved: true });
      await eventually(() => shown(chat)[1]?.endsWith("Thanks."), { what: "the answer behind the call" });
      await eventually(() => chat.status === "ready");
      expect(shown(chat)).toEqual(["user: Go", "assistant: May I?Thanks."]);
      expect(chat.messages[1]?.parts.filter(({ type }) => type === "dynamic-tool")).toHaveLength(1);
      expect(toolOf(chat)).toMatchObject({ state: "output-available" });
      const started = (await session.readEvents()).find(
        ({ body }) => body.type === "ToolExecutionStart",
      )?.body;
      expect(started).toMatchObject({ permission: { answer: "approved", by: "an HTTP page" } });
    },
  );

  test("is denied with a reason that the model reads; an answer to another question changes nothing", async () => {
    const session = asking({ replies: [{ toolCalls: [bash("echo no")] }, { text: "I see." }] });
    const chat = chatOf(session, auto);
    await chat.sendMessage({ text: "Go" });
    const stale = structuredClone(chat.messages.at(-1)) as UIMessage;
    const tool = stale.parts.find((one) => one.type === "dynamic-tool");
    Object.assign(tool ?? {}, { state: "approval-responded", approval: { id: "1.other", approved: true } });
    const abort = new AbortController();
    const body = JSON.stringify({ id: session.id, messages: [stale], trigger: "submit-message" });
    const other = await fetch(`${server.url}/v1/chat`, {
      method: "POST",
      headers: bearer,
      body,
      signal: abort.signal,
    });
    expect(other.status).toBe(200);
    abort.abort();
    expect((await session.readStatus()).approvals).toHaveLength(1);

    const part = toolOf(chat);
    const id = part?.type === "dynamic-tool" && part.state === "approval-requested" ? part.approval.id : "";
    await chat.addToolApprovalResponse({ id, approved: false, reason: "not on a Sunday" });
    await eventually(() => shown(chat)[1]?.endsWith("I see."), { what: "the answer behind the refusal" });
    expect(toolOf(chat)).toMatchObject({ state: "output-denied" });
    expect((await session.readConversation()).join("\n")).toContain(
      "Command was not confirmed by the user. Reason: not on a Sunday",
    );
  });

  thoroughTest("is displayed again on a page that returns while it waits", async () => {
    const session = asking({ replies: [{ toolCalls: [bash("echo later")] }, { text: "Done." }] });
    await session.start("Go");
    await eventually(async () => (await session.readStatus()).approvals.length === 1, {
      what: "the question",
    });
    const chat = chatOf(session, auto);
    await chat.resumeStream();
    const part = toolOf(chat);
    expect(part).toMatchObject({ state: "approval-requested" });
    const id = part?.type === "dynamic-tool" && part.state === "approval-requested" ? part.approval.id : "";
    await chat.addToolApprovalResponse({ id, approved: true });
    await eventually(() => shown(chat).at(-1)?.endsWith("Done."), { what: "the answer behind the call" });
    await session.readResult();
  });
});

describe("the end of an answer", () => {
  test("a page that leaves stops nothing; a stop ends the answer as aborted", async () => {
    const session = stage.session({ replies: [{ text: LONG, chunkSize: 4, holdUntil: "never" }] });
    const response = fetch(`${server.url}/v1/chat`, {
      method: "POST",
      headers: bearer,
      body: JSON.stringify({
        id: session.id,
        agent: session.definition,
        messages: [{ id: "m1", role: "user", parts: [{ type: "text", text: "Go" }] }],
      }),
    });
    const chat = chatOf(session);
    await session.waitForRequest(0);
    const resumed = chat.resumeStream();
    await eventually(() => /: one/.test(shown(chat)[0] ?? ""), { what: "the beginning of the answer" });
    await sendRequest(server, `POST /v1/sessions/${session.id}/stop`, { reason: "enough" });
    await resumed;
    const text = await (await response).text();
    expect(text).toContain('data: {"type":"abort","reason":');
    expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true);
    expect(chat.messages[0]?.metadata).toMatchObject({ holdfast: { outcome: { type: "stopped" } } });
    expect(chat.status).toBe("ready");
  });

  test("a failure is an error of the page, with its text", async () => {
    const session = stage.session({
      agent: { model: { apiKey: "${NO_SUCH_KEY}" } },
    });
    const chat = chatOf(session);
    await chat.sendMessage({ text: "Go" });
    expect(chat.status).toBe("error");
    expect(chat.error?.message).toContain("NO_SUCH_KEY");
  });

  thoroughTest("a running session accepts no other prompt and names the alternatives", async () => {
    const session = stage.session({ replies: [{ text: LONG, holdUntil: "busy" }] });
    await session.start("Go");
    await session.waitForRequest(0);
    const chat = chatOf(session);
    await chat.sendMessage({ text: "And this" });
    expect(chat.status).toBe("error");
    expect(JSON.parse(chat.error?.message ?? "{}")).toMatchObject({ code: "session-busy", status: 409 });
    stage.model.release("busy");
    await session.readResult();
  });

  thoroughTest("a regenerated answer is another message in place of the old one", async () => {
    const session = stage.session({ replies: [{ text: "First." }] });
    const chat = chatOf(session);
    await chat.sendMessage({ text: "Go" });
    saysNow(session, "Second.");
    await chat.regenerate();
    expect(shown(chat)).toEqual(["user: Go", "assistant: Second."]);
    const opened = (await sendRequest(server, `GET /v1/chat/${session.id}`)).body["messages"] as UIMessage[];
    expect(opened.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(JSON.stringify(opened)).not.toContain("First.");
  });
});
