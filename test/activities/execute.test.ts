import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { NotBegunError } from "../../src/activities/step/failure.ts";
import { execute } from "../../src/activities/tool/execute.ts";
import type { Execution } from "../../src/activities/tool/execution.ts";
import type { Logger } from "../../src/platform/log.ts";
import type { ToolCallContent } from "../../src/schema/message.ts";
import { SandboxSettings } from "../../src/schema/sandbox.ts";
import type { DeltaBody } from "../../src/store/stream/stream-hub.ts";
import type { Step } from "../../src/store/transcript/step.ts";
import { FencedError, StoreError } from "../../src/store/transcript/store-error.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { Sandboxes } from "../../src/tools/sandbox/sandboxes.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { type ToolContext, ToolError, type ToolFault } from "../../src/tools/tool-execution.ts";

const step = { session: "s", run: "r", number: 3, call: 0, kind: "look", generation: 1 } as unknown as Step;
const WITHOUT_SANDBOX = SandboxSettings.parse({ mode: "off" });
const sandboxes = new Sandboxes({ fallback: WITHOUT_SANDBOX, holdfastHome: "/nowhere", environment: {} });
const silent = { debug() {}, info() {}, warn() {}, error() {} } as unknown as Logger;

/** Runs a tool with this behaviour as the activity does, without Temporal. */
function running(
  body: (context: ToolContext) => Promise<string> | string,
  options: {
    signal?: AbortSignal;
    timeoutMs?: number;
    log?: Logger;
    claim?: Transcript;
    begin?: () => void;
  } = {},
): { execution: Promise<Execution>; published: DeltaBody[] } {
  const published: DeltaBody[] = [];
  const tool = defineTool({
    name: "look",
    description: "",
    inputSchema: z.object({ at: z.string() }),
    execute: (_, context) => body(context),
  });
  const call: ToolCallContent = { type: "toolCall", id: "call-7", name: "look", arguments: { at: "x" } };
  const execution = execute(tool, call, {
    step,
    workspace: "/home/me/project",
    sandbox: WITHOUT_SANDBOX,
    openSandbox: () => sandboxes.open({ settings: WITHOUT_SANDBOX, workspace: "/" }),
    timeoutMs: options.timeoutMs,
    publish: (delta) => published.push(delta),
    updates: (show) => show,
    claim: options.claim,
    begin: options.begin ?? (() => undefined),
    questions: [],
    signal: options.signal ?? new AbortController().signal,
    log: options.log ?? silent,
    readEarlierResults: async () => [],
    mask: (text) => text.replaceAll("hunter22", "***"),
  });
  return { execution, published };
}

const textOf = ({ output }: Execution) =>
  output.content.map((part) => (part.type === "text" ? part.text : "")).join("");

test("a failure of the store is thrown instead of becoming a result, whatever the tool", async () => {
  const away = new StoreError("damaged", "Transcript at /x: damaged");
  const { execution } = running(() => Promise.reject(away));
  await expect(execution).rejects.toBe(away);
  const fenced = running(() => Promise.reject(new FencedError("too late")));
  await expect(fenced.execution).rejects.toBeInstanceOf(FencedError);
});

test.each([
  ["taken over", new FencedError("overtaken")],
  ["given back", new NotBegunError("stalled")],
])("a call that was %s does not begin", async (_, reason) => {
  let began = false;
  const begin = () => {
    throw reason;
  };
  const { execution } = running(
    () => {
      began = true;
      return "done";
    },
    { begin },
  );
  await expect(execution).rejects.toBe(reason);
  expect(began).toBe(false);
});

test("the time that a tool waits for the store does not count against its time limit", async () => {
  const claim = { readNote: () => sleep(400, "noted") } as unknown as Transcript;
  const { execution } = running(async ({ memo }) => `${await memo?.get()}`, { timeoutMs: 150, claim });
  const done = await execution;
  expect([textOf(done), done.isError]).toEqual(["noted", false]);
  const slow = running(
    async ({ memo, signal }) => {
      await memo?.get();
      return await sleep(60_000, "late", { signal });
    },
    { timeoutMs: 150, claim },
  );
  expect(textOf(await slow.execution)).toContain("did not finish within 150 ms");
});

test("an error that a tool throws is logged in short form and without secrets [DBG-03.3]", async () => {
  const logged: object[] = [];
  const log = { ...silent, warn: (facts: object) => logged.push(facts) } as unknown as Logger;
  const key = `sk-${"a1B2".repeat(8)}`;
  const { execution } = running(
    () => {
      throw new Error(`it was hunter22 and ${key} ${"and more ".repeat(2000)}`);
    },
    { log },
  );
  expect(textOf(await execution)).toContain(key);
  const shown = expect.stringMatching(/^Error: it was \*\*\* and \*\*\* and more [\s\S]{1,1000}$/);
  expect(logged).toEqual([{ tool: "look", error: shown }]);
});

describe("the context of a tool call", () => {
  test("is one object: the call's id, the tool's name, a signal and a callback for progress [TOOL-02.1]", async () => {
    let seen: ToolContext | undefined;
    const { execution, published } = running((context) => {
      seen = context;
      context.onUpdate("half");
      context.onProgress("on the way");
      return "done";
    });
    await execution;
    expect(seen).toMatchObject({ toolCallId: "call-7", toolName: "look", workspace: "/home/me/project" });
    expect(seen?.signal).toBeInstanceOf(AbortSignal);
    const place = { toolCallId: "call-7", toolName: "look" };
    expect(published).toEqual([
      { type: "tool-start", ...place, text: "" },
      { type: "tool-output", ...place, text: "half" },
      { type: "progress", ...place, text: "on the way" },
    ]);
  });

  test("has a signal of its own: it is aborted with the run's, and its time limit aborts only the call [TOOL-02.2, TOOL-12.1]", async () => {
    const root = new AbortController();
    const signals: AbortSignal[] = [];
    const untilAborted = (context: ToolContext) =>
      new Promise<string>((_, reject) => {
        signals.push(context.signal);
        context.signal.addEventListener("abort", () => reject(new ToolError("cancelled", "")));
      });
    const first = running(untilAborted, { signal: root.signal, timeoutMs: 1 });
    const second = running(untilAborted, { signal: root.signal });
    expect(textOf(await first.execution)).toContain("did not finish within 1 ms");
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(root.signal.aborted).toBe(false);
    root.abort();
    expect(signals[1]?.aborted).toBe(true);
    await expect(second.execution).rejects.toThrow("CANCELLED");
  });
});

test("the four faults of a tool, and the texts that the model reads [TOOL-04]", async () => {
  const said = async (fault: ToolFault) =>
    await running(() => {
      throw new ToolError(fault, "the message");
    }).execution;
  const faults = ["failed", "not-found", "invalid-arguments", "cancelled"] as const;
  const results = await Promise.all(faults.map(said));
  expect(results.map(textOf)).toEqual([
    "the message",
    "Tool not found: the message",
    "Invalid arguments: the message",
    "Cancelled",
  ]);
  expect(results.every(({ isError }) => isError)).toBe(true);
});
