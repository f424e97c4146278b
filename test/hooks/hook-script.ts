import { chmod, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { HookContexts } from "../../src/hooks/hook-point.ts";
import { runScript, type Script } from "../../src/hooks/script.ts";
import type { HookVerdict } from "../../src/hooks/verdict.ts";
import { startWithoutSandbox } from "../../src/platform/process/process-starter.ts";

/** A workspace with these files, which are not executable by default. */
export async function createWorkspace(
  files: Readonly<Record<string, string>>,
  mode = 0o644,
): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-hooks-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text);
    await chmod(join(folder, name), mode);
  }
  return folder;
}

export const BEFORE_TOOL: HookContexts["before-tool"] = {
  id: "run-1/4/before-tool/0",
  sessionId: "s1",
  loopId: "s1.main.1",
  turnIndex: 3,
  toolCallId: "call-7",
  toolName: "bash",
  arguments: { command: "ls — ü" },
};

export function runHookScript(
  workspace: string,
  command: Script["command"],
  overrides: Partial<Script<"before-tool">> = {},
): Promise<HookVerdict> {
  return runScript({
    start: startWithoutSandbox,
    command,
    point: "before-tool",
    context: BEFORE_TOOL,
    workspace,
    signal: new AbortController().signal,
    ...overrides,
  });
}
