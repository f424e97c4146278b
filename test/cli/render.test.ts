import { expect, test } from "vitest";
import { createPalette, stripControls } from "../../src/apps/cli/palette.ts";
import { Renderer } from "../../src/apps/cli/render.ts";
import { shortenText, summarizeCall } from "../../src/apps/cli/text.ts";
import type { AgentEvent } from "../../src/client/index.ts";
import type { AssistantMessage, Content } from "../../src/schema/message.ts";

const loopId = "s.p.m.1";
const timestamp = "2026-01-01T00:00:00.000Z";
const usage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

function answer(text: string): AssistantMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    stopReason: "stop",
    model: "m",
    provider: "p",
    usage,
    timestamp: 0,
    turnId: { loopId, turnIndex: 0 },
  };
}

/** An update whose answer so far is this text, with its newest piece. */
function update(text: string, piece = text, type: "text" | "thinking" = "text"): AgentEvent {
  const content: Content[] = [type === "text" ? { type, text } : { type, thinking: text }];
  const message = { ...answer(""), content };
  return { type: "MessageUpdate", loopId, message, delta: { type, delta: piece, index: 0 } };
}

const answered = (text: string): AgentEvent => ({ type: "MessageEnd", loopId, message: answer(text) });
const call = { loopId, toolCallId: "a", toolName: "bash" };
const begun: AgentEvent = { type: "ToolExecutionStart", ...call, args: { command: "npm test" } };
const output = (text: string): AgentEvent => ({
  type: "ToolExecutionUpdate",
  ...call,
  partialResult: { content: [{ type: "text", text }] },
});
const ended = (text: string, isError = false): AgentEvent => ({
  type: "ToolExecutionEnd",
  ...call,
  result: { content: [{ type: "text", text }] },
  isError,
});

function shown(...events: AgentEvent[]): string {
  let text = "";
  const renderer = new Renderer({
    write: (part) => {
      text += part;
    },
    paint: createPalette({}, {}),
    ownPrompts: new Set(["my prompt"]),
  });
  for (const event of events) renderer.show(event);
  renderer.endLine();
  return text;
}

test("an answer that was seen live is not displayed again; the missed part of it is", () => {
  const whole = answered("Hello world");
  expect(shown(update("Hello "), update("Hello world", "world"), whole)).toBe("Hello world\n");
  expect(shown(update("Hello "), whole)).toBe("Hello world\n");
  expect(shown(update("Hello world", "d"), whole)).toBe("Hello world\n");
  expect(shown(whole)).toBe("Hello world\n");
});

test("an answer that differs from its live output is displayed whole: the live output is void", () => {
  expect(shown(update("Hello"), answered("Good day"))).toBe("Hello\nGood day\n");
});

test("an answer that begins anew is announced, the first attempt is not", () => {
  expect(shown(update("Hel"), update("Good day"), answered("Good day"))).toBe(
    "Hel\n(retried: ignore the text of this answer so far)\nGood day\n",
  );
});

test("answers of two loops that arrive together do not take each other's text", () => {
  const other = (event: AgentEvent): AgentEvent => ({ ...event, loopId: "other" }) as AgentEvent;
  expect(shown(update("One"), other(update("Two")), other(answered("Two.")), answered("One!"))).toBe(
    "OneTwo.\n!\n",
  );
});

test("a tool call displays its name and summary once, its live output, and its end", () => {
  expect(shown(begun, output("ok 1\n"), ended("Exit code: 0\nok 1"))).toBe("● bash npm test\nok 1\n✓ bash\n");
});

test("a tool call without live output displays the beginning of its result; an error is always displayed", () => {
  expect(shown(begun, ended("1\n2\n3\n4\n5\n6\n7\n8"))).toBe(
    "● bash npm test\n  1\n  2\n  3\n  4\n  5\n  6\n  … 2 more lines\n✓ bash\n",
  );
  expect(shown(output("x"), ended("timed out", true))).toBe("● bash\nx\n  timed out\n✗ bash\n");
});

test("a call's progress is a line below it; a wait for the model belongs to no call", () => {
  const progress = (toolCallId: string, text: string): AgentEvent => ({
    type: "ProgressMessage",
    ...call,
    toolCallId,
    text,
  });
  expect(shown(progress("model", "waits"), begun, progress("a", "half\n"))).toBe(
    "(waits)\n● bash npm test\nhalf\n",
  );
});

test("messages of others are displayed, the user's own are not repeated", () => {
  const said = (text: string): AgentEvent => ({
    type: "MessageEnd",
    loopId,
    message: { role: "user", content: [{ type: "text", text }], timestamp: 0 },
  });
  expect(shown(said("my prompt"), said("from elsewhere"))).toBe("> from elsewhere\n");
});

test("neither model nor tool can control the terminal", () => {
  const evil = "a\u001b[2Jb\u001b]0;title\u0007c\u009bd\te\r\nf\rg";
  expect(stripControls(evil)).toBe("ab]0;titlec\\u009bd\te\nf\ng");
  expect(shown(update("\u001b[31mred"))).toBe("red\n");
  expect(shortenText("\u001b[31mred\nline", 80)).toBe("red line");
});

test("colours appear on a terminal only, and as NO_COLOR and FORCE_COLOR specify", () => {
  const red = (isTTY: boolean, env: NodeJS.ProcessEnv) => createPalette({ isTTY }, env).red("x") !== "x";
  expect(red(true, {})).toBe(true);
  expect(red(false, {})).toBe(false);
  expect(red(true, { TERM: "dumb" })).toBe(false);
  expect(red(true, { NO_COLOR: "1" })).toBe(false);
  expect(red(true, { NO_COLOR: "" })).toBe(true);
  expect(red(false, { FORCE_COLOR: "1" })).toBe(true);
  expect(red(true, { FORCE_COLOR: "0" })).toBe(false);
});

test("a call in one line", () => {
  expect(summarizeCall({ command: "npm\n test" })).toBe("npm test");
  expect(summarizeCall({ path: "a.ts", content: "x" })).toBe("a.ts");
  expect(summarizeCall({ count: 3 })).toBe('{"count":3}');
  expect(summarizeCall("not json")).toBe('"not json"');
  expect(summarizeCall({ command: "x".repeat(500) })).toHaveLength(120);
});

test("an update to another definition is a line of its own, and so is a rejected one [3.8]", () => {
  const move = {
    type: "DefinitionChanged" as const,
    loopId,
    timestamp,
    from: "a",
    to: "b",
    changes: [],
    warnings: [],
  };
  const changes = [{ field: "model", description: "id a → b", takesEffect: "next-turn" as const }];
  expect(shown({ ...move, applied: true, changes })).toBe("(definition updated: model)\n");
  expect(shown({ ...move, applied: false, reason: "no such hook" })).toBe(
    "(definition not updated: no such hook)\n",
  );
});

test("the model that wrote a summary is a line of its own, and so is the reason for a wait, without its controls", () => {
  const to = { provider: "openai", model: "spare" };
  const from = [{ provider: "anthropic", model: "own", fault: "network" as const, message: "gone" }];
  const progress = { loopId, toolCallId: "model", toolName: "model", text: "waits for its turn: \u001bx" };
  expect(
    shown(
      { type: "ModelFallback", loopId, timestamp, turnIndex: 0, for: "compaction", to, from },
      { type: "ProgressMessage", ...progress },
      update("Now."),
    ),
  ).toMatch(
    /^\(summarised by openai\/spare; anthropic\/own: network\)\n\(waits for its turn: .*x\)\nNow\.\n$/,
  );
});
