import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { type ExecutableTool, type ToolContext, ToolError } from "../../tools/tool.ts";
import { readChangeSet } from "./changes/read-change-set.ts";
import { rankFiles } from "./changes/relevance.ts";
import { classifySize, describeGuidance } from "./changes/size-class.ts";
import { openWorktreeFile } from "./repository/open-worktree-file.ts";
import { type Repository, withRepository } from "./repository/repository.ts";
import { resolveCommit } from "./repository/resolve-commit.ts";
import { runGit } from "./repository/run-git.ts";
import { readLines } from "./tools/read-lines.ts";
import { createGitTools } from "./tools/registry.ts";

/** A question to a tool, and its answer: the text that a model reads beside its data, or what went wrong. */
export type ToolAnswer = {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<string, unknown>>;
};

const RANGE = { from: "HEAD~3", to: "HEAD" };
const BLAMED_LINES = 40;
/** The most for git_blame. */
const MAX_BLAMED_BYTES = 8 * 1024 * 1024;

/** Asks the tools a few fixed questions about a repository, one after the other. */
export async function* askTools(folder: string): AsyncGenerator<ToolAnswer> {
  const { core } = createGitTools();
  const file = await withRepository(folder, {}, findLargestTextFile).catch(() => undefined);
  const blamed =
    file === undefined ? [] : [["git_blame", { file, start_line: 1, end_line: BLAMED_LINES }] as const];
  const questions: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ["git_status", {}],
    ["git_diff", { from: "staged", detail: "standard" }],
    ["git_diff", { ...RANGE, detail: "standard" }],
    ["git_log", { count: 20 }],
    ["git_show", { commit: "HEAD" }],
    ["git_changed_files", RANGE],
    ...blamed,
    ["repo_map", { max_tokens: 2_000 }],
  ];
  for (const [name, parameters] of questions) {
    const tool = core.find((one) => one.name === name);
    if (tool !== undefined)
      yield { tool: name, arguments: parameters, result: await ask(tool, parameters, folder) };
  }
  yield { tool: "change_guidance", arguments: RANGE, result: await readGuidance(folder).catch(toFailure) };
}

async function ask(
  tool: ExecutableTool,
  parameters: object,
  workspace: string,
): Promise<ToolAnswer["result"]> {
  const parsed = tool.parse(parameters);
  if (!parsed.ok) return { error: parsed.message };
  const context: ToolContext = {
    toolCallId: tool.name,
    toolName: tool.name,
    workspace,
    idempotencyKey: tool.name,
    signal: new AbortController().signal,
    onUpdate: () => {},
    onProgress: () => {},
    onSpawned: async () => {},
    runCommand: async ({ command }) => {
      throw new ToolError("failed", `${command} does not run: no tool that is asked here starts a program`);
    },
  };
  try {
    const { content, details } = await tool.execute(parsed.value, context);
    const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
    return { text, ...(details as object) };
  } catch (error) {
    return toFailure(error);
  }
}

function toFailure(error: unknown): ToolAnswer["result"] {
  return { error: error instanceof Error ? error.message : String(error) };
}

/** Reads the size class and the relevance of the range. */
async function readGuidance(folder: string): Promise<ToolAnswer["result"]> {
  return await withRepository(folder, {}, async (repository) => {
    const [from, to] = [
      await resolveCommit(repository, RANGE.from),
      await resolveCommit(repository, RANGE.to),
    ];
    const changes = await readChangeSet(repository, { type: "commits", from, to });
    const size = classifySize(changes);
    const { files, added, deleted } = changes;
    return {
      size,
      guidance: describeGuidance(size, changes),
      totalFiles: files.length,
      added,
      deleted,
      files: rankFiles(files).map(({ file, relevance }) => ({ path: file.path, ...relevance })),
    };
  });
}

async function findLargestTextFile(repository: Repository): Promise<string | undefined> {
  const { stdout } = await runGit(repository, ["ls-files", "-z", "--cached"]);
  const paths = [...new Set(stdout.toString("utf8").split("\0"))].filter((path) => path !== "");
  const sizes = await Promise.all(
    paths.map(async (path) => {
      const stats = await lstat(join(repository.top, path)).catch(() => undefined);
      return { path, size: stats?.isFile() === true ? stats.size : -1 };
    }),
  );
  const sorted = sizes
    .filter(({ size }) => size > 0 && size <= MAX_BLAMED_BYTES)
    .toSorted((a, b) => b.size - a.size || (a.path < b.path ? -1 : 1));
  for (const { path } of sorted) if (await isText(repository, path)) return path;
  return undefined;
}

async function isText({ top }: Repository, path: string): Promise<boolean> {
  const opened = await openWorktreeFile(top, path).catch(() => undefined);
  if (opened === undefined) return false;
  try {
    return (await readLines(opened.handle, 1, 1)).type === "text";
  } finally {
    await opened.handle.close();
  }
}
