import { expect, test } from "vitest";
import { createPalette, stripControls } from "../../src/apps/cli/palette.ts";
import { Renderer } from "../../src/apps/cli/render.ts";
import { shortenText, summarizeCall } from "../../src/apps/cli/text.ts";
import type { AgentMessage, WatchItem } from "../../src/client/index.ts";
import type { EventBody } from "../../src/schema/record.ts";
import type { DeltaBody } from "../../src/store/stream/stream-hub.ts";

const loopId = "s.p.m.1";
const usage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

function answer(
  text: string,
  calls: { id: string; name: string; arguments: unknown }[] = [],
  turnIndex = 0,
): AgentMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text }, ...calls.map((call) => ({ type: "toolCall" as const, ...call }))],
    stopReason: "stop",
    model: "m",
    provider: "p",
    usage,
    timestamp: 0,
    turnId: { loopId, turnIndex },
  };
}

function result(text: string, isError = false): AgentMessage {
  return {
    role: "toolResult",
    toolCallId: "a",
    toolName: "bash",
    content: [{ type: "text", text }],
    isError,
    timestamp: 0,
  };
}

function live(body: DeltaBody, attempt = 1): WatchItem {
  return {
    type: "delta",
    offset: 0,
    delta: {
      session: "s",
      run: "r",
      loopId,
      turn: 0,
      command: 1,
      call: 0,
      generation: 1,
      attempt,
      sequence: 0,
      atMs: 0,
      body,
    },
  };
}

function event(body: EventBody, message?: AgentMessage): WatchItem {
  return {
    type: "event",
    event: { loopId, sequence: 0, atMs: 0, body },
    ...(message === undefined ? {} : { message }),
  };
}

const bash = { id: "a", name: "bash", arguments: { command: "npm test" } };
const begun = event({ type: "ToolExecutionStart", toolCallId: "a", toolName: "bash", position: 1 });
const ended = (isError: boolean): EventBody => ({
  type: "ToolExecutionEnd",
  toolCallId: "a",
  toolName: "bash",
  position: 2,
  isError,
});

function shown(...items: WatchItem[]): string {
  let text = "";
  const renderer = new Renderer({
    write: (part) => {
      text += part;
    },
    paint: createPalette({}, {}),
    ownPrompts: new Set(["my prompt"]),
  });
  for (const item of items) renderer.show(item);
  renderer.endLine();
  return text;
}

test("an answer that was seen live is not displayed again; the missed part of it is", () => {
  const whole = event({ type: "MessageEnd", position: 1 }, answer("Hello world"));
  expect(shown(live({ type: "text", text: "Hello " }), live({ type: "text", text: "world" }), whole)).toBe(
    "Hello world\n",
  );
  expect(shown(live({ type: "text", text: "Hello " }), whole)).toBe("Hello world\n");
  expect(shown(whole)).toBe("Hello world\n");
});

test("an answer that differs from its live output is displayed whole: the live output is void", () => {
  const whole = event({ type: "MessageEnd", position: 1 }, answer("Good day"));
  expect(shown(live({ type: "text", text: "Hello" }), whole)).toBe("Hello\nGood day\n");
});

test("a second attempt is announced, the first is not", () => {
  const text = shown(
    live({ type: "attempt" }),
    live({ type: "text", text: "Hel" }),
    live({ type: "attempt" }, 2),
    live({ type: "text", text: "Hello" }),
    event({ type: "MessageEnd", position: 1 }, answer("Hello")),
  );
  expect(text).toBe("Hel\n(retried: ignore the text of this answer so far)\nHello\n");
});

test("a tool call displays its name and summary once, its live output, and its end", () => {
  const text = shown(
    event({ type: "MessageEnd", position: 1 }, answer("", [bash])),
    live({ type: "tool-start", toolCallId: "a", toolName: "bash", text: "" }),
    begun,
    live({ type: "tool-output", toolCallId: "a", toolName: "bash", text: "ok 1\n" }),
    event(ended(false), result("Exit code: 0\nok 1")),
  );
  expect(text).toBe("● bash npm test\nok 1\n✓ bash\n");
});

test("a tool call without live output displays the beginning of its result; an error is always displayed", () => {
  expect(shown(begun, event(ended(false), result("1\n2\n3\n4\n5\n6\n7\n8")))).toBe(
    "● bash\n  1\n  2\n  3\n  4\n  5\n  6\n  … 2 more lines\n✓ bash\n",
  );
  const failed = shown(
    live({ type: "tool-output", toolCallId: "a", toolName: "bash", text: "x" }),
    event(ended(true), result("timed out", true)),
  );
  expect(failed).toBe("● bash\nx\n  timed out\n✗ bash\n");
});

test("messages of others are displayed, the user's own are not repeated", () => {
  const said = (text: string) =>
    event(
      { type: "MessageEnd", position: 0 },
      { role: "user", content: [{ type: "text", text }], timestamp: 0 },
    );
  expect(shown(said("my prompt"), said("from elsewhere"))).toBe("> from elsewhere\n");
});

test("neither model nor tool can control the terminal", () => {
  const evil = "a\u001b[2Jb\u001b]0;title\u0007c\u009bd\te\r\nf\rg";
  expect(stripControls(evil)).toBe("ab]0;titlec\\u009bd\te\nf\ng");
  expect(shown(live({ type: "text", text: "\u001b[31mred" }))).toBe("red\n");
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
  const move = { type: "DefinitionChanged" as const, from: "a", to: "b", changes: [], warnings: [] };
  const changes = [{ field: "model", description: "id a → b", takesEffect: "next-turn" as const }];
  expect(shown(event({ ...move, applied: true, changes }))).toBe("(definition updated: model)\n");
  expect(shown(event({ ...move, applied: false, reason: "no such hook" }))).toBe(
    "(definition not updated: no such hook)\n",
  );
});

test("the reason for a wait is a line of its own, and so is the model that wrote a summary", () => {
  const to = { provider: "openai", model: "spare" };
  const from = [{ provider: "anthropic", model: "own", fault: "network", message: "gone" }];
  expect(
    shown(
      event({ type: "ModelFallback", turn: 0, for: "compaction", to, from }),
      live({ type: "waiting", text: "waits for its turn: \u001bx" }),
      live({ type: "text", text: "Now." }),
    ),
  ).toMatch(
    /^\(summarised by openai\/spare; anthropic\/own: network\)\n\(waits for its turn: .*x\)\nNow\.\n$/,
  );
});
