import { chmod, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { onTestFinished, vi } from "vitest";
import { SandboxSettings } from "../../src/schema/sandbox.ts";
import { createRunCommand } from "../../src/tools/sandbox/run-command.ts";
import { Sandboxes } from "../../src/tools/sandbox/sandboxes.ts";
import type { ExecutableTool, SpawnedGroup } from "../../src/tools/tool.ts";
import type { CallMemo, ToolContext, ToolOutput } from "../../src/tools/tool-execution.ts";

export async function createTemporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-tools-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export type RecordingContext = ToolContext & {
  readonly updates: string[];
  readonly lines: string[];
  readonly groups: SpawnedGroup[];
};

let calls = 0;

export function createContext(workspace: string, overrides: Partial<ToolContext> = {}): RecordingContext {
  calls += 1;
  const idempotencyKey = `test-${process.pid}-${calls}`;
  const [updates, lines, groups]: [string[], string[], SpawnedGroup[]] = [[], [], []];
  const context: ToolContext = {
    toolCallId: `call-${calls}`,
    toolName: "tool",
    workspace,
    idempotencyKey,
    signal: new AbortController().signal,
    onUpdate: (text) => updates.push(text),
    onProgress: (text) => lines.push(text),
    onSpawned: async (group) => {
      groups.push(group);
    },
    // A test may replace the signal and the like in a copy of the context.
    runCommand(this: ToolContext, command) {
      const openSandbox = () => sandboxes.open({ settings: WITHOUT_SANDBOX, workspace });
      return createRunCommand({ ...this, openSandbox })(command);
    },
    ...overrides,
  };
  return { ...context, updates, lines, groups };
}

const WITHOUT_SANDBOX = SandboxSettings.parse({ mode: "off" });
const sandboxes = new Sandboxes({ fallback: WITHOUT_SANDBOX, holdfastHome: "/nowhere", environment: {} });

export function createMemoryMemo(): CallMemo {
  let stored: string | undefined;
  return {
    get: async () => stored,
    set: async (text) => {
      stored = text;
    },
  };
}

/** Parses the arguments as the activity does, and runs the tool. */
export async function callTool(
  tool: ExecutableTool,
  parameters: unknown,
  context: ToolContext,
): Promise<ToolOutput> {
  const parsed = tool.parse(parameters);
  if (!parsed.ok) throw new Error(parsed.message);
  return tool.execute(parsed.value, context);
}

export async function callForText(
  tool: ExecutableTool,
  parameters: unknown,
  context: ToolContext,
): Promise<string> {
  const { content } = await callTool(tool, parameters, context);
  const [block] = content;
  if (content.length !== 1 || block?.type !== "text") throw new Error("not one text block");
  return block.text;
}

/** A program of this name that runs the script, in its own folder, first on PATH until the test ends. */
export async function installProgram(name: string, script: string): Promise<string> {
  const folder = await createTemporaryFolder();
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  vi.stubEnv("PATH", `${folder}:${process.env["PATH"]}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  return path;
}

/** The message of a call whose command never ends by itself, and its duration on a clock of the test's own. */
export async function measureTimeLimit(
  tool: ExecutableTool,
  parameters: unknown,
  context: ToolContext,
): Promise<{ afterMs: number; message: string }> {
  let waitForStart = () => {};
  const running = new Promise<void>((resolve) => {
    waitForStart = resolve;
  });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const ended = callTool(tool, parameters, { ...context, onSpawned: async () => waitForStart() }).then(
    () => "it ended",
    (error: Error) => error.message,
  );
  await running;
  await nextTurn();
  const from = Date.now();
  vi.advanceTimersToNextTimer();
  const afterMs = Date.now() - from;
  // A command that is not ready for SIGTERM is killed after its grace period.
  const later = setInterval(() => vi.advanceTimersToNextTimer(), 5);
  const message = await ended.finally(() => clearInterval(later));
  vi.useRealTimers();
  return { afterMs, message };
}
