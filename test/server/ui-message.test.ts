import { describe, expect, test } from "vitest";
import type { UiChunk } from "../../src/apps/server/ui-chunk.ts";
import { UiMessage } from "../../src/apps/server/ui-message.ts";
import type { AgentEvent } from "../../src/schema/agent-event.ts";
import {
  agentEnd,
  agentStart,
  answer,
  call,
  loopId,
  messageEnd,
  messageUpdate,
  readPage,
  text,
  thinking,
  toolEnd,
  toolStart,
  toolUpdate,
  turnEnd,
  turnStart,
  userMessage,
} from "./agent-events.ts";

const chunksOf = (events: readonly AgentEvent[], message = new UiMessage()): UiChunk[] =>
  events.flatMap((event) => [...message.toChunks(event)]);

const CALL = { command: "ls" };
const CALLING = answer([thinking("Hm."), text("I look."), call("c1", CALL)], "toolUse");
const LAST = answer([text("Two files.")]);

const TOLD: readonly AgentEvent[] = [
  agentStart,
  turnStart(0),
  userMessage("What is here?"),
  messageUpdate([thinking("Hm")], "thinking", "Hm"),
  messageUpdate([thinking("Hm.")], "thinking", "."),
  messageUpdate([thinking("Hm."), text("I ")], "text", "I "),
  messageUpdate([thinking("Hm."), text("I look.")], "text", "look."),
  messageUpdate([thinking("Hm."), text("I look."), call("c1", '{"comm')], "toolCall", '{"comm'),
  messageUpdate([thinking("Hm."), text("I look."), call("c1", '{"command":"ls"}')], "toolCall", 'and":"ls"}'),
  messageEnd(CALLING),
  toolStart("c1"),
  toolUpdate("c1", "a\n"),
  toolUpdate("c1", "b\n"),
  toolEnd("c1", "a\nb\n"),
  turnEnd(CALLING),
  turnStart(1),
  userMessage("Be short."),
  messageUpdate([text("Two ")], "text", "Two "),
  messageEnd(LAST),
  turnEnd(LAST, 1),
  agentEnd(),
];

/** Without live output, from the record alone. */
const RECORDED = TOLD.filter(({ type }) => type !== "MessageUpdate" && type !== "ToolExecutionUpdate");

describe("a loop as one message of the AI SDK", () => {
  test("thinking, text, a call with its output, a user's message, the next answer: each is a part, in order", async () => {
    const { message, errors } = await readPage(chunksOf(TOLD));
    expect(errors).toEqual([]);
    expect(message).toMatchObject({
      id: loopId,
      role: "assistant",
      metadata: { holdfast: { session: "s", agent: "teller", outcome: { type: "answered" } } },
      parts: [
        { type: "step-start" },
        { type: "reasoning", text: "Hm.", state: "done" },
        { type: "text", text: "I look.", state: "done" },
        {
          type: "dynamic-tool",
          toolName: "bash",
          toolCallId: "c1",
          state: "output-available",
          input: CALL,
          output: { content: [{ type: "text", text: "a\nb\n" }] },
        },
        { type: "step-start" },
        { type: "data-holdfast-message", data: { text: "Be short." } },
        { type: "text", text: "Two files.", state: "done" },
      ],
    });
    expect(message.parts).toHaveLength(7);
  });

  test("a reader from the beginning and one after the end have the same message", async () => {
    const [live, later] = await Promise.all([readPage(chunksOf(TOLD)), readPage(chunksOf(RECORDED))]);
    expect(withoutIds(later.message)).toEqual(withoutIds(live.message));
  });

  test("a tool's output is displayed as it arrives, the newest of it", () => {
    const outputs = chunksOf(TOLD).filter(({ type }) => type === "tool-output-available");
    expect(outputs).toMatchObject([
      { preliminary: true, output: { content: [{ text: "a\n" }] } },
      { preliminary: true, output: { content: [{ text: "a\nb\n" }] } },
      { output: { content: [{ text: "a\nb\n" }] } },
    ]);
    const long = chunksOf([
      ...TOLD.slice(0, 11),
      toolUpdate("c1", "x".repeat(10_000)),
      toolUpdate("c1", "end"),
    ]);
    const newest = long.at(-1);
    const shown = newest?.type === "tool-output-available" ? newest.output.content[0] : undefined;
    expect(shown).toMatchObject({ text: expect.stringMatching(/^x{4093}end$/) });
  });

  test("a reader that missed updates receives the rest with the next one", () => {
    const words = chunksOf([
      agentStart,
      turnStart(0),
      messageUpdate([text("a")], "text", "a"),
      messageUpdate([text("abcd")], "text", "d"),
    ]);
    expect(words.filter(({ type }) => type === "text-delta")).toMatchObject([
      { delta: "a" },
      { delta: "bcd" },
    ]);
  });
});

describe("an answer that is retried", () => {
  const again: readonly AgentEvent[] = [
    agentStart,
    turnStart(0),
    messageUpdate([text("Wrong w")], "text", "Wrong w"),
    messageUpdate([text("Wrong w"), call("c0", "{")], "toolCall", "{"),
    messageUpdate([text("Ri")], "text", "Ri"),
    messageEnd(answer([text("Right.")])),
    agentEnd(),
  ];

  test("marks the text of the first attempt and starts again", async () => {
    const { message, errors } = await readPage(chunksOf(again));
    expect(errors).toEqual([]);
    expect(message.parts).toMatchObject([
      { type: "step-start" },
      { type: "text", text: "Wrong w", providerMetadata: { holdfast: { discarded: true } } },
      { type: "dynamic-tool", toolCallId: "c0", state: "output-error" },
      { type: "text", text: "Right.", state: "done" },
    ]);
    expect(message.parts.at(-1)).not.toHaveProperty("providerMetadata.holdfast");
  });

  test("is complete even if only its end reveals the retry", async () => {
    const { message } = await readPage(
      chunksOf([
        agentStart,
        turnStart(0),
        messageUpdate([text("One")], "text", "One"),
        messageEnd(answer([text("Two")])),
        agentEnd(),
      ]),
    );
    const kept = message.parts.filter((part) => part.type === "text" && part.providerMetadata === undefined);
    expect(kept).toMatchObject([{ text: "Two" }]);
  });
});

describe("the end of a loop", () => {
  const ending = (outcome: Parameters<typeof agentEnd>[0]) =>
    chunksOf([agentStart, turnStart(0), messageUpdate([text("So")], "text", "So"), agentEnd(outcome)]).slice(
      -3,
    );

  test("answered: finish, with the model's stop reason", () => {
    expect(ending({ type: "answered", stopReason: "length" }).at(-1)).toEqual({
      type: "finish",
      finishReason: "length",
    });
  });

  test("stopped: unfinished parts end, and the message is aborted", () => {
    expect(ending({ type: "stopped", reason: "enough" })).toMatchObject([
      { type: "text-end" },
      { type: "message-metadata" },
      { type: "abort", reason: "enough" },
    ]);
  });

  test("failed or rejected: an error with its text", async () => {
    for (const [outcome, words] of [
      [{ type: "failed", fault: "provider/auth", message: "no such key" }, /provider\/auth: no such key/],
      [{ type: "rejected", reason: "not here" }, /The prompt was rejected: not here/],
    ] as const) {
      const { errors } = await readPage(chunksOf([agentStart, turnStart(0), agentEnd(outcome)]));
      expect(errors).toEqual([expect.stringMatching(words)]);
    }
  });
});

describe("a call that waits for a user", () => {
  const asked = [
    { session: "s", path: [], toolCallId: "c1", tool: "bash", summary: "ls", reason: "rule 1", sinceMs: 7 },
  ];
  const before = TOLD.slice(0, 10);

  test("requests approval in its own part, and the response ends; the next one continues the same message", async () => {
    const message = new UiMessage();
    const first = [...chunksOf(before, message), ...(message.formatApprovalRequests(asked) ?? [])];
    const shown = (await readPage(first)).message;
    expect(shown.parts.find(({ type }) => type === "dynamic-tool")).toMatchObject({
      state: "approval-requested",
      approval: { id: "7.c1" },
    });
    expect(shown.metadata).toMatchObject({ holdfast: { seenEvents: 4 } });

    const rest = new UiMessage();
    chunksOf(before, rest);
    expect(rest.seenEvents).toBe(4);
    const second = [rest.formatContinuation(), ...chunksOf(TOLD.slice(10), rest)];
    const whole = (await readPage(second, shown)).message;
    const parts = whole.parts.filter(({ type }) => type !== "data-holdfast-approvals");
    const never = await readPage(chunksOf(TOLD));
    expect(withoutIds({ ...whole, parts }).parts).toMatchObject(withoutIds(never.message).parts);
  });

  test("does not request approval before the page has the call", () => {
    const message = new UiMessage();
    chunksOf(before.slice(0, 9), message);
    expect(message.mayWait).toBe(false);
    expect(message.formatApprovalRequests(asked)).toBeUndefined();
  });

  test("denied: its output is denied; an error of the tool is an error", async () => {
    for (const [words, state] of [
      ["Denied by the user: not today", "output-denied"],
      ["Command was not confirmed by the user. Reason: not today", "output-denied"],
      ["exit code 1", "output-error"],
    ] as const) {
      const { message } = await readPage(chunksOf([...before, toolEnd("c1", words, true), agentEnd()]));
      expect(message.parts.find(({ type }) => type === "dynamic-tool")).toMatchObject({ state });
    }
  });
});

function withoutIds<T extends { readonly parts: readonly object[] }>(message: T): T {
  const parts = message.parts.map((part) =>
    Object.fromEntries(Object.entries(part).filter(([key]) => key !== "id" && key !== "rawInput")),
  );
  return { ...message, parts };
}
