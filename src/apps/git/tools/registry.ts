import type { ExecutableTool } from "../../../tools/tool.ts";
import { createCodeSearchTool } from "./code-search-tool.ts";
import type { GitToolOptions } from "./define-git-tool.ts";
import { createFileReadTool } from "./file-read-tool.ts";
import { createGitBlameTool } from "./git-blame-tool.ts";
import { createGitChangedFilesTool } from "./git-changed-files-tool.ts";
import { createGitDiffTool } from "./git-diff-tool.ts";
import { createGitLogTool } from "./git-log-tool.ts";
import { createGitRepoInfoTool } from "./git-repo-info-tool.ts";
import { createGitShowTool } from "./git-show-tool.ts";
import { createGitStatusTool } from "./git-status-tool.ts";
import { createProjectDocsTool } from "./project-docs-tool.ts";
import { createRepoMapTool } from "./repo-map-tool.ts";
import { createStaticAnalysisTool } from "./static-analysis-tool.ts";
import { createUpdateTools } from "./update-tools.ts";
import { createWorkspaceTool } from "./workspace-tool.ts";

/** The tools of every agent, in the order in which models see them (IRIS-07). */
const CORE_TOOLS = [
  createGitStatusTool,
  createGitDiffTool,
  createGitLogTool,
  createGitShowTool,
  createGitChangedFilesTool,
  createGitBlameTool,
  createFileReadTool,
  createCodeSearchTool,
  createRepoMapTool,
  createStaticAnalysisTool,
  createProjectDocsTool,
] as const;

/** The tools of the main agent beside its sub-agents (IRIS-10). */
const MAIN_AGENT_TOOLS = [createWorkspaceTool, createGitRepoInfoTool] as const;

/**
 * The main agent delegates by these names. They are no tools of the worker: a definition declares them, and each call is a
 * run of its own. A sub-agent has the core tools only, so that it cannot delegate further.
 */
export const DELEGATION_TOOLS = ["parallel_analyze", "analyze_subagent"] as const;

export type GitTools = {
  /** For the main agent and its sub-agents. */
  readonly core: readonly ExecutableTool[];
  /** For the main agent only. */
  readonly main: readonly ExecutableTool[];
  /** For a chat in which the user sees an artifact (IRIS-11). */
  readonly update: readonly ExecutableTool[];
};

const namesOf = (tools: readonly ExecutableTool[]): readonly string[] => tools.map(({ name }) => name);

export const CORE_TOOL_NAMES = namesOf(CORE_TOOLS.map((create) => create()));
export const MAIN_TOOL_NAMES = namesOf(MAIN_AGENT_TOOLS.map((create) => create()));
export const UPDATE_TOOL_NAMES = namesOf(createUpdateTools());
/** What a capability file may name. */
export const ALL_TOOL_NAMES: readonly string[] = [
  ...CORE_TOOL_NAMES,
  ...MAIN_TOOL_NAMES,
  ...DELEGATION_TOOLS,
  ...UPDATE_TOOL_NAMES,
];

/** Creates the tools of git work, for `createWorker({ tools })`. */
export function createGitTools(options: GitToolOptions = {}): GitTools {
  return {
    core: CORE_TOOLS.map((create) => create(options)),
    main: MAIN_AGENT_TOOLS.map((create) => create(options)),
    update: createUpdateTools(),
  };
}
