import { describe, expect, test } from "vitest";
import { createGitTools, DELEGATION_TOOLS } from "../../../src/apps/git/index.ts";

describe("the registry of git tools", () => {
  const { core, main, update } = createGitTools();
  const names = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

  test("every agent has the eleven core tools [IRIS-07]", () => {
    expect(names(core)).toEqual([
      "git_status",
      "git_diff",
      "git_log",
      "git_show",
      "git_changed_files",
      "git_blame",
      "file_read",
      "code_search",
      "repo_map",
      "static_analysis",
      "project_docs",
    ]);
    expect(core).toHaveLength(11);
  });

  test("the main agent has four more, of which two delegate [IRIS-10]", () => {
    expect([...names(main), ...DELEGATION_TOOLS]).toEqual([
      "workspace",
      "git_repo_info",
      "parallel_analyze",
      "analyze_subagent",
    ]);
    expect(names(update)).toEqual(["update_commit", "update_pr", "update_review"]);
  });

  test("every tool only reads, so that a second execution is safe, and describes all its arguments as an object", () => {
    for (const tool of [...core, ...main, ...update]) {
      expect(tool.replay, tool.name).toBe("pure");
      expect(tool.parameters["type"], tool.name).toBe("object");
      expect(tool.description.length, tool.name).toBeGreaterThan(20);
    }
  });
});
