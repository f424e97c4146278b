import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { CallMemo, SpawnedGroup, Tool, ToolContext, ToolOutput } from "../../src/tools/tool.ts";

export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-tools-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export type Recorded = ToolContext & {
  readonly updates: string[];
  readonly lines: string[];
  readonly groups: SpawnedGroup[];
};

let calls = 0;

export function contextIn(workspace: string, overrides: Partial<ToolContext> = {}): Recorded {
  calls += 1;
  const [updates, lines, groups]: [string[], string[], SpawnedGroup[]] = [[], [], []];
  return {
    toolCallId: `call-${calls}`,
    toolName: "tool",
    workspace,
    idempotencyKey: `test-${process.pid}-${calls}`,
    signal: new AbortController().signal,
    update: (text) => updates.push(text),
    progress: (text) => lines.push(text),
    spawned: async (group) => {
      groups.push(group);
    },
    ...overrides,
    updates,
    lines,
    groups,
  };
}

export function memoryMemo(): CallMemo {
  let kept: string | undefined;
  return {
    get: async () => kept,
    set: async (text) => {
      kept = text;
    },
  };
}

/** Parses the arguments as the activity does, and runs the tool. */
export async function call(tool: Tool, parameters: unknown, context: ToolContext): Promise<ToolOutput> {
  const parsed = tool.parse(parameters);
  if (!parsed.ok) throw new Error(parsed.message);
  return tool.execute(parsed.value, context);
}

export async function textOf(tool: Tool, parameters: unknown, context: ToolContext): Promise<string> {
  const { content } = await call(tool, parameters, context);
  const [block] = content;
  if (content.length !== 1 || block?.type !== "text") throw new Error("not one text block");
  return block.text;
}
