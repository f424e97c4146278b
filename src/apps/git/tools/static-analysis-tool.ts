import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type ExecutableTool, ToolError } from "../../../tools/tool.ts";
import { LINTERS, type LintFinding } from "../analysis/linters.ts";
import { type LintResult, runLinter } from "../analysis/run-linter.ts";
import { openWorktreeFile } from "../repository/open-worktree-file.ts";
import type { Repository } from "../repository/repository.ts";
import { toVisibleName } from "../text/visible-text.ts";
import { defineGitTool, type GitToolOptions } from "./define-git-tool.ts";

const LINTER_TIMEOUT_MS = 120_000;
const TIMEOUT_MS = 600_000;
const MAX_LISTED = 200;

const Arguments = z.object({
  files: z
    .array(z.string().max(500))
    .max(200)
    .default([])
    .describe("Only these files; the whole repository if empty"),
});

export function createStaticAnalysisTool(options: GitToolOptions = {}): ExecutableTool {
  return defineGitTool(
    {
      name: "static_analysis",
      label: "Static analysis",
      description:
        "Runs the linters of the project that are installed (clippy, ruff, biome, oxlint, eslint, golangci-lint) and lists what they find. Only in a repository that the user trusts.",
      inputSchema: Arguments,
      timeoutMs: TIMEOUT_MS,
      processes: "sandboxed",
      summarise: ({ files }) => (files.length === 0 ? "all files" : `${files.length} files`),
      touches: ({ files }) => ({ paths: files }),
      answer: async (repository, { files }, context) => {
        const { top, isTrusted } = repository;
        if (!isTrusted) {
          throw new ToolError(
            "failed",
            "Static analysis is off: linters run programs of the repository, and the user has not said that they trust it",
          );
        }
        const paths = await Promise.all(files.map(async (file) => await checkFile(repository, file)));
        const used = LINTERS.filter(({ markers }) => markers.some((marker) => existsSync(join(top, marker))));
        const results: LintResult[] = [];
        for (const linter of used) {
          context.onProgress(`running ${linter.name}`);
          results.push(await runLinter(repository, linter, paths, { timeoutMs: LINTER_TIMEOUT_MS, context }));
        }
        return { text: formatResults(results), details: { results: results.map(boundFindings) } };
      },
    },
    options,
  );
}

/** A linter gets paths that are files of the work tree, and nothing that it could take for an option. */
async function checkFile({ top }: Repository, file: string): Promise<string> {
  const { handle, path } = await openWorktreeFile(top, file);
  await handle.close();
  return path;
}

function formatResults(results: readonly LintResult[]): string {
  if (results.length === 0) return "The project configures none of the linters that are known.";
  return results.map(formatResult).join("\n\n");
}

function formatResult(result: LintResult): string {
  switch (result.type) {
    case "not-installed":
      return `${result.linter}: not installed on this machine`;
    case "failed":
      return `${result.linter}: failed: ${result.reason}`;
    case "finished": {
      const shown = result.findings.slice(0, MAX_LISTED).map(formatFinding);
      const left = result.findings.length - shown.length;
      const more = left > 0 ? [`  ... and ${left} more; name files to see them`] : [];
      return [`${result.linter}: ${result.findings.length} findings`, ...shown, ...more].join("\n");
    }
  }
}

function formatFinding({ path, line, severity, rule, message }: LintFinding): string {
  const place = line === undefined ? toVisibleName(path) : `${toVisibleName(path)}:${line}`;
  return `  ${place} ${severity} ${rule}: ${message.split("\n")[0]?.slice(0, 300)}`;
}

function boundFindings(result: LintResult): unknown {
  if (result.type !== "finished") return result;
  return { ...result, total: result.findings.length, findings: result.findings.slice(0, MAX_LISTED) };
}
