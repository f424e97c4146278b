import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createListFilesTool } from "../../src/tools/builtin/list-files-tool.ts";
import { createSearchTool } from "../../src/tools/builtin/search-tool.ts";
import { callTool, createContext, createTemporaryFolder } from "./tool-context.ts";

test.each([
  ["ripgrep", {}],
  ["find and grep", { ripgrep: "" }],
])(
  "with %s, totals are counted before truncation, and the limit covers all files together [X-19]",
  async (_, options) => {
    const context = createContext(await createTemporaryFolder());
    for (const name of ["a", "b", "c", "d"]) await writeFile(join(context.workspace, name), "x\nx\nx\n");
    const lines = async (tool: ReturnType<typeof createSearchTool>, request: object) => {
      const { content, details } = await callTool(tool, request, context);
      const text = content[0]?.type === "text" ? content[0].text : "";
      return { count: text.split("\n").filter((line) => !line.startsWith("...")).length, text, details };
    };
    const listed = await lines(createListFilesTool({ ...options, maxResults: 3 }), {});
    expect(listed).toMatchObject({ count: 3, details: { total: 4, truncated: true } });
    expect(listed.text).toContain("(truncated at 3 results)");
    const exact = await lines(createListFilesTool({ ...options, maxResults: 4 }), {});
    expect(exact).toMatchObject({ count: 4, details: { total: 4, truncated: false } });
    expect(exact.text).not.toContain("truncated");

    // Three per file: a limit per file would let all twelve through.
    const found = await lines(createSearchTool({ ...options, maxResults: 5 }), { pattern: "x" });
    expect(found).toMatchObject({ count: 5, details: { matches: 12, truncated: true } });
    expect(found.text).toContain("(truncated at 5 matches)");
    const all = await lines(createSearchTool({ ...options, maxResults: 12 }), { pattern: "x" });
    expect(all).toMatchObject({ count: 12, details: { matches: 12, truncated: false } });
    expect(all.text).not.toContain("truncated");
  },
);
